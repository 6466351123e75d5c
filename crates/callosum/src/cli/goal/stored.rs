//! The part of a [`Way`] with stored plans: one is used again for the same goal, and stored once its run was completed.

use std::collections::BTreeMap;

use callosum_app::CommandError;
use callosum_app::constitution::governance;
use callosum_app::goal::Deliberation;
use callosum_app::goal::proposal::{EVALUATOR, agent, bounds};
use callosum_app::goal::reuse::{Lookup, StoredPlan};
use callosum_app::plan::history;
use callosum_app::plan::source::Source;
use callosum_app::{capability, shell_word};
use callosum_intent::delegation::{Fallback, FallbackStrategy, Fault, Proposal};
use callosum_intent::graph::Status;
use callosum_plan_run::run::RunId;
use callosum_redact::terminal_escape::on_one_line;

use super::verdict::show_stored;
use super::way::{Way, account, new_id};

impl Way<'_> {
    /// Returns the stored plan for the goal. Reports one that is refused, and one for a similar goal.
    pub(super) fn stored_plan(&mut self) -> Result<Option<StoredPlan>, CommandError> {
        let context = self.context;
        let Some(key) = self.key.as_ref().filter(|_| !self.args.no_cache) else {
            return Ok(None);
        };
        match key.find(context)? {
            Lookup::Found(plan) => Ok(Some(*plan)),
            Lookup::Refused(why) => {
                let what = format!("a model is asked for a plan: {why}");
                context.ui.warn(&what, None);
                Ok(None)
            }
            Lookup::Similar(goal) => {
                let shown = on_one_line(&goal);
                let what = format!("a plan for a similar goal exists: {shown}");
                let hint = format!("callosum do {}", shell_word(&shown));
                context.ui.note(&what, Some(&hint));
                self.output.similar_goal = Some(goal);
                Ok(None)
            }
            Lookup::None => Ok(None),
        }
    }

    /// Proposes a stored plan, and runs it if a person agrees. Returns what happened in a run that failed, if models are
    /// the fallback.
    pub(super) fn run_stored(
        &mut self,
        stored: &StoredPlan,
        deliberation: &Deliberation,
    ) -> Result<Option<String>, CommandError> {
        let context = self.context;
        self.output.plan = Some(stored.source.clone());
        self.output.model = Some(stored.model.clone());
        self.output.reused_from = Some(stored.run.clone());
        self.output.accepted = true;
        show_stored(context.ui, stored);
        let proposal = self.proposal_of(stored, deliberation)?;
        let mut course = proposal.fallback_strategy.course();
        if self.args.dry_run {
            self.proposal = Some(proposal);
            self.admit_stored(stored)?;
            "planned".clone_into(&mut self.output.outcome);
            if !context.ui.json {
                context.ui.foreign(&format!("{}\n", stored.source))?;
            }
            return Ok(None);
        }
        let intent = self.record_intent()?;
        let id = new_id(context)?;
        let proposal = Proposal {
            intent: Some(intent.clone()),
            ..proposal
        };
        self.delegate(&id, proposal)?;
        self.admit_stored(stored)?;
        self.approve(&format!("callosum do --intent {intent}"), true)?;
        stored.touch(context);
        self.set_status(Status::Executing, "the plan was approved", Some(&id));
        let source = || Source::named(stored.source.clone(), "the plan".to_owned());
        let end = self.begin(source(), &id, &BTreeMap::new())?;
        let Some((run, why)) = self.ended(&id, &source(), end)? else {
            return Ok(None);
        };
        stored.forget(context);
        let Fallback::NextCapability { capability } = course.after(Fault::RunFailed) else {
            return Err(self.failed(&run, &why));
        };
        self.output.reused_from = None;
        self.set_status(Status::Active, "another plan follows", Some(&run));
        let what = format!(
            "the run failed ({}); {capability} gets what happened",
            why.kind
        );
        context.ui.note(&what, None);
        account(context, &run, &why).map(Some)
    }

    /// Stores a plan whose run was completed, unless it was stored before. A failure to do so is a warning.
    pub(super) fn store_plan(&self, run: &RunId, source: &str) {
        let is_models = self.output.deliberation.is_some() && self.output.accepted;
        let (Some(key), Some(model)) = (&self.key, &self.output.model) else {
            return;
        };
        if !is_models {
            return;
        }
        // A run that was over before is no evidence under a constitution that came later.
        let now = governance(self.context).constitution().hash().to_owned();
        let state = history::run_of(self.context, run.as_str());
        if state.is_ok_and(|run| run.state.constitution().hash != now) {
            return;
        }
        if let Err(error) = key.store(self.context, source, (run.as_str(), model)) {
            let what = format!("the plan is not stored: {}", error.one_line());
            self.context.ui.warn(&what, None);
        }
    }

    fn proposal_of(
        &self,
        stored: &StoredPlan,
        deliberation: &Deliberation,
    ) -> Result<Proposal, CommandError> {
        let (caps, max_calls) = match &self.key {
            Some(key) => (key.caps.as_slice(), key.max_calls),
            None => (&[][..], 0),
        };
        let models = deliberation.planners.iter().map(|id| agent(id));
        Ok(Proposal {
            intent: None,
            capability: EVALUATOR.to_owned(),
            rationale: format!("the plan of run {} was completed", stored.run),
            expected_plan_shape: bounds(&capability::catalogue(self.context)?, caps, max_calls)?,
            fallback_strategy: FallbackStrategy::of_stored_plan(models),
            confidence: 1.0,
        })
    }

    fn admit_stored(&mut self, stored: &StoredPlan) -> Result<(), CommandError> {
        self.admit(&stored.source)?.map_err(|excess| {
            let what = format!("the plan exceeds its proposal: {excess}");
            CommandError::new(callosum_app::Exit::No, what)
        })
    }
}
