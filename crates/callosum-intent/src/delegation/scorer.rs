//! [`Scorer`]: rates offers for a call. The built-in ones rate cost, latency, privacy, past success, and hints.
//!
//! Start with [`rank`]. It is a pure function. The weights of cost, latency and privacy are those of CCOS specification
//! 008 (0.4, 0.3, 0.3).

use serde::Serialize;

use super::{
    context::{DelegationMetadata, Needs},
    offer::{Offer, TOP_TIER, Veto},
    outcome::Past,
    target::ExecTarget,
};

/// Cost that halves the score when the call has no budget, in millionths of a US dollar.
const USUAL_COST: f64 = 10_000.0;

/// Time that halves the score when the call has no deadline, in milliseconds.
const USUAL_LATENCY: f64 = 2_000.0;

/// A call, as scorers see it.
#[derive(Clone, Copy, Debug)]
pub struct ScorerInput<'a> {
    /// Name of the symbol.
    pub symbol: &'a str,
    /// Limits of the call.
    pub needs: &'a Needs,
    /// Hints of other components.
    pub metadata: Option<&'a DelegationMetadata>,
}

/// An offer for the call, with its past.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The offer.
    pub offer: &'a Offer,
    /// Past calls of the symbol at this target.
    pub past: Past,
}

/// Rates offers for a call. Works without a lock of the engine, and may take its time.
pub trait Scorer: Send + Sync {
    /// Name in explanations.
    fn name(&self) -> &str;

    /// Returns a score from 0 to 1, or nothing if the scorer has no opinion on the call.
    fn score(&self, ask: &ScorerInput<'_>, candidate: &Candidate<'_>) -> Option<f64>;
}

/// A scorer and its weight among the others.
pub struct WeightedScorer {
    /// The scorer.
    pub scorer: Box<dyn Scorer>,
    /// Its weight. Only the ratio to other weights counts.
    pub weight: f64,
}

/// An offer's score for a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Target of the call.
    pub target: ExecTarget,
    /// Weighted mean of the parts, from 0 to 1; 0 if the offer is excluded.
    pub total: f64,
    /// Score of each scorer that has an opinion.
    pub parts: Vec<(String, f64)>,
    /// Past calls of the symbol at the target.
    pub past: Past,
    /// Reason that excludes the offer.
    pub veto: Option<Veto>,
}

/// Prefers cheap targets: `1 - cost / budget`.
#[derive(Clone, Copy, Debug)]
pub struct CostScorer;

/// Prefers fast targets: `1 - latency / deadline`.
#[derive(Clone, Copy, Debug)]
pub struct LatencyScorer;

/// Prefers trusted targets: the trust tier, from 1/4 to 1.
#[derive(Clone, Copy, Debug)]
pub struct PrivacyScorer;

/// Prefers targets that succeeded before.
#[derive(Clone, Copy, Debug)]
pub struct SuccessScorer;

/// Prefers the target that the metadata proposes, as far as the metadata is confident.
#[derive(Clone, Copy, Debug)]
pub struct HintScorer;

/// Returns a score that falls from 1 to 0 at the limit, or to one half at `usual` if there is no limit.
fn falling(value: u64, limit: Option<u64>, usual: f64) -> f64 {
    let value = value as f64;
    match limit {
        // Free at no budget is as good as it gets. Offers above the limit are excluded before.
        Some(0) => 1.0,
        Some(limit) => 1.0 - value / limit as f64,
        None => usual / (usual + value),
    }
}

impl Scorer for CostScorer {
    fn name(&self) -> &'static str {
        "cost"
    }

    fn score(&self, ask: &ScorerInput<'_>, candidate: &Candidate<'_>) -> Option<f64> {
        let cost = candidate.offer.cost_micros;
        Some(falling(cost, ask.needs.budget_micros, USUAL_COST))
    }
}

impl Scorer for LatencyScorer {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn score(&self, ask: &ScorerInput<'_>, candidate: &Candidate<'_>) -> Option<f64> {
        let latency = candidate.offer.latency_ms;
        Some(falling(latency, ask.needs.deadline_ms, USUAL_LATENCY))
    }
}

impl Scorer for PrivacyScorer {
    fn name(&self) -> &'static str {
        "privacy"
    }

    fn score(&self, _: &ScorerInput<'_>, candidate: &Candidate<'_>) -> Option<f64> {
        let tier = candidate.offer.trust_tier.min(TOP_TIER);
        Some((f64::from(tier) + 1.0) / (f64::from(TOP_TIER) + 1.0))
    }
}

impl Scorer for SuccessScorer {
    fn name(&self) -> &'static str {
        "success"
    }

    fn score(&self, _: &ScorerInput<'_>, candidate: &Candidate<'_>) -> Option<f64> {
        Some(candidate.past.success_rate())
    }
}

impl Scorer for HintScorer {
    fn name(&self) -> &'static str {
        "hint"
    }

    fn score(&self, ask: &ScorerInput<'_>, candidate: &Candidate<'_>) -> Option<f64> {
        let proposed = ask.needs.target.as_ref()?;
        let confidence = ask.metadata.and_then(|it| it.confidence).unwrap_or(0.5);
        let is_proposed = *proposed == candidate.offer.target;
        Some(if is_proposed {
            confidence
        } else {
            1.0 - confidence
        })
    }
}

/// Returns the built-in scorers: cost 0.4, latency 0.3, privacy 0.3, success 0.3, and hint 0.3.
pub fn default_scorers() -> Vec<WeightedScorer> {
    let weighted = |scorer: Box<dyn Scorer>, weight| WeightedScorer { scorer, weight };
    vec![
        weighted(Box::new(CostScorer), 0.4),
        weighted(Box::new(LatencyScorer), 0.3),
        weighted(Box::new(PrivacyScorer), 0.3),
        weighted(Box::new(SuccessScorer), 0.3),
        weighted(Box::new(HintScorer), 0.3),
    ]
}

