//! The lines about errors that a session starts with: failures whose fix is known, and edits outside of tasks.

use callosum_intervention::knowledge::KnownFailure;
use callosum_redact::terminal_escape::on_one_line;
use jiff::{SignedDuration, Timestamp};

use super::{WatchError, Watcher};

/// Most failures that are named.
const MOST_NAMED: usize = 3;

/// Longest text about one of them, in characters.
const LONGEST: usize = 90;

/// Age up to which edits outside of tasks are reported.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

impl Watcher {
    /// Returns the lines about errors, or an empty text. Failures that the text of the open task names come alone, if there
    /// are any; else the latest ones.
    ///
    /// # Errors
    /// If the recall database cannot be read. Without a database there is nothing to report.
    pub fn digest(&self, task: &str, now: Timestamp) -> Result<String, WatchError> {
        if !self.disk.exists(&self.database_path())? {
            return Ok(String::new());
        }
        let database = self.database(now)?;
        let project = self.root.to_string_lossy();
        let failures = database.known_failures(&project)?;
        let mut lines = failures_line(&failures, task);
        let since = now.checked_sub(RECENT).unwrap_or(Timestamp::MIN);
        let drifts = database.violations(&project, since, MOST_NAMED as u32)?;
        if !drifts.is_empty() {
            let drifts: Vec<String> = drifts.iter().map(|drift| short(&drift.details)).collect();
            lines += "Edited outside of tasks: ";
            lines += &drifts.join("; ");
            lines += ".\n";
        }
        Ok(lines)
    }
}

/// Returns the line about failures.
fn failures_line(failures: &[KnownFailure], task: &str) -> String {
    let matching: Vec<&KnownFailure> = failures
        .iter()
        .filter(|failure| failure.matters_for(task))
        .collect();
    let chosen = if matching.is_empty() {
        failures.iter().collect()
    } else {
        matching
    };
    if chosen.is_empty() {
        return String::new();
    }
    let named: Vec<String> = chosen
        .iter()
        .take(MOST_NAMED)
        .map(|failure| {
            let fix = &failure.fix;
            let command = fix.commands.first().map(|command| format!("`{command}`"));
            let file = fix.files.first().map(|file| format!("change {file}"));
            let note = fix.note.clone();
            let way = command.or(file).or(note).unwrap_or_default();
            short(&format!("{}: {way}", failure.normalized))
        })
        .collect();
    let more = match failures.len() - named.len() {
        0 => String::new(),
        more => format!("; {more} more by `callosum recall list`"),
    };
    format!(
        "Known failures and their fixes: {}{more}.\n",
        named.join("; ")
    )
}

fn short(text: &str) -> String {
    let line = on_one_line(text);
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['\u{2026}']).collect()
}
