//! [`Keys`]: numbers that two texts share if they differ little. Start with [`Keys::stored`] and [`Keys::wanted`].
//!
//! A text of few words has a key for each set of its words but one (a deletion neighborhood), so two texts that differ in
//! one word share a key wherever that word is. Every text is also cut into four runs of words, two from its start and two
//! from its end, and each pair of runs has a key: any change in one place leaves both runs before it or both after it, and
//! two replaced words leave two of the four.
//!
//! Stored keys are part of the file format. A change here needs a new version of the tables.

/// Most words of a text that are left out in turn. The pairs of runs are selective enough for longer texts.
const MOST_LEFT_OUT: usize = 12;

/// Fewest words of a text that is cut between words. A shorter text is cut between characters.
const FEWEST_CUT: usize = 5;

/// The pairs of runs; runs 0 and 1 are counted from the start, runs 2 and 3 from the end.
const PAIRS: [(usize, usize); 6] = [(0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3)];

/// The keys of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    /// Keys of all words, and of all but one.
    pub(super) sets: Vec<i32>,
    /// Keys of pairs of runs.
    pub(super) pairs: Vec<i32>,
}

impl Keys {
    /// Returns the keys under which a text is stored: at most 19.
    pub(super) fn stored(text: &str) -> Self {
        let units = Units::of_text(text);
        let run = run_length(units.sequence.len());
        Self {
            sets: units.sets(),
            pairs: units.pairs(run),
        }
    }

    /// Returns the keys of texts that may be similar: those of [`Self::stored`], and the pairs of runs of the lengths that
    /// a text with some more or fewer words has.
    pub(super) fn wanted(text: &str) -> Self {
        let units = Units::of_text(text);
        let length = units.sequence.len();
        let shortest = (length * 3 / 4).min(length.saturating_sub(1));
        let longest = (length * 4 / 3).max(length + 1);
        let mut runs: Vec<usize> = (run_length(shortest)..=run_length(longest)).collect();
        // Texts of the same length come first.
        runs.sort_by_key(|run| run.abs_diff(run_length(length)));
        Self {
            sets: units.sets(),
            pairs: runs.into_iter().flat_map(|run| units.pairs(run)).collect(),
        }
    }

