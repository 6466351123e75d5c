//! [`records`]: the records in a trajectory's bytes, and what in them is none.
//!
//! Who needs little of each says so by [`Kept`]: to take every record apart is most of what reading costs.

use std::collections::VecDeque;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// Longest record that is read, in bytes.
const LONGEST: usize = 1024 * 1024;

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bad lines that are named; all are counted.
const MOST_NAMED: usize = 20;

/// Lines that may hide a claim and are named.
const MOST_UNREAD: usize = 1000;

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its members.
    pub members: Map<String, Value>,
    /// The line where it begins, counted from 1.
    pub line: usize,
}

/// Lines that are no record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bad {
    /// How many there are.
    pub count: usize,
    /// The first of them, counted from 1.
    pub lines: Vec<usize>,
    /// The last line that may hide a claim, counted from 1. A line that a crash cut short hides none unless it names the
    /// phase `cite`: its writer has no acknowledgment.
    pub last_unread: Option<usize>,
    /// The lines that may hide a claim, counted from 1, each with what names it in the hand-off that covers it: the last
    /// [`MOST_UNREAD`].
    pub(crate) unread: VecDeque<(usize, u64)>,
}

/// What stands in a trajectory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records<R = Record> {
    /// The records, in their order.
    pub records: Vec<R>,
    /// What is none.
    pub bad: Bad,
}

impl Record {
    /// A member that is text; empty where it is not.
    pub fn text(&self, name: &str) -> &str {
        self.members
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// What the record is about: `cite`, `session_handoff` and so on.
    pub fn phase(&self) -> &str {
        self.text("phase")
    }

    /// When it was written, as it says.
    pub fn ts(&self) -> &str {
        self.text("ts")
    }
}

/// What is kept of a record by whoever reads a trajectory.
pub(crate) trait Kept: Sized {
    /// What is kept of a record that stands whole on a line, where that can be told without taking
    /// it apart into members. It is what [`Kept::of`] would make of it.
    fn quickly(line: &[u8], number: usize) -> Option<Self>;
    /// What is kept of any record.
    fn of(record: Record) -> Self;
    /// When the record was written, as it says.
    fn ts(&self) -> &str;
    /// The record, where all of it is kept. One that is a hand-off or a checkpoint is.
    fn record(&self) -> Option<&Record>;
    /// What names it in the hand-off that covers it; `None` where it is no claim.
    fn covered_as(&self) -> Option<u64>;
}

/// What names a claim of a trajectory in a hand-off: a checksum of when it was written, of its decision and its words.
pub(crate) fn name_of_claim(ts: &str, decision: &str, words: &str) -> u64 {
    let digest = Sha256::digest(format!("{ts}\0{decision}\0{words}"));
    let first = digest[..8].iter();
    first.fold(0, |name, byte| name << 8 | u64::from(*byte))
}

/// What names a line that cannot be read in the hand-off that covers it; also a file, by its path.
pub(crate) fn name_of_unread(line: &[u8]) -> u64 {
    let mut digest = Sha256::new();
    digest.update(b"unread\0");
    digest.update(line);
    let first = digest.finalize();
    first[..8]
        .iter()
        .fold(0, |name, byte| name << 8 | u64::from(*byte))
}

impl Kept for Record {
    fn quickly(_: &[u8], _: usize) -> Option<Self> {
        None
    }

    fn of(record: Record) -> Self {
        record
    }

    fn ts(&self) -> &str {
        Record::ts(self)
    }

    fn record(&self) -> Option<&Record> {
        Some(self)
    }

    fn covered_as(&self) -> Option<u64> {
        let name = || name_of_claim(self.ts(), self.text("decision"), self.text("claim"));
        (self.phase() == "cite").then(name)
    }
}

/// Reads a trajectory, in time linear in its length.
///
/// A record stands on a line of its own, or spreads over several where somebody printed it so. The
/// records of a prefix of the bytes are a prefix of the records of all.
pub fn records(bytes: &[u8]) -> Records {
    kept(bytes)
}

/// The same, with what is kept of each record.
pub(crate) fn kept<R: Kept>(bytes: &[u8]) -> Records<R> {
    // Editors of some systems begin a file with a byte order mark, which would make its first record unreadable.
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let mut read = Records {
        records: Vec::new(),
        bad: Bad::default(),
    };
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_ascii();
        if line.is_empty() {
            at += 1;
            continue;
        }
        let quick = Some(line).filter(|line| line.len() <= LONGEST);
        if let Some(kept) = quick.and_then(|line| R::quickly(line, at + 1)) {
            read.records.push(kept);
            at += 1;
            continue;
        }
        if let Some(members) = object(line) {
            read.records.push(R::of(Record {
                members,
                line: at + 1,
            }));
            at += 1;
            continue;
        }
        if let Some((members, count)) = spread(&lines[at..]) {
            read.records.push(R::of(Record {
                members,
                line: at + 1,
            }));
            at += count;
            continue;
        }
        read.bad.count += 1;
        // The next writer ends the line that a crash cut short, and goes on behind it.
        let is_torn = line.starts_with(b"{") && is_cut_short(line);
        // A file that lost its bytes in a crash reads as zeros, which hide no more than an emptied file does.
        let is_zeros = line.iter().all(|byte| *byte == 0);
        let hides_nothing = is_torn || is_zeros;
        if !hides_nothing || memchr::memmem::find(line, b"\"cite\"").is_some() {
            read.bad.last_unread = Some(at + 1);
            if read.bad.unread.len() == MOST_UNREAD {
                read.bad.unread.pop_front();
            }
            let named = (at + 1, name_of_unread(line));
            read.bad.unread.push_back(named);
        }
        if read.bad.lines.len() < MOST_NAMED {
            read.bad.lines.push(at + 1);
        }
        at += 1;
    }
    read
}

