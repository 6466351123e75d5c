//! `callosum plan show`: one run, what it waits for, and its causal chain.

use std::fmt::Write as _;

use callosum_arbiter::{
    budget::Money,
    plan_run::{ActionKind, ActionNode, ReadRun, tree_of},
};
use callosum_evidence::terminal::on_one_line;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    delegated::delegated_tasks,
    history,
    list::RunSummaryOutput,
    lock,
    outcome::{RunFailureOutput, WaitingOutput},
};
use crate::{cli::context::Context, ui::CommandError};

/// Most characters of what stands beside an action.
const SHOWN: usize = 100;

/// Show a run: its state, its calls and what it waits for
///
/// Prints all arguments of a call that waits for a person.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan show 0f3a
  $ callosum plan show 0f3a --tree")]
pub(crate) struct ShowArgs {
    /// Id of the run, or its beginning
    #[arg(value_name = "ID")]
    run: String,
    /// Show the causal chain: plan, steps, calls, decisions and results
    #[arg(long)]
    tree: bool,
}

/// What `plan show --json` prints.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::cli) struct PlanShowOutput {
    #[serde(flatten)]
    summary: RunSummaryOutput,
    /// The hash of the plan's source.
    plan_sha256: String,
    /// The capabilities that it may call.
    capabilities: Vec<String>,
    /// The hash of the constitution that it was last governed by.
    constitution: String,
    /// Milliseconds that its calls took together.
    elapsed_ms: u64,
    /// Tokens of models that its calls used.
    tokens: u64,
    /// US dollars that its calls cost, as far as anybody says.
    cost_usd: f64,
    /// Tokens that its calls may use; null where nothing was said.
    max_tokens: Option<u64>,
    /// US dollars that they may cost.
    max_cost_usd: Option<f64>,
    /// Milliseconds that they may take together.
    max_elapsed_ms: Option<u64>,
    /// The value in the language's notation, where it has one; null also where that is long.
    value: Option<String>,
    /// Why it failed.
    error: Option<RunFailureOutput>,
    /// The calls that wait for a person.
    blocked_by: Vec<WaitingOutput>,
    /// The causal chain.
    tree: ActionOutput,
}

impl PlanShowOutput {
    /// What its calls used up, each with its cap where there is one.
    fn spent(&self) -> String {
        let of = |cap: Option<String>| cap.map_or_else(String::new, |cap| format!(" of {cap}"));
        let tokens = of(self.max_tokens.map(|most| most.to_string()));
        let cost = of(self
            .max_cost_usd
            .map(|most| Money::of_dollars(most).to_string()));
        let elapsed = of(self.max_elapsed_ms.map(|most| format!("{most} ms")));
        let spent = Money::of_dollars(self.cost_usd);
        format!(
            "{}{tokens} tokens, {spent}{cost}, {} ms{elapsed}",
            self.tokens, self.elapsed_ms
        )
    }
}

/// One action of the causal chain.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ActionOutput {
    /// `plan`, `step`, `checkpoint`, `call`, `ruling`, `task` or `answer`.
    kind: String,
    /// What it is called.
    name: String,
    /// How it stands, in a word; of a ruling, the policies that decided; of an answer `made`, `found` by
    /// its key after an interruption, or `said` by a person.
    standing: String,
    /// What else there is to say of it: arguments, a value, a reason.
    detail: Option<String>,
    /// The key, of a call.
    key: Option<String>,
    /// What it caused, in order.
    children: Vec<ActionOutput>,
}

impl ActionOutput {
    fn of(node: ActionNode) -> Self {
        Self {
            kind: word(node.kind).to_owned(),
            name: node.name,
            standing: node.standing,
            detail: node.detail,
            key: node.key.map(|key| key.to_string()),
            children: node.children.into_iter().map(Self::of).collect(),
        }
    }

