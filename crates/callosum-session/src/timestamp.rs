//! Timestamps: the form in which a session's files store times, and the order of those.
//!
//! Start with [`second`]. A time names the decision that was made then, so [`times_from`] has
//! further ones for a second that is taken.

use jiff::{SignedDuration, Timestamp};

/// Returns a time as every file of a session has it: to the second.
pub(crate) fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the times that may name a decision made then, best first: the second, and if others have
/// that, one millisecond after the other.
pub(crate) fn times_from(time: Timestamp) -> impl Iterator<Item = String> {
    let next = |at: &Timestamp| at.checked_add(SignedDuration::from_millis(1)).ok();
    let odd = std::iter::successors(Some(time), next).filter(|at| at.subsec_millisecond() != 0);
    let odd = odd.map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
    std::iter::once(second(time)).chain(odd)
}

/// Returns a time of ours by which others can be put in order: of one second, those to the
/// millisecond come later.
pub(crate) fn in_order(ts: &str) -> &str {
    ts.strip_suffix('Z').unwrap_or(ts)
}
