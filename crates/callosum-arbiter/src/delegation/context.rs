//! Everything that a delegation works with and the rules that it keeps, passed by the caller.

use std::{collections::BTreeMap, path::Path, time::Duration};

use callosum_executor::{registry::Registry, runner::ExecutionEnvironment};
use callosum_host::{Clock, process::Cancel};
use callosum_ledger::{Answers, Ledger};

use super::{reuse::Reuse, start_record::StartMark};
use crate::{
    budget::Budget, circuit::Circuits, fraction::Fraction, schedule::Limits, slots::Slots,
};

/// Everything that a delegation leans on.
pub struct DelegationContext<'a> {
    /// Store of entries and records.
    pub ledger: &'a Ledger,
    /// Store of answers and prompts that are too long for an entry.
    pub answers: &'a Answers,
    /// Executors that can be asked.
    pub registry: &'a Registry,
    /// Environment in which executors run.
    pub surroundings: &'a ExecutionEnvironment,
    /// The tree that is read, and that citations are checked against.
    pub tree: &'a Path,
    /// Tells the time of day.
    pub clock: &'a Clock,
    /// Stops everything.
    pub cancel: &'a Cancel,
    /// Facts about the checkout that the tree is.
    pub provenance: Provenance,
    /// Answers that may be used again; `None` where none may.
    pub reuse: Option<Reuse>,
    /// Limits on what may be started, together with the runs above and below.
    pub budget: &'a Budget,
    /// Circuits that tell which executors are skipped for a while.
    pub circuits: &'a Circuits,
    /// Executors, in order, for a task that names none and whose executor's circuit is open.
    pub fallbacks: &'a [String],
    /// Most tasks that an executor may have at once, by its id; others as many as run.
    pub caps: BTreeMap<String, usize>,
    /// Slots in which parallel runs are counted too; `None` in a run that an executor began.
    pub slots: Option<Slots>,
    /// Mark that the executor of a plan's call was about to be started.
    pub start_mark: Option<StartMark>,
}

/// Origin of a tree, as entries name it (Seed CAL §3.1, `metadata`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The repository's name.
    pub repo: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The agent that asked, where it was no person at a command line.
    pub asked_by: Option<String>,
    /// That agent's session, as its client names it.
    pub asked_in: Option<String>,
}

/// Rules that a delegation keeps.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Limits of concurrency, and the pauses.
    pub limits: Limits,
    /// File reads above which a task counts as a load by itself.
    pub io_threshold: u64,
    /// Whether a summary under `SHORT_SUMMARY` is always sent back and then refused,
    /// instead of kept and marked (CAL-SCH-3).
    pub strict_summary: bool,
    /// Bytes of memory that this process may hold before it starts nothing more.
    pub memory_limit: Option<u64>,
    /// The share of citations that must hold, for tasks that do not say themselves.
    pub require_citations: Option<Fraction>,
    /// Whether an executor is started only once for a task: no answer is sent back, however bad it
    /// is.
    pub asks_once: bool,
    /// Whether a short answer to a question is sent back once if not all that it cites holds, or it cites nothing.
    pub asks_for_citations: bool,
    /// The total time that a task waits for the rate limits of its executors; zero to wait for none.
    pub wait_limit: Duration,
}

/// Bytes under which a summary counts as short (Seed CAL §3.2).
pub(super) const SHORT_SUMMARY: usize = 2 * 1024;
