//! Records of a delegation for the audit journal (REQ-GOV-001, REQ-ARB-005, REQ-ERR-001).

use std::time::Duration;

use callosum_json::Checksum;
use callosum_ledger::{AuditEvent, ErrorCode, Event, Spawn, TaskId};
use callosum_redact::secrets;
use callosum_sandbox::Connection;
use serde_json::{Map, Value};

use super::report::Failure;
use crate::{
    budget::Bound,
    lifecycle::{State, Trigger},
    mode::Decision,
    task::{Link, Task, kind_name},
};

/// The key, in a spawn's details and an entry's metadata, of the plan's call that a task is for.
pub const PLAN_CALL: &str = "plan_call";

/// The key, in the details of a plan's spawn, of whether the executor may change something, as its entry and its confinement
/// stand when it is called.
pub const MAY_CHANGE: &str = "may_change";

/// Bytes of a prompt that records and entries keep.
const KEPT_PROMPT: usize = 1024;

/// A prompt as it is kept: without its secrets, and in records and entries not without end.
pub(super) struct KeptPrompt {
    masked: String,
}

impl KeptPrompt {
    pub(super) fn of(prompt: &str) -> Self {
        Self {
            masked: secrets::mask(prompt).text,
        }
    }

    /// Returns the text that has to be stored elsewhere, because records and entries only have its
    /// beginning.
    pub(super) fn too_long(&self) -> Option<&str> {
        (self.masked.len() > KEPT_PROMPT).then_some(self.masked.as_str())
    }

    /// Puts it, or its beginning with the length and the hash of the whole, into a record or entry.
    pub(super) fn put_into(&self, details: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| details.insert(key.to_owned(), value);
        let Some(whole) = self.too_long() else {
            put("prompt", self.masked.as_str().into());
            return;
        };
        let beginning = &whole[..whole.floor_char_boundary(KEPT_PROMPT)];
        put("prompt", format!("{beginning}…").into());
        put("prompt_bytes", whole.len().into());
        let hash = Checksum::of(whole.as_bytes());
        put("prompt_sha256", hash.to_string().into());
    }
}

/// A task gets its id.
pub(super) fn spawn(task: &Task, prompt: &KeptPrompt, executor: &str, decision: Decision) -> Spawn {
    let mut details = Map::new();
    prompt.put_into(&mut details);
    let mut put = |key: &str, value: Value| details.insert(key.to_owned(), value);
    put("kind", kind_name(task.kind_for(executor)).into());
    put("mode", decision.mode.as_str().into());
    if !task.paths.is_empty() {
        put("paths", task.paths.clone().into());
    }
    if let Some(key) = &task.plan_call {
        put(PLAN_CALL, key.as_str().into());
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

    /// It is answered by an entry that is there already.
    pub(super) fn reused(self, age: Duration, request: Checksum) -> AuditEvent {
        self.event(Event::Decision, "reused")
            .with("age_seconds", age.as_secs())
            .with("request_sha256", request.to_string())
    }

    /// Its executor failed again and again, and is left alone for a while.
    pub(super) fn circuit_opened(self) -> AuditEvent {
        self.event(Event::Decision, "circuit_open")
    }

    /// It goes to another executor, because the circuit of the one before is open.
    pub(super) fn fallback(self, from: &str) -> AuditEvent {
        self.event(Event::Decision, "fallback").with("from", from)
    }

    /// Its executor asked for a connection.
    pub(super) fn connection(self, connection: &Connection) -> AuditEvent {
        let event = self
            .event(Event::Decision, connection.verdict.as_str())
            .with("host", connection.host.as_str())
            .with("port", connection.port)
            .with("bytes_sent", connection.sent)
            .with("bytes_received", connection.received)
            .with("elapsed_ms", connection.elapsed.as_millis() as u64);
        match connection.verdict.reason() {
            Some(reason) => event.with("reason", reason),
            None => event,
        }
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
            hash: failure.kept_answer.or(failure.kept_part),
            ..failed(self.event(Event::Rejected, "rejected"), failure)
        }
    }

    /// A try failed.
    pub(super) fn error(self, failure: &Failure) -> AuditEvent {
        AuditEvent {
            hash: failure.kept_answer.or(failure.kept_part),
            ..failed(self.event(Event::Error, "error"), failure)
        }
    }

    /// It reached for the ledger, was denied, and answered all the same.
    pub(super) fn denied(self, words: &str) -> AuditEvent {
        self.event(Event::Error, "denied").with("said", words)
    }

    /// The run was cancelled while the task ran.
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

    /// Its server refused for now, and is asked again within the same try.
    pub(super) fn waiting(self, why: &str) -> AuditEvent {
        self.event(Event::Retry, "waiting").with("message", why)
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

/// A try that failed or was denied a write, with the hashes that the ledger's file had around it
/// (REQ-GOV-005). They differ if other tasks were committed in between.
pub(super) fn beside_ledger(
    event: AuditEvent,
    before: Option<Checksum>,
    after: Option<Checksum>,
) -> AuditEvent {
    match (before, after) {
        (Some(before), Some(after)) => event
            .with("ledger_before", before.to_string())
            .with("ledger_after", after.to_string()),
        _ => event,
    }
}

/// A task failed without having been started.
pub(super) fn not_started(executor: &str, task: &Task, failure: &Failure) -> AuditEvent {
    let event = AuditEvent {
        executor: Some(executor.to_owned()),
        status: Some("not_started".to_owned()),
        ..AuditEvent::new(Event::Error)
    };
    failed(event, failure).with("task", task.local_id.as_str())
}

/// A task is not started, or not again, because a bound was reached.
pub(super) fn over_budget(
    id: Option<&TaskId>,
    executor: &str,
    task: &Task,
    bound: Bound,
) -> AuditEvent {
    AuditEvent {
        task_id: id.cloned(),
        executor: Some(executor.to_owned()),
        status: Some("over_budget".to_owned()),
        ..AuditEvent::new(Event::Decision)
    }
    .with("bound", bound.to_string())
    .with("task", task.local_id.as_str())
}

fn failed(event: AuditEvent, failure: &Failure) -> AuditEvent {
    let mut event = event.with("message", failure.message.as_str());
    if let Some(details) = &failure.details {
        event = event.with("said", details.as_str());
    }
    if failure.tokens > 0 {
        event = event.with("tokens_used", failure.tokens);
    }
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
        let kept = |prompt: &str| {
            let mut details = Map::new();
            KeptPrompt::of(prompt).put_into(&mut details);
            details
        };
        let long = "é".repeat(2000);
        let details = kept(&long);
        let beginning = details["prompt"].as_str().unwrap();
        assert!(beginning.ends_with('…') && beginning.len() <= KEPT_PROMPT + '…'.len_utf8());
        assert_eq!(details["prompt_bytes"], 4000);
        let hash = Checksum::of(long.as_bytes()).to_string();
        assert_eq!(details["prompt_sha256"], hash);
        assert_eq!(
            Value::from(kept("short")),
            serde_json::json!({"prompt": "short"})
        );
    }
}
