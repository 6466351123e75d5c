//! [`SameTime`]: the claims of one second, indexed so that each new claim finds the decision it
//! belongs to.
//!
//! A trajectory may hold thousands of claims of one second, and it may come with a clone. Comparing each claim with all
//! others of its second took 28 s for 4,000 claims; a look-up here costs a few hash and tree look-ups.

use std::collections::{BTreeSet, HashMap};

use super::claim::{Claim, time_of};
use crate::sanitize::comparable;

/// The claims of one time, by the words and names under which a later record may repeat them.
#[derive(Default)]
pub(super) struct SameTime {
    /// The indexes of all claims of this time, in the order in which they came.
    pub(super) all: BTreeSet<usize>,
    by_words: HashMap<(Words, Name), BTreeSet<usize>>,
    by_title: HashMap<String, BTreeSet<usize>>,
}

/// The parts of a claim that decide which decision it belongs to.
pub(super) struct ClaimKey {
    words: Words,
    name: Name,
    title: String,
}

/// A key for the words of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Words {
    /// Matches every claim.
    Any,
    /// The claim has no words, so it contradicts none.
    Empty,
    /// The words in their comparable form.
    Text(String),
}

/// A key for the name of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name {
    /// Matches every claim.
    Any,
    /// The name is a time alone.
    Bare,
    /// The name is a time and a title.
    Titled(String),
}

impl ClaimKey {
    /// Returns the key of a claim whose name has this time. Masks the words, which is the expensive part.
    pub(super) fn new(claim: &Claim, time: &str) -> Self {
        let name = claim.decision.as_deref().unwrap_or_default();
        debug_assert_eq!(time_of(name), time);
        Self {
            words: match claim.text.as_str() {
                "" => Words::Empty,
                text => Words::Text(comparable(text)),
            },
            name: if name == time {
                Name::Bare
            } else {
                Name::Titled(name.to_owned())
            },
            title: claim.title.clone(),
        }
    }

    /// Returns the keys under which the claim is stored.
    fn stored(&self) -> [(Words, Name); 4] {
        [
            (Words::Any, Name::Any),
            (Words::Any, self.name.clone()),
            (self.words.clone(), Name::Any),
            (self.words.clone(), self.name.clone()),
        ]
    }

    /// Returns the keys of the claims that have the same words, or none, and a name that does not contradict this one.
    fn matching(&self) -> Vec<(Words, Name)> {
        let words = match &self.words {
            Words::Any | Words::Empty => vec![Words::Any],
            text @ Words::Text(_) => vec![text.clone(), Words::Empty],
        };
        let names = match &self.name {
            Name::Any | Name::Bare => vec![Name::Any],
            name @ Name::Titled(_) => vec![name.clone(), Name::Bare],
        };
        let pairs = words.iter().flat_map(|words| {
            let pair = |name: &Name| (words.clone(), name.clone());
            names.iter().map(pair)
        });
        pairs.collect()
    }
}

impl SameTime {
    /// Adds the claim at this index.
    pub(super) fn insert(&mut self, at: usize, key: ClaimKey) {
        self.all.insert(at);
        for stored in key.stored() {
            self.by_words.entry(stored).or_default().insert(at);
        }
        if !key.title.is_empty() {
            self.by_title.entry(key.title).or_default().insert(at);
        }
    }

    /// Removes the claim at this index.
    pub(super) fn remove(&mut self, at: usize, key: &ClaimKey) {
        self.all.remove(&at);
        for stored in key.stored() {
            if let Some(indexes) = self.by_words.get_mut(&stored) {
                indexes.remove(&at);
            }
        }
        if let Some(indexes) = self.by_title.get_mut(&key.title) {
            indexes.remove(&at);
        }
    }

    /// Returns the index of the claim of the same decision: the first with the same words, or without any; for a
    /// later revision also the only one of its title, or the only one of its time.
    pub(super) fn same(&self, key: &ClaimKey, revision: u32) -> Option<usize> {
        let first = |key: &(Words, Name)| self.by_words.get(key)?.first().copied();
        let repeated = key.matching().iter().filter_map(first).min();
        if repeated.is_some() || revision == 0 {
            return repeated;
        }
        let titled = self.by_title.get(&key.title);
        let mut titled = titled.into_iter().flatten().copied();
        match (titled.next(), titled.next()) {
            (Some(only), None) => Some(only),
            (None, _) if self.all.len() == 1 => self.all.first().copied(),
            _ => None,
        }
    }
}
