//! [`Way`]: one goal, from its sentence to the result of its plan.
//!
//! Start with [`Way::run`]. A stored plan (`stored`) or a deliberation gives the plan, `approval` asks for it and reports
//! the end of its run, and the proposal's fallback strategy decides what follows a failure.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use callosum_app::goal::loan::Loan;
use callosum_app::goal::proposal::{self, EVALUATOR, ProposalOutput, agent, propose};
use callosum_app::goal::reuse::PlanKey;
use callosum_app::goal::trail::{self, GoalRecord, Trail};
use callosum_app::goal::{
    DELIBERATE, Delegation, Deliberation, DoOutput, Prepared, Wanted, allowed, goal, of_template,
};
use callosum_app::intent;
use callosum_app::plan::drive;
use callosum_app::plan::history;
use callosum_app::plan::source::Source;
use callosum_app::{CommandError, Exit, capability, many, model};
use callosum_intent::delegation::{Course, Fallback, Fault, Proposal};
use callosum_intent::graph::{IntentId, NewIntent, Status};
use callosum_intent::template::{self, TEMPLATES, Template};
use callosum_plan::{CompileOptions, Failure, Limits, Program, Value, compile};
use callosum_plan_run::run::{CallStanding, RunEnd, RunId, RunState, Spent};

use super::DoArgs;
use super::verdict::show_proposal;
use crate::cli::context::Context;
use crate::cli::plan::drive::{begun, carried};

/// Longest account of a failed run that models get, in characters.
const ACCOUNT: usize = 4_000;

/// One goal on its way.
pub(super) struct Way<'a> {
    pub(super) context: &'a Context,
    pub(super) args: &'a DoArgs,
    pub(super) output: DoOutput,
    pub(super) spent: Spent,
    /// The intent of the goal, once it is known.
    pub(super) intent: Option<IntentId>,
    /// The loan of the intent while this process works on it.
    pub(super) loan: Option<Loan>,
    /// The proposal of the current attempt.
    pub(super) proposal: Option<Proposal>,
    /// The key of a stored plan for the goal.
    pub(super) key: Option<PlanKey>,
}

/// The end of an attempt.
pub(super) enum Attempt {
    /// The goal needs no other attempt.
    Over,
    /// The run of the plan failed.
    RunFailed(RunId, Failure),
    /// There is no plan that may run.
    NoPlan(CommandError),
}

impl<'a> Way<'a> {
    /// Returns a goal that was not begun.
    pub(super) fn new(context: &'a Context, args: &'a DoArgs) -> Self {
        Self {
            context,
            args,
            output: DoOutput::default(),
            spent: Spent::default(),
            intent: None,
            loan: None,
            proposal: None,
            key: None,
        }
    }

    /// Goes as far as the models and the person let it, and prints the result.
    pub(super) fn run(mut self) -> Result<(), CommandError> {
        let done = self.go();
        if let Some(loan) = self.loan.take() {
            let reason = match self.output.outcome.as_str() {
                "" => "it ended early",
                outcome => outcome,
            };
            loan.returned(self.context, reason);
        }
        self.output.tokens = self.spent.tokens;
        self.output.cost_usd = self.spent.cost.to_dollars();
        self.output.proposal = self.proposal.as_ref().map(ProposalOutput::from);
        if self.context.ui.json && !self.output.outcome.is_empty() {
            self.context.ui.json_data(&self.output)?;
            return done.map_err(|error| CommandError::told(error.exit));
        }
        self.tell_cost();
        done
    }

    fn go(&mut self) -> Result<(), CommandError> {
        let (context, args) = (self.context, self.args);
        if let Some(id) = &args.resume {
            return self.resume(id);
        }
        self.output.goal = match &args.intent {
            Some(id) => self.goal_of_intent(id)?,
            None => goal(args.goal.as_deref().unwrap_or_default())?,
        };
        if let Some(template) = args.template {
            return self.run_template(template);
        }
        let wanted = Wanted {
            planners: args.planners.clone(),
            reviewers: args.reviewers.clone(),
            is_unreviewed: args.no_review,
        };
        let mut delegation = Delegation::of(context, &self.output.goal)?;
        let goal = self.output.goal.clone();
        let Some(mut deliberation) = Deliberation::of(context, &goal, &wanted, &delegation)? else {
            delegation.decide(context)?;
            return self.run_best_template();
        };
        let caps = allowed(context, &args.caps)?;
        self.key = Some(PlanKey {
            goal,
            planners: deliberation.planners.clone(),
            caps: caps.clone(),
            max_calls: args.max_calls,
        });
        let mut failure = None;
        if let Some(stored) = self.stored_plan()? {
            delegation.use_stored_plan(&stored.target, &stored.run);
            if !args.dry_run {
                delegation.decide(context)?;
            }
            match self.run_stored(&stored, &deliberation)? {
                None => return Ok(()),
                Some(account) => failure = Some(account),
            }
            // The plan is gone, so the goal is decided on again.
            delegation = Delegation::of(context, &self.output.goal)?;
        }
        if !deliberation.is_planner_named {
            delegation.decide(context)?;
        }
        self.attempts(&delegation, &mut deliberation, &caps, failure)
    }

