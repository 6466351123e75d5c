//! Arguments and output of `callosum intent show`.
//!
//! The use case is [`callosum_app::intent::read`].

use std::fmt::Write as _;

use callosum_app::intent::output::{FormulationOutput, StatusChangeOutput};
use callosum_app::intent::{IntentOutput, find, read};
use callosum_app::{CommandError, many};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;
use crate::ui::shown_time;

/// Show an intent: its goal, constraints, relations, conflicts, links and history
///
/// Proposes to complete an intent that is at work if all its tasks and beads are done.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent show 0f3a
  $ callosum intent show 0f3a --json")]
pub(crate) struct ShowArgs {
    /// Id of the intent, or its beginning
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let graph = read(context)?;
    let output = IntentOutput::of(context, &graph, find(&graph, &args.id)?);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.read_by_all(&shown(&output))
}

/// Returns the intent as lines of a field and a value.
fn shown(output: &IntentOutput) -> String {
    let mut text = String::new();
    let mut row = |field: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{field:<14}{}", on_one_line(value));
        }
    };
    row("intent", &output.id);
    row("name", &output.name);
    row("goal", &output.goal);
    row("status", &output.status);
    row("priority", &output.priority.to_string());
    for (field, terms) in [
        ("constraint", &output.constraints),
        ("preference", &output.preferences),
    ] {
        for (key, values) in terms {
            for value in values {
                row(field, &format!("{key}: {value}"));
            }
        }
    }
    for criterion in &output.success_criteria {
        row("reached if", criterion);
    }
    row("parent", output.parent.as_deref().unwrap_or_default());
    row("children", &output.children.join(" "));
    row("waits for", &output.waits_for.join(" "));
    for relation in &output.relations {
        // Its parent and its children have rows of their own.
        if relation.relation != "is_subgoal_of" {
            let weight = match relation.weight {
                100 => String::new(),
                percent => format!(" ({percent} %)"),
            };
            let relation = format!("{} {} {}", relation.from, relation.relation, relation.to);
            row("relation", &format!("{relation}{weight}"));
        }
    }
    for conflict in &output.conflicts {
        let paths = conflict.paths.join(" ");
        let shown = format!("{} with {} {paths}", conflict.kind, conflict.with);
        row("conflict", shown.trim_end());
    }
    for link in &output.links {
        let title = link.title.as_deref().unwrap_or_default();
        row("linked", format!("{} {title}", link.line()).trim_end());
    }
    if let Some(status) = &output.proposed_status {
        let id = &output.id;
        let command = format!("callosum intent status {id} {status}");
        row("proposed", &format!("all its links are done: {command}"));
    }
    row("triggered by", &output.triggered_by);
    row("created", &shown_time(&output.created));
    row("updated", &shown_time(&output.updated));
    for (field, value) in [
        ("agent", &output.provenance.agent),
        ("run", &output.provenance.run),
        ("branch", &output.provenance.branch),
    ] {
        row(field, value.as_deref().unwrap_or_default());
    }
    if let Some(formulation) = &output.formulation {
        row("formulated", &formulated(formulation));
    }
    for change in &output.history {
        row("history", &changed(change));
    }
    text
}

fn formulated(formulation: &FormulationOutput) -> String {
    let FormulationOutput { model, tokens, .. } = formulation;
    let who = match formulation.fell_back {
        Some(_) => format!("by rules, after {model}"),
        None => format!("by {model}"),
    };
    let attempts = many(formulation.attempts, "attempt");
    let (dollars, micro) = (
        formulation.cost_microdollars / 1_000_000,
        formulation.cost_microdollars % 1_000_000,
    );
    format!("{who}: {attempts}, {tokens} tokens, {dollars}.{micro:06} USD")
}

fn changed(change: &StatusChangeOutput) -> String {
    let mut text = format!(
        "{} {} -> {}",
        shown_time(&change.at),
        change.from,
        change.to
    );
    if !change.reason.is_empty() {
        let _ = write!(text, ": {}", change.reason);
    }
    if let Some(run) = &change.run {
        let _ = write!(text, " (run {run})");
    }
    text
}
