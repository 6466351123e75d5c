//! [`Replies`]: the blocks and notices of tmux's control mode, read from bytes.
//!
//! A reply to a command is a block: `%begin TIME NUMBER FLAGS`, lines, and `%end` or `%error` with the same three
//! values. The lines of a captured screen are what a program printed, so they may imitate the end of a block.
//! A caller that knows how many lines a block has says so, and no line of it is then read as its end. What follows
//! out of place is a [`Item::Stray`], after which nothing can be believed until a reply with a secret word has
//! come ([`Replies::skip_past`]).

use std::ops::Range;

/// Bytes that may wait for the end of a line.
const LONGEST_LINE: usize = 4 << 20;

/// Lines that a block may have.
const MOST_LINES: usize = 10_000;

/// The lines of a reply, without line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The lines with `\n` between them: a screen of forty lines is one allocation.
    text: Vec<u8>,
    count: usize,
}

impl Lines {
    fn push(&mut self, line: &[u8]) {
        if self.count > 0 {
            self.text.push(b'\n');
        }
        self.text.extend_from_slice(line);
        self.count += 1;
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns each line.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|byte| *byte == b'\n').take(self.count)
    }

    /// Returns the only line, or `None` if there are none or several.
    pub fn single(&self) -> Option<&[u8]> {
        (self.count == 1).then_some(self.text.as_slice())
    }

    /// Returns the lines with `\n` between them.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }
}

/// Something that tmux wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The reply to a command.
    Block {
        /// Whether the command succeeded.
        is_ok: bool,
        /// The lines of the reply.
        lines: Lines,
    },
    /// Something that happened: `%session-changed $0 main`.
    Notice(Vec<u8>),
    /// A line where none can be. From here on, replies cannot be matched to commands.
    Stray(Vec<u8>),
    /// A screen had fewer lines than it should, so that the secret word came in it. Replies fit commands again from
    /// here on.
    Short,
    /// A block or a line has no end.
    Endless,
}

/// Reads items from the bytes that tmux writes.
#[derive(Debug, Default)]
pub struct Replies {
    buffer: Vec<u8>,
    /// Bytes at the beginning of `buffer` that are done with.
    read: usize,
    block: Option<Block>,
}

#[derive(Debug)]
struct Block {
    /// `TIME NUMBER FLAGS`.
    guard: Vec<u8>,
    /// Whether it answers a command of this client's. tmux marks others with flags of 0.
    is_own: bool,
    lines: Lines,
}

