//! What the journal is told of a call, so that the same verdict can be come to again.

use std::time::Duration;

use callosum_guard::Decision;
use callosum_ledger::{AuditEvent, Checksum, Event as Kind, notice};
use serde_json::{Map, Value, json};

use super::{
    event::{Action, Event},
    judge::Judged,
    place::Place,
};

/// How long each lock of the journal is waited for.
const PATIENCE: Duration = Duration::from_millis(2);

/// Most bytes of a command that are kept.
const LONGEST: usize = 16 * 1024;

/// Most paths of a call that are kept.
const MOST_PATHS: usize = 64;

/// A word of so many letters may be a secret; in fewer there is none by its form.
const SECRET: usize = 16;

/// Words after which a secret may stand, however short.
const NAMES: [&str; 6] = ["pass", "secret", "token", "key", "auth", "cred"];

/// Tells the journal of a decision. Where it cannot be told, the decision stands all the same.
pub(super) fn keep(client: &str, event: &Event, judged: &Judged, place: &Place, took: Duration) {
    let Some(journal) = &place.journal else {
        return;
    };
    let is_allowed = judged.verdict.decision == Decision::Allow;
    if is_allowed && !place.guard.config.safety.audit_all_commands {
        return;
    }
    let (Ok(clock), Ok(ids)) = (place.environment.clock(), place.environment.ids()) else {
        return;
    };
    let told = told(client, event, judged, place, took);
    drop(notice(
        &place.disk,
        journal,
        &ids,
        (&told, clock.now()),
        PATIENCE,
    ));
}

fn told(client: &str, event: &Event, judged: &Judged, place: &Place, took: Duration) -> AuditEvent {
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
    match &event.action {
        Action::Shell(command) => {
            add("command", Some(kept(command).into()));
            let is_whole = command.len() <= LONGEST;
            let checksum = || Checksum::of(command.as_bytes()).to_string().into();
            add("command_sha256", (!is_whole).then(checksum));
        }
        Action::Write(paths) => {
            let paths: Vec<_> = paths
                .iter()
                .take(MOST_PATHS)
                .map(|path| kept(path))
                .collect();
            add("paths", Some(paths.into()));
        }
        Action::Other => {}
    }
    add("decision", Some(status.into()));
    add("rule", text(&verdict.rule));
    add(
        "reason",
        text(&verdict.reason).map(|reason| masked_value(&reason)),
    );
    add("alternative", text(&verdict.alternative));
    let list = |list: Vec<String>| (!list.is_empty()).then(|| list.into());
    add("permitted", list(judged.permitted.clone()));
    let passed_over = place.guard.passed_over.iter().map(ToString::to_string);
    let remarks = judged.remarks.iter().cloned().chain(passed_over);
    add("configuration", list(remarks.collect()));
    let strictness = place.guard.config.strictness;
    add("strictness", serde_json::to_value(strictness).ok());
    add("understood", Some(verdict.coverage.percent.into()));
    add("user", Some(client.into()));
    add("session_id", text(&event.session));
    add("agent_id", text(&event.agent));
    add("tool_use_id", text(&event.call));
    add("tool", text(&event.tool));
    add("mode", text(&event.mode));
    add("facts", serde_json::to_value(&place.facts).ok());
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
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

/// A text without its secrets, and not longer than what is kept.
fn kept(text: &str) -> String {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    masked(&text[..end])
}

/// A text without its secrets. Looking for them costs more than all the rest, so it is only done
/// where there may be one.
pub(super) fn masked(text: &str) -> String {
    if may_hold_secret(text) {
        callosum_evidence::secrets::mask(text).text
    } else {
        text.to_owned()
    }
}

fn may_hold_secret(text: &str) -> bool {
    let is_secretive = |letter: char| letter.is_ascii_alphanumeric() || "+=_-".contains(letter);
    let mut words = text.split(|letter| !is_secretive(letter));
    if words.any(|word| word.len() >= SECRET) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    NAMES.iter().any(|name| lower.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-SEC-1: what stands on a command line goes into the journal without its secrets.
    #[test]
    fn a_command_is_kept_without_its_secrets() {
        let kept = kept(
            "curl -u me:x -H 'Authorization: Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz'",
        );
        assert!(kept.contains("[secret"), "{kept}");
        assert!(!kept.contains("0123456789abcdef"), "{kept}");
        assert!(!may_hold_secret("git status && ls -la src"));
    }

    #[test]
    fn what_is_kept_of_a_command_has_an_end() {
        let long = "é".repeat(LONGEST);
        assert!(kept(&long).len() <= LONGEST);
    }
}
