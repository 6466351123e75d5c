//! Records of intents in the audit journal: the change as an event, and the graph from all events.
//!
//! A record of the kind `intent` has the change's kind as its status and its fields as details. The format:
//! `docs/formats/intents.md`. The graph is what the records give in their order: one that does not fit those before it counts
//! for nothing, in every process alike, so of two processes that change the same intent at once the first record wins.

use callosum_host::Disk;
use callosum_intent::graph::{Change, ChangeError, Graph};
use callosum_ledger::{
    AuditEvent, AuditReadError, AuditReader, AuditRecord, Event, LedgerPaths, SearchPlace,
};
use serde_json::Value;

use crate::context::Context;
use crate::{CommandError, Exit};

/// The format of the records.
pub const FORMAT: u64 = 1;

/// The graph, and the records that did not make it.
#[derive(Debug, Default)]
pub struct ReadIntents {
    /// The graph.
    pub graph: Graph,
    /// Records that do not fit those before them, or are not readable.
    pub passed_over: Vec<PassedOver>,
    /// The place in the journal up to which it was read.
    pub place: SearchPlace,
}

/// A record that counts for nothing.
#[derive(Debug)]
pub struct PassedOver {
    /// The journal's number of the record.
    pub seq: u64,
    /// The id of the change, as its writer named it.
    pub change: Option<String>,
    /// The reason.
    pub why: PassedOverReason,
}

/// The reason why a record counts for nothing.
#[derive(Debug, thiserror::Error)]
pub enum PassedOverReason {
    /// It is not readable as a change of intents.
    #[error("it is not readable: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It does not fit the records before it.
    #[error(transparent)]
    Unfitting(#[from] ChangeError),
}

/// Makes the event of a change; `change_id` tells it from an equal change of another process.
pub fn event(change: &Change, change_id: &str) -> Result<AuditEvent, serde_json::Error> {
    let mut details = match serde_json::to_value(change)? {
        Value::Object(details) => details,
        other => unreachable!("a change is a map: {other}"),
    };
    // The status of the record has it.
    details.remove("kind");
    details.insert("format".to_owned(), FORMAT.into());
    details.insert("change".to_owned(), change_id.into());
    Ok(AuditEvent {
        status: Some(change.kind().to_owned()),
        details,
        ..AuditEvent::new(Event::Intent)
    })
}

/// Reads the graph from the journal.
pub fn read(context: &Context) -> Result<ReadIntents, CommandError> {
    read_from(&context.disk, &context.ledger_paths()).map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read the intents", &error)
            .hint("callosum audit verify")
    })
}

/// Reads the graph from the journal of a ledger.
pub fn read_from(disk: &Disk, paths: &LedgerPaths) -> Result<ReadIntents, AuditReadError> {
    let reader = AuditReader::new(disk.clone(), paths.clone());
    let mut read = ReadIntents::default();
    let place = reader.of_event(Event::Intent, |record| read.take(record))?;
    Ok(ReadIntents { place, ..read })
}

impl ReadIntents {
    /// Applies a record, or passes it over.
    fn take(&mut self, record: AuditRecord) {
        let (seq, at) = (record.seq, record.timestamp);
        let change_id = record.details.get("change").and_then(Value::as_str);
        let change_id = change_id.map(str::to_owned);
        let why = match change_of(record) {
            // A later version may have more kinds.
            Ok(None) => return,
            Ok(Some(change)) => match self.graph.apply(&change, at) {
                Ok(()) => return,
                Err(error) => error.into(),
            },
            Err(error) => error.into(),
        };
        self.passed_over.push(PassedOver {
            seq,
            change: change_id,
            why,
        });
    }

    /// Returns the reason why a change that was recorded counts for nothing; the first `known` of the records that were passed
    /// over are older than it.
    pub fn refusal(&self, known: usize, change_id: &str) -> Option<&PassedOverReason> {
        let mut passed_over = self.passed_over.iter().skip(known);
        let found = passed_over.find(|one| one.change.as_deref() == Some(change_id))?;
        Some(&found.why)
    }
}

/// Reads a change back; `None` for a kind that this version does not know.
fn change_of(record: AuditRecord) -> Result<Option<Change>, serde_json::Error> {
    let kind = record.status.unwrap_or_default();
    if !Change::KINDS.contains(&kind.as_str()) {
        return Ok(None);
    }
    let mut details = record.details;
    details.insert("kind".to_owned(), kind.into());
    serde_json::from_value(Value::Object(details)).map(Some)
}

#[cfg(test)]
mod tests {
    use callosum_intent::graph::{Created, IntentId, NewIntent, Provenance, Status};
    use serde_json::json;

    use super::*;

    /// The record that the journal has of a change.
    fn record(seq: u64, change: &Change, change_id: &str) -> AuditRecord {
        let event = event(change, change_id).unwrap();
        let record = json!({
            "timestamp": "2026-01-02T03:04:05Z", "task_id": null, "executor": null, "hash": null,
            "status": event.status, "seq": seq, "event": "intent", "synced": 0, "details": event.details,
            "prev": "0".repeat(64), "record": "0".repeat(64),
        });
        serde_json::from_value(record).unwrap()
    }

    fn moved(id: &IntentId, to: Status) -> Change {
        let (reason, provenance) = (String::new(), Provenance::default());
        Change::of_status(id.clone(), Status::Pending, to, reason, provenance)
    }

    /// CCOS-ARB-1: without the lock, the first of two records counts, and the writer of the second learns it.
    #[test]
    fn of_two_records_of_one_step_the_first_counts() {
        let id: IntentId = "int-1".parse().unwrap();
        let new = NewIntent::of_goal("Speed it up");
        let created = Created {
            intent: id.clone(),
            new,
        };
        let mut read = ReadIntents::default();
        read.take(record(1, &Change::IntentCreated(Box::new(created)), "c1"));
        read.take(record(2, &moved(&id, Status::Executing), "c2"));
        read.take(record(3, &moved(&id, Status::Executing), "c3"));
        read.take(record(4, &moved(&id, Status::Active), "c4"));
        assert_eq!(read.graph.get(&id).unwrap().status, Status::Executing);
        assert_eq!(read.graph.changes(), 2);
        for accepted in ["c1", "c2"] {
            assert!(read.refusal(0, accepted).is_none(), "{accepted}");
        }
        let why = |change_id: &str| read.refusal(0, change_id).unwrap().to_string();
        assert!(why("c3").contains("executing cannot become executing"));
        assert!(why("c4").contains("another process changed it"));
        // An older record under the same id says nothing about a newer one.
        assert!(read.refusal(1, "c3").is_none());
        let seqs: Vec<u64> = read.passed_over.iter().map(|one| one.seq).collect();
        assert_eq!(seqs, [3, 4]);
    }
}
