//! [`fuse`] and [`coverage`]: what comes first, and how sure that is.

use std::collections::{HashMap, HashSet};

use super::query::{Query, Unit};

/// Constant that sets how slowly a list's influence falls with the rank (Cormack, Clarke and
/// Büttcher 2009).
const RANK_CONSTANT: f64 = 60.0;

/// Highest weight of an identifier if only its parts are found.
const PARTS_ONLY: f64 = 0.75;

/// Fuses ranked lists by reciprocal ranks: each adds `weight / (60 + rank)` to its items, and
/// `worth` returns the share of the sum that a key keeps.
///
/// Items with equal sums are in the order of their keys.
pub(super) fn fuse(lists: &[(f64, Vec<i64>)], worth: impl Fn(i64) -> f64) -> Vec<i64> {
    let fused = weigh(lists, worth).into_iter();
    fused.map(|(key, _)| key).collect()
}

/// Fuses as [`fuse`] does, and returns each key with its weight.
pub(super) fn weigh(lists: &[(f64, Vec<i64>)], worth: impl Fn(i64) -> f64) -> Vec<(i64, f64)> {
    let mut sums: HashMap<i64, f64> = HashMap::new();
    for (weight, list) in lists {
        for (rank, key) in list.iter().enumerate() {
            *sums.entry(*key).or_default() += weight / (RANK_CONSTANT + rank as f64 + 1.0);
        }
    }
    let mut fused: Vec<(i64, f64)> = sums
        .into_iter()
        .map(|(key, sum)| (key, sum * worth(key)))
        .collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}

/// The passages that contain the words of an [`Query`].
pub(super) struct WordOccurrences {
    /// Number of all passages.
    pub(super) passages: u64,
    /// The passages of each word.
    pub(super) of: HashMap<String, HashSet<i64>>,
}

impl WordOccurrences {
    /// Returns the weight of a word: higher the fewer passages have it, and highest if none has.
    fn weight(&self, word: &str) -> f64 {
        let count = self.of.get(word).map_or(0, HashSet::len) as f64;
        ((self.passages as f64 + 1.0) / (count + 0.5)).ln().max(0.1)
    }

    /// Whether a passage has a word or identifier, or all of its parts.
    pub(super) fn has_all(&self, unit: &Unit, passage: i64) -> bool {
        let mut parts = unit.parts.iter();
        self.has(&unit.whole, passage)
            || !unit.parts.is_empty() && parts.all(|part| self.has(part, passage))
    }

    fn has(&self, word: &str, passage: i64) -> bool {
        self.of
            .get(word)
            .is_some_and(|passages| passages.contains(&passage))
    }
}

/// Returns the share of a query that a passage has, from 0 to 1, each word counted by its weight.
///
/// Unlike a rank it can be compared between queries: for a subject that is missing in the tree, no
/// passage is above a few tenths. An identifier whose parts alone are found counts three quarters
/// of them.
pub(super) fn coverage(ask: &Query, standing: &WordOccurrences, passage: i64) -> f64 {
    let (mut has, mut all) = (0.0, 0.0);
    for unit in &ask.units {
        let weighted = |word: &String| standing.weight(word);
        let parts: f64 = unit.parts.iter().map(weighted).sum();
        let weight = if unit.parts.is_empty() {
            standing.weight(&unit.whole)
        } else {
            parts
        };
        all += weight;
        if standing.has(&unit.whole, passage) {
            has += weight;
        } else {
            let there = unit.parts.iter().filter(|part| standing.has(part, passage));
            has += PARTS_ONLY * there.map(weighted).sum::<f64>();
        }
    }
    if all > 0.0 { has / all } else { 0.0 }
}

/// Returns the share of the query's words and identifiers that a passage contains, each counted
/// alike; an identifier counts if all its parts are there.
pub(super) fn there(ask: &Query, standing: &WordOccurrences, passage: i64) -> f64 {
    let is_there = |unit: &&Unit| standing.has_all(unit, passage);
    let count = ask.units.iter().filter(is_there).count();
    count as f64 / ask.units.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standing(of: &[(&str, &[i64])]) -> WordOccurrences {
        WordOccurrences {
            passages: 100,
            of: of
                .iter()
                .map(|(word, passages)| ((*word).to_owned(), passages.iter().copied().collect()))
                .collect(),
        }
    }

    #[test]
    fn what_two_lists_agree_on_comes_first() {
        let lists = [(1.0, vec![1, 2, 3]), (1.0, vec![4, 2])];
        assert_eq!(fuse(&lists, |_| 1.0)[0], 2);
        assert_eq!(fuse(&lists, |key| if key == 2 { 0.1 } else { 1.0 })[0], 1);
        assert_eq!(fuse(&[], |_| 1.0), [0_i64; 0]);
    }

    #[test]
    fn a_rare_word_says_more_than_a_common_one() {
        let common: Vec<i64> = (0..60).collect();
        let standing = standing(&[("read", &common), ("watermark", &[61])]);
        let ask = Query::read("read watermark");
        assert!(coverage(&ask, &standing, 61) > 0.7);
        assert!(coverage(&ask, &standing, 1) < 0.3);
    }

    #[test]
    fn rare_and_common_words_are_counted_alike() {
        let common: Vec<i64> = (0..60).collect();
        let standing = standing(&[
            ("access", &common),
            ("token", &[61]),
            ("sign", &[1]),
            ("on", &[1]),
        ]);
        let is = |typed: &str, passage: i64, share: f64| {
            let found = there(&Query::read(typed), &standing, passage);
            assert!((found - share).abs() < 1e-9, "{typed}: {found}");
        };
        is("access token", 61, 0.5);
        is("access token", 1, 0.5);
        is("sign_on access", 1, 1.0);
        is("sign_up access", 1, 0.5);
        is("quaternion", 1, 0.0);
    }

    #[test]
    fn what_nothing_speaks_of_is_covered_by_nothing() {
        let standing = standing(&[("read", &[1]), ("file", &[1, 2])]);
        let ask = Query::read("quantum_teleport");
        assert!(coverage(&ask, &standing, 1).abs() < f64::EPSILON);
    }

    proptest! {
        /// LOA-JIT-2: a score is a share, and another word that is there never lowers it.
        #[test]
        fn coverage_is_a_share(
            has in proptest::collection::vec(any::<bool>(), 5),
            sizes in proptest::collection::vec(0_i64..90, 5),
        ) {
            let names = ["alpha", "beta", "gamma", "delta", "epsilon"];
            let of = |extra: Option<usize>| WordOccurrences {
                passages: 100,
                of: names.iter().enumerate().map(|(index, name)| {
                    let mut passages: HashSet<i64> = (1..sizes[index]).collect();
                    if has[index] || extra == Some(index) {
                        passages.insert(0);
                    } else {
                        passages.insert(1000);
                    }
                    ((*name).to_owned(), passages)
                }).collect(),
            };
            let ask = Query::read(&names.join(" "));
            let share = coverage(&ask, &of(None), 0);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&share));
            for index in 0..names.len() {
                prop_assert!(coverage(&ask, &of(Some(index)), 0) + 1e-9 >= share);
            }
        }
    }
}
