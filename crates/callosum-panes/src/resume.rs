//! [`due`]: panes that can go on after a limit has ended.
//!
//! It only decides. The caller sends the prompt, and records the [`Reset`] before it does.

use std::{collections::HashSet, hash::BuildHasher};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{pane::Pane, state::State};

/// Time to wait after a reset. The account's clock and ours may differ.
pub const GRACE: SignedDuration = SignedDuration::from_secs(60);

/// Resets of one pane that are closer together than this are one. Limits last hours, and `in 3 h` is a rounded time.
pub const SAME_RESET: SignedDuration = SignedDuration::from_mins(10);

/// The end of one limit in one pane.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reset {
    /// Name of the pane.
    pub pane: String,
    /// When the limit ends.
    pub resets_at: Timestamp,
}

impl Reset {
    /// Returns the reset that a limited pane waits for, if its time is known.
    pub fn awaited_by(pane: &Pane) -> Option<Self> {
        let resets_at = pane
            .resets_at
            .filter(|_| pane.state == State::UsageLimited)?;
        Some(Self {
            pane: pane.pane.clone(),
            resets_at,
        })
    }

    /// Returns whether both are the end of the same limit.
    pub fn is_same(&self, other: &Self) -> bool {
        let apart = self.resets_at.duration_since(other.resets_at).abs();
        self.pane == other.pane && apart < SAME_RESET
    }
}

/// Returns the panes that are limited although their limit ended at least [`GRACE`] ago.
///
/// Leaves out panes whose reset is in `already`, and those with a draft: a person is typing there. A name that occurs
/// twice counts once.
pub fn due<'a, S: BuildHasher>(
    panes: &'a [Pane],
    already: &HashSet<Reset, S>,
    now: Timestamp,
) -> Vec<&'a Pane> {
    let mut names = HashSet::new();
    panes
        .iter()
        .filter(|pane| {
            let Some(reset) = Reset::awaited_by(pane) else {
                return false;
            };
            now.duration_since(reset.resets_at) >= GRACE
                && !pane.has_draft
                && !already.iter().any(|other| other.is_same(&reset))
                && names.insert(pane.pane.as_str())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::notify::tests::{at, pane};

    fn limited(resets_at: i64) -> Pane {
        Pane {
            resets_at: Some(at(resets_at)),
            ..pane(State::UsageLimited, 0)
        }
    }

    fn is_due(pane: Pane, now: i64) -> bool {
        !due(&[pane], &HashSet::new(), at(now)).is_empty()
    }

    #[test]
    fn a_limited_pane_is_due_60_s_after_its_reset() {
        assert!(!is_due(limited(1_000), 0));
        assert!(!is_due(limited(1_000), 1_059));
        assert!(is_due(limited(1_000), 1_060));
        assert!(is_due(limited(1_000), 90_000));
    }

    #[test]
    fn a_pane_in_another_state_or_without_a_reset_is_not_due() {
        for state in State::ALL {
            let mut pane = limited(0);
            pane.state = state;
            assert_eq!(is_due(pane, 99), state == State::UsageLimited);
        }
        assert!(!is_due(pane(State::UsageLimited, 0), 99));
    }

    #[test]
    fn a_pane_with_a_draft_is_not_due() {
        let mut pane = limited(0);
        pane.has_draft = true;
        assert!(!is_due(pane, 99));
    }

    #[test]
    fn a_pane_is_due_once_per_reset() {
        let mut already = HashSet::new();
        already.extend(Reset::awaited_by(&limited(0)));
        assert!(due(&[limited(0)], &already, at(9_000)).is_empty());
        // The same limit, read again from a rounded time.
        assert!(due(&[limited(59)], &already, at(9_000)).is_empty());
        assert_eq!(due(&[limited(18_000)], &already, at(19_000)).len(), 1);
        let other = Pane {
            pane: "%2".to_owned(),
            ..limited(0)
        };
        assert_eq!(due(&[other], &already, at(9_000)).len(), 1);
    }

    #[test]
    fn a_name_that_occurs_twice_is_due_once() {
        assert_eq!(
            due(&[limited(0), limited(5)], &HashSet::new(), at(99)).len(),
            1
        );
    }

    proptest! {
        #[test]
        fn no_reset_is_due_twice(looks in vec((-300..300_i64, 0..3_i64), 0..100)) {
            let (mut already, mut now, mut resumed) = (HashSet::new(), 0, HashSet::new());
            for (step, reset) in looks {
                now += step;
                let pane = limited(reset * 1_000);
                for found in due(std::slice::from_ref(&pane), &already, at(now)) {
                    prop_assert!(now >= reset * 1_000 + 60);
                    prop_assert!(resumed.insert(reset));
                    already.extend(Reset::awaited_by(found));
                }
            }
        }
    }
}
