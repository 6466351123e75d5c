//! [`Engine`]: decides where calls run.
//!
//! Start with [`Engine::decide`]. What it decides from is set in `rules`: routes, offers, the policy, and outcomes.
//! `miss` has the way of a call that is not in the cache, and `entries` shows and removes entries.

mod entries;
mod miss;
mod rules;

use std::{
    fmt,
    sync::{
        Arc, RwLock,
        atomic::{AtomicU32, AtomicU64, Ordering, fence},
    },
};

use jiff::{SignedDuration, Timestamp};

use self::rules::Rules;
pub use self::{entries::Explanation, rules::Policy};
use super::{
    arena::Arena,
    cache::{Cache, Hit},
    context::{CallContext, Symbol},
    decision::{Decision, PolicyEpoch, Why, confidence},
    outcome::Outcomes,
    record::{Flushing, nanoseconds},
    scorer::{WeightedScorer, default_scorers},
    stripe::{RawRecord, Stripes, Touch},
    target::ExecTarget,
    task_hash::spread,
};

/// Number of the evaluator, the first target of each engine.
const LOCAL_PURE: u32 = 0;

/// Most entries of a cache.
const MOST_ENTRIES: usize = 1 << 24;

/// Settings of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineOptions {
    /// Entries of the L1 cache (Seed CCOS §3.b.2: 1,000).
    pub capacity: usize,
    /// Time that an entry is valid (Seed CCOS §3.b.2: 24 hours).
    pub ttl: SignedDuration,
    /// Lowest score that moves the target away from the evaluator.
    pub threshold: f64,
    /// Confidence of metadata below which the target does not move.
    pub min_confidence: f64,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            capacity: 1_000,
            ttl: SignedDuration::from_hours(24),
            threshold: 0.65,
            min_confidence: 0.5,
        }
    }
}

/// A symbol, with the number of its static target.
#[derive(Debug)]
struct SymbolEntry {
    name: Box<str>,
    /// Number of the target plus 1; 0 if it has none.
    route: AtomicU32,
    /// Number of offers.
    offers: AtomicU32,
    /// Changes whenever what is known of the symbol makes older decisions void.
    revision: AtomicU32,
}

/// Decides where calls run. Threads share one by reference.
pub struct Engine {
    pub(super) cache: Cache,
    pub(super) stripes: Stripes,
    pub(super) flushing: Flushing,
    options: EngineOptions,
    scorers: Vec<WeightedScorer>,
    symbols: Arena<Box<str>, SymbolEntry>,
    targets: Arena<ExecTarget, ExecTarget>,
    outcomes: Outcomes,
    rules: RwLock<Arc<Rules>>,
    /// Version of the rules; odd while they change.
    validity: AtomicU64,
    policy: AtomicU64,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new(EngineOptions::default())
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("options", &self.options)
            .field("entries", &self.len())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Returns an engine with the built-in scorers.
    pub fn new(options: EngineOptions) -> Self {
        Self::with_scorers(options, default_scorers())
    }

    /// Returns an engine with these scorers instead of the built-in ones.
    pub fn with_scorers(options: EngineOptions, scorers: Vec<WeightedScorer>) -> Self {
        let ttl = i64::try_from(options.ttl.as_nanos()).unwrap_or(i64::MAX);
        let targets = Arena::new();
        targets.intern(&ExecTarget::LocalPure, |it| (it.clone(), it.clone()));
        Self {
            cache: Cache::new(options.capacity.min(MOST_ENTRIES), ttl),
            stripes: Stripes::new(),
            flushing: Flushing::default(),
            options,
            scorers,
            symbols: Arena::new(),
            targets,
            outcomes: Outcomes::default(),
            rules: RwLock::default(),
            validity: AtomicU64::new(0),
            policy: AtomicU64::new(0),
        }
    }

