//! [`Events`]: the JSON values in a stream of bytes, among other text.
//!
//! A client writes one value a line, or one document over many lines; a library that it loads
//! writes a warning between. JSON is passed on, the rest is skipped.

use serde_json::Value;

use super::wrapping::{behind_wrapping, without_marks};

/// Longest event in bytes: a line or a document beyond it is passed over. A client that shows what
/// its tools read may write long ones.
pub(super) const LONGEST_EVENT: usize = 8 * 1024 * 1024;

/// Most bytes that are kept of output without events.
const MOST_UNREAD: usize = 1024 * 1024;

/// Finds JSON values in pieces of bytes, in time linear to their length.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    /// Whether the line grew too long and its rest is to be dropped.
    overlong: bool,
    /// The beginning of a document that goes over several lines.
    document: Vec<u8>,
    /// The lines that are no events, up to a bound.
    unread: Vec<u8>,
}

impl Events {
    /// The lines that were no events, from the first one.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.unread
    }

    fn leave_unread(&mut self, bytes: &[u8]) {
        let room = MOST_UNREAD.saturating_sub(self.unread.len());
        self.unread
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Adds the next bytes and passes each complete value on.
    pub(crate) fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(&Value)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + piece.len() > LONGEST_EVENT {
                self.overlong = true;
                self.line.clear();
            }
            if !self.overlong {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.end_line(each);
            }
        }
    }

    /// Takes the end of the stream for the end of a line.
    pub(crate) fn finish(&mut self, each: &mut dyn FnMut(&Value)) {
        self.end_line(each);
        let document = std::mem::take(&mut self.document);
        self.leave_unread(&document);
    }

    fn end_line(&mut self, each: &mut dyn FnMut(&Value)) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.overlong) {
            self.document.clear();
            return;
        }
        let bare = if self.document.is_empty() {
            behind_wrapping(&line)
        } else {
            without_marks(&line)
        };
        let begins = bare.first().is_some_and(|byte| matches!(byte, b'{' | b'['));
        if begins && hand_on(bare, each) {
            self.document.clear();
            return;
        }
        if !self.document.is_empty() {
            self.document.extend_from_slice(bare);
            let closes = bare.first().is_some_and(|byte| matches!(byte, b'}' | b']'));
            let is_overlong = self.document.len() > LONGEST_EVENT;
            if is_overlong || (closes && hand_on(&self.document, each)) {
                self.document.clear();
            }
        } else if begins {
            self.document = bare.to_vec();
        } else {
            self.leave_unread(&line);
        }
    }
}

/// Passes the values on that some bytes consist of; `false` if they begin with none.
///
/// Between two values there may be terminal sequences and separators of lines that are none of
/// JSON's (U+2028).
fn hand_on(bytes: &[u8], each: &mut dyn FnMut(&Value)) -> bool {
    let mut any = false;
    let mut rest = bytes;
    loop {
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let mut read = 0;
        while let Some(Ok(value)) = values.next() {
            read = values.byte_offset();
            any = true;
            // A client that writes all its events at the end writes them as one array.
            match &value {
                Value::Array(values) => values.iter().for_each(&mut *each),
                value => each(value),
            }
        }
        let behind = behind_wrapping(&rest[read..]);
        let goes_on = matches!(behind.first(), Some(b'{' | b'['));
        if read == 0 || !goes_on || behind.len() == rest.len() - read {
            return any;
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut found = Vec::new();
        let mut events = Events::default();
        for piece in pieces {
            events.push(piece, &mut |value| found.push(value.to_string()));
        }
        events.finish(&mut |value| found.push(value.to_string()));
        found
    }

    #[test]
    fn events_are_found_among_noise() {
        let text = b"warning: x\n{\"a\":1}\n{torn\n\xff\xfe\n{\"b\":2}{\"c\":3}\r\n\n[{\"d\":4},5]\n{\"e\":";
        assert_eq!(
            events(&[text]),
            ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}", "{\"d\":4}", "5"]
        );
    }

    /// Terminal sequences, a byte order mark and separators of lines that are none of JSON's do not hide an event.
    #[test]
    fn events_are_found_in_the_wrong_wrapping() {
        for text in [
            "\u{1b}[2K\u{1b}[32m{\"a\":1}\u{1b}[0m\n\u{1b}[?25h{\"b\":2}\r\n",
            "\u{feff}{\"a\":1}\n\u{2028}{\"b\":2}\u{2029}",
            "{\"a\":1}\u{2028}{\"b\":2}\u{2028}",
            "{\"a\":1}\u{1b}[0m\u{1b}[1m{\"b\":2}\n",
            "\u{1b}]0;title\u{7}{\"a\":1}\n  {\"b\":2}\n",
            "\u{1b}[0m{\n  \"a\": 1\n\u{1b}[0m}\n{\"b\":2}",
        ] {
            assert_eq!(
                events(&[text.as_bytes()]),
                ["{\"a\":1}", "{\"b\":2}"],
                "{text:?}"
            );
        }
    }

    /// Keeps everything that is no event, a document that never ends included.
    #[test]
    fn lines_that_are_no_events_are_kept_unread() {
        let mut found = 0;
        let mut all = Events::default();
        all.push(
            b"warning: x\n{\"a\":1}\nplain words\n{torn\nmore",
            &mut |_| found += 1,
        );
        all.finish(&mut |_| found += 1);
        assert_eq!(found, 1);
        assert_eq!(all.unread(), b"warning: x\nplain words\n{torn\nmore");
    }

    #[test]
    fn a_document_over_many_lines_is_one_event() {
        let text = b"Loading\n{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}";
        assert_eq!(events(&[text]), ["{\"a\":{\"b\":[1]}}"]);
        // What only looks like one swallows nothing.
        assert_eq!(
            events(&[b"{\n{\"a\":1}\n}\n{\"b\":2}\n"]),
            ["{\"a\":1}", "{\"b\":2}"]
        );
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let mut events = Events::default();
        let long = vec![b'['; LONGEST_EVENT / 2 + 1];
        events.push(&long, &mut |_| unreachable!());
        events.push(&long, &mut |_| unreachable!());
        assert!(events.line.is_empty());
        let mut found = 0;
        events.push(b"\n{\"a\":1}\n", &mut |_| found += 1);
        assert_eq!(found, 1);
    }

    proptest! {
        /// The result does not depend on the pieces, and no bytes cause a panic.
        #[test]
        fn the_pieces_do_not_matter(
            lines in prop::collection::vec("(\\{\"a\":[0-9]{1,3}\\}|[\\[\\]{}\"a1,: ]{0,12}|\\PC{0,8})", 0..12),
            at in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let text = lines.join("\n").into_bytes();
            let mut cuts: Vec<usize> = at.iter().map(|at| at.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
            prop_assert_eq!(events(&pieces), events(&[&text]));
        }
    }
}