    /// Asks models for a plan and runs it, and follows the fallback strategy after a failure.
    fn attempts(
        &mut self,
        delegation: &Delegation,
        deliberation: &mut Deliberation,
        caps: &[String],
        mut failure: Option<String>,
    ) -> Result<(), CommandError> {
        let context = self.context;
        let bounds = (caps, self.args.max_calls);
        let intent = self.record_intent()?;
        let mut course: Option<Course> = None;
        loop {
            let id = new_id(context)?;
            let next = new_id(context)?;
            let named = Some(intent.as_str());
            let mut proposal = propose(context, delegation, deliberation, bounds, named)?;
            match &course {
                None => course = Some(proposal.fallback_strategy.course()),
                Some(course) => {
                    proposal.fallback_strategy = course.rest();
                    "the fallback of the last proposal".clone_into(&mut proposal.rationale);
                }
            }
            self.delegate(&id, proposal)?;
            let goal = self.output.goal.clone();
            let ids = (intent.as_str(), &next);
            let input = deliberation.input(&goal, bounds, ids, failure.as_deref());
            let end = self.deliberate(&id, &input, deliberation)?;
            let (fault, run, error) = match self.after(&id, end)? {
                Attempt::Over => return Ok(()),
                Attempt::NoPlan(error) => (Fault::NoPlan, None, error),
                Attempt::RunFailed(run, why) => {
                    let error = run_failed(&run, &why);
                    (Fault::RunFailed, Some((run, why)), error)
                }
            };
            let fallback = course.as_mut().map(|course| course.after(fault));
            let run_id = run.as_ref().map(|(run, _)| run);
            let gets = match fallback {
                Some(Fallback::Retry) => "the models get".to_owned(),
                Some(Fallback::NextCapability { capability }) => {
                    let model = capability.strip_prefix("agent.").unwrap_or(&capability);
                    deliberation.set_planners(context, vec![model.to_owned()])?;
                    format!("{capability} gets")
                }
                _ => {
                    let why = match &run {
                        Some((_, why)) => why.message.as_str(),
                        None => "no model gave a usable plan",
                    };
                    self.set_status(Status::Failed, why, run_id);
                    return Err(error);
                }
            };
            self.set_status(Status::Active, "another plan follows", run_id);
            if let Some((run, why)) = &run {
                let what = format!("the run failed ({}); {gets} what happened", why.kind);
                context.ui.note(&what, None);
                failure = Some(account(context, run, why)?);
            } else {
                let what = format!("{}; {gets} the goal", error.one_line());
                context.ui.note(&what, None);
            }
        }
    }

    /// Puts a proposal on the chain, and lends the intent to the capability that it names.
    pub(super) fn delegate(&mut self, run: &RunId, proposal: Proposal) -> Result<(), CommandError> {
        self.lend(&proposal.capability.clone(), run)?;
        let proposed = GoalRecord::Proposed {
            run: run.to_string(),
            proposal: Box::new(proposal.clone()),
        };
        trail::record(self.context, &proposed)?;
        self.proposal = Some(proposal);
        Ok(())
    }

    /// Lends the intent, or passes it on if it is lent to another capability.
    fn lend(&mut self, holder: &str, run: &RunId) -> Result<(), CommandError> {
        let Some(intent) = &self.intent else {
            return Ok(());
        };
        if let Some(loan) = &mut self.loan {
            let reason = "the goal goes to another attempt";
            return loan.pass_on(self.context, holder, (run.as_str(), reason));
        }
        self.loan = Some(Loan::lend(self.context, intent, holder, run.as_str())?);
        if self.args.intent.is_some() {
            self.set_status(Status::Active, "work on it begins", None);
        }
        Ok(())
    }

    /// Runs the deliberation.
    fn deliberate(
        &mut self,
        id: &RunId,
        input: &BTreeMap<String, Value>,
        deliberation: &Deliberation,
    ) -> Result<RunEnd, CommandError> {
        let context = self.context;
        let who = deliberation.planners.join(", ");
        context.ui.detail(&format!("deliberation {id}"));
        if context.ui.is_watched() {
            context.ui.say(&format!("asking {who} for a plan"));
        }
        let source = Source::named(DELIBERATE.to_owned(), "the deliberation".to_owned());
        self.begin(source, id, input)
    }

