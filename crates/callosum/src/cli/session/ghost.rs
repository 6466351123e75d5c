//! Arguments and output of `callosum session ghost`.
//!
//! The use case is [`callosum_app::session::ghost`].

use callosum_app::session::ghost::{AskedOutput, GhostOutput, asked};
use callosum_app::session::{explain, session, tell_mended};
use callosum_app::{CommandError, Exit};
use callosum_session::ghost::{GhostError, GhostQuery, GhostSearch};
use clap::Args;

use super::AgentArgs;
use crate::cli::context::Context;

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

pub(super) fn run(context: &Context, args: &GhostArgs) -> Result<(), CommandError> {
    let mut queries = Vec::new();
    for query in args.queries.iter().chain([&args.control]) {
        queries.push(asked(context, query)?);
    }
    let of = |asked: &AskedOutput| GhostQuery {
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
    let zones = context.zones();
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
