//! `callosum session ghost`: looks for a feature that is said to be missing.

use std::fmt::Write as _;

use callosum_search::find::Together;
use callosum_session::ghost::{Asked, GhostError, GhostSearch, THRESHOLD};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{AgentArgs, explain, session, tell_mended, zones};
use crate::{
    cli::{context::Context, find},
    ui::{CommandError, Exit},
};

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

/// What stands together in a passage that counts: both words of two, three of four, within about three
/// lines. Scattered over a passage they say nothing: most longer passages have "single" and "sign".
const TOGETHER: Together = Together {
    share: 0.75,
    within: 24,
};

/// Passages that are counted, at most.
const MOST: usize = 50;

/// Search for a feature that is called missing, and record the result
///
/// At least two different queries must find nothing in the tree's code. The positive control, which is known to be
/// there, must be found. A passage matches if three quarters of the query's words occur within about three lines.
/// Documents, licenses and lock files are ignored: a feature mentioned only there is a ghost.
///
/// Exits with 0 if the feature is missing. Exits with 1 if a query found something, which is printed, or if the search
/// proves nothing. `callosum session check` requires such a record for each feature that was called missing.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session ghost SSO --query saml --query \"single sign-on\" --control total")]
pub(crate) struct GhostArgs {
    /// Name of the feature
    #[arg(value_name = "FEATURE")]
    feature: String,
    /// Query that would find the feature; give at least two, in different words
    #[arg(long = "query", value_name = "QUERY", required = true)]
    queries: Vec<String>,
    /// Positive control: a query for something that is known to be there
    #[arg(long, value_name = "QUERY")]
    control: String,
    #[command(flatten)]
    agent: AgentArgs,
}

/// `callosum session ghost --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct GhostOutput {
    /// The feature.
    pub(crate) feature: String,
    /// Whether it is not there.
    pub(crate) ghost: bool,
    /// The queries, then the control.
    pub(crate) queries: Vec<AskedOutput>,
    /// Where the record stands in the trajectory: `file:line`.
    pub(crate) trajectory: String,
}

/// A query, and what it found.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct AskedOutput {
    /// What was looked for.
    pub(crate) query: String,
    /// How many passages of code were found.
    pub(crate) results: usize,
    /// Where the first of them stand: `path:line`.
    pub(crate) found: Vec<String>,
    /// What `ck` had to say; null where it is not configured.
    pub(crate) ck: Option<find::CkOutput>,
}

pub(super) fn run(context: &Context, args: &GhostArgs) -> Result<(), CommandError> {
    let mut queries = Vec::new();
    for query in args.queries.iter().chain([&args.control]) {
        queries.push(asked(context, query)?);
    }
    let of = |asked: &AskedOutput| Asked {
        query: asked.query.clone(),
        results: asked.results,
    };
    let (control, made) = queries
        .split_last()
        .map_or((None, &[][..]), |(last, made)| (Some(of(last)), made));
    let Some(control) = control else {
        return Ok(());
    };
    let search = GhostSearch {
        feature: args.feature.clone(),
        queries: made.iter().map(of).collect(),
        control,
    };
    let zones = zones(context);
    let session = session(context, &zones, args.agent.agent()?);
    let held = session.hold().map_err(|error| explain(&error))?;
    tell_mended(context, &held);
    let ghosted = held.ghost(&search).map_err(|error| match error {
        GhostError::Session(error) => explain(&error),
        GhostError::ShowsNothing { .. } => CommandError::from_error(Exit::No, &error)
            .hint("use two --query with different words, and a --control that exists"),
    })?;
    let output = GhostOutput {
        feature: args.feature.clone(),
        ghost: ghosted.is_ghost,
        queries,
        trajectory: ghosted.written.trajectory,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.read_by_all(&output.lines())?;
    }
    if output.ghost {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn asked(context: &Context, query: &str) -> Result<AskedOutput, CommandError> {
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
    fn lines(&self) -> String {
        let what = if self.ghost { "not found" } else { "found" };
        let mut text = format!("{}: {what}\n", self.feature);
        for asked in &self.queries {
            let found = asked.found.join(" ");
            let _ = writeln!(text, "{}: {} {found}", asked.query, asked.results);
        }
        text
    }
}
