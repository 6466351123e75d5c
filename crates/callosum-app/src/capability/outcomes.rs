//! [`OutcomeFile`]: outcomes of capability calls in a project, folded from its runs, in the machine's home.
//!
//! A process that carries on a run counts the answers that it sees, and adds them once when it
//! stops: no journal is read. Answers that a killed process did not add are added when the run is
//! next carried on. The format: `docs/formats/capability.md`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use callosum_config::Homes;
use callosum_host::{Disk, FileLock};
use callosum_plan::CapabilityName;
use callosum_plan_run::kernel::outcomes::{CallOutcome, Outcomes};
use callosum_plan_run::run::{RunNotice, RunState, RunWatch, call_outcome};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::disk_errors::disk_failed;
use crate::{CommandError, Exit};

/// The version of the file.
const VERSION: u32 = 1;

/// Permission bits of the file.
const MODE: u32 = 0o600;

/// Time to wait for another process that adds to the same file.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// The outcomes of one project.
pub struct OutcomeFile {
    disk: Disk,
    homes: Homes,
    file: PathBuf,
}

#[derive(Default, Deserialize, Serialize)]
struct Content {
    version: u32,
    capabilities: BTreeMap<String, callosum_plan_run::kernel::outcomes::CapabilityOutcomes>,
    /// Number of answers counted so far, by run. Only runs that are not over.
    runs: BTreeMap<String, u64>,
}

/// Outcomes of calls of a capability.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OutcomesOutput {
    /// Calls of plans that say something of it.
    pub calls: u64,
    /// Those of them that answered.
    pub succeeded: u64,
    /// The score, 0 to 1: (succeeded + 1) / (calls + 2).
    pub score: f64,
    /// Milliseconds of a call: the median of the last 64.
    pub median_ms: Option<u64>,
    /// Tokens of a call, the mean.
    pub mean_tokens: u64,
    /// US dollars of a call, the mean.
    pub mean_cost_usd: f64,
    /// The kind of the last failure.
    pub last_failure_kind: Option<String>,
    /// The message of the last failure.
    pub last_failure: Option<String>,
    /// When the last failure was counted.
    pub last_failure_at: Option<String>,
}

impl OutcomesOutput {
    /// Returns what is printed of the outcomes of one capability; of one that was never called, a score in the middle.
    pub fn of(outcomes: &Outcomes, name: &CapabilityName) -> Self {
        let own = outcomes.get(name).cloned().unwrap_or_default();
        let last = own.last_failure.as_ref();
        Self {
            calls: own.calls,
            succeeded: own.succeeded,
            score: (own.score() * 1000.0).round() / 1000.0,
            median_ms: own.median_ms(),
            mean_tokens: own.mean_tokens(),
            mean_cost_usd: own.mean_cost().to_dollars(),
            last_failure_kind: last.map(|last| last.kind.clone()),
            last_failure: last.map(|last| last.message.clone()),
            last_failure_at: last.map(|last| last.at.to_string()),
        }
    }
}

impl OutcomeFile {
    /// Those of the context's project. Reads and creates nothing.
    pub fn of_project(context: &Context) -> Self {
        let homes = context.project.homes.clone();
        Self {
            disk: context.disk.clone(),
            file: homes.capability_outcomes(context.state()),
            homes,
        }
    }

    /// Returns the outcomes by capability. A file that can't be read is as good as none: scores permit nothing.
    pub fn outcomes(&self) -> Outcomes {
        let named = self.content().capabilities.into_iter();
        let named = named.filter_map(|(name, own)| Some((CapabilityName::parse(&name).ok()?, own)));
        named.collect()
    }

    fn content(&self) -> Content {
        let bytes = self.disk.read_if_there(&self.file).ok().flatten();
        let content = bytes.and_then(|bytes| serde_json::from_slice::<Content>(&bytes).ok());
        content
            .filter(|content| content.version == VERSION)
            .unwrap_or_default()
    }

    /// Adds what a process saw of a run, and what an earlier one did not add.
    pub fn add(
        &self,
        seen: &SeenOutcomes,
        is_over: bool,
        at: Timestamp,
    ) -> Result<(), CommandError> {
        let run = seen.run.as_str();
        let counted = |content: &Content| content.runs.get(run).copied().unwrap_or(0);
        let now = seen.lock();
        let answered = seen.before.len() as u64 + now.answered;
        let before = self.content();
        let is_forgotten = is_over && before.runs.contains_key(run);
        if counted(&before) == answered && !is_forgotten {
            return Ok(());
        }
        let failed = |error| disk_failed(&error);
        self.homes.create_machine(&self.disk).map_err(failed)?;
        let own = self.file.parent();
        for folder in [own.and_then(|own| own.parent()), own]
            .into_iter()
            .flatten()
        {
            self.disk.create_private_dir(folder).map_err(failed)?;
        }
        let lock = self.file.with_extension("lock");
        let held = FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT);
        let _held = held.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        let mut content = self.content();
        content.version = VERSION;
        let skipped = usize::try_from(counted(&content)).unwrap_or(usize::MAX);
        let earlier = seen.before.iter().skip(skipped).flatten();
        for (name, outcome) in earlier.chain(&now.outcomes) {
            let own = content.capabilities.entry(name.to_string()).or_default();
            own.add(outcome, at);
        }
        if is_over {
            content.runs.remove(run);
        } else {
            content.runs.insert(run.to_owned(), answered);
        }
        let bytes = serde_json::to_vec(&content).map_err(CommandError::internal)?;
        self.disk.replace(&self.file, &bytes, MODE).map_err(failed)
    }
}

type Named = (CapabilityName, CallOutcome);

/// The answers of a run that this process sees, and those from before. Passes each notice on.
pub struct SeenOutcomes<'w> {
    watch: &'w dyn RunWatch,
    run: String,
    before: Vec<Option<Named>>,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    answered: u64,
    outcomes: Vec<Named>,
}

impl<'w> SeenOutcomes<'w> {
    /// Of a run that is about to be carried on from `state`.
    pub fn new(state: &RunState, watch: &'w dyn RunWatch) -> Self {
        // The outcomes of a run that is over were counted when it ended.
        let answered = match state.ended() {
            Some(_) => 0,
            None => state.answer_count(),
        };
        let before = 0..answered;
        let before = before.map(|number| {
            let (call, _) = state.answer_number(number)?;
            call_outcome(call)
        });
        Self {
            watch,
            run: state.run().to_string(),
            before: before.collect(),
            now: Mutex::default(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunWatch for SeenOutcomes<'_> {
    fn notice(&self, notice: RunNotice<'_>) {
        if let RunNotice::Answered(call) = notice {
            let mut now = self.lock();
            now.answered += 1;
            now.outcomes.extend(call_outcome(call));
        }
        self.watch.notice(notice);
    }
}
