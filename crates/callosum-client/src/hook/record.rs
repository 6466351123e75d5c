//! The journal entry of a call, with enough detail to reach the same verdict again.

use std::time::Duration;

use callosum_guard::Decision;
use callosum_json::Checksum;
use callosum_ledger::{AuditEvent, Event as Kind, notice};
use callosum_redact::secrets;
use serde_json::{Map, Value, json};

use super::{
    event::{Action, Event},
    gather_facts::CallContext,
    snapshot_outcome::{SnapshotDetails, SnapshotOutcome},
    verdict::Judged,
};

/// Longest wait for each lock of the journal.
const PATIENCE: Duration = Duration::from_millis(2);

/// Most bytes of a command that are kept.
const LONGEST: usize = 16 * 1024;

/// Longer words than this may be cut through, in bytes.
const LONGEST_WORD: usize = 1024;

/// Most paths of a call that are kept.
const MOST_PATHS: usize = 64;

/// The subject of a call, with secrets masked: done once, since that costs more than all the rest.
pub(super) enum About {
    /// A command, as much of it as is kept, and the checksum of one that is longer.
    Command(String, Option<Checksum>),
    /// Files.
    Paths(Vec<String>),
    /// Nothing that is kept.
    Nothing,
}

impl About {
    pub(super) fn of(action: &Action) -> Self {
        match action {
            Action::Shell(command) => {
                let is_whole = command.len() <= LONGEST;
                let checksum = (!is_whole).then(|| Checksum::of(command.as_bytes()));
                Self::Command(kept(command), checksum)
            }
            Action::Write(paths) | Action::Read(paths) => {
                let paths = paths.iter().take(MOST_PATHS);
                Self::Paths(paths.map(|path| kept(path)).collect())
            }
            Action::Other => Self::Nothing,
        }
    }

    /// Its beginning on one line.
    pub(super) fn label(&self, longest: usize) -> String {
        let words: Vec<&str> = match self {
            Self::Command(command, _) => command.split_whitespace().collect(),
            Self::Paths(paths) => paths.iter().map(String::as_str).collect(),
            Self::Nothing => vec!["a call that could not be read"],
        };
        words.join(" ").chars().take(longest).collect()
    }
}

/// A decision to record in the journal.
pub(super) struct DecisionRecord<'a> {
    pub(super) event: &'a Event,
    pub(super) about: &'a About,
    pub(super) judged: &'a Judged,
    /// The result of the snapshot, if one was needed.
    pub(super) snapshot: Option<&'a SnapshotOutcome>,
    /// Whether the client runs it without a prompt of its own.
    pub(super) auto_allowed: bool,
    /// The command that ran in its place.
    pub(super) rewritten: Option<&'a str>,
    /// From the start of the process to the decision.
    pub(super) took: Duration,
}

/// Writes a decision to the journal. If that fails, the decision still counts.
pub(super) fn keep(client: &str, decision: &DecisionRecord<'_>, place: &CallContext) {
    let Some(journal) = &place.journal else {
        return;
    };
    let is_allowed = decision.judged.verdict.decision == Decision::Allow;
    if is_allowed && !decision.auto_allowed && !place.guard.config.safety.audit_all_commands {
        return;
    }
    let (Ok(clock), Ok(ids)) = (place.environment.clock(), place.environment.ids()) else {
        return;
    };
    drop(notice(
        &place.disk,
        journal,
        &ids,
        (&event(client, decision, place), clock.now()),
        PATIENCE,
    ));
}

