//! [`Span`]: place in a source.

use std::ops::Range;

/// A range of bytes of a source, start included, end not; both on character boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Makes the span of these bytes.
    ///
    /// Offsets beyond 4 GiB are held at that bound; the reader takes no source near it.
    pub fn new(start: usize, end: usize) -> Self {
        let held = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self {
            start: held(start),
            end: held(end),
        }
    }

    /// Returns the span from the start of this one to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end.max(self.start),
        }
    }

    /// Returns the bytes as a range, to slice a source with.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns line and column, both counted from 1, the column in characters.
    ///
    /// Costs one pass over the source up to the span.
    pub fn line_and_column(self, source: &str) -> (usize, usize) {
        let before = source.get(..self.start as usize).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let start_of_line = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start_of_line..].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let source = "a\n\u{e9}b c";
        let at = source.find('c').unwrap();
        assert_eq!(Span::new(at, at + 1).line_and_column(source), (2, 4));
        assert_eq!(Span::new(0, 1).line_and_column(source), (1, 1));
    }
}
