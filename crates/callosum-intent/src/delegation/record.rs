//! [`DecisionRecord`]: what every decision leaves; and [`Batch`], records that are being written.
//!
//! A decision takes some nanoseconds and a synced write some milliseconds, so records wait in memory. The caller writes
//! them before the first effect that depends on one ([`Engine::must_flush_before_effect`]).

use std::{
    ops::Deref,
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    decision::{PolicyEpoch, Why, confidence},
    engine::Engine,
    locked,
    stripe::RawRecord,
    target::ExecTarget,
    task_hash::TaskHash,
};

/// Time after which a thread that waits for another's batch looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A decision, as the causal chain stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DecisionRecord {
    /// Name of the symbol.
    pub symbol: String,
    /// Mixed hash of the argument types and the context.
    pub task_hash: TaskHash,
    /// Target of the call.
    pub target: ExecTarget,
    /// Step that led to it.
    pub why: Why,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
    /// Policy that it was made or checked under.
    pub policy_epoch: PolicyEpoch,
    /// Time of the decision.
    pub at: Timestamp,
}

/// Records that left the engine and are not yet written. Without [`written`](Batch::written), they return to the engine.
#[derive(Debug)]
#[must_use = "records that are not written return to the engine"]
pub struct Batch<'e> {
    engine: &'e Engine,
    records: Vec<DecisionRecord>,
    /// Set if effects wait for it: an empty batch holds up no one.
    is_open: bool,
}

/// State of what is being written.
#[derive(Debug, Default)]
pub(super) struct Flushing {
    state: Mutex<FlushState>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct FlushState {
    /// Batches that are being written.
    open: usize,
    /// Records of batches that were not written.
    returned: Vec<DecisionRecord>,
}

impl Batch<'_> {
    /// Confirms that the records are on disk.
    pub fn written(mut self) {
        self.records.clear();
    }
}

impl Deref for Batch<'_> {
    type Target = [DecisionRecord];

    fn deref(&self) -> &[DecisionRecord] {
        &self.records
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let flushing = &self.engine.flushing;
        let mut state = locked(&flushing.state);
        // In front: they are older than what returned since.
        let later = std::mem::take(&mut state.returned);
        state.returned = std::mem::take(&mut self.records);
        state.returned.extend(later);
        state.open -= usize::from(self.is_open);
        flushing.ended.notify_all();
    }
}

/// Nanoseconds since 1970; times before 1677 and after 2262 are moved there.
#[inline]
pub(super) fn nanoseconds(time: Timestamp) -> i64 {
    let (seconds, rest) = (time.as_second(), i64::from(time.subsec_nanosecond()));
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

impl Engine {
    /// Takes all records that wait, oldest first, to be written.
    ///
    /// Until [`Batch::written`], [`must_flush_before_effect`](Self::must_flush_before_effect) stays true for all threads.
    pub fn take_records(&self) -> Batch<'_> {
        let mut state = locked(&self.flushing.state);
        let mut records = std::mem::take(&mut state.returned);
        let raw = {
            let mut shelf = self.cache.shelf();
            let (raw, uses) = self.stripes.take();
            self.cache.apply(&mut shelf, &uses);
            raw
        };
        records.extend(raw.iter().map(|record| self.record(record)));
        let is_open = !records.is_empty();
        state.open += usize::from(is_open);
        Batch {
            engine: self,
            records,
            is_open,
        }
    }

    /// Returns whether an effect must wait: a decision exists that is not yet written.
    pub fn must_flush_before_effect(&self) -> bool {
        let state = locked(&self.flushing.state);
        state.open > 0 || !state.returned.is_empty() || self.stripes.len() > 0
    }

    /// Returns the number of records that wait in memory. More than a few thousand cost memory and make the next miss slow.
    pub fn pending_records(&self) -> usize {
        let state = locked(&self.flushing.state);
        state.returned.len() + self.stripes.len()
    }

    /// Writes all records, and waits for batches of other threads. After it, effects may happen.
    ///
    /// The thread must have no open [`Batch`] of its own. If the write fails, the records return to the engine.
    pub fn flush<E>(
        &self,
        mut write: impl FnMut(&[DecisionRecord]) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.must_flush_before_effect() {
            let batch = self.take_records();
            if batch.is_empty() {
                drop(batch);
                let state = locked(&self.flushing.state);
                if state.open > 0 {
                    let waited = self.flushing.ended.wait_timeout(state, LOOK_AGAIN);
                    drop(waited.unwrap_or_else(PoisonError::into_inner));
                }
            } else {
                write(&batch)?;
                batch.written();
            }
        }
        Ok(())
    }

    fn record(&self, raw: &RawRecord) -> DecisionRecord {
        let at = Timestamp::from_nanosecond(i128::from(raw.at));
        DecisionRecord {
            symbol: self.name(raw.symbol).to_owned(),
            task_hash: TaskHash::from_number(raw.task),
            target: self.target(raw.target).clone(),
            why: raw.why,
            confidence: confidence(raw.millionths),
            policy_epoch: PolicyEpoch(raw.policy),
            at: at.unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }
}
