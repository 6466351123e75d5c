//! [`Flight`]: a decision that one thread computes while others wait for it.
//!
//! A thread that computes a decision never waits for another flight: a scorer that itself asks the engine computes alone.
//! So no circle of threads can wait for one another.

use std::{
    cell::Cell,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use super::{decision::DelegationPlan, locked, scorer::Score};

/// Decisions inside decisions of one thread above which the answer is the default.
const MOST_NESTED: u32 = 4;

/// Decision of the scorers.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    /// Number of the target, and the plan that the cache stores; nothing if the target does not move.
    pub(super) chosen: Option<(u32, Arc<DelegationPlan>)>,
    /// Scores of all offers, the best first.
    pub(super) scores: Arc<[Score]>,
}

#[derive(Debug)]
enum State {
    Computing,
    Done(Verdict),
    /// The thread that computed it panicked.
    Abandoned,
}

/// A decision that is being computed.
#[derive(Debug)]
pub(super) struct Flight {
    state: Mutex<State>,
    ended: Condvar,
}

impl Flight {
    /// Returns a decision that is being computed by this thread.
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State::Computing),
            ended: Condvar::new(),
        }
    }

    /// Waits for the decision. Returns nothing if the thread that computed it panicked.
    pub(super) fn wait(&self) -> Option<Verdict> {
        let mut state = locked(&self.state);
        loop {
            match &*state {
                State::Computing => {
                    state = self
                        .ended
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                State::Done(verdict) => return Some(verdict.clone()),
                State::Abandoned => return None,
            }
        }
    }

    /// Ends the wait of the others: with the decision, or without one.
    pub(super) fn end(&self, verdict: Option<Verdict>) {
        *locked(&self.state) = verdict.map_or(State::Abandoned, State::Done);
        self.ended.notify_all();
    }
}

thread_local! {
    static NESTED: Cell<u32> = const { Cell::new(0) };
}

/// Counts the decisions that this thread computes, one inside the other.
#[derive(Debug)]
pub(super) struct Nesting(());

impl Nesting {
    /// Begins one more, unless too many are open.
    pub(super) fn begin() -> Option<Self> {
        NESTED.with(|nested| {
            let depth = nested.get();
            (depth < MOST_NESTED).then(|| {
                nested.set(depth + 1);
                Self(())
            })
        })
    }

    /// Returns whether this thread computes a decision.
    pub(super) fn is_open() -> bool {
        NESTED.with(Cell::get) > 0
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        NESTED.with(|nested| nested.set(nested.get() - 1));
    }
}