    /// Returns the symbol of a name. A name is opaque: `::`, `/` and other separators have no meaning here.
    ///
    /// Call it once for each symbol of a program. Names stay in memory as long as the engine.
    pub fn symbol(&self, name: &str) -> Symbol {
        Symbol(self.symbols.intern(name, |name| {
            let entry = SymbolEntry {
                name: name.into(),
                route: AtomicU32::new(0),
                offers: AtomicU32::new(0),
                revision: AtomicU32::new(0),
            };
            (name.into(), entry)
        }))
    }

    /// Decides where a call runs: its static route, a valid entry of the L1 cache, the best offer, or the evaluator.
    ///
    /// It is not a pure function: it leaves a [record](Self::take_records), uses an entry or writes one, and computes a
    /// missing decision once for all threads that ask for it. [`explain`](Self::explain) changes nothing. A hit takes some
    /// tens of nanoseconds and allocates nothing while records are taken in time.
    #[inline]
    pub fn decide(&self, call: &CallContext<'_>, now: Timestamp) -> Decision<'_> {
        let at = nanoseconds(now);
        let outcome = match self.decide_quickly(call, at) {
            Some(outcome) => outcome,
            None => self.decide_slowly(call, at),
        };
        self.stripes.push(&RawRecord {
            at,
            task: call.task.get(),
            policy: outcome.policy,
            symbol: call.key.symbol,
            target: outcome.target,
            touch: outcome.touch,
            millionths: outcome.millionths,
            why: outcome.why,
        });
        self.decision(call, &outcome)
    }

    /// Returns the static route or a valid entry, without a lock.
    #[inline]
    fn decide_quickly(&self, call: &CallContext<'_>, at: i64) -> Option<Outcome> {
        let validity = self.validity.load(Ordering::Acquire);
        let symbol = self.symbols.get(call.key.symbol)?;
        let route = symbol.route.load(Ordering::Relaxed);
        if route == 0 {
            let hash = spread(call.key.symbol, call.task.get());
            let hit = self.cache.lookup(&call.key, hash, validity, at)?;
            return Some(Outcome::hit(&hit));
        }
        let policy = self.policy.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        // Route and policy belong together only if the rules did not change in between.
        let is_whole = validity & 1 == 0 && self.validity.load(Ordering::Relaxed) == validity;
        is_whole.then(|| Outcome::fixed(route - 1, policy))
    }

    #[inline]
    fn decision(&self, call: &CallContext<'_>, outcome: &Outcome) -> Decision<'_> {
        Decision {
            target: self.target(outcome.target),
            why: outcome.why,
            confidence: confidence(outcome.millionths),
            policy_epoch: PolicyEpoch(outcome.policy),
            task_hash: call.task,
        }
    }

    /// Returns the name of a symbol.
    pub(super) fn name(&self, symbol: u32) -> &str {
        self.symbols.get(symbol).map_or("", |symbol| &symbol.name)
    }

    /// Returns a target by its number.
    #[inline]
    pub(super) fn target(&self, number: u32) -> &ExecTarget {
        self.targets.get(number).unwrap_or(&ExecTarget::LocalPure)
    }

    fn target_number(&self, target: &ExecTarget) -> u32 {
        self.targets.intern(target, |it| (it.clone(), it.clone()))
    }
}

/// A decision, as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    target: u32,
    why: Why,
    millionths: u32,
    policy: u64,
    touch: Touch,
}

impl Outcome {
    #[inline]
    fn hit(hit: &Hit) -> Self {
        Self {
            target: hit.target,
            why: Why::Hit,
            millionths: hit.millionths,
            policy: hit.policy,
            touch: hit.touch,
        }
    }

    #[inline]
    fn fixed(target: u32, policy: u64) -> Self {
        Self {
            target,
            why: Why::Static,
            millionths: 1_000_000,
            policy,
            touch: Touch::NONE,
        }
    }

    fn default(policy: u64) -> Self {
        Self {
            target: LOCAL_PURE,
            why: Why::Default,
            millionths: 0,
            policy,
            touch: Touch::NONE,
        }
    }
}
