//! Which entries are meant, as `ledger query` and `ledger export` are told.

use callosum_arbiter::Mode;
use callosum_host::Clock;
use callosum_ledger::Query;
use clap::{Args, builder::PossibleValuesParser};

use crate::{
    cli::moment::Moment,
    ui::{CommandError, Exit},
};

/// Filters of ledger entries; an absent filter excludes nothing.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilterArgs {
    /// Only entries of this executor
    #[arg(long, value_name = "ID")]
    executor: Option<String>,
    /// Only entries since TIME: a date, a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "TIME", value_parser = Moment::read)]
    since: Option<Moment>,
    /// Only entries until TIME, in the same formats
    #[arg(long, value_name = "TIME", value_parser = Moment::read)]
    until: Option<Moment>,
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

/// Which ledger entries are meant; an absent value excludes nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    executor: Option<String>,
    since: Option<Moment>,
    until: Option<Moment>,
    text: Option<String>,
    mode: Option<String>,
    repo: Option<String>,
    branch: Option<String>,
}

impl Filter {
    /// Those of an executor, with this text, from a time on that is said as a person says it.
    pub(crate) fn of(
        executor: Option<String>,
        text: Option<String>,
        since: Option<&str>,
    ) -> Result<Self, CommandError> {
        let since = since.map(Moment::read).transpose();
        let refused = |what| CommandError::new(Exit::Usage, format!("`since`: {what}"));
        Ok(Self {
            executor,
            text,
            since: since.map_err(refused)?,
            ..Self::default()
        })
    }

    /// The question to the ledger, with at most `limit` answers.
    ///
    /// A time to which nothing leads from the other is refused.
    pub(super) fn query(&self, clock: &Clock, limit: Option<usize>) -> Result<Query, CommandError> {
        let now = clock.now();
        let since = self.since.map(|since| since.first(now));
        let until = self.until.map(|until| until.last(now));
        if let (Some(since), Some(until)) = (since, until)
            && since > until
        {
            let what = format!("--since {since} is later than --until {until}");
            return Err(CommandError::new(Exit::Usage, what));
        }
        Ok(Query {
            executor: self.executor.clone(),
            since,
            until,
            text: self.text.clone(),
            mode: self.mode.clone(),
            repo: self.repo.clone(),
            branch: self.branch.clone(),
            limit,
        })
    }
}
