//! [`Way`]: one goal, from its sentence to the result of its plan.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use callosum_app::agreement::Agreement;
use callosum_app::goal::{
    DELIBERATE, Deliberation, DoOutput, Prepared, Verdict, Wanted, allowed, goal, of_template,
    readable,
};
use callosum_app::intent;
use callosum_app::plan::carry::{self, answers};
use callosum_app::plan::history;
use callosum_app::plan::outcome::RunFailureOutput;
use callosum_app::plan::own::OwnRun;
use callosum_app::plan::provider::model;
use callosum_app::plan::source::Source;
use callosum_app::{CommandError, Exit, many};
use callosum_arbiter::plan_run::{CallStanding, RunEnd, RunId, RunState, Spent, read_run, text_of};
use callosum_evidence::terminal_escape::on_one_line;
use callosum_intent::graph::{IntentId, NewIntent, Status};
use callosum_intent::template::{self, TEMPLATES, Template};
use callosum_plan::{CompileOptions, Failure, Key, Limits, Value, compile};

use super::DoArgs;
use super::verdict::show_verdict;
use crate::cli::agreement;
use crate::cli::context::Context;
use crate::cli::plan::carry::{begun, carried, take};
use crate::cli::plan::outcome;

/// Plans for one goal: the first, and another one if its run fails.
const ATTEMPTS: u32 = 2;

/// Longest account of a failed run that models get, in characters.
const ACCOUNT: usize = 4_000;

