//! The way of a call that has no valid entry: scorers, computed once for all threads that ask at the same time.

use std::sync::{Arc, atomic::Ordering};

use super::{Engine, Outcome, SymbolEntry, rules::Rules};
use crate::delegation::{
    cache::{Entry, Numbers},
    context::{CallContext, Key, Needs},
    decision::{DelegationPlan, Why, millionths},
    flight::{Flight, Nesting, Verdict},
    offer::Offer,
    scorer::{Candidate, Score, ScorerInput, rank, unit},
    stripe::Touch,
    task_hash::spread,
};

/// Times that a decision is made again because the rules changed meanwhile. After that the answer is the default.
const MOST_TRIES: usize = 8;

/// Part of a thread in a flight.
enum Role {
    /// The entry came meanwhile.
    Arrived(Outcome),
    /// Another thread computes the decision.
    Waits(Arc<Flight>),
    /// This thread computes it.
    Leads(Arc<Flight>),
}

/// Ends a flight, also if a scorer panics.
struct Lead<'e> {
    engine: &'e Engine,
    key: (Key, u64),
    flight: Arc<Flight>,
    verdict: Option<Verdict>,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.engine.cache.shelf().flights.remove(&self.key);
        self.flight.end(self.verdict.take());
    }
}

impl Engine {
    /// Decides without the help of the first look into the cache.
    #[cold]
    pub(super) fn decide_slowly(&self, call: &CallContext<'_>, at: i64) -> Outcome {
        for _ in 0..MOST_TRIES {
            let rules = self.rules();
            let outcome = self.decide_by(call, at, &rules);
            // A decision under rules that are no longer valid must not leave the engine.
            if self.validity.load(Ordering::SeqCst) == rules.validity {
                return outcome;
            }
        }
        Outcome::default(self.rules().policy.epoch.0)
    }

    fn decide_by(&self, call: &CallContext<'_>, at: i64, rules: &Rules) -> Outcome {
        let policy = rules.policy.epoch.0;
        let default = Outcome::default(policy);
        if let Some(target) = rules.route(self, call.key.symbol) {
            return Outcome::fixed(target, policy);
        }
        let Some(symbol) = self.symbols.get(call.key.symbol) else {
            return default;
        };
        // The default is not stored: an offer that comes later applies to the next call.
        if symbol.offers.load(Ordering::Relaxed) == 0 || self.is_doubtful(call) {
            return default;
        }
        let is_nested = Nesting::is_open();
        let Some(_nesting) = Nesting::begin() else {
            return default;
        };
        loop {
            let verdict = match self.role(call, at, rules) {
                Role::Arrived(outcome) => return outcome,
                // This thread computes another decision, so waiting might close a circle.
                Role::Waits(_) if is_nested => Some(self.judge(call, rules)),
                Role::Waits(flight) => flight.wait(),
                Role::Leads(flight) => Some(self.lead(call, at, rules, symbol, flight)),
            };
            if let Some(verdict) = verdict {
                return verdict.chosen.map_or(default, |(target, plan)| Outcome {
                    target,
                    why: Why::Metadata,
                    millionths: millionths(plan.confidence),
                    policy,
                    touch: Touch::NONE,
                });
            }
        }
    }

    /// Returns whether the metadata is too uncertain to move the target.
    pub(super) fn is_doubtful(&self, call: &CallContext<'_>) -> bool {
        let confidence = call.metadata().and_then(|metadata| metadata.confidence);
        confidence.is_some_and(|it| unit(it) < self.options.min_confidence)
    }

    fn role(&self, call: &CallContext<'_>, at: i64, rules: &Rules) -> Role {
        let hash = spread(call.key.symbol, call.task.get());
        let mut shelf = self.cache.shelf();
        let hit = self.cache.lookup(&call.key, hash, rules.validity, at);
        if let Some(hit) = hit {
            return Role::Arrived(Outcome::hit(&hit));
        }
        let key = (call.key, rules.validity);
        if let Some(flight) = shelf.flights.get(&key) {
            return Role::Waits(Arc::clone(flight));
        }
        let flight = Arc::new(Flight::new());
        shelf.flights.insert(key, Arc::clone(&flight));
        Role::Leads(flight)
    }