impl Replies {
    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read == self.buffer.len() || self.read > 1 << 16 {
            self.buffer.drain(..self.read);
            self.read = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next item if all of it is there. `screen` is how many lines the next block must have, if known, and a
    /// word that no screen can know, which comes later.
    pub fn next(&mut self, screen: Option<(usize, &[u8])>) -> Option<Item> {
        loop {
            let Some(line) = self.line() else {
                let waiting = self.buffer.len() - self.read;
                return (waiting > LONGEST_LINE).then_some(Item::Endless);
            };
            let line = self.buffer.get(line).unwrap_or_default();
            let Some(block) = &mut self.block else {
                match line.strip_prefix(b"%begin ") {
                    Some(guard) => {
                        self.block = Some(Block {
                            is_own: !guard.ends_with(b" 0"),
                            guard: guard.to_vec(),
                            lines: Lines::default(),
                        });
                        continue;
                    }
                    None if line.starts_with(b"%") => return Some(Item::Notice(line.to_vec())),
                    None => return Some(Item::Stray(line.to_vec())),
                }
            };
            let end = |word: &[u8]| line.strip_prefix(word) == Some(block.guard.as_slice());
            let is_ok = end(b"%end ");
            if block.is_own && screen.is_some_and(|(_, word)| line == word) {
                self.block = None;
                return Some(Item::Short);
            }
            let may_end = match screen {
                Some((count, _)) if block.is_own && block.lines.count() < count => {
                    // Only the refusal of a pane that has gone is shorter than its screen.
                    end(b"%error ")
                        && (block.lines.single())
                            .is_some_and(|why| why.starts_with(b"can't find pane"))
                }
                _ => is_ok || end(b"%error "),
            };
            if may_end {
                let Block { is_own, lines, .. } = self.block.take()?;
                if is_own {
                    return Some(Item::Block { is_ok, lines });
                }
                continue;
            }
            if block.lines.count() == MOST_LINES {
                return Some(Item::Endless);
            }
            block.lines.push(line);
        }
    }

    /// Drops everything up to the block that consists of `word` alone. Returns whether it has come.
    pub fn skip_past(&mut self, word: &[u8]) -> bool {
        self.block = None;
        while let Some(line) = self.line() {
            if self.buffer.get(line) == Some(word) {
                // The end of its block follows, or comes later; a stray end is a notice.
                return true;
            }
        }
        false
    }

    /// Returns where the next line is in the buffer, without its end, and moves past it.
    fn line(&mut self) -> Option<Range<usize>> {
        let start = self.read;
        let rest = self.buffer.get(start..)?;
        let length = memchr::memchr(b'\n', rest)?;
        self.read += length + 1;
        let has_return = rest.get(..length)?.ends_with(b"\r");
        Some(start..start + length - usize::from(has_return))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: &[u8] = b"secret";

    fn block(is_ok: bool, lines: &[&str]) -> Item {
        let mut found = Lines::default();
        for line in lines {
            found.push(line.as_bytes());
        }
        Item::Block {
            is_ok,
            lines: found,
        }
    }

    fn items(text: &str, lines: Option<usize>) -> Vec<Item> {
        let mut replies = Replies::default();
        replies.push(text.as_bytes());
        std::iter::from_fn(|| replies.next(lines.map(|lines| (lines, WORD)))).collect()
    }

    #[test]
    fn a_reply_is_whole_or_waits() {
        let mut replies = Replies::default();
        replies.push(b"%begin 1 7 1\none\n%en");
        assert_eq!(replies.next(None), None);
        replies.push(b"d 1 7 1\n%session-changed $0 a\n");
        assert_eq!(replies.next(None), Some(block(true, &["one"])));
        assert_eq!(
            replies.next(None),
            Some(Item::Notice(b"%session-changed $0 a".to_vec()))
        );
        assert_eq!(replies.next(None), None);
    }

    #[test]
    fn blocks_of_others_are_left_out() {
        let text = "%begin 1 6 0\nnot ours\n%end 1 6 0\n%begin 1 7 1\n%end 1 7 1\n";
        assert_eq!(items(text, None), [block(true, &[])]);
    }

    #[test]
    fn a_screen_that_imitates_the_end_stays_a_screen() {
        let text = "%begin 1 7 1\n%end 1 7 1\n%error 1 7 1\n%begin 1 8 1\n%end 1 7 1\n";
        let screen = block(true, &["%end 1 7 1", "%error 1 7 1", "%begin 1 8 1"]);
        assert_eq!(items(text, Some(3)), [screen]);
    }

    #[test]
    fn a_pane_that_has_gone_is_an_error_though_lines_are_missing() {
        let text = "%begin 1 7 1\ncan't find pane: %4\n%error 1 7 1\n";
        assert_eq!(
            items(text, Some(40)),
            [block(false, &["can't find pane: %4"])]
        );
    }

    #[test]
    fn a_screen_that_is_too_short_ends_with_the_word() {
        let text = "%begin 1 7 1\none\n%end 1 7 1\n%begin 1 8 1\nsecret\n%end 1 8 1\n%begin 1 9 1\n%end 1 9 1\n";
        let mut replies = Replies::default();
        replies.push(text.as_bytes());
        assert_eq!(replies.next(Some((20, WORD))), Some(Item::Short));
        assert_eq!(
            replies.next(None),
            Some(Item::Notice(b"%end 1 8 1".to_vec()))
        );
        assert_eq!(replies.next(None), Some(block(true, &[])));
    }

    #[test]
    fn what_follows_an_imitated_error_is_stray() {
        let text = "%begin 1 7 1\ncan't find pane\n%error 1 7 1\nrest of the screen\n%end 1 7 1\n";
        let found = items(text, Some(4));
        assert_eq!(found[1], Item::Stray(b"rest of the screen".to_vec()));
    }

    #[test]
    fn after_a_stray_line_only_the_secret_word_counts() {
        let mut replies = Replies::default();
        replies.push(b"%begin 1 8 1\nlie\n%end 1 8 1\n%begin 2 9 1\nsecret\n");
        assert!(!replies.skip_past(b"other"));
        replies.push(b"%begin 2 9 1\nsecret\n%end 2 9 1\n%begin 2 10 1\ntrue\n%end 2 10 1\n");
        assert!(replies.skip_past(b"secret"));
        assert_eq!(
            replies.next(None),
            Some(Item::Notice(b"%end 2 9 1".to_vec()))
        );
        assert_eq!(replies.next(None), Some(block(true, &["true"])));
    }

    #[test]
    fn an_endless_line_and_an_endless_block_are_given_up() {
        let mut replies = Replies::default();
        replies.push(&vec![b'x'; LONGEST_LINE + 1]);
        assert_eq!(replies.next(None), Some(Item::Endless));
        let text = format!("%begin 1 7 1\n{}", "y\n".repeat(MOST_LINES + 1));
        assert_eq!(items(&text, None).first(), Some(&Item::Endless));
    }

    proptest::proptest! {
        #[test]
        fn bytes_in_any_pieces_give_the_same_items(bytes: Vec<u8>, cut in 0_usize..200) {
            let mut text = b"%begin 1 7 1\n".to_vec();
            text.extend(bytes.iter().map(|byte| if byte % 5 == 0 { b'\n' } else { *byte }));
            text.extend(b"\n%end 1 7 1\n");
            let mut whole = Replies::default();
            whole.push(&text);
            let expected: Vec<_> = std::iter::from_fn(|| whole.next(None)).collect();
            let mut parts = Replies::default();
            let mut found = Vec::new();
            for part in text.chunks(cut.max(1)) {
                parts.push(part);
                found.extend(std::iter::from_fn(|| parts.next(None)));
            }
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
