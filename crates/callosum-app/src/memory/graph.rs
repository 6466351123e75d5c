//! [`graph`]: files that turns name, and the sessions that touched each of them.

use std::collections::BTreeMap;

use callosum_memory::{Memory, MemoryError};
use schemars::JsonSchema;
use serde::Serialize;

use super::output::SessionHitOutput;

/// Most files of an answer.
const MOST_FILES: usize = 10;

/// Most sessions of a file.
const MOST_SESSIONS: usize = 10;

/// Connections of turns.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GraphOutput {
    /// Files that the turns name, those named most often first.
    pub files: Vec<GraphFileOutput>,
}

/// A file, with the sessions that touched it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GraphFileOutput {
    /// The path, as the turns name it.
    pub path: String,
    /// Sessions whose tool calls name it, the latest first: `AGENT:ID`.
    pub touched_by: Vec<String>,
}

/// Finds the files that turns name, and the sessions whose tool calls name them.
pub(super) fn graph(
    memory: &Memory,
    hits: &[SessionHitOutput],
) -> Result<GraphOutput, MemoryError> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for turn in hits.iter().flat_map(|hit| &hit.turns) {
        for path in paths(&turn.text) {
            *counts.entry(path).or_default() += 1;
        }
    }
    let mut named: Vec<(&str, usize)> = counts.into_iter().collect();
    named.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    named.truncate(MOST_FILES);
    let mut files = Vec::new();
    for (path, _) in named {
        let touched_by = memory.sessions_with_call(path, MOST_SESSIONS)?;
        let touched_by = touched_by
            .into_iter()
            .map(|(client, session)| format!("{client}:{session}"));
        files.push(GraphFileOutput {
            path: path.to_owned(),
            touched_by: touched_by.collect(),
        });
    }
    Ok(GraphOutput { files })
}

/// Returns the words of a text that are paths: with a slash between names, and an ending.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    let words = text.split(|c: char| c.is_whitespace() || "`'\"()[]{},;|<>".contains(c));
    words
        .filter(|word| !word.contains("://"))
        .filter_map(|word| word.split(':').next())
        .map(move |word| word.trim_matches(is_end))
        .filter(|word| {
            let Some((folder, name)) = word.rsplit_once('/') else {
                return false;
            };
            let ending = name.rsplit_once('.').map(|(_, ending)| ending);
            !folder.is_empty()
                && !word.contains("//")
                && ending.is_some_and(|ending| {
                    !ending.is_empty()
                        && ending.len() <= 5
                        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names_with_a_folder_and_an_ending() {
        let text = "See `src/main.rs:12`, docs/a.md. Not https://x.org/a.html or and/or, nor a.rs";
        assert_eq!(
            paths(text).collect::<Vec<_>>(),
            ["src/main.rs", "docs/a.md"]
        );
    }
}
