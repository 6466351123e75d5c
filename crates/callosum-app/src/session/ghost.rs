//! `callosum session ghost`: looks for a feature that may be missing.

use std::fmt::Write as _;

use callosum_search::Proximity;
use callosum_session::ghost::THRESHOLD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, find};

/// Ends of files that only speak of code, or that programs draw and write.
const NO_CODE: [&str; 12] = [
    "md", "markdown", "rst", "adoc", "txt", "svg", "lock", "csv", "tsv", "po", "pot", "snap",
];

/// Beginnings of such files' names, in small letters.
const NO_CODE_BY_NAME: [&str; 14] = [
    "license",
    "licence",
    "copying",
    "copyright",
    "unlicense",
    "notice",
    "authors",
    "contributors",
    "changelog",
    "changes",
    "history",
    "readme",
    "package-lock.",
    "pnpm-lock.",
];

/// Words that must be close together in a passage that counts: both words of two, three of four,
/// within about three lines. Scattered over a passage they mean nothing: most longer passages have
/// "single" and "sign".
const TOGETHER: Proximity = Proximity {
    share: 0.75,
    within: 24,
};

/// Passages that are counted, at most.
const MOST: usize = 50;

/// `callosum session ghost --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GhostOutput {
    /// The feature.
    pub feature: String,
    /// Whether it is not there.
    pub ghost: bool,
    /// The queries, then the control.
    pub queries: Vec<AskedOutput>,
    /// The record's place in the trajectory: `file:line`.
    pub trajectory: String,
}

/// A query, and what it found.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AskedOutput {
    /// The query.
    pub query: String,
    /// Number of passages of code that were found.
    pub results: usize,
    /// Places of the first of them: `path:line`.
    pub found: Vec<String>,
    /// Result of `ck`; null if it is not configured.
    pub ck: Option<find::CkOutput>,
}

/// Counts the passages of one query.
pub fn asked(context: &Context, query: &str) -> Result<AskedOutput, CommandError> {
    let find::Answer { found, ck } = find::in_tree(context, query, (THRESHOLD, TOGETHER), MOST)?;
    let found: Vec<String> = found
        .iter()
        .filter(|found| is_code(&found.place))
        .map(|found| format!("{}:{}", found.place, found.first))
        .collect();
    Ok(AskedOutput {
        query: query.to_owned(),
        results: found.len(),
        found: found.into_iter().take(3).collect(),
        ck,
    })
}

fn is_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let end = name.rsplit_once('.').map(|(_, end)| end);
    end.is_none_or(|end| !NO_CODE.contains(&end))
        && !NO_CODE_BY_NAME.iter().any(|start| name.starts_with(start))
}

impl GhostOutput {
    /// Returns the result as lines.
    pub fn lines(&self) -> String {
        let what = if self.ghost { "not found" } else { "found" };
        let mut text = format!("{}: {what}\n", self.feature);
        for asked in &self.queries {
            let found = asked.found.join(" ");
            let _ = writeln!(text, "{}: {} {found}", asked.query, asked.results);
        }
        text
    }
}
