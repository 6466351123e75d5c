//! [`Expected`]: contents of ledger file and hashlog beyond an earlier state.

use crate::{journal::StoredEntry, position::View};

/// Contents of ledger file and hashlog beyond an earlier state.
pub(crate) struct Expected {
    pub(crate) view: View,
    /// Entries with what joins them, without the tail.
    pub(crate) ledger: Vec<u8>,
    pub(crate) hashlog: Vec<u8>,
    /// End in `ledger` of each entry.
    ends: Vec<usize>,
}

impl Expected {
    pub(crate) fn after(view: &View, entries: &[StoredEntry]) -> Self {
        let mut expected = Self {
            view: view.clone(),
            ledger: Vec::new(),
            hashlog: Vec::new(),
            ends: Vec::new(),
        };
        for entry in entries {
            expected.view.push(
                entry.borrowed(),
                &mut expected.ledger,
                &mut expected.hashlog,
            );
            expected.ends.push(expected.ledger.len());
        }
        expected
    }

    /// Returns the end in `ledger` of each entry.
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }
}
