//! [`Window`]: the lines that readers see at once, and the words that they may have.
//!
//! Dozens of readers look for hundreds of words in each window, and most windows have none of them. So one pass over the
//! text records its grams (three bytes in a row, hashed). A window without a gram of a word cannot have the word; that
//! check takes a few nanoseconds. Only the other words are searched for.

use std::ops::Deref;

use memchr::memmem::Finder;

use crate::line::Line;

/// Bits of the hash of a gram. The table takes 64 KiB; a window of logs fills less than a tenth of it.
const BITS: u32 = 16;

/// The lines that readers see at once.
pub(crate) struct Window<'a> {
    lines: &'a [Line],
    /// The grams of each line.
    sets: Vec<Grams>,
    /// Whether a line has a gram with this hash.
    table: Vec<bool>,
    /// Whether the words are ignored, to test that no reader misses an error because of them.
    is_unfiltered: bool,
}

impl<'a> Window<'a> {
    /// Returns a window of these lines. Cost: about 1 ns for each byte.
    pub(crate) fn new(lines: &'a [Line]) -> Self {
        let mut table = vec![false; 1 << BITS];
        let sets = lines
            .iter()
            .map(|line| {
                let mut set = Grams::default();
                each_gram(line.text(), |hash| {
                    table[hash] = true;
                    set.add(hash);
                });
                set
            })
            .collect();
        Self {
            lines,
            sets,
            table,
            is_unfiltered: false,
        }
    }

    /// Returns a window in which every line counts as one that may have any word.
    #[cfg(test)]
    pub(crate) fn unfiltered(lines: &'a [Line]) -> Self {
        Self {
            is_unfiltered: true,
            ..Self::new(lines)
        }
    }

    /// Whether a line has the word.
    pub(crate) fn has(&self, word: &str) -> bool {
        if !self.may_have(word) {
            return false;
        }
        let set = Grams::of(word);
        let finder = Finder::new(word);
        self.lines
            .iter()
            .zip(&self.sets)
            .any(|(line, grams)| grams.has(set) && finder.find(line.text().as_bytes()).is_some())
    }

    /// Whether a line has one of the words.
    pub(crate) fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    /// Whether a line may have one of the words. If not, none has. Cost: a few nanoseconds for each word.
    pub(crate) fn may_have_any(&self, words: &[&str]) -> bool {
        self.is_unfiltered || words.iter().any(|word| self.may_have(word))
    }

    /// Returns the indexes of the lines that have one of the words, in order.
    ///
    /// For a reader whose errors begin on such lines. A test checks that it reports the same if it sees every line.
    pub(crate) fn lines_with(&self, words: &[&str]) -> Vec<usize> {
        if self.is_unfiltered {
            return (0..self.lines.len()).collect();
        }
        let words: Vec<(Grams, Finder<'_>)> = words
            .iter()
            .filter(|word| self.may_have(word))
            .map(|word| (Grams::of(word), Finder::new(*word)))
            .collect();
        if words.is_empty() {
            return Vec::new();
        }
        let has_word = |at: &usize| {
            words.iter().any(|(set, finder)| {
                self.sets[*at].has(*set) && finder.find(self.lines[*at].text().as_bytes()).is_some()
            })
        };
        (0..self.lines.len()).filter(has_word).collect()
    }

    fn may_have(&self, word: &str) -> bool {
        let mut may_have = true;
        each_gram(word, |hash| may_have &= self.table[hash]);
        may_have
    }
}

impl Deref for Window<'_> {
    type Target = [Line];

    fn deref(&self) -> &[Line] {
        self.lines
    }
}

/// A set of grams, each with two of 128 bits (a Bloom filter): it may seem to have a gram of a word, but never misses one.
#[derive(Clone, Copy, Default)]
struct Grams {
    low: u64,
    high: u64,
}

impl Grams {
    fn of(word: &str) -> Self {
        let mut set = Self::default();
        each_gram(word, |hash| set.add(hash));
        set
    }

    fn add(&mut self, hash: usize) {
        self.low |= 1 << (hash & 63);
        self.high |= 1 << (hash >> 6 & 63);
    }

    /// Whether all grams of a word can be among these.
    fn has(self, word: Self) -> bool {
        self.low & word.low == word.low && self.high & word.high == word.high
    }
}

/// Calls `each` with the hash of every three bytes in a row, below `1 << BITS`.
#[inline]
fn each_gram(text: &str, mut each: impl FnMut(usize)) {
    // Eight bytes hold six grams. To take them from one load halves the time.
    let mut rest = text.as_bytes();
    while let Some(eight) = rest.first_chunk() {
        let eight = u64::from_le_bytes(*eight);
        for at in 0..6 {
            each(hash((eight >> (8 * at)) as u32));
        }
        rest = &rest[6..];
    }
    for gram in rest.windows(3) {
        each(hash(u32::from_le_bytes([gram[0], gram[1], gram[2], 0])));
    }
}

/// Returns the hash of the three low bytes: the factor shifts the fourth out.
#[inline]
fn hash(bytes: u32) -> usize {
    (bytes.wrapping_mul(0x9e37_79b1 << 8) >> (32 - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        text.lines().map(Line::new).collect()
    }

    /// CAKE-WATCH-1: a word of any length is found in the lines that have it, and nowhere else.
    #[test]
    fn words_are_found_in_their_lines() {
        let lines = lines("error: x\n\nab\nan error\nterror\u{2716}\n");
        let window = Window::new(&lines);
        assert_eq!(window.lines_with(&["error"]), [0, 3, 4]);
        assert_eq!(window.lines_with(&["ab", "\u{2716}"]), [2, 4]);
        assert!(window.has("ab") && window.has("error: x") && window.has(""));
        assert!(!window.has("ba") && !window.has("errors") && !window.has_any(&["x\n", "b\na"]));
        assert_eq!(Window::unfiltered(&lines).lines_with(&["error"]).len(), 5);
    }

    proptest::proptest! {
        /// CAKE-WATCH-1: the index misses no word of any text.
        #[test]
        fn no_word_is_missed(text in "[a-e :\n\u{e9}]{0,200}", word in "[a-e :]{1,4}") {
            let lines = lines(&text);
            let window = Window::new(&lines);
            let expected: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].text().contains(&word)).collect();
            proptest::prop_assert_eq!(window.has(&word), !expected.is_empty());
            proptest::prop_assert_eq!(window.lines_with(&[&word]), expected);
        }
    }
}
