//! [`Screen`]: the lines of a terminal as a person sees them, with the parts that are dim.
//!
//! A client draws a placeholder dim and a draft plainly, so the difference is kept. Everything else about
//! color is dropped.

use std::ops::Range;

use anstyle_parse::{DefaultCharAccumulator, Params, Parser, Perform};

/// Lines that are kept at most. No terminal that a person reads is higher.
const MOST_LINES: usize = 500;

/// Characters of a line that are kept at most.
const LONGEST_LINE: usize = 1_000;

/// Text that a terminal shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The lines from top to bottom, without trailing spaces.
    pub lines: Vec<Line>,
    /// Column and row of the cursor, from 0, if known.
    pub cursor: Option<(u16, u16)>,
}

/// One line of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its text, without escape sequences. Non-breaking spaces are plain spaces.
    pub text: String,
    /// The bytes of `text` that are drawn dim.
    dim: Vec<Range<usize>>,
}

impl Line {
    /// Returns a line with nothing dim.
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.trim_end().to_owned(),
            dim: Vec::new(),
        }
    }

    /// Whether it is empty.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether a part of it is dim.
    pub fn has_dim(&self) -> bool {
        !self.dim.is_empty()
    }

    /// Returns the text without its dim parts.
    pub fn bright(&self) -> String {
        let mut bright = String::with_capacity(self.text.len());
        let mut from = 0;
        for dim in &self.dim {
            bright.push_str(self.text.get(from..dim.start).unwrap_or_default());
            from = dim.end;
        }
        bright.push_str(self.text.get(from..).unwrap_or_default());
        bright
    }
}

impl Screen {
    /// Reads the output of `capture-pane -p -e`: lines with color escapes and nothing else that moves the cursor.
    pub fn read(bytes: &[u8], cursor: Option<(u16, u16)>) -> Self {
        let mut parser = Parser::<DefaultCharAccumulator>::new();
        let mut reader = Reader::default();
        for byte in bytes {
            parser.advance(&mut reader, *byte);
        }
        if !reader.line.text.is_empty() {
            reader.end_line();
        }
        Self {
            lines: reader.lines,
            cursor,
        }
    }

    /// Reads the output of `capture-pane -p`: lines without escapes.
    ///
    /// Gives the same lines as [`Self::read`], five times as fast. An escape that is there all the same is read too.
    pub fn plain(bytes: &[u8]) -> Self {
        let Some(text) = std::str::from_utf8(bytes)
            .ok()
            .filter(|text| is_plain(text))
        else {
            return Self::read(bytes, None);
        };
        let text = text.strip_suffix('\n').unwrap_or(text);
        if bytes.is_empty() {
            return Self::default();
        }
        let has_wide_space = memchr::memmem::find(bytes, "\u{a0}".as_bytes()).is_some();
        let count = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
        let mut lines = Vec::with_capacity(count.min(MOST_LINES));
        let mut rest = text;
        while lines.len() < MOST_LINES {
            let end = memchr::memchr(b'\n', rest.as_bytes());
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let line = cut(line);
            lines.push(if has_wide_space {
                Line::plain(&line.replace('\u{a0}', " "))
            } else {
                Line::plain(line)
            });
            let Some(end) = end else { break };
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Self {
            lines,
            cursor: None,
        }
    }

    /// Takes over the colors of lines from `first` on, if their text is the same. Returns whether it was.
    pub fn color(&mut self, first: usize, colored: &[u8]) -> bool {
        let colored = Self::read(colored, None).lines;
        let Some(lines) = self.lines.get_mut(first..first + colored.len()) else {
            return false;
        };
        let is_same = lines
            .iter()
            .zip(&colored)
            .all(|(plain, colored)| plain.text == colored.text);
        if is_same {
            lines.clone_from_slice(&colored);
        }
        is_same
    }

    /// Returns the last `count` lines that are not blank, from top to bottom, each with its index.
    pub fn bottom(&self, count: usize) -> Vec<usize> {
        self.last_of(self.lines.len(), count)
    }

    /// Returns the last `count` lines before `end` that are not blank.
    pub fn last_of(&self, end: usize, count: usize) -> Vec<usize> {
        let before = self.lines.get(..end).unwrap_or_default();
        let mut found: Vec<usize> = (0..before.len())
            .rev()
            .filter(|index| !before[*index].is_blank())
            .take(count)
            .collect();
        found.reverse();
        found
    }
}

/// Returns as much of a line as is kept.
fn cut(line: &str) -> &str {
    let end = if line.len() > LONGEST_LINE {
        line.char_indices().nth(LONGEST_LINE).map(|(end, _)| end)
    } else {
        None
    };
    line.get(..end.unwrap_or(line.len())).unwrap_or(line)
}

/// Whether a text has no character that is more than text in a terminal.
fn is_plain(text: &str) -> bool {
    // Most screens have none of these bytes, and this loop looks at many at once. 0xC2 begins U+0080 to U+009F.
    let is_suspect = |byte: u8| byte < b' ' && byte != b'\n' || byte == 0x7f || byte == 0xc2;
    let bytes = text.as_bytes().iter();
    if !bytes.fold(false, |found, byte| found | is_suspect(*byte)) {
        return true;
    }
    !text
        .chars()
        .any(|letter| letter.is_control() && letter != '\n')
}

#[derive(Default)]
struct Reader {
    lines: Vec<Line>,
    line: Line,
    letters: usize,
    is_dim: bool,
}

impl Reader {
    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        line.text.truncate(line.text.trim_end().len());
        let end = line.text.len();
        line.dim.retain_mut(|dim| {
            dim.end = dim.end.min(end);
            dim.start < dim.end
        });
        self.letters = 0;
        if self.lines.len() < MOST_LINES {
            self.lines.push(line);
        }
    }
}

