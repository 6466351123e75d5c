//! What the audit journal is told of a delegation (REQ-GOV-001, REQ-ARB-005, REQ-ERR-001).

use std::time::Duration;

use callosum_evidence::secrets;
use callosum_ledger::{AuditEvent, Checksum, ErrorCode, Event, Spawn, TaskId};
use serde_json::{Map, Value};

use super::report::Failure;
use crate::{
    lifecycle::{State, Trigger},
    mode::Decision,
    task::{Link, Task},
};

/// Bytes of a prompt that records and entries keep.
pub(super) const KEPT_PROMPT: usize = 1024;

/// The beginning of a prompt, its secrets masked.
pub(super) fn kept_prompt(prompt: &str) -> String {
    let masked = secrets::mask(prompt).text;
    if masked.len() <= KEPT_PROMPT {
        return masked;
    }
    format!("{}…", &masked[..masked.floor_char_boundary(KEPT_PROMPT)])
}

/// A task gets its id.
pub(super) fn spawn(task: &Task, executor: &str, decision: Decision) -> Spawn {
    let mut details = Map::new();
    let mut put = |key: &str, value: Value| details.insert(key.to_owned(), value);
    put("prompt", kept_prompt(&task.prompt).into());
    put("kind", task.kind.as_str().into());
    put("mode", decision.mode.as_str().into());
    if !task.paths.is_empty() {
        put("paths", task.paths.clone().into());
    }
    Spawn {
        executor: executor.to_owned(),
        details,
    }
}

/// Events of one task with one executor.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) id: &'a TaskId,
    pub(super) executor: &'a str,
}

impl About<'_> {
    fn event(self, event: Event, status: &str) -> AuditEvent {
        AuditEvent {
            task_id: Some(self.id.clone()),
            executor: Some(self.executor.to_owned()),
            status: Some(status.to_owned()),
            ..AuditEvent::new(event)
        }
    }

    /// The arbiter chose a mode.
    pub(super) fn decision(self, decision: Decision, task: &Task) -> AuditEvent {
        self.event(Event::Decision, decision.mode.as_str())
            .with("reason", decision.reason.as_str())
            .with("priority", task.priority.as_str())
            .with(
                "links",
                task.links.iter().map(link_text).collect::<Vec<_>>(),
            )
    }

    /// Its process went from one state to the next.
    pub(super) fn state(self, trigger: Trigger, to: State) -> AuditEvent {
        self.event(Event::State, to.as_str())
            .with("trigger", trigger.as_str())
    }

    /// Its answer passed.
    pub(super) fn validated(self, answer: Checksum) -> AuditEvent {
        AuditEvent {
            hash: Some(answer),
            ..self.event(Event::Validated, "validated")
        }
    }

    /// Its answer did not pass.
    pub(super) fn rejected(self, failure: &Failure) -> AuditEvent {
        AuditEvent {
            hash: failure.kept_answer,
            ..failed(self.event(Event::Rejected, "rejected"), failure)
        }
    }

    /// A try failed.
    pub(super) fn error(self, failure: &Failure) -> AuditEvent {
        failed(self.event(Event::Error, "error"), failure)
    }

    /// Somebody cancelled while it ran.
    pub(super) fn cancelled(self) -> AuditEvent {
        self.event(Event::Error, "cancelled")
    }

    /// The answer of a failed try was discarded before anything of it was stored (Seed CAL §7.4).
    pub(super) fn rollback(self) -> AuditEvent {
        self.event(Event::Rollback, "discarded")
            .with("reason", "checksum_mismatch")
    }

    /// There will be another try.
    pub(super) fn retry(self, number: u32, pause: Duration) -> AuditEvent {
        self.event(Event::Retry, "scheduled")
            .with("retry", number)
            .with("pause_ms", pause.as_millis() as u64)
    }

    /// All tries are over, after at least one that failed.
    pub(super) fn recovery(self, recovered: bool) -> AuditEvent {
        self.event(
            Event::Recovery,
            if recovered {
                "recovered"
            } else {
                "recovery_failed"
            },
        )
    }
}

fn failed(event: AuditEvent, failure: &Failure) -> AuditEvent {
    let event = event.with("message", failure.message.as_str());
    match failure.code.map(ErrorCode::as_str) {
        Some(code) => event.with("code", code),
        None => event,
    }
}

fn link_text(link: &Link) -> Value {
    match link {
        Link::Local(place) => format!("#{place}").into(),
        Link::Ledger(id) => id.as_str().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-SEC-1, CAL-SEC-1: a prompt is kept without its secrets, and not without end.
    #[test]
    fn a_prompt_is_cut_on_a_character_and_marked() {
        let kept = kept_prompt(&"é".repeat(2000));
        assert!(kept.ends_with('…') && kept.len() <= KEPT_PROMPT + '…'.len_utf8());
        assert_eq!(kept_prompt("short"), "short");
    }
}