    /// Returns all keys, sorted and each once.
    pub(super) fn into_sorted(self) -> Vec<i32> {
        let mut all = self.sets;
        all.extend(self.pairs);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Returns the length of the four runs of a text, so that a change in one place leaves two neighbors whole.
fn run_length(units: usize) -> usize {
    units.saturating_sub(1) / 4
}

/// A text as hashes.
struct Units {
    /// Of each word.
    words: Vec<u64>,
    /// Of what is cut into runs: words, or the characters of a text with few words.
    sequence: Vec<u64>,
}

impl Units {
    fn of_text(text: &str) -> Self {
        let words: Vec<u64> = text
            .split_whitespace()
            .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .map(|word| word.bytes().fold(FNV_BASIS, push))
            .map(mixed)
            .collect();
        let sequence = if words.len() < FEWEST_CUT {
            text.chars()
                .map(|letter| mixed(FNV_BASIS ^ u64::from(letter)))
                .collect()
        } else {
            words.clone()
        };
        Self { words, sequence }
    }

    /// Returns the keys of all words, and of all but one, whatever their order is. A repeated word is left out
    /// once, and everywhere.
    fn sets(&self) -> Vec<i32> {
        if self.words.is_empty() {
            return Vec::new();
        }
        let all = self
            .words
            .iter()
            .fold(0, |sum: u64, word| sum.wrapping_add(*word));
        let mut keys = vec![shortened(mixed(all))];
        if self.words.len() > MOST_LEFT_OUT {
            return keys;
        }
        for (place, word) in self.words.iter().enumerate() {
            if self.words[..place].contains(word) {
                continue;
            }
            // One change may be of one place, or of a name in all its places.
            let times = self.words.iter().filter(|other| *other == word).count();
            for left_out in [1, times] {
                // A text of one word shares "no word" with each other one.
                if left_out < self.words.len() {
                    let rest = all.wrapping_sub(word.wrapping_mul(left_out as u64));
                    keys.push(shortened(mixed(rest)));
                }
            }
        }
        keys.dedup();
        keys
    }

    /// Returns the keys of pairs of runs of this length.
    fn pairs(&self, run: usize) -> Vec<i32> {
        let length = self.sequence.len();
        if run == 0 || run * 2 > length {
            return Vec::new();
        }
        let starts = [0, run, length - 2 * run, length - run];
        let hashes = starts.map(|start| {
            self.sequence[start..start + run]
                .iter()
                .fold(run as u64, |hash, unit| mixed(hash.rotate_left(23) ^ unit))
        });
        PAIRS
            .iter()
            .enumerate()
            .map(|(number, (one, other))| {
                let both = hashes[*one].rotate_left(17) ^ hashes[*other];
                shortened(mixed(both.wrapping_add(number as u64 + 1)))
            })
            .collect()
    }
}

/// The start of an FNV-1a hash.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn push(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// Spreads a hash over all its bits (the end of SplitMix64).
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Returns 32 bits of a hash, which SQLite stores in four bytes. At two million keys, one in 2,000 is shared by chance,
/// and a chance candidate costs one comparison.
fn shortened(hash: u64) -> i32 {
    hash as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_shared(stored: &str, wanted: &str) -> bool {
        let wanted = Keys::wanted(wanted).into_sorted();
        Keys::stored(stored)
            .into_sorted()
            .iter()
            .any(|key| wanted.binary_search(key).is_ok())
    }

    /// CAKE-RCL-1: the keys are stored, so they never change under one version of the tables.
    #[test]
    fn keys_are_part_of_the_format() {
        let keys = Keys::stored("KeyError app.py 'id' is not in the row");
        assert_eq!((keys.sets.len(), keys.pairs.len()), (9, 6));
        assert_eq!((keys.sets[0], keys.pairs[0]), (-1_482_504_032, 570_681_633));
        assert_eq!(Keys::stored(""), Keys::default());
        assert_eq!(Keys::stored(&"word ".repeat(80)).sets.len(), 1);
    }

    proptest! {
        /// CAKE-RCL-1: two texts that differ in one word share a key, whichever of them is stored.
        #[test]
        fn a_change_of_one_word_leaves_a_key(
            mut words in prop_oneof![
                prop::collection::vec("[a-z][a-z']{0,8}", 2..40),
                prop::collection::vec("[a-d]", 2..20),
            ],
            place in any::<prop::sample::Index>(),
            other in "[a-z]{1,9}|[a-d]",
            how in 0..3_u8,
        ) {
            let text = words.join(" ");
            let place = place.index(words.len());
            match how {
                0 => words[place] = other,
                1 => words.insert(place, other),
                _ => drop(words.remove(place)),
            }
            let changed = words.join(" ");
            prop_assume!(words.len() > 1);
            prop_assert!(is_shared(&text, &changed), "{text} | {changed}");
            prop_assert!(is_shared(&changed, &text), "{changed} | {text}");
        }

        /// CAKE-RCL-1: two texts that differ in two replaced words share a key.
        #[test]
        fn two_replaced_words_leave_a_key(
            mut words in prop::collection::vec("[a-z]{1,9}", 5..40),
            places in any::<[prop::sample::Index; 2]>(),
        ) {
            let text = words.join(" ");
            for place in places {
                let place = place.index(words.len());
                words[place] = "OTHER".to_owned();
            }
            prop_assert!(is_shared(&text, &words.join(" ")), "{text}");
        }

        /// CAKE-RCL-1: a text has at most 19 stored keys and some hundred wanted ones.
        #[test]
        fn keys_are_bounded(text in "\\PC{0,400}") {
            prop_assert!(Keys::stored(&text).into_sorted().len() <= 19);
            prop_assert!(Keys::wanted(&text).into_sorted().len() <= 400);
        }
    }
}
