//! `callosum session grounding`: the share of claims that the tree supports.
//!
//! The exit codes are the seed's: 0 if the share is reached, 1 if it is not, 2 for a wrong argument
//! and for any failure that keeps the share unknown.

use callosum_session::grounding::{ClaimKind, Grounding, Threshold};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CommandError, Exit};

/// `callosum session grounding --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct GroundingOutput {
    /// All claims since the last hand-off.
    pub total_claims: usize,
    /// Those whose quotes are all in the tree.
    pub grounded_claims: usize,
    /// Those that say that they are assumptions.
    pub assumptions: usize,
    /// Those that are the user's word.
    pub user_input: usize,
    /// Lines of the trajectory that are no record.
    pub bad_lines: usize,
    /// The share with two decimals, cut.
    pub grounding_ratio: String,
    /// The share that must be reached.
    pub threshold: String,
    /// `pass` or `fail`.
    pub status: String,
    /// Each claim that is not grounded.
    pub ungrounded: Vec<UngroundedOutput>,
}

/// A claim that is not grounded.
#[derive(Debug, JsonSchema, Serialize)]
pub struct UngroundedOutput {
    /// Its words.
    pub claim: String,
    /// The place of its record: `file:line`.
    pub at: String,
    /// Reason why it is not grounded.
    pub why: String,
}

impl GroundingOutput {
    /// Returns what is printed about a grounding.
    pub fn of(grounding: &Grounding, threshold: &Threshold) -> Self {
        let ungrounded = grounding.claims.iter().filter(|claim| !claim.is_grounded());
        let passes = grounding.passes(threshold);
        Self {
            total_claims: grounding.total(),
            grounded_claims: grounding.grounded(),
            assumptions: grounding.of_kind(ClaimKind::Assumption),
            user_input: grounding.of_kind(ClaimKind::UserInput),
            bad_lines: grounding.bad_lines,
            grounding_ratio: grounding.ratio(),
            threshold: threshold.to_string(),
            status: if passes { "pass" } else { "fail" }.to_owned(),
            ungrounded: ungrounded
                .map(|claim| UngroundedOutput {
                    claim: claim.claim.text.clone(),
                    at: claim.claim.place.clone(),
                    why: claim.complaint(),
                })
                .collect(),
        }
    }
}

/// Converts any error that keeps the share unknown to a failure of the check.
pub fn unknown(mut error: CommandError) -> CommandError {
    if error.exit != Exit::No {
        error.exit = Exit::Usage;
    }
    error
}
