//! [`notice`]: the sentence above the view after an action, made from what its command prints.
//!
//! A command may exit with success or with 1 and print a result that is no success: a restore that skipped a file, a ledger with
//! a problem. The page must not call that done.

use std::fmt::Write as _;

use serde_json::Value;

use callosum_redact::terminal_escape::harmless;

use crate::{command::Command, site::Notice};

/// Most problems and files that a notice names.
const MOST: usize = 3;

/// Returns what a person reads after a command that has a result.
pub(crate) fn notice(command: &Command, printed: &Value) -> Notice {
    let mut words = command.arguments().iter().map(String::as_str);
    let (is_done, message) = match (words.next(), words.next()) {
        (Some("ledger"), Some("verify")) => verified(printed),
        (Some("ledger"), Some("prove")) => (
            true,
            format!(
                "The proof is valid: record {} of {} signed records, signed by {}",
                printed["seq"],
                printed["size"],
                text(printed, "key")
            ),
        ),
        (Some("snapshot"), Some("create")) => (
            true,
            format!("Took the snapshot {}", short(text(printed, "snapshot_id"))),
        ),
        (Some("snapshot"), Some("restore")) => restored(printed),
        (Some("undo"), _) => undone(printed),
        (Some("guard"), Some("allow")) => {
            (true, format!("Permitted: {}", text(printed, "pattern")))
        }
        (Some("plan"), Some("approve" | "resume")) => match text(printed, "outcome") {
            "detached" => (true, "The run goes on in the background".to_owned()),
            outcome => (true, format!("The run is {outcome}")),
        },
        _ => (true, "Done".to_owned()),
    };
    Notice {
        is_done,
        message: harmless(&message),
        hint: Some(command.line()),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The beginning of an id, as people read it.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Joins the first of some words, and counts the rest.
fn first(words: &[String]) -> String {
    let mut shown = words[..words.len().min(MOST)].join("; ");
    if words.len() > MOST {
        let _ = write!(shown, "; {} more", words.len() - MOST);
    }
    shown
}

fn verified(printed: &Value) -> (bool, String) {
    if printed["sound"] == Value::Bool(true) {
        let message = format!(
            "No problems: {} entries, {} records, {} of them signed",
            printed["entries"], printed["records"], printed["signed_records"]
        );
        return (true, message);
    }
    let problems = list(printed, "problems").iter().map(|problem| {
        format!(
            "{}: {}: {}",
            text(problem, "path"),
            text(problem, "fault"),
            text(problem, "detail")
        )
    });
    let problems: Vec<String> = problems.collect();
    (false, format!("Problems: {}", first(&problems)))
}

/// Returns the paths of files whose change is one of `kinds`.
fn files(printed: &Value, key: &str, kinds: &[&str]) -> Vec<String> {
    let found = list(printed, key)
        .iter()
        .filter(|file| kinds.contains(&text(file, "change")));
    let found = found.map(|file| match text(file, "reason") {
        "" => text(file, "path").to_owned(),
        reason => format!("{} ({reason})", text(file, "path")),
    });
    found.collect()
}

fn counted(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    }
}

fn restored(printed: &Value) -> (bool, String) {
    let done = files(
        printed,
        "changes",
        &["create", "rewrite", "replace", "remove"],
    );
    let refused = files(printed, "changes", &["refuse"]);
    let mut message = format!("Restored {}", counted(done.len()));
    if !refused.is_empty() {
        let _ = write!(
            message,
            ". Not restored, because their content is in no snapshot: {}",
            first(&refused)
        );
    }
    if let Some(before) = printed["before"].as_str() {
        let _ = write!(
            message,
            ". The files before are in the snapshot {}",
            short(before)
        );
    }
    (refused.is_empty(), message)
}

fn undone(printed: &Value) -> (bool, String) {
    let is_written = printed["undo"].is_string();
    let done = files(printed, "files", &["restore", "create", "remove"]);
    let left = files(
        printed,
        "files",
        &["conflict", "unverified", "not-kept", "failed"],
    );
    let mut message = if is_written {
        format!("Restored {}", counted(done.len()))
    } else {
        "Nothing was restored".to_owned()
    };
    if !left.is_empty() {
        let _ = write!(message, ". Left as they are: {}", first(&left));
    }
    (is_written && left.is_empty(), message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(words: &[&str], printed: &Value) -> (bool, String) {
        let notice = notice(&Command::new(words), printed);
        (notice.is_done, notice.message)
    }

    #[test]
    fn a_ledger_with_a_problem_is_not_called_done() {
        let verify = ["ledger", "verify"];
        let sound =
            json!({"sound": true, "entries": 2, "records": 9, "signed_records": 9, "problems": []});
        assert_eq!(
            shown(&verify, &sound),
            (
                true,
                "No problems: 2 entries, 9 records, 9 of them signed".to_owned()
            )
        );
        let problem = json!({"path": ".cal_memory.json", "fault": "edited", "number": 1, "detail": "entry 1 was \u{202e}changed"});
        let broken = json!({"sound": false, "problems": [problem, problem, problem, problem]});
        let (is_done, message) = shown(&verify, &broken);
        assert!(!is_done);
        assert!(
            message.contains(".cal_memory.json: edited: entry 1"),
            "{message}"
        );
        assert!(message.ends_with("; 1 more"), "{message}");
        assert!(!message.contains('\u{202e}'), "{message}");
    }

    #[test]
    fn a_restore_names_what_it_left_and_the_way_back() {
        let restore = ["snapshot", "restore", "--yes"];
        let printed = json!({"before": "0123456789ab", "changes": [
            {"path": "a", "change": "create"}, {"path": "b", "change": "leave"}, {"path": "c", "change": "refuse"},
        ]});
        let (is_done, message) = shown(&restore, &printed);
        assert!(!is_done);
        assert_eq!(
            message,
            "Restored 1 file. Not restored, because their content is in no snapshot: c. \
             The files before are in the snapshot 01234567"
        );
    }

    #[test]
    fn an_undo_that_skips_files_is_not_called_done() {
        let file =
            |path: &str, change: &str| json!({"path": path, "change": change, "reason": null});
        let whole = json!({"undo": "u", "files": [file("a", "restore"), file("b", "same")]});
        assert_eq!(
            shown(&["undo", "--yes"], &whole),
            (true, "Restored 1 file".to_owned())
        );
        let part = json!({"undo": "u", "files": [file("a", "restore"), file("b", "conflict")]});
        assert_eq!(
            shown(&["undo", "--yes"], &part),
            (false, "Restored 1 file. Left as they are: b".to_owned())
        );
        let none = json!({"undo": null, "files": [file("b", "conflict")]});
        assert!(!shown(&["undo"], &none).0);
    }

    #[test]
    fn other_commands_are_done() {
        assert_eq!(
            shown(&["recall", "forget"], &Value::Null),
            (true, "Done".to_owned())
        );
        let detached = json!({"outcome": "detached"});
        assert!(
            shown(&["plan", "approve"], &detached)
                .1
                .contains("background")
        );
    }
}
