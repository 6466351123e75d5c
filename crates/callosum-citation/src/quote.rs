//! Finds a quote in a file, word for word.
//!
//! Blanks are not words: the file and the quote are both compared with each run of blanks and line
//! breaks taken for one space, so that indentation and wrapping do not matter, and every other byte
//! does.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::RangeInclusive,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Number of quotes that are searched for by a scan of the whole file; for more, an index of word
/// positions pays off.
const FEW: usize = 64;

/// Fewest characters, blanks not counted, of a quote that may be a part of a line.
///
/// A variable of one letter occurs almost anywhere, so that finding it confirms nothing.
const FEWEST: usize = 3;

/// A file as a sequence of words, with the line of each.
pub(super) struct Words {
    text: String,
    /// For each line, the start of its first word in `text`, or the position where it would start.
    line_starts: Vec<usize>,
    /// Number of quotes that were searched for.
    asked: AtomicUsize,
    /// Positions of the words, once there were more than a few quotes.
    index: OnceLock<Index>,
}

/// The words of a text, each with its hash and its start; sorted.
type Index = Vec<(u64, u32)>;

impl Words {
    pub(super) fn of(file: &str) -> Self {
        let mut text = String::with_capacity(file.len());
        let mut line_starts = Vec::new();
        for line in file.lines() {
            let mut words = line.split_whitespace().peekable();
            let blank = words.peek().is_none();
            line_starts.push(text.len() + usize::from(!blank && !text.is_empty()));
            for word in words {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
        }
        Self {
            text,
            line_starts,
            asked: AtomicUsize::new(0),
            index: OnceLock::new(),
        }
    }

    /// Returns the lines of each occurrence of the quote, in their order.
    ///
    /// A quote that [`is_short`] counts only if it is all that there is on its lines; an empty one
    /// never occurs.
    pub(super) fn places<'w>(
        &'w self,
        quote: &str,
    ) -> impl Iterator<Item = RangeInclusive<u32>> + use<'w> {
        let needle = quote.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = is_short(quote);
        let mut rarest = self.rarest(&needle);
        let mut from = 0;
        std::iter::from_fn(move || {
            if needle.is_empty() {
                return None;
            }
            loop {
                let at = if let Some((offset, standing)) = &mut rarest {
                    let ((_, word), rest) = standing.split_first()?;
                    *standing = rest;
                    let at = (*word as usize).checked_sub(*offset);
                    let is_it =
                        |at: &usize| self.text.as_bytes()[*at..].starts_with(needle.as_bytes());
                    let Some(at) = at.filter(is_it) else { continue };
                    at
                } else {
                    let rest = self.text.get(from..)?.as_bytes();
                    from + memchr::memmem::find(rest, needle.as_bytes())?
                };
                let end = at + needle.len();
                from = at + self.text[at..].chars().next().map_or(1, char::len_utf8);
                if is_whole(&self.text, at, end) && (!short || self.fills_lines(at, end)) {
                    return Some(self.line_of(at)..=self.line_of(end - 1));
                }
            }
        })
    }

    /// Returns the word of a quote that the file has least often: its start in the quote, and its
    /// positions in the file. `None` if the quote has no word, or too few were searched for.
    ///
    /// No end of a quote that occurs in the file cuts a word in two, so each of its words is a
    /// whole word of the file.
    fn rarest<'w>(&'w self, needle: &str) -> Option<(usize, &'w [(u64, u32)])> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if asked < FEW || u32::try_from(self.text.len()).is_err() {
            return None;
        }
        let index = self.index.get_or_init(|| {
            let all = words(&self.text).map(|(at, word)| (hash(word), at as u32));
            let mut index: Index = all.collect();
            index.sort_unstable();
            index
        });
        let standing = words(needle).map(|(at, word)| {
            let hash = hash(word);
            let rest = &index[index.partition_point(|(known, _)| *known < hash)..];
            (
                at,
                &rest[..rest.partition_point(|(known, _)| *known == hash)],
            )
        });
        standing.min_by_key(|(_, standing)| standing.len())
    }

    /// Whether `text[at..end]` consists of whole lines.
    fn fills_lines(&self, at: usize, end: usize) -> bool {
        let begins_line = |at: usize| self.line_starts.binary_search(&at).is_ok();
        begins_line(at) && (end == self.text.len() || begins_line(end + 1))
    }

    fn line_of(&self, at: usize) -> u32 {
        let line = self.line_starts.partition_point(|start| *start <= at);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

/// Whether a quote holds anything that a file could confirm.
pub(super) fn says_something(quote: &str) -> bool {
    quote.contains(char::is_alphanumeric)
}

/// Whether a quote is long enough to confirm a place: it holds a letter or a digit, and three
/// characters that are not blanks.
pub fn says_enough(quote: &str) -> bool {
    says_something(quote) && !is_short(quote)
}

/// Whether a quote says so little that as a part of a line it would confirm nothing.
pub(super) fn is_short(quote: &str) -> bool {
    quote.chars().filter(|c| !c.is_whitespace()).count() < FEWEST
}

/// Whether neither end of `text[at..end]` cuts a word in two.
fn is_whole(text: &str, at: usize, end: usize) -> bool {
    let joined = |left: Option<char>, right: Option<char>| {
        left.is_some_and(is_word) && right.is_some_and(is_word)
    };
    let quoted = &text[at..end];
    !joined(text[..at].chars().next_back(), quoted.chars().next())
        && !joined(quoted.chars().next_back(), text[end..].chars().next())
}

/// Returns the words of a text, and the start of each.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = text.split(|c: char| !is_word(c));
    words
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(file: &str, quote: &str) -> Vec<(u32, u32)> {
        Words::of(file)
            .places(quote)
            .map(|lines| (*lines.start(), *lines.end()))
            .collect()
    }

    #[test]
    fn lines_are_counted_with_blank_ones_and_any_line_end() {
        let file = "\n\nfn a() {\r\n\n  b();\r\n}\n";
        assert_eq!(places(file, "fn a() {"), [(3, 3)]);
        assert_eq!(places(file, "b();"), [(5, 5)]);
        assert_eq!(places(file, "fn a() {\n b(); }"), [(3, 6)]);
    }

    #[test]
    fn a_part_of_a_word_is_not_the_word() {
        assert_eq!(places("restart\nart_\nart.", "art"), [(3, 3)]);
        assert_eq!(places("x = y_1;", "= y_1"), [(1, 1)]);
        assert_eq!(places("x == y_1;", "== y"), []);
    }

    #[test]
    fn every_place_counts() {
        assert_eq!(places("a\nb\na", "a"), [(1, 1), (3, 3)]);
        assert_eq!(places("été été", "été"), [(1, 1), (1, 1)]);
    }

    #[test]
    fn a_short_quote_counts_only_if_it_fills_its_lines() {
        assert_eq!(places("a = 1;\n\n  a\nb a", "a"), [(3, 3)]);
        assert_eq!(places("x a\nb\n\nc\na", "a"), [(5, 5)]);
        assert_eq!(places("go(a\nb)", "a b"), []);
        assert_eq!(places("let a\n  b\n", "a\nb"), []);
        assert_eq!(places("a\n\n b\n", "a b"), [(1, 3)]);
        assert_eq!(places("go(a)", "(a)"), [(1, 1)]);
    }

    proptest! {
        /// LOA-GRD-1: the number of quotes that are searched for in a file does not change their
        /// places.
        #[test]
        fn a_quote_is_found_at_the_same_places_for_any_number_of_quotes(
            file in "[ab_ \n(.\u{e9}]{0,120}", quote in "[ab_ (.\u{e9}]{0,6}",
        ) {
            let words = Words::of(&file);
            let first: Vec<_> = words.places(&quote).collect();
            for _ in 0..FEW {
                drop(words.places(&quote));
            }
            prop_assert_eq!(first, words.places(&quote).collect::<Vec<_>>());
        }
    }
}