/// Whether a line is the beginning of a JSON value.
fn is_cut_short(line: &[u8]) -> bool {
    line.len() <= LONGEST
        && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err_and(|error| error.is_eof())
}

fn object(text: &[u8]) -> Option<Map<String, Value>> {
    if text.len() > LONGEST || !text.starts_with(b"{") {
        return None;
    }
    serde_json::from_slice(text).ok()
}

/// A record that begins on the first line alone with `{`, as pretty printers write it, and ends on a
/// line with `}` at the same column; and how many lines it has.
fn spread(lines: &[&[u8]]) -> Option<(Map<String, Value>, usize)> {
    let first = lines[0].trim_ascii_end();
    let indent = first.len().checked_sub(1)?;
    if first.trim_ascii_start() != b"{" {
        return None;
    }
    let mut length = 0;
    for (index, line) in lines.iter().enumerate().skip(1) {
        let line = line.trim_ascii_end();
        length += line.len() + 1;
        let column = line
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if line.is_empty() || column < indent || length > LONGEST {
            return None;
        }
        if column == indent {
            // Whatever else begins at this column, the record has been torn before it.
            let text = lines[..=index].join(&b'\n');
            return (line[column..] == *b"}")
                .then(|| object(text.trim_ascii()))?
                .map(|members| (members, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phases(text: &str) -> (Vec<String>, Vec<usize>) {
        let read = records(text.as_bytes());
        let phases = read.records.iter().map(|record| record.phase().to_owned());
        (phases.collect(), read.bad.lines)
    }

    #[test]
    fn torn_spread_and_foreign_records_are_told_apart() {
        let text = "{\"phase\": \"a\"}\r\n\n{\"phase\":\"b\n{\n  \"phase\": \"c\",\n  \"x\": {\n    \"y\": 1\n  }\n}\nwords\n\
                    {\n  \"phase\": \"torn\",\n{\"phase\":\"d\",\"new\":[1]}\n[1]\n{\"phase\":7}\n{\"pha";
        let (phases, bad) = phases(text);
        assert_eq!(phases, ["a", "c", "d", ""]);
        assert_eq!(bad, [3, 10, 11, 12, 14, 16]);
    }

    /// LOA-GRD-1: a claim behind a byte order mark is read, and garbage is known to hide one.
    #[test]
    fn garbage_may_hide_a_claim_and_a_byte_order_mark_does_not() {
        let claim = "{\"phase\":\"cite\",\"claim\":\"x\"}";
        let read = records(format!("\u{feff}{claim}\n").as_bytes());
        assert_eq!((read.records.len(), read.bad.last_unread), (1, None));
        for (text, last_unread) in [
            (format!("{claim}\n"), None),
            (format!("{claim}\n\u{feff}{claim}\n"), Some(2)),
            (format!("\0\0{claim}\n{claim}\n"), Some(1)),
            (format!("\0\0\0\n{claim}\n\0\0"), None),
            (format!("{claim}\nwords"), Some(2)),
            // A crash cut it short.
            (format!("{claim}\n{{\"ts\":\"2026"), None),
            (format!("{claim}\n{{\"phase\":\"cite\",\"cl"), Some(2)),
            (format!("{claim}\n{{\"ts\":\"2026\n{claim}\n"), None),
            (format!("{claim}\n{{\"ts\":2026 06}}\n{claim}\n"), Some(2)),
        ] {
            assert_eq!(
                records(text.as_bytes()).bad.last_unread,
                last_unread,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_file_of_opening_braces_is_read_in_time() {
        let read = records(&b"{\n ".repeat(300_000));
        assert_eq!(read.records.len(), 0);
        let read = records(&b"{\n x\n".repeat(300_000));
        assert_eq!(read.bad.count, 600_000);
        assert_eq!(read.bad.lines.len(), MOST_NAMED);
    }

    const PIECES: &[&str] = &[
        "{\"phase\":\"cite\"}",
        "{ \"phase\" : \"x\", \"n\": {\"a\": \"}\"} }",
        "{",
        "  \"a\": 1",
        "  \"b\": {",
        "  }",
        "}",
        "torn {\"",
        "",
        "{\"phase\":\"c",
    ];

    proptest! {
        /// LOA-TRJ-1: any prefix of a trajectory is readable.
        #[test]
        fn a_prefix_has_a_prefix_of_the_records(
            lines in proptest::collection::vec(proptest::sample::select(PIECES), 0..16), cut in 0_usize..400,
        ) {
            let bytes = lines.join("\n").into_bytes();
            let all = records(&bytes);
            let some = records(&bytes[..cut.min(bytes.len())]);
            prop_assert!(all.records.starts_with(&some.records), "{:?} {:?}", all, some);
        }
    }
}
