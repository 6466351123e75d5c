//! Task history from the end of the audit journal: tasks that have begun and not ended, and tasks
//! that failed for good.

use std::collections::BTreeSet;

use callosum_ledger::{AuditReader, AuditRecord};
use jiff::Timestamp;
use serde_json::Value;

use crate::context::Context;
use crate::status::{FailureOutput, LAST, UnfinishedOutput};
use crate::{CommandError, audit};

/// Bytes of the journal that are read: a few milliseconds, however long the journal is.
const RECENT: u64 = 512 * 1024;

/// The journal's last records.
pub fn recent(context: &Context) -> Result<Vec<AuditRecord>, CommandError> {
    let reader = AuditReader::new(context.disk.clone(), context.ledger_paths());
    reader
        .recent(RECENT)
        .map_err(|error| audit::unreadable(&error))
}

/// Lists tasks with a beginning on record and no end. Whether their run is still alive is unknown
/// here; the time since its last record usually shows it.
pub fn unfinished(records: &[AuditRecord], now: Timestamp) -> Vec<UnfinishedOutput> {
    let mut at_work: Vec<UnfinishedOutput> = Vec::new();
    for record in records {
        let Some(id) = record.task_id.as_ref().map(ToString::to_string) else {
            continue;
        };
        let status = record.status.as_deref();
        let place = at_work.iter().position(|task| task.task_id == id);
        let is_over = record.event == "commit"
            || matches!(
                status,
                Some("recovery_failed" | "over_budget" | "cancelled")
            );
        if let Some(place) = place.filter(|_| is_over) {
            at_work.remove(place);
            continue;
        }
        let task = match place {
            Some(place) => &mut at_work[place],
            None if record.event == "spawn" => {
                at_work.push(UnfinishedOutput {
                    task_id: id,
                    timestamp: String::new(),
                    age_seconds: 0,
                    state: String::new(),
                    executor: record.executor.clone(),
                    prompt: record
                        .details
                        .get("prompt")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                });
                let last = at_work.len() - 1;
                &mut at_work[last]
            }
            None => continue,
        };
        let age = now.duration_since(record.timestamp).as_secs();
        task.timestamp = record.timestamp.to_string();
        task.age_seconds = u64::try_from(age).unwrap_or_default();
        status.unwrap_or(&record.event).clone_into(&mut task.state);
    }
    at_work.reverse();
    at_work.truncate(LAST);
    at_work
}

/// Of each task the last word counts: one that is tried again, or was committed, has not failed. Where
/// the last word is that there will be no other try, the failure is the one before it. Of tasks that an
/// executor was not handed since it is left alone, one is enough: they would hide why it is.
pub fn failed(records: &[AuditRecord]) -> Vec<FailureOutput> {
    let mut refused = BTreeSet::new();
    let mut settled = BTreeSet::new();
    let mut given_up = BTreeSet::new();
    let mut failures = Vec::new();
    for record in records.iter().rev() {
        let status = record.status.as_deref();
        let failed = ["error", "rejected"].contains(&record.event.as_str());
        if let Some(id) = &record.task_id {
            let goes_on =
                ["commit", "retry"].contains(&record.event.as_str()) || status == Some("running");
            if settled.contains(id) {
                continue;
            }
            if matches!(status, Some("recovery_failed" | "over_budget")) {
                given_up.insert(id);
            }
            if failed || goes_on && !given_up.contains(id) {
                settled.insert(id);
            }
        }
        if !failed {
            continue;
        }
        let text_of = |key: &str| record.details.get(key)?.as_str().map(str::to_owned);
        if text_of("circuit").is_some() && !refused.insert(&record.executor) {
            continue;
        }
        failures.push(FailureOutput {
            task_id: record.task_id.as_ref().map(ToString::to_string),
            timestamp: record.timestamp.to_string(),
            executor: record.executor.clone(),
            code: text_of("code"),
            message: text_of("message").or_else(|| record.status.clone()),
        });
        if failures.len() == LAST {
            break;
        }
    }
    failures
}
