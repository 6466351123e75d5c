//! The calls of plans that wait for a person, in an overview.

use callosum_plan_run::run::RunId;
use jiff::Timestamp;

use super::argv::command;
use super::{WaitingItemOutput, age, beginning};
use crate::CommandError;
use crate::context::Context;
use crate::plan::local_run::LocalRun;
use crate::plan::render::WaitingOutput;
use crate::plan::{history, lock};

/// Returns the calls of this project's runs that wait for an approval, or whose outcome a person has to supply.
///
/// Reads the journal only if a run that was begun in this folder has not ended.
pub(super) fn waiting_calls(
    context: &Context,
    now: Timestamp,
) -> Result<Vec<WaitingItemOutput>, CommandError> {
    if !LocalRun::any_is_of_here(context)? {
        return Ok(Vec::new());
    }
    let mut items = Vec::new();
    for read in history::read_all(context)?.runs {
        let state = &read.state;
        if state.ended().is_some() || lock::is_held(context, state.run()) {
            continue;
        }
        for call in state.open_calls().filter(|call| call.needs_person()) {
            let shown = if state.waits_for_person(call) {
                WaitingOutput::of(context, call)
            } else {
                WaitingOutput::unasked(context, call)
            };
            items.push(item(state.run(), &shown, call.since, now));
        }
    }
    Ok(items)
}

fn item(run: &RunId, call: &WaitingOutput, since: Timestamp, now: Timestamp) -> WaitingItemOutput {
    let (run, key) = (run.as_str(), call.key.as_str());
    let arguments = call.arguments.as_deref().unwrap_or("(arguments are gone)");
    let show = command("show", &["plan", "show", run]);
    let commands = if call.blocked_by == "approval" {
        vec![
            command("approve", &["plan", "approve", run, key]),
            command("deny", &["plan", "approve", run, key, "--refuse"]),
            show,
        ]
    } else {
        vec![
            command("resume", &["plan", "resume", run]),
            command("cancel", &["plan", "cancel", run]),
            show,
        ]
    };
    WaitingItemOutput {
        kind: "plan_call",
        id: format!("{run} {key}"),
        title: beginning(&format!("{} {arguments}", call.capability)),
        detail: Some(beginning(&call.question)),
        agent: None,
        since: since.to_string(),
        age_seconds: age(since, now),
        commands,
    }
}
