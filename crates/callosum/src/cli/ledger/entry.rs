//! A ledger entry as the commands print it.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::ledger::entry`].

use std::fmt::Write as _;

use callosum_app::thousands;
use callosum_ledger::LocatedEntry;
use callosum_redact::terminal_escape::on_one_line;
use owo_colors::OwoColorize as _;
use serde_json::Value;

use crate::ui::shown_time;

/// Returns the facts about an entry, for a person; the summary comes after them.
pub(super) fn heading(found: &LocatedEntry) -> String {
    let entry = &found.entry;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{} {value}", format!("{name:<10}").dimmed());
    };
    line("task", &entry.task_id.bold().to_string());
    line("executor", &on_one_line(&entry.executor));
    line("time", &shown_time(&entry.timestamp.to_string()));
    for key in ["kind", "mode", "repo", "branch", "prompt"] {
        if let Some(value) = entry.metadata.get(key).and_then(Value::as_str) {
            line(key, &on_one_line(value));
        }
    }
    if !entry.linked_tasks.is_empty() {
        let ids: Vec<&str> = entry.linked_tasks.iter().map(AsRef::as_ref).collect();
        line("builds on", &ids.join(" "));
    }
    line("tokens", &format!("{} used", thousands(entry.tokens_used)));
    if let Some(tally) = entry.metadata.get("citations") {
        let count = |key: &str| tally.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (total, verified) = (count("total"), count("verified"));
        line(
            "citations",
            &format!("{verified} of {total} valid when committed"),
        );
        for (key, line_or_why) in [("missing_places", "why"), ("moved_places", "line")] {
            let places = tally.get(key).and_then(Value::as_array);
            for place in places.into_iter().flatten() {
                let text = |key: &str| place.get(key).and_then(Value::as_str).unwrap_or_default();
                let state = match place.get(line_or_why).and_then(Value::as_u64) {
                    Some(line) => format!("moved to line {line}"),
                    None => format!("invalid: {}", text(line_or_why)),
                };
                line("", &on_one_line(&format!("{} {state}", text("place"))));
            }
        }
    }
    let place = &found.place;
    if place.is_archived {
        let name = place.path.file_name().unwrap_or_default();
        line(
            "state",
            &format!("archived in {}, verified", name.display()),
        );
    } else {
        line("state", "active");
    }
    line("checksum", &entry.checksum.to_string());
    text.push('\n');
    text
}
