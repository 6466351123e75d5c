//! Runs of plans: what each was asked for, and the chain of calls and answers that it came to.

use std::collections::HashSet;
use std::path::PathBuf;

use callosum_ledger::{Event, SearchPlace, Searched};
use callosum_memory::{Memory, Record, RecordKind, Speaker, Turn, UpdateReport};
use callosum_plan_run::run::{ActionKind, ActionNode, ReadRun, tree_of};
use serde::{Deserialize, Serialize};

use super::{RecordError, Stamp, StoreUpdate};
use crate::context::Context;
use crate::plan::history;

/// Most turns of a run.
const MOST_TURNS: usize = 400;

/// Place up to which a journal was searched.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Place {
    searched: SearchPlace,
}

/// Returns the folder of the journal and its last file.
pub(super) fn files(context: &Context) -> Vec<PathBuf> {
    let audit = context.ledger_paths().audit;
    let days = context.disk.list_dir(&audit).unwrap_or_default();
    let last = days.into_iter().map(|entry| entry.name).max();
    let last = last.map(|name| audit.join(name));
    [audit].into_iter().chain(last).collect()
}

/// Reads the runs, if the journal has new records of plans.
///
/// The journal also has each decision of the guard: those are searched through once, and not read.
pub(super) fn gather(
    update: StoreUpdate<'_>,
    memory: &mut Memory,
) -> Result<UpdateReport, RecordError> {
    let StoreUpdate {
        context,
        scope,
        name,
        before,
        watched,
    } = update;
    let reader = history::reader(context);
    let Place { mut searched } = before.and_then(Stamp::place).unwrap_or_default();
    let mut no_limit = u64::MAX;
    let result = reader.search_on(Event::Plan, &mut searched, &mut no_limit);
    let result = result.map_err(|error| RecordError::store(&error))?;
    if matches!(result, Searched::None | Searched::Unfinished) && before.is_some() {
        return memory.write_records(scope, name, |_| {
            Ok(Stamp::new(watched, &Place { searched }).text())
        });
    }
    let searched = reader.of_event(Event::Plan, |_| {});
    let searched = searched.map_err(|error| RecordError::store(&error))?;
    let runs = history::read_all(context);
    let runs = runs.map_err(|error| RecordError::Store(error.one_line()))?;
    let folder = context.tree().to_str().map(str::to_owned);
    memory.write_records(scope, name, |writer| {
        let ids: HashSet<String> = runs
            .runs
            .iter()
            .map(|read| read.state.run().to_string())
            .collect();
        for read in &runs.runs {
            writer.put(record(read, folder.clone()))?;
        }
        // A run whose records do not add up is no run.
        writer.keep(&ids)?;
        Ok(Stamp::new(watched, &Place { searched }).text())
    })
}

fn record(read: &ReadRun, folder: Option<String>) -> Record {
    let state = &read.state;
    let started = state.started();
    let begun = Some(state.begun());
    let source = started.source.text.as_deref().unwrap_or_default();
    let request = match started.input.text.as_deref() {
        Some(input) if input != "{}" => format!("{source}\n{input}"),
        _ => source.to_owned(),
    };
    let mut turns: Vec<Turn> = Turn::new(Speaker::User, begun, &request)
        .into_iter()
        .collect();
    let tree = tree_of(state, &[], false);
    let mut shown = Vec::new();
    flatten(&tree, &mut shown);
    shown.truncate(MOST_TURNS);
    let changed = Some(state.changed());
    turns.extend(
        shown
            .iter()
            .filter_map(|(speaker, text)| Turn::new(*speaker, changed, text)),
    );
    Record {
        kind: RecordKind::Plan,
        id: state.run().to_string(),
        part: "",
        folder,
        title: started.plan.clone(),
        turns,
    }
}

/// Adds what an action and those below it say. Recurs as deep as steps nest, which the language bounds.
fn flatten(node: &ActionNode, shown: &mut Vec<(Speaker, String)>) {
    let detail = node.detail.as_deref().unwrap_or_default();
    let name = &node.name;
    match node.kind {
        ActionKind::Call => shown.push((Speaker::Call, format!("{name} {detail}"))),
        ActionKind::Answer if name == "failure" => {
            shown.push((Speaker::Failure, detail.to_owned()));
        }
        ActionKind::Answer => shown.push((Speaker::Agent, detail.to_owned())),
        ActionKind::Ruling if name != "approved" => {
            shown.push((Speaker::Agent, format!("{name}: {detail}")));
        }
        ActionKind::Plan | ActionKind::Step if !detail.is_empty() => {
            shown.push((Speaker::Summary, format!("{name}: {detail}")));
        }
        _ => {}
    }
    for child in &node.children {
        flatten(child, shown);
    }
}
