//! Arguments and output of `callosum find`.
//!
//! The use case is [`callosum_app::find`].

mod render;

use std::num::NonZeroUsize;

use callosum_app::find::{asked, from_root, scope, searched, share};
use callosum_app::memory::{self, MemoryMachine, SessionQuestion};
use callosum_app::time_arg::TimeArg;
use callosum_app::{CommandError, Exit};
use callosum_memory::{Origin, RankBy};
use callosum_search::{By, Query, Search};
use clap::{Args, ValueEnum};

use super::context::Context;
use crate::ui::at_least_one;

/// Search code, decisions, beads and answers
///
/// Finds whole passages: a declaration with its documentation, or a section of a document. The index
/// is on this machine and is updated before each search; there is nothing to start or install. Of
/// the ledger's answers, the newest 64 MiB are searched.
///
/// If the folder `model` next to your configuration holds a static model, passages with a similar
/// meaning match too. If `ck` is linked next to your configuration, its results are merged in.
///
/// A name matches if a passage has the name or all of its words. The score is the share of the query
/// that a passage covers, from 0 to 1, reduced by up to a quarter for a low rank. Exits with 1 if
/// nothing matches.
///
/// With --sessions, searches the past sessions of your agents instead, once `callosum memory on` has read them. A session
/// is found by its messages, tool calls and failures. Each comes with the command that resumes it, and with a check of what
/// it cites against the files as they are now. Ledger entries, decisions, messages, tasks, discoveries and runs of plans are
/// found with them.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum find \"where is the config read\"
  $ callosum find parseConfig --path src --limit 3
  $ callosum find --section Installation
  $ callosum find \"retry policy\" --threshold 0.4 --jsonl
  $ callosum find --sessions \"why did we drop the message broker\"
  $ callosum find --sessions \"flaky login test\" --all-projects --since 30d --agent codex")]
pub(crate) struct FindArgs {
    /// Words, an identifier, or "text in quotes" that must occur exactly
    #[arg(value_name = "QUERY", required_unless_present = "section")]
    query: Option<String>,
    /// Only declarations and sections with this name, printed in full
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Only in this file or folder (may be repeated)
    ///
    /// PATH is relative to the current folder or to the root.
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Print at most N passages
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: NonZeroUsize,
    /// Only passages with at least this score (0 to 1)
    #[arg(long, value_name = "SCORE", default_value = "0", value_parser = share)]
    threshold: f64,
    /// Search method
    #[arg(long, value_enum, default_value = "all")]
    by: ByArg,
    /// Search past sessions of your agents
    #[arg(long, conflicts_with_all = ["section", "path", "threshold", "full", "jsonl"])]
    sessions: bool,
    /// With --sessions: sessions of all projects, not only of this one
    #[arg(long, requires = "sessions")]
    all_projects: bool,
    /// With --sessions: only turns since a time, a date or an age (30m, 2h, 7d)
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read, requires = "sessions", allow_negative_numbers = true)]
    since: Option<TimeArg>,
    /// With --sessions: only sessions of this agent, or records of this kind
    #[arg(long, value_name = "AGENT", value_parser = origin, requires = "sessions")]
    agent: Option<Origin>,
    /// Print each passage in full
    #[arg(long)]
    full: bool,
    /// Print one JSON object per line
    #[arg(long)]
    jsonl: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ByArg {
    /// Every method, with the results merged
    All,
    /// Words only
    Words,
    /// Names of declarations and sections only
    Names,
    /// Similar meaning only, by the installed model
    Meaning,
    /// Results of `ck` only, if it is configured
    Ck,
}

/// Parses the name of a client whose sessions can be read, or of a kind of records.
fn origin(text: &str) -> Result<Origin, String> {
    Origin::of(text).ok_or_else(|| format!("allowed: {}", Origin::names()))
}

pub(super) fn run(context: &Context, args: &FindArgs) -> Result<(), CommandError> {
    if args.sessions {
        return past_sessions(context, args);
    }
    let mut search = search(context, args)?;
    let answer = searched(context, &mut search)?;
    let is_found = !answer.found.is_empty();
    let whole = args.full || args.section.is_some();
    render::show(context, args, whole, &search.ask, answer)?;
    if is_found {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn past_sessions(context: &Context, args: &FindArgs) -> Result<(), CommandError> {
    let question = args.query.as_deref().unwrap_or_default();
    let now = context.clock.now();
    let by = match args.by {
        ByArg::All => RankBy::All,
        ByArg::Words => RankBy::Words,
        ByArg::Meaning => RankBy::Meaning,
        ByArg::Names | ByArg::Ck => {
            let what =
                "past sessions are not searched by this method (allowed: all, words, meaning)";
            return Err(CommandError::new(Exit::Usage, what));
        }
    };
    let machine = MemoryMachine::from(&**context);
    let found = memory::find(
        &machine,
        &SessionQuestion {
            question,
            folders: (!args.all_projects).then(|| memory::project_folders(context)),
            since: args.since.map(|since| since.first(now)),
            origin: args.agent,
            by,
            limit: args.limit.get(),
        },
    )?;
    if context.ui.json {
        context.ui.json_data(&found)?;
    } else {
        super::memory::sessions(context, question, &found)?;
    }
    if found.sessions.is_empty() {
        return Err(CommandError::told(Exit::No));
    }
    Ok(())
}

fn search(context: &Context, args: &FindArgs) -> Result<Search, CommandError> {
    let ask = match &args.query {
        Some(query) => asked(query)?,
        None => Query::read(""),
    };
    Ok(Search {
        ask,
        by: match args.by {
            ByArg::All => By::All,
            ByArg::Words => By::Words,
            ByArg::Names => By::Names,
            ByArg::Meaning => By::Meaning,
            ByArg::Ck => By::Proposals,
        },
        section: args.section.clone(),
        scope: scope(
            &args
                .path
                .iter()
                .map(|path| from_root(context, path))
                .collect::<Vec<_>>(),
        )?,
        limit: args.limit.get(),
        threshold: args.threshold,
        together: None,
        proposals: Vec::new(),
    })
}
