//! [`SimilarPlans`]: compiled plans whose vectors are near a given one. It proposes, and never decides.

use crate::delegation::{context::CallContext, target::ExecTarget};

/// Vectors of compiled plans.
#[derive(Clone, Debug, Default)]
pub struct SimilarPlans(Vec<(Vec<f32>, ExecTarget)>);

/// A plan that may fit. It still must be [opened](super::CompiledPlans::open), and its source compared with the goal.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarPlan {
    /// The plan.
    pub target: ExecTarget,
    /// Cosine of the two vectors, from -1 to 1.
    pub similarity: f64,
}

impl SimilarPlans {
    /// Adds a plan with its vector, or replaces the vector of the same plan.
    pub fn add(&mut self, vector: Vec<f32>, target: ExecTarget) {
        self.0.retain(|(_, other)| *other != target);
        self.0.push((vector, target));
    }

    /// Returns the plans with at least this similarity to the call's vector, the nearest first, at most `limit`.
    ///
    /// Vectors of another length, of length zero, or with what is no number are near nothing.
    pub fn propose(&self, call: &CallContext<'_>, at_least: f64, limit: usize) -> Vec<SimilarPlan> {
        let Some(vector) = call.semantic() else {
            return Vec::new();
        };
        let mut proposals: Vec<SimilarPlan> = self
            .0
            .iter()
            .filter_map(|(other, target)| {
                let similarity = cosine(vector, other)?;
                (similarity >= at_least).then(|| SimilarPlan {
                    target: target.clone(),
                    similarity,
                })
            })
            .collect();
        proposals.sort_by(|one, other| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then_with(|| one.target.cmp(&other.target))
        });
        proposals.truncate(limit);
        proposals
    }
}

/// Returns the cosine of the angle between two vectors, if there is one.
fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
    if one.len() != other.len() {
        return None;
    }
    let product = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let cosine = product(one, other) / (product(one, one) * product(other, other)).sqrt();
    cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
}
