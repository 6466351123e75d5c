//! Entries of the L1 cache, shown and removed; and explanations, which change nothing.

use std::sync::{Arc, atomic::Ordering};

use jiff::Timestamp;
use serde::Serialize;

use super::{Engine, Outcome};
use crate::delegation::{
    cache::Entry,
    context::CallContext,
    decision::{DelegationPlan, PolicyEpoch, Why, confidence, millionths},
    record::nanoseconds,
    scorer::Score,
    stripe::Touch,
    target::ExecTarget,
    task_hash::{TaskHash, spread},
};

/// A decision with all that led to it. It leaves no record and no entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Explanation {
    /// Name of the symbol.
    pub symbol: String,
    /// Second half of the key of the L1 cache.
    pub task_hash: TaskHash,
    /// Target of the call.
    pub target: ExecTarget,
    /// Step that would lead to it.
    pub why: Why,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
    /// Policy that it would be made or checked under.
    pub policy_epoch: PolicyEpoch,
    /// Explanation for people.
    pub reasoning: String,
    /// Scores of all offers as of now, the best first. Empty if a static route applies.
    pub scores: Vec<Score>,
}

impl Engine {
    /// Explains where a call would run. A pure function of the engine's state: no record, no entry, no use of one.
    pub fn explain(&self, call: &CallContext<'_>, now: Timestamp) -> Explanation {
        let rules = self.rules();
        let policy = rules.policy.epoch.0;
        let hash = spread(call.key.symbol, call.task.get());
        let hit = || {
            self.cache
                .lookup(&call.key, hash, rules.validity, nanoseconds(now))
        };
        let (outcome, reasoning, scores) = if let Some(target) = rules.route(self, call.key.symbol)
        {
            let reasoning = "a static route names the target of the symbol".to_owned();
            (Outcome::fixed(target, policy), reasoning, Vec::new())
        } else {
            let verdict = self.judge(call, &rules);
            let scores = verdict.scores.to_vec();
            if let Some(hit) = hit() {
                let plan = self.plan(call);
                let reasoning = plan.map_or_else(String::new, |plan| plan.reasoning.clone());
                (Outcome::hit(&hit), reasoning, scores)
            } else if self.is_doubtful(call) {
                let reasoning = format!(
                    "the confidence of the metadata is below {:.2}",
                    self.options.min_confidence
                );
                (Outcome::default(policy), reasoning, scores)
            } else if let Some((target, plan)) = verdict.chosen {
                let outcome = Outcome {
                    target,
                    why: Why::Metadata,
                    millionths: millionths(plan.confidence),
                    policy,
                    touch: Touch::NONE,
                };
                (outcome, plan.reasoning.clone(), scores)
            } else {
                let reasoning = self.reason_of_default(&scores);
                (Outcome::default(policy), reasoning, scores)
            }
        };
        Explanation {
            symbol: self.name(call.key.symbol).to_owned(),
            task_hash: call.task,
            target: self.target(outcome.target).clone(),
            why: outcome.why,
            confidence: confidence(outcome.millionths),
            policy_epoch: PolicyEpoch(outcome.policy),
            reasoning,
            scores,
        }
    }

    fn reason_of_default(&self, scores: &[Score]) -> String {
        let Some(best) = scores.first() else {
            return "no static route, no valid entry, and no offer for the symbol".to_owned();
        };
        match best.veto {
            Some(veto) => format!("every offer is excluded; {}: {veto}", best.target),
            None => format!(
                "the best score is {:.2} for {}, below {:.2}",
                best.total, best.target, self.options.threshold
            ),
        }
    }

    /// Returns the plan that the cache has for a call, valid or not.
    pub fn plan(&self, call: &CallContext<'_>) -> Option<Arc<DelegationPlan>> {
        let shelf = self.cache.shelf();
        shelf.entry(&call.key).map(|entry| Arc::clone(&entry.plan))
    }

    /// Returns the plans of a symbol, by task.
    pub fn plans_of_symbol(&self, name: &str) -> Vec<(TaskHash, Arc<DelegationPlan>)> {
        let Some(symbol) = self.symbols.number(name) else {
            return Vec::new();
        };
        let shelf = self.cache.shelf();
        let entries = shelf.entries().filter(|entry| entry.key.symbol == symbol);
        let mut plans: Vec<_> = entries
            .map(|entry| (entry.task, Arc::clone(&entry.plan)))
            .collect();
        plans.sort_by_key(|(task, _)| *task);
        plans
    }

    /// Returns the plans of a task, by the name of the symbol.
    pub fn plans_of_task(&self, task: TaskHash) -> Vec<(&str, Arc<DelegationPlan>)> {
        let shelf = self.cache.shelf();
        let entries = shelf.entries().filter(|entry| entry.task == task);
        let mut plans: Vec<_> = entries
            .map(|entry| (self.name(entry.key.symbol), Arc::clone(&entry.plan)))
            .collect();
        plans.sort_by_key(|(name, _)| *name);
        plans
    }

    /// Removes the entries of a symbol, and returns how many there were.
    pub fn invalidate_symbol(&self, name: &str) -> usize {
        let symbol = self.symbols.number(name);
        symbol.map_or(0, |symbol| self.void(symbol, |_| true))
    }

    /// Removes one entry of a symbol, and returns whether there was one.
    pub fn invalidate(&self, name: &str, task: TaskHash) -> bool {
        let symbol = self.symbols.number(name);
        symbol.is_some_and(|symbol| self.void(symbol, |entry| entry.task == task) > 0)
    }

    /// Returns the number of entries, those that are no longer valid included.
    pub fn len(&self) -> usize {
        self.cache.shelf().len()
    }

    /// Returns whether the cache has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes entries of a symbol, and keeps decisions that are being computed from being stored.
    pub(super) fn void(&self, symbol: u32, matches: impl Fn(&Entry) -> bool) -> usize {
        let mut shelf = self.cache.shelf();
        if let Some(entry) = self.symbols.get(symbol) {
            entry.revision.fetch_add(1, Ordering::SeqCst);
        }
        self.cache.remove_where(&mut shelf, |entry| {
            entry.key.symbol == symbol && matches(entry)
        })
    }
}