/// One goal on its way.
pub(super) struct Way<'a> {
    context: &'a Context,
    args: &'a DoArgs,
    output: DoOutput,
    spent: Spent,
    /// The intent of the goal, once it is recorded.
    intent: Option<IntentId>,
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
        }
    }

    /// Goes as far as the models and the person let it, and prints the result.
    pub(super) fn run(mut self) -> Result<(), CommandError> {
        let done = self.go();
        self.output.tokens = self.spent.tokens;
        self.output.cost_usd = self.spent.cost.to_dollars();
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
        self.output.goal = goal(args.goal.as_deref().unwrap_or_default())?;
        if let Some(template) = args.template {
            return self.run_template(template);
        }
        let wanted = Wanted {
            planners: args.planners.clone(),
            reviewers: args.reviewers.clone(),
            is_unreviewed: args.no_review,
        };
        let Some(deliberation) = Deliberation::of(context, &self.output.goal, &wanted)? else {
            return match template::best(&self.output.goal) {
                Some(template) => {
                    let (why, hint) = if model::models(context)?.is_empty() {
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
                None => Err(no_model()),
            };
        };
        let caps = allowed(context, &args.caps)?;
        let intent = self.record_intent()?;
        let mut failure = None;
        for attempt in 1..=ATTEMPTS {
            let id = new_id(context)?;
            let next = new_id(context)?;
            let goal = self.output.goal.clone();
            let bounds = (caps.as_slice(), args.max_calls);
            let ids = (intent.as_str(), &next);
            let input = deliberation.input(&goal, bounds, ids, failure.as_deref());
            let end = self.deliberate(&id, &input, &deliberation)?;
            let failed = self.after(&id, end)?;
            let Some((run, why)) = failed else {
                return Ok(());
            };
            if attempt == ATTEMPTS {
                return Err(self.failed(&run, &why));
            }
            self.set_status(Status::Active, "another plan follows", Some(&run));
            let what = format!(
                "the run failed ({}); the models get what happened",
                why.kind
            );
            context.ui.note(&what, None);
            failure = Some(account(context, &run, &why)?);
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
    fn begin(
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
        let options = CompileOptions {
            provided: Some(carry::provided(context)?),
            ..CompileOptions::default()
        };
        let program = compile(&source.text, &options).map_err(|findings| {
            source.tell(&findings, &*context.report);
            let count = many(findings.len() as u64, "reason");
            CommandError::new(Exit::No, format!("the plan was rejected for {count}"))
        })?;
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

    /// Adds what a run has used.
    fn count(&mut self, id: &RunId) -> Result<RunState, CommandError> {
        let state = history::run_of(self.context, id.as_str())?.state;
        let spent = state.spent();
        self.spent.tokens += spent.tokens;
        self.spent.cost.0 += spent.cost.0;
        self.spent.elapsed_ms += spent.elapsed_ms;
        Ok(state)
    }

    /// Continues a deliberation that an earlier process began, and the run of its plan.
    fn resume(&mut self, id: &str) -> Result<(), CommandError> {
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
        let input = input.and_then(|input| Value::read(&input).ok());
        let text = |name: &str| match &input {
            Some(Value::Map(entries)) => match entries.get(&Key::Text(name.into())) {
                Some(Value::Text(text)) => Some(text.to_string()),
                _ => None,
            },
            _ => None,
        };
        self.output.goal = text("goal").unwrap_or_default();
        self.output.intent = text("intent");
        self.intent = text("intent").and_then(|intent| intent.parse().ok());
        let (_, end) = carried(context, taken)?;
        self.count(&id)?;
        match self.after(&id, end)? {
            None => Ok(()),
            Some((run, why)) => Err(self.failed(&run, &why)),
        }
    }

    /// Records the goal as an intent.
    fn record_intent(&mut self) -> Result<String, CommandError> {
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
    fn set_status(&self, to: Status, reason: &str, run: Option<&RunId>) {
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
    fn failed(&self, run: &RunId, why: &Failure) -> CommandError {
        self.set_status(Status::Failed, &why.message, Some(run));
        run_failed(run, why)
    }

    /// Goes on with the result of a deliberation. Returns the failure of the plan's run, if it failed.
    fn after(&mut self, id: &RunId, end: RunEnd) -> Result<Option<(RunId, Failure)>, CommandError> {
        let context = self.context;
        self.output.deliberation = Some(id.to_string());
        let RunEnd::Completed(value) = end else {
            word(&end).clone_into(&mut self.output.outcome);
            let resume = format!("callosum do --resume {id}");
            if end == RunEnd::Stopped {
                let what = "the deliberation was interrupted";
                return Err(CommandError::new(Exit::Interrupted, what).hint(resume));
            }
            if matches!(end, RunEnd::Paused(_)) {
                let what = "a model call waits for your approval; then continue with";
                context.ui.note(what, Some(&resume));
            }
            let source = Source::named(DELIBERATE.to_owned(), "the deliberation".to_owned());
            if context.ui.json {
                let exit = code(&end).unwrap_or(Exit::No);
                return Err(CommandError::new(
                    exit,
                    format!("the deliberation {id} ended early"),
                ));
            }
            outcome::tell(context, id, &source, &end)?;
            return Ok(None);
        };
        let verdict = Verdict::read(&value);
        self.output.take(&verdict);
        show_verdict(context.ui, &verdict);
        let Some(plan) = verdict.source.clone() else {
            "no-plan".clone_into(&mut self.output.outcome);
            self.set_status(Status::Failed, "no model gave a usable plan", None);
            let error = CommandError::new(Exit::No, "no model gave a usable plan");
            let error = verdict.failed.iter().fold(error, |error, (model, why)| {
                error.cause(format!("{model}: {}", on_one_line(why)))
            });
            return Err(error.hint("callosum audit query --event rejected"));
        };
        if self.args.dry_run {
            "planned".clone_into(&mut self.output.outcome);
            if !context.ui.json {
                context.ui.foreign(&format!("{plan}\n"))?;
            }
            return Ok(None);
        }
        let next = verdict.next_run.as_deref().unwrap_or_default();
        let next: RunId = next.parse().map_err(CommandError::internal)?;
        // A run that cannot be read was begun, too: to begin it again could repeat its effects.
        let seals = OwnRun::of(context, &next).seals();
        let found = read_run(&history::reader(context), &next, seals);
        if !matches!(found, Ok(None)) {
            let (source, end) = carried(context, take(context, next.as_str())?)?;
            self.count(&next)?;
            return self.ended(&next, &source, end);
        }
        self.approve(id, verdict.is_accepted)?;
        self.set_status(Status::Executing, "the plan was approved", Some(&next));
        let source = Source::named(plan.clone(), "the plan".to_owned());
        let end = self.begin(source, &next, &BTreeMap::new())?;
        self.ended(&next, &Source::named(plan, "the plan".to_owned()), end)
    }

    /// Asks the person, unless `--yes` says that the vote decides.
    fn approve(&mut self, id: &RunId, is_accepted: bool) -> Result<(), CommandError> {
        let context = self.context;
        let resume = format!("callosum do --resume {id}");
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
    fn ended(
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
                self.output.value = Some(value.to_string());
                if !self.context.ui.json {
                    self.context.ui.foreign(&readable(value))?;
                    return Ok(None);
                }
            }
            RunEnd::Failed(failure) => {
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
        outcome::tell(self.context, id, source, &end)?;
        Ok(None)
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
        self.set_status(Status::Executing, "a built-in plan runs", Some(&id));
        let end = self.begin(Source::named(source.clone(), name.clone()), &id, &input)?;
        match self.ended(&id, &Source::named(source, name), end)? {
            None => Ok(()),
            Some((run, why)) => Err(self.failed(&run, &why)),
        }
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

fn new_id(context: &Context) -> Result<RunId, CommandError> {
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

/// Returns what happened in a failed run, for the models: its failure, and each call with its end.
fn account(context: &Context, run: &RunId, why: &Failure) -> Result<String, CommandError> {
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
