//! [`Sessions`]: past sessions as a person searches them with ripgrep.
//!
//! Each word of a question is looked for in all files, as a person tries one word after the other. A file that has a rarer
//! word, and more of the words, comes first.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use callosum_search::Query;

use crate::command_of_the_developer;

/// Past sessions in a home.
pub(super) struct Sessions {
    home: PathBuf,
    files: usize,
}

impl Sessions {
    /// Counts the files.
    pub(super) fn read(home: &Path) -> Result<Self, String> {
        let files = run(home, &["--files", "--hidden"])?.lines().count();
        Ok(Self {
            home: home.to_owned(),
            files,
        })
    }

    /// Returns the sessions of the files that answer a question, the best first.
    pub(super) fn ask(&self, question: &str) -> Result<Vec<String>, String> {
        let mut weights: HashMap<String, f64> = HashMap::new();
        for unit in Query::read(question).units {
            let found = run(
                &self.home,
                &[
                    "--hidden",
                    "--ignore-case",
                    "--count-matches",
                    "--fixed-strings",
                    "--",
                    &unit.whole,
                ],
            )?;
            let found: Vec<&str> = found
                .lines()
                .filter_map(|line| Some(line.rsplit_once(':')?.0))
                .collect();
            let weight = ((self.files as f64 + 1.0) / (found.len() as f64 + 0.5))
                .ln()
                .max(0.1);
            for file in found {
                *weights.entry(session(file)).or_default() += weight;
            }
        }
        let mut best: Vec<(String, f64)> = weights.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(best.into_iter().map(|(session, _)| session).collect())
    }
}

/// Returns the session of a file, by its name; a sub-agent's is that of its folder.
fn session(file: &str) -> String {
    if let Some((before, _)) = file.split_once("/subagents/") {
        return before.rsplit('/').next().unwrap_or(before).to_owned();
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    // A rollout of Codex ends with the session's id.
    match stem.strip_prefix("rollout-") {
        Some(rest) => rest.get(20..).unwrap_or(rest).to_owned(),
        None => stem.to_owned(),
    }
}

fn run(home: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut rg = command_of_the_developer("rg");
    rg.args(arguments).current_dir(home);
    let output = rg.output().map_err(|error| format!("rg: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