impl Perform for Reader {
    fn print(&mut self, letter: char) {
        if self.letters == LONGEST_LINE {
            return;
        }
        self.letters += 1;
        let start = self.line.text.len();
        let letter = if letter == '\u{a0}' { ' ' } else { letter };
        self.line.text.push(letter);
        let end = self.line.text.len();
        if self.is_dim {
            match self.line.dim.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => self.line.dim.push(start..end),
            }
        }
    }

    fn execute(&mut self, byte: u8) {
        if byte == b'\n' {
            self.end_line();
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _between: &[u8], _ignored: bool, action: u8) {
        if action != b'm' {
            return;
        }
        let mut values = params.iter();
        if params.is_empty() {
            self.is_dim = false;
        }
        while let Some(value) = values.next() {
            match value.first() {
                Some(0 | 22) => self.is_dim = false,
                Some(2) => self.is_dim = true,
                // The color follows in values of its own, `38;5;2` or `38;2;r;g;b`, and is no attribute.
                Some(38 | 48 | 58) if value.len() == 1 => {
                    let skip = match values.next().and_then(|kind| kind.first()) {
                        Some(5) => 1,
                        Some(2) => 3,
                        _ => 0,
                    };
                    for _ in 0..skip {
                        values.next();
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(screen: &Screen) -> Vec<&str> {
        screen.lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn colors_go_and_dim_text_is_marked() {
        let bytes = "\u{1b}[1m\u{276f}\u{1b}[0m\u{a0}\u{1b}[2mTry \"fix\"\u{1b}[22m now  \nplain\n";
        let screen = Screen::read(bytes.as_bytes(), None);
        assert_eq!(texts(&screen), ["\u{276f} Try \"fix\" now", "plain"]);
        assert_eq!(screen.lines[0].bright(), "\u{276f}  now");
        assert_eq!(screen.lines[1].bright(), "plain");
    }

    #[test]
    fn a_color_that_holds_a_two_is_not_dim() {
        let bytes = b"\x1b[38;5;2mgreen\x1b[48;2;2;2;2m back\x1b[38:5:2m sub\x1b[m";
        let screen = Screen::read(bytes, None);
        assert_eq!(screen.lines[0].bright(), "green back sub");
        let dim = Screen::read(b"\x1b[38;5;7;2mgray", None);
        assert_eq!(dim.lines[0].bright(), "");
    }

    #[test]
    fn the_bottom_leaves_blank_lines_out() {
        let screen = Screen::read(b"a\n\nb\n   \nc\n\n\n", None);
        assert_eq!(screen.bottom(2), [2, 4]);
        assert_eq!(screen.last_of(4, 5), [0, 2]);
        assert_eq!(screen.last_of(99, 5), Vec::<usize>::new());
    }

    #[test]
    fn colors_are_taken_over_for_the_same_text_only() {
        let mut screen = Screen::read(b"a\n> try\nb", None);
        assert!(screen.color(1, b"> \x1b[2mtry\x1b[0m"));
        assert_eq!(screen.lines[1].bright(), "> ");
        assert!(!screen.color(1, b"> other"));
        assert!(!screen.color(2, b"b\nc"), "there is no such line");
        assert!(!screen.color(9, b"b"));
    }

    #[test]
    fn an_endless_line_and_an_endless_screen_are_cut() {
        let line = "x".repeat(LONGEST_LINE + 50);
        assert_eq!(
            Screen::read(line.as_bytes(), None).lines[0].text.len(),
            LONGEST_LINE
        );
        let lines = "y\n".repeat(MOST_LINES + 50);
        assert_eq!(Screen::read(lines.as_bytes(), None).lines.len(), MOST_LINES);
    }

    #[test]
    fn plain_lines_are_read_like_colored_ones() {
        let long = "\u{276f}".repeat(LONGEST_LINE + 1);
        let high = "y\n".repeat(MOST_LINES + 1);
        for text in [
            "",
            "\n",
            "a",
            "a\n",
            "a\n\n",
            "\n\na \u{a0}b\u{a0}\n",
            "a\tb\r\n\u{9b}2mc",
            "\u{1b}[2mdim\u{1b}[0m",
            &long,
            &high,
        ] {
            let plain = Screen::plain(text.as_bytes());
            assert_eq!(plain, Screen::read(text.as_bytes(), None), "{text:?}");
        }
        let broken = b"a\xffb\nc";
        assert_eq!(Screen::plain(broken), Screen::read(broken, None));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_alike_both_ways(text in "(\\PC|[ \n\u{a0}\u{1b}m2]){0,60}") {
            let plain = Screen::plain(text.as_bytes());
            proptest::prop_assert_eq!(plain, Screen::read(text.as_bytes(), None));
        }

        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            let screen = Screen::read(&bytes, None);
            for line in &screen.lines {
                let has_escape = line.text.contains('\u{1b}');
                proptest::prop_assert!(!has_escape);
                proptest::prop_assert!(line.bright().len() <= line.text.len());
            }
        }
    }
}
