//! `callosum plan show`: one run, what it waits for, and its causal chain.

use std::fmt::Write as _;

use callosum_arbiter::budget::Money;
use callosum_plan_run::run::{ActionKind, ActionNode, ReadRun};
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::plan::list::RunSummaryOutput;
use crate::plan::render::{RunFailureOutput, WaitingOutput};

/// Most characters of the detail next to an action.
const SHOWN: usize = 100;

/// Output of `plan show --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanShowOutput {
    /// The summary of the run.
    #[serde(flatten)]
    pub summary: RunSummaryOutput,
    /// The hash of the plan's source.
    pub plan_sha256: String,
    /// The capabilities that it may call.
    pub capabilities: Vec<String>,
    /// The hash of the constitution that it was last governed by.
    pub constitution: String,
    /// Milliseconds that its calls took together.
    pub elapsed_ms: u64,
    /// Tokens of models that its calls used.
    pub tokens: u64,
    /// US dollars that its calls cost, as far as executors report it.
    pub cost_usd: f64,
    /// Tokens that its calls may use; null if there is no limit.
    pub max_tokens: Option<u64>,
    /// US dollars that they may cost.
    pub max_cost_usd: Option<f64>,
    /// Milliseconds that they may take together.
    pub max_elapsed_ms: Option<u64>,
    /// The value in the language's notation, where it has one; null also where that is long.
    pub value: Option<String>,
    /// Failure.
    pub error: Option<RunFailureOutput>,
    /// The calls that wait for a person.
    pub blocked_by: Vec<WaitingOutput>,
    /// The causal chain.
    pub tree: ActionOutput,
}

impl PlanShowOutput {
    /// Returns the resources that its calls used up, each with its cap if there is one.
    pub fn spent(&self) -> String {
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
pub struct ActionOutput {
    /// `plan`, `step`, `checkpoint`, `call`, `ruling`, `task` or `answer`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Its state, in a word; of a ruling, the policies that decided; of an answer `made`, `found` by
    /// its key after an interruption, or `said` by a person.
    pub standing: String,
    /// Details: arguments, a value, a reason.
    pub detail: Option<String>,
    /// The key, of a call.
    pub key: Option<String>,
    /// Milliseconds that its provider took, of an answer.
    pub elapsed_ms: Option<u64>,
    /// Actions that it caused, in order.
    pub children: Vec<ActionOutput>,
}

impl ActionOutput {
    /// Returns what is printed about a call and those below it.
    pub fn of(node: ActionNode) -> Self {
        Self {
            kind: word(node.kind).to_owned(),
            name: node.name,
            standing: node.standing,
            detail: node.detail,
            key: node.key.map(|key| key.to_string()),
            elapsed_ms: node.elapsed_ms,
            children: node.children.into_iter().map(Self::of).collect(),
        }
    }

    /// Draws an action and its children. Returns whether a detail was cut.
    pub fn draw(&self, depth: usize, out: &mut String) -> bool {
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

/// Returns a run with its steps and calls.
pub fn output(
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