    /// Starts a run and carries it on.
    pub(super) fn begin(
        &mut self,
        source: Source,
        id: &RunId,
        input: &BTreeMap<String, Value>,
    ) -> Result<RunEnd, CommandError> {
        let context = self.context;
        let budget = self.args.budget.unwrap_or_default();
        let Some(caps) = budget.left(&self.spent) else {
            return Err(CommandError::new(
                Exit::No,
                "nothing is left of the budget, so the plan was not started",
            )
            .hint("callosum do --budget with a larger amount"));
        };
        let program = self.compiled(&source)?;
        let limits = Limits::default();
        let taken = begun(
            context,
            source,
            Arc::new(program),
            id,
            input,
            (&limits, caps),
        )?;
        let (_, end) = carried(context, taken)?;
        self.count(id)?;
        Ok(end)
    }

    fn compiled(&self, source: &Source) -> Result<Program, CommandError> {
        let options = CompileOptions {
            provided: Some(drive::provided(self.context)?),
            ..CompileOptions::default()
        };
        compile(&source.text, &options).map_err(|findings| {
            source.tell(&findings, &*self.context.report);
            let count = many(findings.len() as u64, "reason");
            CommandError::new(Exit::No, format!("the plan was rejected for {count}"))
        })
    }

    /// Compiles a plan that came back, holds it against the proposal, and shows the proposal with the plan's shape.
    ///
    /// Returns the excess of a plan that does more than was proposed.
    pub(super) fn admit(&mut self, plan: &str) -> Result<Result<(), String>, CommandError> {
        let program = self.compiled(&Source::named(plan.to_owned(), "the plan".to_owned()))?;
        let catalogue = capability::catalogue(self.context)?;
        let Some(proposal) = &mut self.proposal else {
            return Ok(Ok(()));
        };
        match proposal::checked(&proposal.expected_plan_shape, &program, &catalogue) {
            Ok(shape) => proposal.expected_plan_shape = shape,
            Err(excess) => return Ok(Err(excess)),
        }
        show_proposal(self.context.ui, proposal, self.args.dry_run);
        Ok(Ok(()))
    }

    /// Adds what a run has used.
    pub(super) fn count(&mut self, id: &RunId) -> Result<RunState, CommandError> {
        let state = history::run_of(self.context, id.as_str())?.state;
        let spent = state.spent();
        self.spent.tokens += spent.tokens;
        self.spent.cost.0 += spent.cost.0;
        self.spent.elapsed_ms += spent.elapsed_ms;
        Ok(state)
    }

    /// Returns the goal of an intent that is there already.
    fn goal_of_intent(&mut self, id: &str) -> Result<String, CommandError> {
        let graph = intent::read(self.context)?;
        let found = intent::find(&graph, id)?;
        self.output.intent = Some(found.id.to_string());
        self.intent = Some(found.id.clone());
        let text = found.original_request.as_deref().unwrap_or(&found.goal);
        goal(text)
    }

    /// Records the goal as an intent, unless it has one.
    pub(super) fn record_intent(&mut self) -> Result<String, CommandError> {
        if let Some(id) = &self.intent {
            return Ok(id.to_string());
        }
        let new = NewIntent {
            status: Status::Active,
            ..intent::formulate(self.context, &self.output.goal)
        };
        let id = intent::create(self.context, new)?.id;
        self.output.intent = Some(id.to_string());
        self.intent = Some(id.clone());
        Ok(id.to_string())
    }

    /// Changes the state of the intent. A person may have changed it since, so that a refusal is a warning.
    pub(super) fn set_status(&self, to: Status, reason: &str, run: Option<&RunId>) {
        let Some(id) = &self.intent else {
            return;
        };
        // A process that was killed may have recorded it.
        let graph = intent::read(self.context).ok();
        let now = graph.and_then(|graph| Some(graph.get(id)?.status));
        if now == Some(to) {
            return;
        }
        let is_idle = matches!(now, Some(Status::Suspended | Status::Failed));
        if is_idle && to == Status::Executing {
            self.set_status(Status::Active, "it continues", run);
        }
        let run = run.map(RunId::as_str);
        if let Err(error) = intent::set_status(self.context, id, to, reason, run) {
            let what = format!("the intent {id} is not {to}: {}", error.one_line());
            self.context.ui.warn(&what, None);
        }
    }

    /// Records that the goal was not reached, and returns the error.
    pub(super) fn failed(&self, run: &RunId, why: &Failure) -> CommandError {
        self.set_status(Status::Failed, &why.message, Some(run));
        run_failed(run, why)
    }