/// Returns the scores of all candidates, the best first; the order is the same for the same input.
///
/// A score that is no number counts as 0. Equal scores are ordered by cost, then by time, then by target.
pub(super) fn rank(
    ask: &ScorerInput<'_>,
    candidates: &[Candidate<'_>],
    scorers: &[WeightedScorer],
    permits: impl Fn(&ExecTarget) -> bool,
) -> Vec<Score> {
    let mut scores: Vec<(&Offer, Score)> = candidates
        .iter()
        .map(|candidate| {
            let offer = candidate.offer;
            let veto = if permits(&offer.target) {
                offer.veto(ask.needs)
            } else {
                Some(Veto::Policy)
            };
            let (total, parts) = if veto.is_some() {
                (0.0, Vec::new())
            } else {
                score(ask, candidate, scorers)
            };
            let target = offer.target.clone();
            (
                offer,
                Score {
                    target,
                    total,
                    parts,
                    past: candidate.past,
                    veto,
                },
            )
        })
        .collect();
    scores.sort_by(|(offer, score), (other, other_score)| {
        score
            .veto
            .is_some()
            .cmp(&other_score.veto.is_some())
            .then_with(|| other_score.total.total_cmp(&score.total))
            .then_with(|| offer.cost_micros.cmp(&other.cost_micros))
            .then_with(|| offer.latency_ms.cmp(&other.latency_ms))
            .then_with(|| offer.target.cmp(&other.target))
    });
    scores.into_iter().map(|(_, score)| score).collect()
}

/// Returns the weighted mean of the scorers that have an opinion, and their scores.
fn score(
    ask: &ScorerInput<'_>,
    candidate: &Candidate<'_>,
    scorers: &[WeightedScorer],
) -> (f64, Vec<(String, f64)>) {
    let (mut sum, mut weights) = (0.0, 0.0);
    let mut parts = Vec::with_capacity(scorers.len());
    for WeightedScorer { scorer, weight } in scorers {
        let Some(part) = scorer.score(ask, candidate) else {
            continue;
        };
        let part = unit(part);
        let weight = if weight.is_finite() {
            weight.max(0.0)
        } else {
            0.0
        };
        sum += weight * part;
        weights += weight;
        parts.push((scorer.name().to_owned(), part));
    }
    let total = if weights > 0.0 { sum / weights } else { 0.0 };
    (unit(total), parts)
}

/// Returns a number between 0 and 1; what is no number is 0.
pub(super) fn unit(number: f64) -> f64 {
    if number.is_nan() {
        0.0
    } else {
        number.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(f64);

    impl Scorer for Fixed {
        fn name(&self) -> &'static str {
            "fixed"
        }

        fn score(&self, _: &ScorerInput<'_>, _: &Candidate<'_>) -> Option<f64> {
            Some(self.0)
        }
    }

    fn total(scorers: &[WeightedScorer], needs: &Needs, offer: &Offer) -> f64 {
        let ask = ScorerInput {
            symbol: "a/b",
            needs,
            metadata: None,
        };
        let past = Past::default();
        rank(&ask, &[Candidate { offer, past }], scorers, |_| true)[0].total
    }

    #[test]
    fn scores_that_are_no_numbers_count_as_0_and_all_are_between_0_and_1() {
        let offer = Offer::new(ExecTarget::LocalPure);
        let one = |score, weight| {
            let scorer = Box::new(Fixed(score));
            total(
                &[WeightedScorer { scorer, weight }],
                &Needs::default(),
                &offer,
            )
        };
        let check = |score, weight, expected: f64| {
            assert!(
                (one(score, weight) - expected).abs() < 1e-9,
                "{score} {weight}"
            );
        };
        check(f64::NAN, 1.0, 0.0);
        check(f64::INFINITY, 1.0, 1.0);
        check(-3.0, 1.0, 0.0);
        check(0.5, f64::NAN, 0.0);
        check(0.5, -1.0, 0.0);
        check(0.5, 1e300, 0.5);
        assert!(total(&[], &Needs::default(), &offer) < 1e-9);
    }

    /// CCOS-DEL-2: each scorer prefers what its name says.
    #[test]
    fn each_scorer_prefers_the_better_offer() {
        let good = Offer::new(ExecTarget::LocalModel("a".to_owned()));
        let needs = Needs::default();
        let proposing = Needs {
            target: Some(good.target.clone()),
            ..Needs::default()
        };
        let remote = Offer::new(ExecTarget::RemoteModel("b".to_owned()));
        let check = |scorer: Box<dyn Scorer>, needs: &Needs, bad: Offer| {
            let ask = ScorerInput {
                symbol: "a/b",
                needs,
                metadata: Some(&DelegationMetadata {
                    confidence: Some(0.9),
                    ..DelegationMetadata::default()
                }),
            };
            let candidate = |offer, failures| Candidate {
                offer,
                past: Past {
                    successes: 1,
                    failures,
                },
            };
            let better = scorer.score(&ask, &candidate(&good, 0)).unwrap();
            let worse = scorer.score(&ask, &candidate(&bad, 5)).unwrap();
            assert!(better > worse, "{}: {better} {worse}", scorer.name());
        };
        check(Box::new(CostScorer), &needs, remote.clone().cost_micros(1));
        check(
            Box::new(LatencyScorer),
            &needs,
            remote.clone().latency_ms(1),
        );
        check(
            Box::new(PrivacyScorer),
            &needs,
            remote.clone().trust_tier(2),
        );
        check(Box::new(SuccessScorer), &needs, remote.clone());
        check(Box::new(HintScorer), &proposing, remote);
    }
}
