//! The second half of a [`Way`]: the votes on a plan, its approval by a person, and the end of its run.

use std::collections::BTreeMap;

use callosum_app::agreement::Agreement;
use callosum_app::goal::reuse::PlanKey;
use callosum_app::goal::trail::{self, GoalRecord, Outcome};
use callosum_app::goal::{DELIBERATE, Verdict, readable};
use callosum_app::plan::drive::answers;
use callosum_app::plan::history;
use callosum_app::plan::local_run::LocalRun;
use callosum_app::plan::render::RunFailureOutput;
use callosum_app::plan::source::Source;
use callosum_app::{CommandError, Exit};
use callosum_intent::graph::Status;
use callosum_plan::{Failure, Key, Value};
use callosum_plan_run::run::{RunEnd, RunId, read_run, text_of};
use callosum_redact::terminal_escape::on_one_line;

use super::verdict::show_verdict;
use super::way::{Attempt, Way};
use crate::cli::agreement;
use crate::cli::plan::drive::{carried, take};
use crate::cli::plan::render;

impl Way<'_> {
    /// Continues a deliberation that an earlier process began, and the run of its plan.
    pub(super) fn resume(&mut self, id: &str) -> Result<(), CommandError> {
        let context = self.context;
        let taken = take(context, id)?;
        let id = taken.state.run().clone();
        if taken.source.text != DELIBERATE {
            let what = format!("the run {id} is not one of `callosum do`");
            return Err(
                CommandError::new(Exit::Usage, what).hint(format!("callosum plan resume {id}"))
            );
        }
        let input = text_of(&answers(context), &taken.state.started().input).ok();
        let input = Input(input.and_then(|input| Value::read(&input).ok()));
        self.output.goal = input.text("goal").unwrap_or_default();
        self.output.intent = input.text("intent");
        self.intent = input.text("intent").and_then(|intent| intent.parse().ok());
        let caps = input.texts("caps");
        self.key = Some(PlanKey {
            goal: self.output.goal.clone(),
            planners: input.texts("planners"),
            caps: caps.clone(),
            max_calls: input.integer("max-calls"),
        });
        self.lend_again(&id, &caps)?;
        let (_, end) = carried(context, taken)?;
        self.count(&id)?;
        match self.after(&id, end)? {
            Attempt::Over => Ok(()),
            Attempt::RunFailed(run, why) => Err(self.failed(&run, &why)),
            Attempt::NoPlan(error) => {
                self.set_status(Status::Failed, "no model gave a usable plan", None);
                Err(error)
            }
        }
    }

    /// Goes on with the result of a deliberation.
    pub(super) fn after(&mut self, id: &RunId, end: RunEnd) -> Result<Attempt, CommandError> {
        let context = self.context;
        self.output.deliberation = Some(id.to_string());
        let RunEnd::Completed(value) = end else {
            self.unfinished(id, &end)?;
            return Ok(Attempt::Over);
        };
        let verdict = Verdict::read(&value);
        self.output.take(&verdict);
        show_verdict(context.ui, &verdict);
        let Some(plan) = verdict.source.clone() else {
            "no-plan".clone_into(&mut self.output.outcome);
            for (model, _) in &verdict.failed {
                self.record_outcome(model, Outcome::NoPlan);
            }
            let error = CommandError::new(Exit::No, "no model gave a usable plan");
            let error = verdict.failed.iter().fold(error, |error, (model, why)| {
                error.cause(format!("{model}: {}", on_one_line(why)))
            });
            let error = error.hint("callosum audit query --event rejected");
            return Ok(Attempt::NoPlan(error));
        };
        if let Err(excess) = self.admit(&plan)? {
            "no-plan".clone_into(&mut self.output.outcome);
            self.record_outcome_of_plan(Outcome::NoPlan);
            let what = format!("the plan exceeds its proposal: {excess}");
            return Ok(Attempt::NoPlan(CommandError::new(Exit::No, what)));
        }
        if self.args.dry_run {
            "planned".clone_into(&mut self.output.outcome);
            if !context.ui.json {
                context.ui.foreign(&format!("{plan}\n"))?;
            }
            return Ok(Attempt::Over);
        }
        let next = verdict.next_run.as_deref().unwrap_or_default();
        let next: RunId = next.parse().map_err(CommandError::internal)?;
        // A run that cannot be read was begun, too: to begin it again could repeat its effects.
        let seals = LocalRun::of(context, &next).seals();
        let found = read_run(&history::reader(context), &next, seals);
        let failed = if matches!(found, Ok(None)) {
            self.approve(&format!("callosum do --resume {id}"), verdict.is_accepted)?;
            self.set_status(Status::Executing, "the plan was approved", Some(&next));
            let source = Source::named(plan.clone(), "the plan".to_owned());
            let end = self.begin(source, &next, &BTreeMap::new())?;
            self.ended(&next, &Source::named(plan, "the plan".to_owned()), end)?
        } else {
            let (source, end) = carried(context, take(context, next.as_str())?)?;
            self.count(&next)?;
            self.ended(&next, &source, end)?
        };
        Ok(failed.map_or(Attempt::Over, |(run, why)| Attempt::RunFailed(run, why)))
    }

    /// Reports a deliberation that did not come to a verdict.
    fn unfinished(&mut self, id: &RunId, end: &RunEnd) -> Result<(), CommandError> {
        let context = self.context;
        word(end).clone_into(&mut self.output.outcome);
        let resume = format!("callosum do --resume {id}");
        if *end == RunEnd::Stopped {
            let what = "the deliberation was interrupted";
            return Err(CommandError::new(Exit::Interrupted, what).hint(resume));
        }
        if matches!(end, RunEnd::Paused(_)) {
            let what = "a model call waits for your approval; then continue with";
            context.ui.note(what, Some(&resume));
        }
        let source = Source::named(DELIBERATE.to_owned(), "the deliberation".to_owned());
        if context.ui.json {
            let exit = code(end).unwrap_or(Exit::No);
            return Err(CommandError::new(
                exit,
                format!("the deliberation {id} ended early"),
            ));
        }
        render::tell(context, id, &source, end)
    }

    /// Asks the person, unless `--yes` says that the vote decides. `resume` is the command that asks again.
    pub(super) fn approve(&mut self, resume: &str, is_accepted: bool) -> Result<(), CommandError> {
        let context = self.context;
        if !is_accepted {
            self.record_outcome_of_plan(Outcome::Rejected);
        }
        if self.args.yes {
            if is_accepted {
                return Ok(());
            }
            "rejected".clone_into(&mut self.output.outcome);
            self.set_status(Status::Suspended, "the vote rejected the plan", None);
            let what = "the vote rejected the plan, so it was not started";
            return Err(CommandError::new(Exit::No, what).hint(resume));
        }
        let question = if is_accepted {
            "Run this plan?"
        } else {
            "The vote rejected this plan. Run it all the same?"
        };
        match agreement::ask(context, question)? {
            Agreement::Yes => Ok(()),
            Agreement::No => {
                "declined".clone_into(&mut self.output.outcome);
                self.record_outcome_of_plan(Outcome::Declined);
                self.set_status(Status::Suspended, "a person declined the plan", None);
                Err(CommandError::new(Exit::No, "the plan was not started").hint(resume))
            }
            Agreement::CannotAsk => {
                "waiting".clone_into(&mut self.output.outcome);
                self.set_status(Status::Suspended, "the plan waits for approval", None);
                Err(
                    CommandError::new(Exit::Waiting, "the plan waits for your approval")
                        .hint(format!("{resume} --yes")),
                )
            }
        }
    }

    /// Reports how the run of a plan ended. Returns its failure, which another plan may avoid.
    pub(super) fn ended(
        &mut self,
        id: &RunId,
        source: &Source,
        end: RunEnd,
    ) -> Result<Option<(RunId, Failure)>, CommandError> {
        self.output.run = Some(id.to_string());
        word(&end).clone_into(&mut self.output.outcome);
        match &end {
            RunEnd::Completed(value) => {
                self.set_status(Status::Completed, "the plan was completed", Some(id));
                self.record_outcome_of_plan(Outcome::Completed);
                self.store_plan(id, &source.text);
                self.output.value = Some(value.to_string());
                self.output.error = None;
                if !self.context.ui.json {
                    self.context.ui.foreign(&readable(value))?;
                    return Ok(None);
                }
            }
            RunEnd::Failed(failure) => {
                self.record_outcome_of_plan(Outcome::Failed);
                let place = failure.span.map(|span| source.line_and_column(span));
                self.output.error = Some(RunFailureOutput {
                    kind: failure.kind.to_string(),
                    message: failure.message.clone(),
                    hint: failure.hint.clone(),
                    line: place.map(|(line, _)| line),
                    column: place.map(|(_, column)| column),
                });
                if !self.context.ui.json {
                    source.tell_failure(failure, &self.context.ui);
                }
                return Ok(Some((id.clone(), failure.clone())));
            }
            _ => {}
        }
        if self.context.ui.json {
            let unfinished = |exit| CommandError::new(exit, format!("the run {id} is not over"));
            return code(&end).map_or(Ok(None), |exit| Err(unfinished(exit)));
        }
        render::tell(self.context, id, source, &end)?;
        Ok(None)
    }

    /// Records the end of the current plan, if a model of this deliberation proposed it.
    fn record_outcome_of_plan(&self, outcome: Outcome) {
        if let Some(model) = &self.output.model {
            self.record_outcome(model, outcome);
        }
    }

    /// Records the end of a model's plan, for later decisions. A failure to do so is a warning.
    fn record_outcome(&self, model: &str, outcome: Outcome) {
        // A stored plan says nothing about a model.
        let Some(run) = &self.output.deliberation else {
            return;
        };
        let record = GoalRecord::Outcome {
            run: run.clone(),
            model: model.to_owned(),
            outcome,
        };
        if let Err(error) = trail::record(self.context, &record) {
            let what = format!("cannot record the outcome: {}", error.one_line());
            self.context.ui.warn(&what, None);
        }
    }
}

/// The values of the parameters of a deliberation.
struct Input(Option<Value>);

impl Input {
    fn get(&self, name: &str) -> Option<&Value> {
        match &self.0 {
            Some(Value::Map(entries)) => entries.get(&Key::Text(name.into())),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let Some(Value::Vector(items)) = self.get(name) else {
            return Vec::new();
        };
        let text = |item: &Value| match item {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        };
        items.iter().filter_map(text).collect()
    }

    fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Value::Integer(number)) => *number,
            _ => 0,
        }
    }
}

fn word(end: &RunEnd) -> &'static str {
    match end {
        RunEnd::Completed(_) => "completed",
        RunEnd::Failed(_) => "failed",
        RunEnd::Cancelled => "canceled",
        RunEnd::Paused(_) => "waiting",
        RunEnd::Stopped => "stopped",
    }
}

/// Returns how the program exits, unless the run was completed.
fn code(end: &RunEnd) -> Option<Exit> {
    match end {
        RunEnd::Completed(_) => None,
        RunEnd::Failed(_) | RunEnd::Cancelled => Some(Exit::No),
        RunEnd::Paused(_) => Some(Exit::Waiting),
        RunEnd::Stopped => Some(Exit::Interrupted),
    }
}
