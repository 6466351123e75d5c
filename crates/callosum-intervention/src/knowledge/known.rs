//! [`KnownFailure`]: an error of a project whose fix is known, and which of them matter for a task.

use jiff::Timestamp;
use rusqlite::params;

use super::{
    Fix,
    fix::{COLUMNS, quoted_names},
};
use crate::recall::{RecallDb, RecallError};

/// Most failures that are looked through.
const MOST: u32 = 100;

/// Shortest name that is looked for in a task.
const SHORTEST_NAME: usize = 3;

/// An error of a project with a fix that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    /// The error's normalized text.
    pub normalized: String,
    /// The fix.
    pub fix: Fix,
}

impl KnownFailure {
    /// Whether a task names the file, module or test of the error, or a file of its fix.
    pub fn matters_for(&self, task: &str) -> bool {
        let files = self.normalized.split_whitespace();
        let files = files
            .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
            .filter(|word| word.contains('.'));
        let changed = self.fix.files.iter().map(|file| base_name(file));
        files
            .chain(quoted_names(&self.normalized))
            .chain(changed)
            .filter(|name| name.len() >= SHORTEST_NAME)
            .any(|name| has_word(task, name))
    }
}

/// Returns the name of a file without its folders.
fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether a text has a name as a word of its own.
fn has_word(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let is_edge =
            |letter: Option<char>| letter.is_none_or(|it| !it.is_alphanumeric() && it != '_');
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + name.len()..].chars().next())
    })
}

impl RecallDb {
    /// Returns the failures of a project whose fix is offered, the latest first; one for each error, at most 100.
    pub fn known_failures(&self, project: &str) -> Result<Vec<KnownFailure>, RecallError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM fix WHERE project = ?1 ORDER BY learned_at DESC, id DESC LIMIT ?2"
        );
        let found = self.read(|connection| {
            let mut query = connection.prepare(&sql)?;
            query
                .query_map(params![project, MOST], |row| {
                    Ok(KnownFailure {
                        normalized: row.get(12)?,
                        fix: Fix::read(row)?,
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let mut failures: Vec<KnownFailure> = Vec::new();
        for failure in found {
            let signature = &failure.fix.error_signature;
            let is_known = failures
                .iter()
                .any(|known| known.fix.error_signature == *signature);
            if failure.fix.is_offered() && !is_known {
                failures.push(failure);
            }
        }
        Ok(failures)
    }
}

impl RecallDb {
    /// Whether a fix of an error was learned at this time or later, in any project.
    pub fn is_fixed_since(&self, signature: &str, since: Timestamp) -> Result<bool, RecallError> {
        self.read(|connection| {
            connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM fix WHERE error_signature = ?1 AND learned_at >= ?2)",
                params![signature, since.to_string()],
                |row| row.get(0),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-KNOW-1: a failure matters for a task that names its file, its module or what the fix changes.
    #[test]
    fn a_task_names_what_matters_for_it() {
        let failure = KnownFailure {
            normalized: "ModuleNotFoundError app.py No module named 'requests'".to_owned(),
            fix: Fix {
                id: 1,
                error_signature: String::new(),
                error_type: "ModuleNotFoundError".to_owned(),
                commands: Vec::new(),
                files: vec!["deps/base.txt".to_owned()],
                note: None,
                client: String::new(),
                learned_at: String::new(),
                worked: 1,
                failed: 0,
                mean_seconds: 0,
                confirmed: false,
            },
        };
        for (task, matters) in [
            ("Refactor app.py", true),
            ("Use requests, not urllib", true),
            ("Pin base.txt", true),
            ("Answer web-requests_x", false),
            ("Write the parser", false),
            ("", false),
        ] {
            assert_eq!(failure.matters_for(task), matters, "{task}");
        }
    }
}
