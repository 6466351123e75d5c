//! Rules of an engine: the static routes, the offers for each symbol, the policy; and outcomes, which change scores.
//!
//! A change makes a new version. Entries of the cache name the version that they were made under, so each change voids
//! all of them at once, and a decision that was under way is made again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError, atomic::Ordering},
};

use serde::{Deserialize, Serialize};

use super::{Engine, SymbolEntry};
use crate::delegation::{context::Symbol, decision::PolicyEpoch, offer::Offer, target::ExecTarget};

/// Rules on targets, from the policy of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// Hash of the policy's text. It is in every decision and record.
    pub epoch: PolicyEpoch,
    /// Targets that no call may run at.
    #[serde(default)]
    pub denied: BTreeSet<ExecTarget>,
    /// Denies all remote models.
    #[serde(default)]
    pub denies_remote: bool,
}

/// A version of the rules. Threads that compute a decision share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) validity: u64,
    pub(super) policy: Policy,
    routes: BTreeMap<u32, u32>,
    offers: BTreeMap<u32, Arc<[Offer]>>,
}

impl Policy {
    /// Returns whether calls may run at a target. The evaluator is always permitted.
    pub fn permits(&self, target: &ExecTarget) -> bool {
        let is_denied = self.denies_remote && target.is_remote() || self.denied.contains(target);
        *target == ExecTarget::LocalPure || !is_denied
    }
}

impl Rules {
    /// Returns the static target of a symbol, if the policy permits it.
    pub(super) fn route(&self, engine: &Engine, symbol: u32) -> Option<u32> {
        let target = *self.routes.get(&symbol)?;
        self.policy.permits(engine.target(target)).then_some(target)
    }

    /// Returns the offers for a symbol.
    pub(super) fn offers(&self, symbol: u32) -> Arc<[Offer]> {
        self.offers.get(&symbol).cloned().unwrap_or_default()
    }
}

impl Engine {
    /// Replaces the policy. From its return on, no decision names a target that it denies.
    pub fn set_policy(&self, policy: Policy) {
        self.change(|rules| rules.policy = policy);
    }

    /// Returns the current policy.
    pub fn policy(&self) -> Policy {
        self.rules().policy.clone()
    }

    /// Replaces all static routes: symbols with the target that each always has, such as the routing matrix of the mesh.
    ///
    /// A route to a target that the policy denies does not apply.
    pub fn set_routes<'a>(&self, routes: impl IntoIterator<Item = (&'a str, ExecTarget)>) {
        let routes: BTreeMap<u32, u32> = routes
            .into_iter()
            .map(|(name, target)| (self.symbol(name).0, self.target_number(&target)))
            .collect();
        self.change(|rules| rules.routes = routes);
    }

    /// Adds a target that can run a symbol, or replaces the offer of the same target.
    pub fn offer(&self, symbol: Symbol, offer: Offer) {
        self.change(|rules| {
            let offers = rules.offers.entry(symbol.0).or_default();
            *offers = offers
                .iter()
                .filter(|other| other.target != offer.target)
                .chain([&offer])
                .cloned()
                .collect();
        });
    }

    /// Removes a target from the offers of all symbols, for example because it was revoked. Routes stay.
    pub fn withdraw(&self, target: &ExecTarget) {
        self.change(|rules| {
            for offers in rules.offers.values_mut() {
                let rest = offers.iter().filter(|offer| offer.target != *target);
                *offers = rest.cloned().collect();
            }
        });
    }

    /// Counts a call of a symbol that ran at a target. A failure voids the decisions that chose it.
    pub fn record_outcome(&self, symbol: Symbol, target: &ExecTarget, is_success: bool) {
        let number = self.target_number(target);
        self.outcomes.record(symbol.0, number, is_success);
        if !is_success {
            self.void(symbol.0, |entry| entry.target == number);
        }
    }

    /// Returns the current rules.
    pub(super) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut Rules)) {
        let mut current = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let mut rules = Rules::clone(&current);
        change(&mut rules);
        rules.validity = current.validity + 2;
        // Odd: readers that meet half of the change ask for the whole, which waits for this lock.
        self.validity.store(rules.validity - 1, Ordering::SeqCst);
        let numbers = |symbol: u32| -> (u32, u32) {
            let route = rules.route(self, symbol).map_or(0, |target| target + 1);
            (route, rules.offers(symbol).len() as u32)
        };
        let before = current.routes.keys().chain(current.offers.keys());
        for &symbol in before.chain(rules.routes.keys()).chain(rules.offers.keys()) {
            if let Some(entry) = self.symbols.get(symbol) {
                entry.set(numbers(symbol));
            }
        }
        self.policy.store(rules.policy.epoch.0, Ordering::SeqCst);
        self.validity.store(rules.validity, Ordering::SeqCst);
        *current = Arc::new(rules);
    }
}

impl SymbolEntry {
    fn set(&self, (route, offers): (u32, u32)) {
        self.route.store(route, Ordering::SeqCst);
        self.offers.store(offers, Ordering::SeqCst);
    }
}
