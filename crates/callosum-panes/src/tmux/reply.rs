//! [`Replies`]: the blocks and notices of tmux's control mode, read from bytes.
//!
//! A reply to a command is a block: `%begin TIME NUMBER FLAGS`, lines, and `%end` or `%error` with the same three
//! values. The lines of a captured screen are what a program printed, so they may imitate the end of a block.
//! A caller that knows how many lines a block has says so, and no line of it is then read as its end. What follows
//! out of place is a [`Item::Stray`], after which nothing can be believed until a reply with a secret word has
//! come ([`Replies::skip_past`]).

/// Bytes that may wait for the end of a line.
const LONGEST_LINE: usize = 4 << 20;

/// Lines that a block may have.
const MOST_LINES: usize = 10_000;

/// Something that tmux wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The reply to a command.
    Block {
        /// Whether the command succeeded.
        is_ok: bool,
        /// The lines of the reply, without line ends.
        lines: Vec<Vec<u8>>,
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
    lines: Vec<Vec<u8>>,
}

impl Replies {
    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.read > 0 && self.read == self.buffer.len() {
            self.buffer.clear();
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
            let Some(block) = &mut self.block else {
                match after(&line, b"%begin ") {
                    Some(guard) => {
                        self.block = Some(Block {
                            is_own: !guard.ends_with(b" 0"),
                            guard: guard.to_vec(),
                            lines: Vec::new(),
                        });
                        continue;
                    }
                    None if line.starts_with(b"%") => return Some(Item::Notice(line)),
                    None => return Some(Item::Stray(line)),
                }
            };
            let end = |word: &[u8]| after(&line, word) == Some(block.guard.as_slice());
            let is_ok = end(b"%end ");
            if block.is_own && screen.is_some_and(|(_, word)| line == word) {
                self.block = None;
                return Some(Item::Short);
            }
            let may_end = match screen {
                Some((count, _)) if block.is_own && block.lines.len() < count => {
                    // Only the refusal of a pane that has gone is shorter than its screen.
                    end(b"%error ")
                        && matches!(&*block.lines, [why] if why.starts_with(b"can't find pane"))
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
            if block.lines.len() == MOST_LINES {
                return Some(Item::Endless);
            }
            block.lines.push(line);
        }
    }

    /// Drops everything up to the block that consists of `word` alone. Returns whether it has come.
    pub fn skip_past(&mut self, word: &[u8]) -> bool {
        self.block = None;
        while let Some(line) = self.line() {
            if line == word {
                // The end of its block follows, or comes later; a stray end is a notice.
                return true;
            }
        }
        false
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let rest = self.buffer.get(self.read..)?;
        let length = rest.iter().position(|byte| *byte == b'\n')?;
        let line = rest.get(..length)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        self.read += length + 1;
        if self.read > 1 << 16 {
            self.buffer.drain(..self.read);
            self.read = 0;
        }
        Some(line)
    }
}

fn after<'l>(line: &'l [u8], start: &[u8]) -> Option<&'l [u8]> {
    line.strip_prefix(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: &[u8] = b"secret";

    fn block(is_ok: bool, lines: &[&str]) -> Item {
        Item::Block {
            is_ok,
            lines: lines.iter().map(|line| line.as_bytes().to_vec()).collect(),
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