    fn lead(
        &self,
        call: &CallContext<'_>,
        at: i64,
        rules: &Rules,
        symbol: &SymbolEntry,
        flight: Arc<Flight>,
    ) -> Verdict {
        let mut lead = Lead {
            engine: self,
            key: (call.key, rules.validity),
            flight,
            verdict: None,
        };
        let revision = symbol.revision.load(Ordering::SeqCst);
        let verdict = self.judge(call, rules);
        if let Some((target, plan)) = &verdict.chosen {
            let mut shelf = self.cache.shelf();
            // An outcome or an invalidation that came meanwhile is newer than what the scorers saw.
            if symbol.revision.load(Ordering::SeqCst) == revision {
                let entry = Entry {
                    key: call.key,
                    task: call.task,
                    hash: spread(call.key.symbol, call.task.get()),
                    target: *target,
                    plan: Arc::clone(plan),
                };
                let numbers = Numbers {
                    target: *target,
                    millionths: millionths(plan.confidence),
                    validity: rules.validity,
                    policy: rules.policy.epoch.0,
                    inserted: at,
                };
                self.cache
                    .insert(&mut shelf, &self.stripes, entry, &numbers);
            }
        }
        lead.verdict = Some(verdict.clone());
        verdict
    }

    /// Asks the scorers. Holds no lock while they work.
    pub(super) fn judge(&self, call: &CallContext<'_>, rules: &Rules) -> Verdict {
        let offers = rules.offers(call.key.symbol);
        let scores = self.scores(call, rules, &offers);
        let best = scores
            .iter()
            .find(|score| score.veto.is_none() && score.total >= self.options.threshold);
        let chosen = best.map(|best| {
            let metadata = call.metadata();
            let certainty = metadata.and_then(|it| it.confidence).map_or(1.0, unit);
            let plan = DelegationPlan {
                target: best.target.clone(),
                confidence: best.total * certainty,
                reasoning: self.reasoning(best, metadata.and_then(|it| it.reasoning.as_deref())),
                metadata: metadata.map(|it| it.context.clone()).unwrap_or_default(),
            };
            (self.target_number(&best.target), Arc::new(plan))
        });
        Verdict {
            chosen,
            scores: scores.into(),
        }
    }

    fn scores(&self, call: &CallContext<'_>, rules: &Rules, offers: &[Offer]) -> Vec<Score> {
        let unlimited = Needs::default();
        let metadata = call.metadata();
        let ask = ScorerInput {
            symbol: self.name(call.key.symbol),
            needs: metadata.map_or(&unlimited, |metadata| &metadata.needs),
            metadata,
        };
        let targets = offers.iter().map(|offer| self.target_number(&offer.target));
        let numbers: Vec<u32> = targets.collect();
        let past = self.outcomes.past(call.key.symbol, numbers.into_iter());
        let candidates: Vec<Candidate<'_>> = offers
            .iter()
            .zip(past)
            .map(|(offer, past)| Candidate { offer, past })
            .collect();
        rank(&ask, &candidates, &self.scorers, |target| {
            rules.policy.permits(target)
        })
    }

    /// Returns the explanation of a score that reaches the threshold.
    fn reasoning(&self, score: &Score, reasoning: Option<&str>) -> String {
        let parts: Vec<String> = score
            .parts
            .iter()
            .map(|(name, part)| format!("{name} {part:.2}"))
            .collect();
        let reached = format!(
            "score {:.2} of at least {:.2} ({})",
            score.total,
            self.options.threshold,
            parts.join(", ")
        );
        match reasoning {
            Some(reasoning) => format!("{reached}; {reasoning}"),
            None => reached,
        }
    }
}
