//! [`records`]: parses the records in a trajectory's bytes, and reports lines that are no record.
//!
//! Readers that need little of each record implement [`RecordForm`]: parsing every record fully is
//! most of the cost of reading.

use std::{
    collections::VecDeque,
    io::{self, BufRead},
};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::lines::{Line, Lines};

/// Longest record that is read, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;

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
    /// Line where it begins, counted from 1.
    pub line: usize,
}

/// Lines that are no record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bad {
    /// Number of them.
    pub count: usize,
    /// The first of them, counted from 1.
    pub lines: Vec<usize>,
    /// The last line that may hide a claim, counted from 1. A line that a crash cut short hides none unless it names the
    /// phase `cite`: its writer has no acknowledgment.
    pub last_unread: Option<usize>,
    /// The lines that may hide a claim, counted from 1, each with its name in the hand-off that
    /// covers it: the last [`MOST_UNREAD`].
    pub(crate) unread: VecDeque<(usize, u64)>,
}

/// Contents of a trajectory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records<R = Record> {
    /// The records, in their order.
    pub records: Vec<R>,
    /// Lines that are no record.
    pub bad: Bad,
}

impl Record {
    /// Returns a text member; empty if it is not text.
    pub fn text(&self, name: &str) -> &str {
        self.members
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Returns the kind of record: `cite`, `session_handoff` and so on.
    pub fn phase(&self) -> &str {
        self.text("phase")
    }

    /// When it was written, as it says.
    pub fn ts(&self) -> &str {
        self.text("ts")
    }
}

/// The part of a record that the reader of a trajectory keeps.
pub(crate) trait RecordForm: Sized {
    /// Returns the part to keep of a record that is whole on a line, if it can be determined
    /// without parsing the members. The result equals that of [`RecordForm::of`].
    fn quickly(line: &[u8], number: usize) -> Option<Self>;
    /// Returns the part to keep of any record.
    fn of(record: Record) -> Self;
    /// When the record was written, as it says.
    fn ts(&self) -> &str;
    /// Returns the record, if all of it is kept. A hand-off or a checkpoint always is.
    fn record(&self) -> Option<&Record>;
    /// Returns its name in the hand-off that covers it; `None` if it is not a claim.
    fn covered_as(&self) -> Option<u64>;
    /// Whether the reader needs it. Of the others of a file, only the last and the one with the
    /// latest time are kept.
    fn is_needed(&self) -> bool {
        true
    }
}

/// Returns the name of a trajectory's claim in a hand-off: a checksum of its time, its decision and
/// its words.
pub(crate) fn name_of_claim(ts: &str, decision: &str, words: &str) -> u64 {
    let digest = Sha256::digest(format!("{ts}\0{decision}\0{words}"));
    let first = digest[..8].iter();
    first.fold(0, |name, byte| name << 8 | u64::from(*byte))
}

/// Returns the name of an unreadable line in the hand-off that covers it; also that of a file, by
/// its path.
pub(crate) fn name_of_unread(line: &[u8]) -> u64 {
    let mut digest = Sha256::new();
    digest.update(b"unread\0");
    digest.update(line);
    let first = digest.finalize();
    first[..8]
        .iter()
        .fold(0, |name, byte| name << 8 | u64::from(*byte))
}

impl RecordForm for Record {
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
/// A record is on a line of its own, or spreads over several if it was pretty-printed. The records
/// of a prefix of the bytes are a prefix of the records of all.
pub fn records(bytes: &[u8]) -> Records {
    kept(bytes)
}

/// The same, with the kept part of each record.
pub(crate) fn kept<R: RecordForm>(bytes: &[u8]) -> Records<R> {
    let mut kept = Vec::new();
    let bad = read_each(&mut Lines::new(bytes), |record| kept.push(record));
    Records {
        records: kept,
        // Bytes in memory are always read.
        bad: bad.unwrap_or_default(),
    }
}

/// Reads a trajectory line by line, and passes on each record as soon as it is read. Returns the
/// lines that are no record.
pub(super) fn read_each<R: RecordForm>(
    lines: &mut Lines<impl BufRead>,
    mut take: impl FnMut(R),
) -> io::Result<Bad> {
    let mut bad = Bad::default();
    let mut number = 0;
    while let Some(mut line) = lines.next()? {
        number += 1;
        // Editors of some systems begin a file with a byte order mark, which would make its first record unreadable.
        if number == 1 && line.bytes.starts_with(BYTE_ORDER_MARK) {
            line.bytes.drain(..BYTE_ORDER_MARK.len());
            line.len -= BYTE_ORDER_MARK.len();
        }
        let text = line.bytes.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let quick = Some(text).filter(|text| text.len() <= LONGEST);
        if let Some(kept) = quick.and_then(|text| R::quickly(text, number)) {
            take(kept);
            continue;
        }
        if let Some(members) = object(text) {
            take(R::of(Record {
                members,
                line: number,
            }));
            continue;
        }
        if let Some((members, further)) = spread(&line.bytes, lines)? {
            take(R::of(Record {
                members,
                line: number,
            }));
            lines.skip(further);
            number += further;
            continue;
        }
        note_bad(&mut bad, number, &line);
    }
    Ok(bad)
}

/// Adds a line that is no record.
fn note_bad(bad: &mut Bad, number: usize, line: &Line) {
    bad.count += 1;
    if bad.lines.len() < MOST_NAMED {
        bad.lines.push(number);
    }
    let text = line.bytes.trim_ascii();
    // The next writer ends the line that a crash cut short, and continues after it.
    let is_torn = text.starts_with(b"{") && !line.is_cut() && is_cut_short(text);
    // A file that lost its bytes in a crash reads as zeros, which hide no more than an emptied file does.
    let hides_nothing = is_torn || line.is_zeros;
    if hides_nothing && memchr::memmem::find(text, b"\"cite\"").is_none() {
        return;
    }
    bad.last_unread = Some(number);
    if bad.unread.len() == MOST_UNREAD {
        bad.unread.pop_front();
    }
    bad.unread.push_back((number, name_of_unread(text)));
}

/// Returns whether a line is the beginning of a JSON object, as a crash leaves it.
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

/// Parses a record that begins on the first line with `{` alone, as pretty printers write it, and
/// ends on a line with `}` at the same column. Also returns the number of further lines.
fn spread(
    first: &[u8],
    lines: &mut Lines<impl BufRead>,
) -> io::Result<Option<(Map<String, Value>, usize)>> {
    let first = first.trim_ascii_end();
    let Some(indent) = first.len().checked_sub(1) else {
        return Ok(None);
    };
    if first.trim_ascii_start() != b"{" {
        return Ok(None);
    }
    let mut text = first.to_vec();
    let mut further = 0;
    while let Some(line) = lines.peek(further)? {
        further += 1;
        let is_cut = line.is_cut();
        let line = line.bytes.trim_ascii_end();
        let column = line
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let length = text.len() - first.len() + line.len() + 1;
        if line.is_empty() || column < indent || length > LONGEST || is_cut {
            return Ok(None);
        }
        text.push(b'\n');
        text.extend_from_slice(line);
        if column == indent {
            // Anything else that begins at this column means that the record has been torn before
            // it.
            let is_end = line[column..] == *b"}";
            let members = is_end.then(|| object(text.trim_ascii())).flatten();
            return Ok(members.map(|members| (members, further)));
        }
    }
    Ok(None)
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
    fn torn_spread_and_foreign_records_are_distinguished() {
        let text = "{\"phase\": \"a\"}\r\n\n{\"phase\":\"b\n{\n  \"phase\": \"c\",\n  \"x\": {\n    \"y\": 1\n  }\n}\nwords\n\
                    {\n  \"phase\": \"torn\",\n{\"phase\":\"d\",\"new\":[1]}\n[1]\n{\"phase\":7}\n{\"pha";
        let (phases, bad) = phases(text);
        assert_eq!(phases, ["a", "c", "d", ""]);
        assert_eq!(bad, [3, 10, 11, 12, 14, 16]);
    }

    /// LOA-GRD-1: a claim after a byte order mark is read, and garbage counts as possibly hiding
    /// one.
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