fn event(client: &str, decision: &DecisionRecord<'_>, place: &CallContext) -> AuditEvent {
    let (event, judged) = (decision.event, decision.judged);
    let verdict = &judged.verdict;
    let status = match verdict.decision {
        Decision::Allow => "allowed",
        Decision::Ask => "asked",
        Decision::Block => "blocked",
    };
    let mut details = Map::new();
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            details.insert(key.to_owned(), value);
        }
    };
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    match decision.about {
        About::Command(command, checksum) => {
            add("command", Some(command.as_str().into()));
            add("command_sha256", checksum.map(|sum| sum.to_string().into()));
        }
        About::Paths(paths) => add("paths", Some(paths.clone().into())),
        About::Nothing => {}
    }
    add("decision", Some(status.into()));
    add("rule", text(&verdict.rule));
    add(
        "reason",
        text(&verdict.reason).map(|reason| masked_value(&reason)),
    );
    add(
        "alternative",
        text(&verdict.alternative).map(|alternative| masked_value(&alternative)),
    );
    let list = |list: Vec<String>| (!list.is_empty()).then(|| list.into());
    add("permitted", list(judged.permitted.clone()));
    add(
        "rewritten_to",
        decision.rewritten.map(|other| masked(other).into()),
    );
    add("auto_allowed", decision.auto_allowed.then(|| true.into()));
    let passed_over = place.guard.passed_over.iter().map(ToString::to_string);
    let remarks = judged.remarks.iter().cloned().chain(passed_over);
    add("configuration", list(remarks.collect()));
    let strictness = place.guard.config.strictness;
    add("strictness", serde_json::to_value(strictness).ok());
    add("understood", Some(verdict.coverage.percent.into()));
    add(
        "snapshot",
        decision.snapshot.map(|kept| kept.as_str().into()),
    );
    let held = decision.snapshot.and_then(SnapshotOutcome::held);
    add("snapshot_id", held.map(|held| held.id.as_str().into()));
    let lacks = held.map(SnapshotDetails::lacks).unwrap_or_default();
    add("snapshot_lacks", list(lacks.to_vec()));
    add("user", Some(client.into()));
    add("session_id", text(&event.session));
    add("agent_id", text(&event.agent));
    add("tool_use_id", text(&event.call));
    add("tool", text(&event.tool));
    add("mode", text(&event.mode));
    add("facts", serde_json::to_value(&place.facts).ok());
    let micros = u64::try_from(decision.took.as_micros()).unwrap_or(u64::MAX);
    add("took_us", Some(json!(micros)));
    AuditEvent {
        executor: Some(client.chars().take(64).collect()),
        status: Some(status.to_owned()),
        details,
        ..AuditEvent::new(Kind::Guard)
    }
}

fn masked_value(value: &Value) -> Value {
    value
        .as_str()
        .map_or_else(|| value.clone(), |text| masked(text).into())
}

/// Returns a text without its secrets, at most as long as records allow.
///
/// If possible, it ends between two words, so that no half of a secret remains whose form cannot be
/// detected.
fn kept(text: &str) -> String {
    if text.len() <= LONGEST {
        return masked(text);
    }
    let start = &text[..text.floor_char_boundary(LONGEST)];
    let last = start.floor_char_boundary(LONGEST - LONGEST_WORD);
    let end = start[last..].rfind(char::is_whitespace);
    masked(&start[..end.map_or(start.len(), |end| last + end)])
}

fn masked(text: &str) -> String {
    secrets::mask_command(text).text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-SEC-1: a command line goes into the journal without its secrets.
    #[test]
    fn a_command_is_kept_without_its_secrets() {
        let kept = super::kept(
            "curl -u me:x -H 'Authorization: Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz'",
        );
        assert!(kept.contains("[secret"), "{kept}");
        assert!(!kept.contains("0123456789abcdef"), "{kept}");
        assert_eq!(super::kept("mysql -pabc x"), "mysql -p[secret: argument] x");
    }

    #[test]
    fn what_is_kept_of_a_command_has_an_end() {
        let long = "é ".repeat(LONGEST);
        assert!(kept(&long).len() <= LONGEST);
        assert!(kept(&"é".repeat(LONGEST)).len() <= LONGEST);
        let split = format!("{} ghp_{}", "x ".repeat(LONGEST / 2 - 10), "a1B2".repeat(9));
        assert!(!kept(&split).contains("a1B2"), "{split:.0}");
    }
}
