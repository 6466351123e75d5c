//! The guard's decisions of an overview, from the ends of the project's and the machine's journal.

use callosum_ledger::{AuditEvent, AuditReader, AuditRecord, Event, Journal, LedgerPaths, waiting};
use jiff::Timestamp;
use memchr::memmem;
use serde_json::Value;

use super::argv::{allow_once, command};
use super::{DecisionOutput, age, beginning};
use crate::context::Context;
use crate::guard::log::id;
use crate::{CommandError, audit, disk_errors};

/// Bytes at the end of a journal that are searched: a few milliseconds, however long the journal is.
const RECENT: u64 = 4 * 1024 * 1024;

/// Most decisions in an overview.
const MOST: usize = 50;

/// Most files that are named of a decision.
const MOST_PATHS: usize = 20;

/// The status that is left out, which most decisions have.
const ALLOWED: &str = "allowed";

/// Returns the last decisions about this tree, newest first.
pub(super) fn decisions(
    context: &Context,
    now: Timestamp,
) -> Result<Vec<DecisionOutput>, CommandError> {
    let tree = context.tree().to_string_lossy();
    let machine = Journal::Machine(context.project.homes.journal()).paths();
    let mut all = Vec::new();
    for (journal, paths) in [("machine", machine), ("project", context.ledger_paths())] {
        let is_here = |event: &AuditEvent| {
            let facts = event.details.get("facts");
            let root = facts.and_then(|facts| facts.get("root")?.as_str());
            journal == "project" || root.is_none_or(|root| root == tree)
        };
        for (id, event, at) in events(context, journal, &paths)? {
            if event.status.as_deref() != Some(ALLOWED) && is_here(&event) {
                all.push(decision(id, &event, at, now));
            }
        }
    }
    all.sort_by_key(|decision| decision.time);
    all.reverse();
    all.truncate(MOST);
    Ok(all)
}

/// Returns the last events of one journal, and those that wait for it, each with an id and its time.
fn events(
    context: &Context,
    journal: &str,
    paths: &LedgerPaths,
) -> Result<Vec<(String, AuditEvent, Timestamp)>, CommandError> {
    // Before the journal is read: an event that moves into it in between would be in neither otherwise.
    let buffered = waiting(&context.disk, paths);
    let buffered = buffered.map_err(|error| disk_errors::disk_failed(&error))?;
    let kind = format!("\"{}\"", Event::Guard);
    let kind = memmem::Finder::new(&kind);
    let allowed = memmem::Finder::new("\"status\": \"allowed\"");
    let is_wanted = |line: &[u8]| kind.find(line).is_some() && allowed.find(line).is_none();
    let reader = AuditReader::new(context.disk.clone(), paths.clone());
    let records = reader.recent_of(RECENT, &is_wanted);
    let records = records.map_err(|error| audit::unreadable(&error))?;
    let mut found = Vec::new();
    let mut moved = Vec::new();
    for record in records {
        if record.event == Event::Guard.as_str() {
            moved.extend(id(&record.details));
            found.push(of_record(journal, record));
        }
    }
    let buffered = buffered.into_iter().enumerate();
    for (number, (event, at)) in buffered {
        let own = id(&event.details);
        let is_in_both = own.as_ref().is_some_and(|own| moved.contains(own));
        if event.event == Event::Guard && !is_in_both {
            let own = own.unwrap_or_else(|| number.to_string());
            found.push((format!("buffer:{own}"), event, at));
        }
    }
    Ok(found)
}

fn of_record(journal: &str, record: AuditRecord) -> (String, AuditEvent, Timestamp) {
    let id = format!("{journal}:{}", record.seq);
    let event = AuditEvent {
        executor: record.executor,
        status: record.status,
        details: record.details,
        ..AuditEvent::new(Event::Guard)
    };
    (id, event, record.timestamp)
}

fn decision(id: String, event: &AuditEvent, at: Timestamp, now: Timestamp) -> DecisionOutput {
    let text = |key: &str| event.details.get(key).and_then(Value::as_str);
    let paths = event.details.get("paths").and_then(Value::as_array);
    let paths = paths.into_iter().flatten().filter_map(Value::as_str);
    let verdict = event.status.clone().unwrap_or_default();
    let line = text("command");
    let is_refused = matches!(&*verdict, "asked" | "blocked");
    let mut commands = Vec::new();
    if let Some(line) = line.filter(|_| is_refused) {
        commands.extend(allow_once(line).filter(|_| verdict == "asked"));
        commands.push(command("explain", &["guard", "explain", "--", line]));
    }
    DecisionOutput {
        id,
        at: at.to_string(),
        age_seconds: age(at, now),
        agent: event.executor.clone(),
        session_id: text("session_id").map(str::to_owned),
        verdict,
        command: line.or_else(|| text("pattern")).map(beginning),
        paths: paths.take(MOST_PATHS).map(beginning).collect(),
        rule: text("rule").map(str::to_owned),
        reason: text("reason").map(beginning),
        alternative: text("alternative").map(beginning),
        commands,
        time: at,
    }
}
