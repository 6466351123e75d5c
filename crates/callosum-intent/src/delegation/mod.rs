//! Decides where a call runs, and remembers the decision (Seed CCOS §3.b).
//!
//! Start with [`Engine::decide`]. A call is a [`CallContext`]: a symbol, the types of its arguments, and the context that
//! it runs in. The answer is a [`Decision`]: the evaluator, a model on this machine, a remote model, or a compiled plan.
//! The order is fixed: static routes, the L1 cache, scorers over registered [`Offer`]s, and the evaluator.
//! [`compiled`] stores and verifies the plans that an [`ExecTarget::L4CacheHit`] names.
//!
//! Locks, so that no two threads can wait for each other:
//!
//! | lock | what it guards | may be taken while it is held |
//! |---|---|---|
//! | `flushing` | batches of records that are being written | `shelf`, a buffer |
//! | `shelf` | recency, eviction, plans of entries, flights | a buffer |
//! | a buffer | records of a thread that left its ring | none |
//! | `rules`, `outcomes`, an arena's index, a flight | their own data | none |
//!
//! No lock is held while a scorer or a caller works. A hit takes no lock, unless its
//! thread's ring of records is full. Deliberately not
//! here: clocks, files, models, and the call itself.

mod arena;
mod cache;
pub mod compiled;
mod context;
mod decision;
mod engine;
mod flight;
mod offer;
mod outcome;
mod proposal;
mod record;
mod scorer;
mod stripe;
mod target;
mod task_hash;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::{
    context::{CallContext, DelegationMetadata, Needs, Symbol},
    decision::{Decision, DelegationPlan, PolicyEpoch, Why},
    engine::{Engine, EngineOptions, Explanation, Policy},
    offer::{Offer, Veto},
    outcome::Past,
    proposal::{
        Course, Fallback, FallbackRule, FallbackStrategy, Fault, MOST_FALLBACKS, PlanShape,
        Proposal, ShapeStep,
    },
    record::{Batch, DecisionRecord},
    scorer::{
        Candidate, CostScorer, HintScorer, LatencyScorer, PrivacyScorer, Score, Scorer,
        ScorerInput, SuccessScorer, WeightedScorer, default_scorers,
    },
    target::{ExecTarget, InvalidTarget},
    task_hash::{InvalidTaskHash, TaskHash, stable_hash},
};

/// Takes a lock. A thread that panicked elsewhere leaves the data whole: no foreign code runs under these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
