//! Text of `callosum status`: [`summary`] in at most eight lines, and [`all`] for `-v`.

use std::fmt::Write as _;

use callosum_app::status::{
    ExecutorStatus, FailureOutput, LAST, StatusOutput, TaskStatusOutput, shown,
};
use callosum_app::{many, thousands};
use callosum_redact::terminal_escape::on_one_line;
use jiff::SignedDuration;
use owo_colors::OwoColorize as _;

use crate::cli::hook_tokens;
use crate::cli::local_time::LocalTime;
use crate::ui::Table;

/// Most lines of a summary.
const MOST_LINES: usize = 8;

/// Most lines of a summary that say what needs attention.
const MOST_ATTENTION: usize = 3;

/// Most characters of what needs attention in a summary; `-v` prints it whole.
const LONGEST: usize = 160;

/// Returns what needs attention, then the state of each part, in at most eight lines.
pub(super) fn summary(output: &StatusOutput, times: &LocalTime) -> String {
    let mut lines: Vec<String> = Vec::new();
    for what in output.attention.iter().take(MOST_ATTENTION) {
        let mut what = on_one_line(what);
        if what.chars().count() > LONGEST {
            what = what.chars().take(LONGEST - 1).chain(['…']).collect();
        }
        lines.push(format!("{}: {what}", "attention".yellow().bold()));
    }
    let mut parts = parts(output);
    parts.extend(tasks(output, times));
    // What is most worth knowing comes first: where problems take the room, the rest is left to `-v`.
    lines.extend(parts.into_iter().take(MOST_LINES - 1 - lines.len()));
    let hidden = output.attention.len().saturating_sub(MOST_ATTENTION);
    let hidden = match hidden {
        0 => String::new(),
        hidden => format!(", {} not shown", thousands(hidden as u64)),
    };
    lines.push(format!(
        "{} {}{hidden} (all: callosum status -v)",
        "health   ".dimmed(),
        health(output)
    ));
    lines.join("\n") + "\n"
}

/// Returns everything: the state of each part, the tables of tasks, and what needs attention.
pub(super) fn all(output: &StatusOutput, times: &LocalTime) -> String {
    let mut text = String::new();
    for part in parts(output) {
        let _ = writeln!(text, "{part}");
    }
    let _ = writeln!(text, "{} {}", "health   ".dimmed(), health(output));
    if !output.unfinished.is_empty() {
        let mut table = Table::new(&["unfinished", "last record", "executor", "state", "prompt"]);
        for task in &output.unfinished {
            table.row([
                task.task_id.clone(),
                format!("{} ago", age(task.age_seconds)),
                or_dash(task.executor.as_ref()),
                task.state.clone(),
                shown(task.prompt.as_deref()),
            ]);
        }
        let _ = write!(text, "\n{}", table.render());
    }
    if !output.last_tasks.is_empty() {
        let mut table = Table::new(&["task", "time", "executor", "prompt"]);
        for task in &output.last_tasks {
            table.row([
                task.task_id.clone(),
                times.show_utc(&task.timestamp),
                task.executor.clone(),
                shown(task.prompt.as_deref()),
            ]);
        }
        let _ = write!(text, "\n{}", table.render());
    }
    if !output.last_failures.is_empty() {
        let mut table = Table::new(&["failed", "time", "executor", "code", "why"]);
        for failure in &output.last_failures {
            table.row([
                or_dash(failure.task_id.as_ref()),
                times.show_utc(&failure.timestamp),
                or_dash(failure.executor.as_ref()),
                or_dash(failure.code.as_ref()),
                shown(failure.message.as_deref()),
            ]);
        }
        let _ = write!(text, "\n{}", table.render());
    }
    for line in &output.attention {
        let _ = writeln!(text, "{}: {line}", "attention".yellow().bold());
    }
    text
}

/// Returns a line for each part of the project.
fn parts(output: &StatusOutput) -> Vec<String> {
    let line = |name: &str, what: &str| format!("{} {what}", name.dimmed());
    let tree = if output.tree == output.root {
        String::new()
    } else {
        format!(" (tree {})", output.tree)
    };
    let ledger = match &output.ledger_version {
        Some(version) => format!(
            "{}, {}, version {version}",
            many(output.entries, "entry"),
            many(output.ledger_bytes, "byte")
        ),
        None if output.initialized => "missing".to_owned(),
        None => "none yet: the first `callosum delegate` creates it".to_owned(),
    };
    let next = output.next_executor.as_deref();
    let executors = output.executors.iter();
    let executors: Vec<String> = executors.map(|one| executor(one, next)).collect();
    let mut executors = executors.join(", ");
    if next.is_none() {
        executors.push_str("; no default executor");
    }
    let mut lines = vec![
        line("root     ", &format!("{}{tree}", output.root)),
        line("ledger   ", &ledger),
        line("executors", executors.trim_start_matches("; ")),
    ];
    lines.extend(
        output
            .mesh
            .iter()
            .map(|mesh| line("mesh     ", &mesh.line())),
    );
    let cost = hook_tokens::line(&output.hook_tokens);
    lines.extend(cost.map(|cost| line("hooks    ", &cost)));
    lines
}

fn executor(executor: &ExecutorStatus, next: Option<&str>) -> String {
    let standing = match executor.standing.as_str() {
        "active" => executor.standing.green().to_string(),
        "inactive" | "not trusted" => executor.standing.yellow().to_string(),
        _ => executor.standing.dimmed().to_string(),
    };
    let default = if next == Some(&executor.id) {
        ", default"
    } else {
        ""
    };
    format!("{} ({standing}{default})", executor.id)
}

fn health(output: &StatusOutput) -> String {
    match output.attention.len() {
        0 => "healthy".green().to_string(),
        some => many(some as u64, "warning")
            .to_string()
            .yellow()
            .to_string(),
    }
}

/// Returns a line on tasks: how many are unfinished, and the last one that was done or failed.
fn tasks(output: &StatusOutput, times: &LocalTime) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(task) = output.unfinished.first() {
        let count = match output.unfinished.len() {
            LAST => format!("{LAST} or more"),
            count => count.to_string(),
        };
        parts.push(format!(
            "{count} unfinished (last record {} ago)",
            age(task.age_seconds)
        ));
    }
    let done: Option<&TaskStatusOutput> = output.last_tasks.first();
    parts.extend(done.map(|task| {
        let (id, at) = (&task.task_id, times.show_utc(&task.timestamp));
        format!("last: {id} by {} at {at}", task.executor)
    }));
    let failed: Option<&FailureOutput> = output.last_failures.first();
    parts.extend(failed.map(|failure| {
        let code = failure.code.as_ref().map(|code| format!(" {code}"));
        let at = times.show_utc(&failure.timestamp);
        format!("last failure:{} at {at}", code.unwrap_or_default())
    }));
    (!parts.is_empty()).then(|| format!("{} {}", "tasks    ".dimmed(), parts.join("; ")))
}

fn age(seconds: u64) -> String {
    let age = SignedDuration::from_secs(seconds.try_into().unwrap_or(i64::MAX));
    format!("{age:#}")
}

fn or_dash(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "-".to_owned())
}