    /// Runs the built-in plan that fits the words of the goal.
    fn run_best_template(&mut self) -> Result<(), CommandError> {
        let context = self.context;
        let Some(template) = template::best(&self.output.goal) else {
            return Err(no_model());
        };
        let (why, hint) = if model::ready(context)?.is_empty() {
            ("no model is ready", "callosum executor discover")
        } else {
            (
                "no model is a good target",
                "callosum delegation explain GOAL",
            )
        };
        let what = format!(
            "{why}, so the built-in plan `{}` is used: it {}",
            template.name, template.about
        );
        context.ui.note(&what, Some(hint));
        self.run_template(template)
    }

    /// Runs a built-in plan.
    fn run_template(&mut self, template: &'static Template) -> Result<(), CommandError> {
        let context = self.context;
        self.output.template = Some(template.name.to_owned());
        self.output.plan = Some(template.source.to_owned());
        self.output.accepted = true;
        let Prepared {
            source,
            name,
            input,
        } = of_template(context, template, &self.output.goal)?;
        if self.args.dry_run {
            "planned".clone_into(&mut self.output.outcome);
            if !context.ui.json {
                context.ui.foreign(&source)?;
            }
            return Ok(());
        }
        self.record_intent()?;
        let id = new_id(context)?;
        self.lend(EVALUATOR, &id)?;
        self.set_status(Status::Executing, "a built-in plan runs", Some(&id));
        let end = self.begin(Source::named(source.clone(), name.clone()), &id, &input)?;
        match self.ended(&id, &Source::named(source, name), end)? {
            None => Ok(()),
            Some((run, why)) => Err(self.failed(&run, &why)),
        }
    }

    /// Lends the intent of a deliberation that is resumed, to the capability of its proposal.
    pub(super) fn lend_again(&mut self, id: &RunId, caps: &[String]) -> Result<(), CommandError> {
        let trail = Trail::read(self.context)?;
        let planners = self.key.iter().flat_map(|key| key.planners.iter());
        let planners: Vec<String> = planners.map(|id| agent(id)).collect();
        let max_calls = self.key.as_ref().map_or(0, |key| key.max_calls);
        let proposal = match trail.proposals.get(id.as_str()) {
            Some(proposal) => proposal.clone(),
            // A process may have died before it recorded the proposal.
            None => Proposal {
                intent: self.output.intent.clone(),
                capability: planners.join(", "),
                rationale: "the deliberation was begun".to_owned(),
                expected_plan_shape: proposal::bounds(
                    &capability::catalogue(self.context)?,
                    caps,
                    max_calls,
                )?,
                fallback_strategy: Course::default().rest(),
                confidence: 1.0,
            },
        };
        self.lend(&proposal.capability.clone(), id)?;
        self.proposal = Some(proposal);
        Ok(())
    }

    fn tell_cost(&self) {
        if self.spent.tokens > 0 {
            let cost = self.spent.cost.to_dollars();
            let cost = if cost > 0.0 {
                format!(", ${cost:.4}")
            } else {
                String::new()
            };
            let tokens = many(self.spent.tokens, "token");
            self.context.ui.detail(&format!("{tokens}{cost}"));
        }
    }
}

pub(super) fn new_id(context: &Context) -> Result<RunId, CommandError> {
    context.new_id().parse().map_err(CommandError::internal)
}

fn no_model() -> CommandError {
    let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
    let what = format!(
        "no model is ready, and no built-in plan fits the goal (built-in: {})",
        names.join(", ")
    );
    CommandError::new(Exit::Environment, what).hint(
        "register one: callosum executor discover; or choose a built-in plan: --template survey",
    )
}

fn run_failed(run: &RunId, why: &Failure) -> CommandError {
    CommandError::new(Exit::No, format!("the run failed: {}", why.kind))
        .hint(format!("callosum plan show {run} --tree"))
}

/// Returns what happened in a failed run, for the models: its failure, and each call with its end.
pub(super) fn account(
    context: &Context,
    run: &RunId,
    why: &Failure,
) -> Result<String, CommandError> {
    let state = history::run_of(context, run.as_str())?.state;
    let mut text = format!("the run failed: {}: {}\n", why.kind, why.message);
    for call in state.calls() {
        let end = match &call.standing {
            CallStanding::Answered(answered) => match &answered.answer.failure {
                Some(failure) => format!("failed: {}", failure.message),
                None => "answered".to_owned(),
            },
            _ => "not answered".to_owned(),
        };
        let _ = writeln!(text, "call :{} {end}", call.intended.capability);
    }
    Ok(text.chars().take(ACCOUNT).collect())
}
