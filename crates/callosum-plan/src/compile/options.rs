//! [`CompileOptions`]: rules that a program is checked by.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    capability::{Allowlist, CapabilityName},
    library::Library,
};

/// Rules that a program is checked by.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The pure functions that it may use.
    pub library: Arc<Library>,
    /// The capabilities that it may call; all where there is no list.
    pub allowed: Option<Allowlist>,
    /// The capabilities that have a provider, if that is known. A call of another is refused,
    /// unless it is in a `try` that catches such a failure.
    pub provided: Option<BTreeSet<CapabilityName>>,
    /// Most calls that it may make.
    pub max_yields: Option<u64>,
    /// Reaction if the number of calls depends on values.
    pub unbounded: Unbounded,
    /// Capabilities that `(:name :key value …)` calls.
    pub queries: BTreeSet<CapabilityName>,
    /// Whether a source must be a plan.
    pub plan: PlanRule,
}

/// Reaction to a program whose calls can't be counted before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// Take it; [`Limits::yields`](crate::Limits) holds when it runs.
    BoundWhenRun,
    /// Refuse it.
    Refuse,
}

/// Whether a source must be a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanRule {
    /// Any forms will do; the last one's value is the program's.
    Optional,
    /// Functions and constants, then one `defplan`.
    Required,
}

impl Default for CompileOptions {
    /// The standard library, all capabilities, any number of calls, the seed's four queries and two of ours.
    fn default() -> Self {
        let queries = [
            "capability.query",
            "chain.query",
            "graph.query",
            "horizon.build",
            "horizon.query",
            "ledger.query",
        ];
        Self {
            library: Library::standard(),
            allowed: None,
            provided: None,
            max_yields: None,
            unbounded: Unbounded::BoundWhenRun,
            queries: queries
                .iter()
                .filter_map(|name| CapabilityName::parse(name).ok())
                .collect(),
            plan: PlanRule::Optional,
        }
    }
}
