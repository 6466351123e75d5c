//! [`Line`] and [`LineSplitter`]: the lines of a stream of bytes as a person sees them in a terminal.

use memchr::{memchr, memchr_iter, memchr2, memrchr};

/// Longest line that is kept, in bytes. The rest of a longer line is dropped.
const LONGEST: usize = 16 * 1024;

/// Bytes that are looked at once for whether they are plain.
const BLOCK: usize = 16 * 1024;

/// One line of output, without terminal sequences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    raw: String,
    /// Where the text that readers see starts.
    start: usize,
}

impl Line {
    /// Returns a line of this text.
    pub(crate) fn new(raw: impl Into<String>) -> Self {
        Self {
            raw: raw.into(),
            start: 0,
        }
    }

    /// The text that readers see, without prefixes; empty if the line only quotes an error.
    pub(crate) fn text(&self) -> &str {
        &self.raw[self.start..]
    }

    /// The text as printed.
    pub(crate) fn raw(&self) -> &str {
        &self.raw
    }

    /// Takes over the text of another line. It does not allocate if the text fits.
    pub(crate) fn replace(&mut self, raw: &str) {
        self.raw.clear();
        self.raw.push_str(raw);
        self.start = 0;
    }

    /// Bytes that the line can hold without allocating.
    pub(crate) fn capacity(&self) -> usize {
        self.raw.capacity()
    }

    /// Hides so many bytes at the start of the text from readers.
    pub(crate) fn skip(&mut self, length: usize) {
        self.start += length;
    }

    /// Hides the whole text from readers.
    pub(crate) fn blank(&mut self) {
        self.start = self.raw.len();
    }

    /// Shows the whole text again.
    pub(crate) fn restore(&mut self) {
        self.start = 0;
    }
}

/// Splits bytes into lines, wherever the reads divide them.
///
/// A carriage return starts the line again, as in a progress bar; before a line feed it is part of the line's end.
/// Invalid UTF-8 becomes U+FFFD. Memory is bounded by the longest line.
#[derive(Debug, Default)]
pub(crate) struct LineSplitter {
    partial: Vec<u8>,
    /// Whether the next byte starts the line again.
    is_returned: bool,
    /// Whether bytes of this line came since the last line feed, even if none are kept.
    is_begun: bool,
}

impl LineSplitter {
    /// Adds bytes and calls `each` with every line that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            // A block ends with a line if it can, so that it does not end within a character.
            let block = &rest[..rest.len().min(BLOCK)];
            let block = memrchr(b'\n', block).map_or(block, |end| &block[..=end]);
            rest = &rest[block.len()..];
            // Most blocks are plain. Checking a block takes less time than checking each of its lines.
            let plain = plain(block);
            let mut start = 0;
            for end in memchr_iter(b'\n', block) {
                match plain {
                    Some(plain) if !self.is_begun && end - start <= LONGEST => {
                        each(&plain[start..end]);
                    }
                    _ => {
                        self.extend(&block[start..end]);
                        each(&self.take());
                    }
                }
                start = end + 1;
            }
            self.extend(&block[start..]);
        }
    }

    /// Returns the last line if the stream does not end with a line feed.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.is_begun.then(|| self.take())
    }

    /// Whether a line has begun and not ended.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_begun
    }

    fn extend(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        self.is_begun |= !rest.is_empty();
        while let Some(at) = memchr(b'\r', rest) {
            self.extend_part(&rest[..at]);
            self.is_returned = true;
            rest = &rest[at + 1..];
        }
        self.extend_part(rest);
    }

    fn extend_part(&mut self, part: &[u8]) {
        if part.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_returned) {
            self.partial.clear();
        }
        let room = LONGEST.saturating_sub(self.partial.len());
        self.partial
            .extend_from_slice(&part[..part.len().min(room)]);
    }

    fn take(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.partial);
        let text = if text.contains('\u{1b}') {
            strip_sequences(&text)
        } else {
            text.into_owned()
        };
        self.partial.clear();
        self.is_returned = false;
        self.is_begun = false;
        text
    }
}

/// Returns the text of bytes that are printed as they are: valid, without control sequences and carriage returns.
fn plain(bytes: &[u8]) -> Option<&str> {
    if memchr2(b'\r', 0x1b, bytes).is_some() {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// Returns text without CSI, OSC and two-character escape sequences (ECMA-48).
fn strip_sequences(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('[') => {
                // Parameters and intermediates, up to the final byte.
                letters.by_ref().find(|letter| matches!(letter, '@'..='~'));
            }
            Some(']' | 'P' | '_' | '^') => {
                // A string, up to BEL or ST.
                let mut before = ' ';
                letters.by_ref().find(|letter| {
                    let ends = *letter == '\u{7}' || (before == '\u{1b}' && *letter == '\\');
                    before = *letter;
                    ends
                });
            }
            Some('(' | ')' | '#') => {
                letters.next();
            }
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<String> {
        let mut splitter = LineSplitter::default();
        let mut lines = Vec::new();
        for part in parts {
            splitter.push(part, |line| lines.push(line.to_owned()));
        }
        lines.extend(splitter.finish());
        lines
    }

    /// CAKE-WATCH-1: a line is the same however the reads divide it.
    #[test]
    fn a_line_is_the_same_however_the_reads_divide_it() {
        let whole = "10%\r\u{1b}[31merror\u{1b}[0m: caf\u{e9}\r\nnext\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}\nlast".as_bytes();
        let expected = ["error: caf\u{e9}", "nextlink", "last"];
        assert_eq!(lines(&[whole]), expected);
        for at in 0..whole.len() {
            assert_eq!(lines(&[&whole[..at], &whole[at..]]), expected, "at {at}");
        }
    }

    /// CAKE-WATCH-1: the last state of a long progress bar is kept, not its first.
    #[test]
    fn a_long_progress_bar_shows_its_last_state() {
        let text = format!("{}\rerror: full\n", "10%\r20%\r".repeat(5_000));
        assert_eq!(lines(&[text.as_bytes()]), ["error: full"]);
    }

    /// CAKE-WATCH-1: an endless line and invalid UTF-8 take bounded memory.
    #[test]
    fn an_endless_line_is_cut_and_the_next_one_is_whole() {
        let mut splitter = LineSplitter::default();
        let mut lines = Vec::new();
        for _ in 0..1000 {
            splitter.push(&[0xff; 1000], |line| lines.push(line.to_owned()));
            assert!(splitter.partial.len() <= LONGEST);
        }
        splitter.push(b"\nnext\n", |line| lines.push(line.to_owned()));
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "next");
    }
}
