//! [`score`]: the number that is shown with each passage.

use super::row::Row;

/// The share of its coverage that even the worst ranked passage keeps, so that a threshold means about the same at
/// every rank.
const KEPT: f64 = 0.75;

/// The rank at which a declaration has lost half of what ranks can take from it.
const HALVING: f64 = 10.0;

/// A passage in the order of the answer.
pub(super) struct Ranked {
    pub(super) row: Row,
    /// The share of the query that it covers, from 0 to 1.
    pub(super) share: f64,
    /// Its score from the fused ranks; comparable only within one answer.
    pub(super) weight: f64,
    /// Whether it declares the name that was typed.
    pub(super) is_declared: bool,
}

/// Scores ranked passages: `share` times a factor from 0.75 to 1.
///
/// The share alone is 1 for each passage that has the only word of a query, and tells them not apart. Declarations of the
/// typed name have the upper half of the range, by their ranks, which follow visibility rather than weights. All else has
/// the lower half, by the weight as part of the best one's; the whole range if nothing is declared by that name. A
/// passage never scores above one with the same share that is listed before it.
pub(super) fn score(ranked: Vec<Ranked>) -> Vec<(Row, f64)> {
    let others = ranked.iter().filter(|one| !one.is_declared);
    let best = others
        .map(|one| one.weight)
        .fold(f64::MIN_POSITIVE, f64::max);
    let has_declared = ranked.iter().any(|one| one.is_declared);
    let mut lowest = 1.0_f64;
    let mut scored = Vec::with_capacity(ranked.len());
    for (rank, one) in ranked.into_iter().enumerate() {
        let closeness = match (one.is_declared, has_declared) {
            (true, _) => f64::midpoint(1.0, HALVING / (HALVING + rank as f64)),
            (false, true) => one.weight / best / 2.0,
            (false, false) => one.weight / best,
        };
        lowest = lowest.min(closeness);
        scored.push((one.row, one.share * (KEPT + (1.0 - KEPT) * lowest)));
    }
    scored
}
