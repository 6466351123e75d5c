//! Filters for entries, from the arguments of `ledger query` and `ledger export`.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::ledger::filter`].

use callosum_app::ledger::filter::Filter;
use callosum_app::time_arg::TimeArg;
use callosum_arbiter::Mode;
use clap::Args;
use clap::builder::PossibleValuesParser;

/// Filters of ledger entries; an absent filter excludes nothing.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilterArgs {
    /// Only entries of this executor
    #[arg(long, value_name = "ID")]
    executor: Option<String>,
    /// Only entries since TIME: a date, a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    since: Option<TimeArg>,
    /// Only entries until TIME, in the same formats
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    until: Option<TimeArg>,
    /// Only entries with TEXT in summary or metadata, ignoring case
    ///
    /// Metadata includes the prompt and the repository.
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only entries of tasks that ran in this mode
    #[arg(long, value_parser = PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)))]
    mode: Option<String>,
    /// Only entries about this repository
    #[arg(long)]
    repo: Option<String>,
    /// Only entries about this branch
    #[arg(long)]
    branch: Option<String>,
}

impl From<&FilterArgs> for Filter {
    fn from(args: &FilterArgs) -> Self {
        Self {
            executor: args.executor.clone(),
            since: args.since,
            until: args.until,
            text: args.text.clone(),
            mode: args.mode.clone(),
            repo: args.repo.clone(),
            branch: args.branch.clone(),
        }
    }
}
