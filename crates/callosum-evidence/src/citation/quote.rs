//! Where in a file a quote stands, word for word.
//!
//! Blanks are not words: the file and the quote are both compared with each run of blanks and
//! line breaks taken for one space, so that indentation and wrapping do not matter, and every
//! other byte does.

use std::ops::RangeInclusive;

/// Fewest characters, blanks not counted, of a quote that may be a part of a line.
///
/// A variable of one letter stands almost anywhere, so that finding it confirms nothing.
const FEWEST: usize = 3;

/// A file as a sequence of words that remembers on which line each stands.
pub(super) struct Words {
    text: String,
    /// For each line, where in `text` its first word begins, or would begin.
    line_starts: Vec<usize>,
}

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
        Self { text, line_starts }
    }

    /// The lines of each place where the quote stands, in their order.
    ///
    /// A quote that [`is_short`] stands only where it is all that there is on its lines.
    pub(super) fn places<'w>(
        &'w self,
        quote: &str,
    ) -> impl Iterator<Item = RangeInclusive<u32>> + use<'w> {
        let needle = quote.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = is_short(quote);
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let rest = self.text.get(from..)?.as_bytes();
                let at = from + memchr::memmem::find(rest, needle.as_bytes())?;
                let end = at + needle.len();
                from = at + self.text[at..].chars().next().map_or(1, char::len_utf8);
                if is_whole(&self.text, at, end) && (!short || self.fills_lines(at, end)) {
                    return Some(self.line_of(at)..=self.line_of(end - 1));
                }
            }
        })
    }

    /// Whether `text[at..end]` begins where a line begins and ends where one ends.
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

/// Whether a quote says enough for a place where it stands to confirm it: it holds a letter or a
/// digit, and three characters that are not blanks.
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

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
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
    fn a_short_quote_stands_only_where_it_fills_its_lines() {
        assert_eq!(places("a = 1;\n\n  a\nb a", "a"), [(3, 3)]);
        assert_eq!(places("x a\nb\n\nc\na", "a"), [(5, 5)]);
        assert_eq!(places("go(a\nb)", "a b"), []);
        assert_eq!(places("let a\n  b\n", "a\nb"), []);
        assert_eq!(places("a\n\n b\n", "a b"), [(1, 3)]);
        assert_eq!(places("go(a)", "(a)"), [(1, 1)]);
    }
}
