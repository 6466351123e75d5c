//! [`Pattern`]: one text that many others are compared with, by edit distance.
//!
//! The bits of a machine word hold 64 rows of the distance table (Myers 1999, Hyyrö 2003), so two texts of 60 characters
//! cost 60 steps and not 3,600. `strsim` has the same results and is the reference of the tests.

/// Rows of the table in one machine word.
const WIDTH: usize = 64;

/// A text prepared for comparisons.
pub(super) struct Pattern {
    /// Its length in characters.
    length: usize,
    /// Its distinct characters, sorted.
    letters: Vec<char>,
    /// The row of `masks` for each ASCII character; row 0 is for characters that the text does not have.
    rows: [u16; 128],
    /// For each row, the places of its character in the text, one bit each.
    masks: Vec<u64>,
    /// Machine words of a row.
    blocks: usize,
}

impl Pattern {
    /// Prepares a text. Memory grows with its length times its distinct characters, over 8.
    pub(super) fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let mut letters = characters.clone();
        letters.sort_unstable();
        letters.dedup();
        let blocks = characters.len().div_ceil(WIDTH);
        let mut pattern = Self {
            length: characters.len(),
            rows: [0; 128],
            masks: vec![0; (letters.len() + 1) * blocks],
            letters,
            blocks,
        };
        for (number, letter) in pattern.letters.iter().enumerate() {
            if let Some(row) = pattern.rows.get_mut(*letter as usize) {
                *row = u16::try_from(number + 1).unwrap_or(0);
            }
        }
        for (place, letter) in characters.into_iter().enumerate() {
            let row = pattern
                .letters
                .binary_search(&letter)
                .map_or(0, |number| number + 1);
            pattern.masks[row * blocks + place / WIDTH] |= 1 << (place % WIDTH);
        }
        pattern
    }

    /// Returns 1 minus the edit distance over the longer length, or `None` if that is less than `least`.
    pub(super) fn similarity(&self, text: &str, least: f64) -> Option<f64> {
        let length = text.chars().count();
        let longest = self.length.max(length);
        if longest == 0 {
            return Some(1.0);
        }
        let most = ((1.0 - least).max(0.0) * longest as f64).ceil() as usize;
        let distance = if self.length == 0 {
            length
        } else {
            self.distance(text, length, most)?
        };
        let similarity = 1.0 - distance as f64 / longest as f64;
        (similarity >= least).then_some(similarity)
    }

    /// Returns the edit distance to a text of `length` characters, or `None` if it is more than `most`.
    fn distance(&self, text: &str, length: usize, most: usize) -> Option<usize> {
        if self.length.abs_diff(length) > most {
            return None;
        }
        let last_bit = 1_u64 << ((self.length - 1) % WIDTH);
        // Vertical differences of the table: where it grows and where it falls from one row to the next.
        let mut columns = vec![(u64::MAX, 0_u64); self.blocks];
        let mut distance = self.length;
        for (step, letter) in text.chars().enumerate() {
            let row = self.row(letter);
            let (mut grows_in, mut falls_in) = (1_u64, 0_u64);
            for (block, (grows, falls)) in columns.iter_mut().enumerate() {
                let matches = self.masks[row * self.blocks + block] | falls_in;
                let diagonal =
                    (((matches & *grows).wrapping_add(*grows)) ^ *grows) | matches | *falls;
                let mut right_grows = *falls | !(diagonal | *grows);
                let mut right_falls = diagonal & *grows;
                if block + 1 == self.blocks {
                    distance += usize::from(right_grows & last_bit != 0);
                    distance -= usize::from(right_falls & last_bit != 0);
                }
                let carry = (right_grows >> (WIDTH - 1), right_falls >> (WIDTH - 1));
                right_grows = right_grows << 1 | grows_in;
                right_falls = right_falls << 1 | falls_in;
                *grows = right_falls | !(diagonal | right_grows);
                *falls = right_grows & diagonal;
                (grows_in, falls_in) = carry;
            }
            // Each further character lowers the distance by one at most.
            if distance > most + (length - step - 1) {
                return None;
            }
        }
        (distance <= most).then_some(distance)
    }

    fn row(&self, letter: char) -> usize {
        if let Some(row) = self.rows.get(letter as usize) {
            usize::from(*row)
        } else {
            self.letters
                .binary_search(&letter)
                .map_or(0, |number| number + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// CAKE-RCL-1: the similarity is that of `strsim`, for texts of any length and script.
        #[test]
        fn similarity_is_that_of_the_reference(
            one in prop_oneof!["[ab ]{0,200}", "\\PC{0,80}", "[a-zäß']{0,130}"],
            other in prop_oneof!["[ab ]{0,200}", "\\PC{0,80}", "[a-zäß']{0,130}"],
            cut in 0..200_usize,
            least in 0.0..1.0_f64,
        ) {
            // A text with something put into it, and an unrelated one.
            let mut longer = one.clone();
            longer.insert_str(one.floor_char_boundary(cut), &other[..other.floor_char_boundary(9)]);
            for text in [&other, &longer] {
                let expected = strsim::normalized_levenshtein(&one, text);
                let pattern = Pattern::new(&one);
                let found = pattern.similarity(text, 0.0).unwrap();
                prop_assert!((found - expected).abs() < 1e-9, "{one:?} {text:?} {found} {expected}");
                let enough = pattern.similarity(text, least);
                prop_assert_eq!(enough, (found >= least).then_some(found));
            }
        }
    }
}