    /// Says whether something that stands beside an action was cut.
    fn draw(&self, depth: usize, out: &mut String) -> bool {
        let indent = "  ".repeat(depth);
        let detail = self.detail.as_deref().map(on_one_line).unwrap_or_default();
        let mut short: String = detail.chars().take(SHOWN).collect();
        let mut is_cut = short.len() < detail.len();
        if is_cut {
            short.push('…');
        }
        let Self {
            kind,
            name,
            standing,
            ..
        } = self;
        let line = match kind.as_str() {
            "call" => format!("{name} {short} ({standing})"),
            "ruling" => format!("{name} by {standing}: {short}"),
            "answer" if standing == "said" => format!("{name} (from a person) {short}"),
            "answer" if standing == "found" => format!("{name} (found by its key) {short}"),
            "answer" => format!("{name} {short}"),
            _ if short.is_empty() => format!("{kind} {name} ({standing})"),
            _ => format!("{kind} {name} ({standing}) {short}"),
        };
        let _ = writeln!(out, "{indent}{}", on_one_line(&line));
        for child in &self.children {
            is_cut |= child.draw(depth + 1, out);
        }
        is_cut
    }
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let read = history::run_of(context, &args.run)?;
    history::warn_of_foreign(context, &read);
    let state = &read.state;
    let tasks = delegated_tasks(context, state.begun())?;
    let is_running = state.ended().is_none() && lock::is_held(context, state.run());
    let tree = ActionOutput::of(tree_of(state, &tasks, is_running));
    let output = output(context, &read, is_running, tree);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut text = String::new();
    let mut is_cut = false;
    if args.tree {
        is_cut = output.tree.draw(0, &mut text);
    } else {
        let rows = [
            ("run", state.run().to_string()),
            ("plan", output.tree.name.clone()),
            ("standing", output.tree.standing.clone()),
            ("begun", state.begun().to_string()),
            (
                "calls",
                format!(
                    "{} of {} answered",
                    state.answer_count(),
                    state.calls().len()
                ),
            ),
            ("spent", output.spent()),
            (
                "value",
                match &output.value {
                    Some(value) => value.clone(),
                    None if state
                        .ended()
                        .is_some_and(|ended| ended.answer.value.is_some()) =>
                    {
                        format!("long; `callosum plan resume {}` prints it", state.run())
                    }
                    None => "-".to_owned(),
                },
            ),
        ];
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<10}{}", on_one_line(&value));
        }
        if let Some(error) = &output.error {
            let _ = writeln!(
                text,
                "{:<10}{}: {}",
                "failure",
                error.kind,
                on_one_line(&error.message)
            );
        }
        for waiting in &output.blocked_by {
            let _ = write!(text, "\n{}", waiting.text(state.run()));
        }
    }
    context.ui.read_by_all(&text)?;
    if is_cut {
        let run = state.run();
        let what = format!(
            "lines that end in … are truncated; the full text: callosum plan show {run} --tree \
             --json"
        );
        context.report.say(&what);
    }
    Ok(())
}

fn output(
    context: &Context,
    read: &ReadRun,
    is_running: bool,
    tree: ActionOutput,
) -> PlanShowOutput {
    let state = &read.state;
    let ended = state.ended().map(|ended| &ended.answer);
    let failure = ended.and_then(|answer| answer.failure.as_ref());
    let caps = state.started().caps;
    let waits = state.open_calls().filter(|call| call.needs_person());
    PlanShowOutput {
        summary: RunSummaryOutput::of(context, read),
        plan_sha256: state.started().source_sha256.to_string(),
        capabilities: state.started().capabilities.clone(),
        constitution: state.constitution().hash.clone(),
        elapsed_ms: state.spent().elapsed_ms,
        tokens: state.spent().tokens,
        cost_usd: state.spent().cost.to_dollars(),
        max_tokens: caps.tokens,
        max_cost_usd: caps.cost.map(Money::to_dollars),
        max_elapsed_ms: caps.milliseconds,
        value: ended
            .and_then(|answer| answer.value.as_ref())
            .and_then(|value| value.text.clone()),
        error: failure.map(|failure| RunFailureOutput {
            kind: failure.kind.clone(),
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            line: None,
            column: None,
        }),
        blocked_by: if is_running || state.ended().is_some() {
            Vec::new()
        } else {
            let waiting = waits.map(|call| {
                if state.waits_for_person(call) {
                    WaitingOutput::of(context, call)
                } else {
                    WaitingOutput::unasked(context, call)
                }
            });
            waiting.collect()
        },
        tree,
    }
}

fn word(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Plan => "plan",
        ActionKind::Step => "step",
        ActionKind::Checkpoint => "checkpoint",
        ActionKind::Call => "call",
        ActionKind::Ruling => "ruling",
        ActionKind::Task => "task",
        ActionKind::Answer => "answer",
    }
}
