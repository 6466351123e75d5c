//! Filters of `ledger query` and `ledger export`.

use callosum_host::Clock;
use callosum_ledger::Query;

use crate::time_arg::TimeArg;
use crate::{CommandError, Exit};

/// Selection of ledger entries; an absent value excludes nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The executor's id.
    pub executor: Option<String>,
    /// The earliest time.
    pub since: Option<TimeArg>,
    /// The latest time.
    pub until: Option<TimeArg>,
    /// Text that summary or metadata contain.
    pub text: Option<String>,
    /// The mode that the task ran in.
    pub mode: Option<String>,
    /// The repository.
    pub repo: Option<String>,
    /// The branch.
    pub branch: Option<String>,
}

impl Filter {
    /// Selects entries of an executor, with this text, since a time that is written as a person
    /// writes it.
    pub fn of(
        executor: Option<String>,
        text: Option<String>,
        since: Option<&str>,
    ) -> Result<Self, CommandError> {
        let since = since.map(TimeArg::read).transpose();
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
    pub fn query(&self, clock: &Clock, limit: Option<usize>) -> Result<Query, CommandError> {
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
