//! The ledger file `.cal_memory.json`: the text around its entries, and the position of each.
//!
//! We write one entry a line, between a head and a tail that never change, so that an append
//! touches the end only. A file that another program laid out differently is readable as well. The
//! format in full: `docs/formats/ledger.md`.

use std::{collections::HashMap, fmt, ops::Range, str::FromStr};

use crate::position::Begun;
use callosum_json::canonical::{self, CanonicalError, CanonicalValue, DuplicateKeys};

/// The version of the ledger's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LedgerVersion {
    /// The part before the dot.
    pub major: u32,
    /// The part after the dot.
    pub minor: u32,
}

impl LedgerVersion {
    /// Seed CAL §3.1: the version that this program writes.
    pub const OURS: Self = Self { major: 1, minor: 2 };
}

impl fmt::Display for LedgerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for LedgerVersion {
    type Err = LedgerFileError;

    fn from_str(text: &str) -> Result<Self, LedgerFileError> {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        match (part_of_version(major), part_of_version(minor)) {
            (Some(major), Some(minor)) => Ok(Self { major, minor }),
            _ => Err(no_version(&format!("{text:?}"))),
        }
    }
}

/// A number beyond all that we count is still later than ours.
fn part_of_version(digits: &str) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

fn no_version(found: &str) -> LedgerFileError {
    const SHOWN: usize = 40;
    let mut shown: String = found.chars().take(SHOWN).collect();
    if shown.len() < found.len() {
        shown.push('…');
    }
    LedgerFileError::Version { found: shown }
}

/// Reason that bytes are not a ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerFileError {
    /// They are not JSON.
    #[error("not a ledger: {0}")]
    Json(#[from] CanonicalError),
    /// The value of `version` is not a version.
    #[error(
        "not a ledger: `version` is `{found}`, but must be text such as `\"{}\"`",
        LedgerVersion::OURS
    )]
    Version {
        /// Start of the value found.
        found: String,
    },
    /// A field is missing, or violates the schema.
    #[error("not a ledger: `{field}` {reason}")]
    Field {
        /// The field.
        field: &'static str,
        /// The defect.
        reason: &'static str,
    },
}

/// Positions of the parts of a ledger file in its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LedgerFile {
    pub(crate) version: LedgerVersion,
    /// The entries, in order.
    pub(crate) entries: Vec<Range<usize>>,
}

const TASKS_LINE: &[u8] = b"  \"tasks\": [";

/// Text after the last entry in our own layout.
pub(crate) const OWN_TAIL: &str = "\n  ]\n}\n";

impl LedgerFile {
    /// Reads a ledger file in any layout. One in our own is not parsed within its entries.
    pub(crate) fn scan(bytes: &[u8]) -> Result<Self, LedgerFileError> {
        match scan_own_layout(bytes) {
            Some(file) => Ok(file),
            None => Self::parse(bytes),
        }
    }

    /// Reads a ledger file in any layout; all of it must be JSON.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, LedgerFileError> {
        let members = canonical::object_members(bytes)?;
        // As in Python, the last of two fields of one name counts.
        let find = |name: &'static str| {
            let member = members.iter().rfind(|(key, _)| key == name);
            member
                .map(|(_, at)| at.clone())
                .ok_or(LedgerFileError::Field {
                    field: name,
                    reason: "is missing",
                })
        };
        let version = read_version(&bytes[find("version")?])?;
        let tasks = find("tasks")?;
        if bytes[tasks.start] != b'[' {
            return Err(LedgerFileError::Field {
                field: "tasks",
                reason: "is not an array",
            });
        }
        let entries = canonical::array_items(&bytes[tasks.clone()])?
            .into_iter()
            .map(|item| item.start + tasks.start..item.end + tasks.start)
            .collect();
        Ok(Self { version, entries })
    }
}

/// Reason that the file in the ledger's place must not be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotToWrite {
    /// A later version wrote it.
    Newer(LedgerVersion),
    /// It is whole, and not a ledger of any version.
    NotALedger(LedgerFileError),
}

/// Whether this version may write a file, according to the file's own fields.
///
/// It may write one that is not JSON at all: a crash leaves such files, and no program writes them
/// on purpose. Its version comes first, since a later one may have other fields.
pub(crate) fn refuse_to_write(bytes: &[u8]) -> Result<(), NotToWrite> {
    let members = match canonical::object_members(bytes) {
        Ok(members) => members,
        Err(_) if canonical::read(bytes, DuplicateKeys::LastWins).is_err() => return Ok(()),
        Err(error) => return Err(NotToWrite::NotALedger(error.into())),
    };
    if let Some((_, at)) = members.iter().rfind(|(key, _)| key == "version") {
        let version = read_version(&bytes[at.clone()]).map_err(NotToWrite::NotALedger)?;
        if version > LedgerVersion::OURS {
            return Err(NotToWrite::Newer(version));
        }
    }
    LedgerFile::parse(bytes).map_err(NotToWrite::NotALedger)?;
    Ok(())
}

fn read_version(value: &[u8]) -> Result<LedgerVersion, LedgerFileError> {
    match canonical::read(value, DuplicateKeys::LastWins)? {
        CanonicalValue::String(version) => version.parse(),
        other => Err(no_version(&other.to_canonical())),
    }
}

/// Returns the end of the head of a ledger in our own layout, before the line feed of its last
/// line.
pub(crate) fn own_head_len(bytes: &[u8]) -> Option<usize> {
    let head_end = memchr::memmem::find(bytes, TASKS_LINE)? + TASKS_LINE.len();
    // The head alone, closed, must be a ledger without entries.
    let head = [&bytes[..head_end], b"]}"].concat();
    let file = LedgerFile::parse(&head).ok()?;
    (file.entries.is_empty() && bytes.get(head_end) == Some(&b'\n')).then_some(head_end)
}

/// Reads our own layout by its lines; `None` for any other.
fn scan_own_layout(bytes: &[u8]) -> Option<LedgerFile> {
    let head_end = own_head_len(bytes)?;
    let head = [&bytes[..head_end], b"]}"].concat();
    let mut file = LedgerFile::parse(&head).ok()?;
    let mut at = head_end + 1;
    let mut goes_on = true;
    loop {
        let line_end = at + memchr::memchr(b'\n', &bytes[at..])?;
        let line = &bytes[at..line_end];
        if line == b"  ]" {
            let ends_right = !goes_on || file.entries.is_empty();
            return (ends_right && &bytes[line_end..] == b"\n}\n").then_some(file);
        }
        let entry = own_entry(line, &mut goes_on)?;
        if !entry.starts_with(b"{") || !entry.ends_with(b"}") {
            return None;
        }
        file.entries.push(at + 4..at + 4 + entry.len());
        at = line_end + 1;
    }
}

/// Returns the entry on a line of our own layout. `goes_on` says whether a comma ended the line
/// before, and is set to whether one ends this line.
pub(crate) fn own_entry<'b>(line: &'b [u8], goes_on: &mut bool) -> Option<&'b [u8]> {
    let entry = line.strip_prefix(b"    ").filter(|_| *goes_on)?;
    let with_comma = entry.strip_suffix(b",");
    *goes_on = with_comma.is_some();
    Some(with_comma.unwrap_or(entry))
}

/// Returns the text around the entries of a new ledger.
pub(crate) fn begun_new() -> Begun {
    begun_with(&[])
}

/// Returns the text around the entries of a ledger that replaces `bytes`: its other fields are
/// kept.
pub(crate) fn begun_like(bytes: &[u8]) -> Result<Begun, LedgerFileError> {
    Ok(begun_with(&other_fields(bytes)?))
}

/// Whether two ledgers have the same fields apart from those of the schema, in any order.
pub(crate) fn have_same_other_fields(one: &[u8], other: &[u8]) -> bool {
    let fields = |bytes| Some(HashMap::<_, _>::from_iter(other_fields(bytes).ok()?));
    fields(one) == fields(other)
}

fn other_fields(bytes: &[u8]) -> Result<Vec<(String, CanonicalValue)>, LedgerFileError> {
    let mut others = Vec::new();
    for (key, at) in canonical::object_members(bytes)? {
        if key != "version" && key != "tasks" {
            let value = canonical::read(&bytes[at], DuplicateKeys::LastWins)?;
            others.push((key, value));
        }
    }
    Ok(others)
}

fn begun_with(others: &[(String, CanonicalValue)]) -> Begun {
    let mut head = format!("{{\n  \"version\": \"{}\",\n", LedgerVersion::OURS);
    for (key, value) in others {
        let key = CanonicalValue::String(key.clone()).to_canonical();
        head.push_str("  ");
        head.push_str(&key);
        head.push_str(": ");
        head.push_str(&value.to_canonical());
        head.push_str(",\n");
    }
    head.push_str("  \"tasks\": [");
    Begun {
        head,
        tail: OWN_TAIL.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries_of(text: &str) -> Vec<&str> {
        let file = LedgerFile::scan(text.as_bytes()).unwrap();
        assert_eq!(file.version, LedgerVersion::OURS);
        file.entries.into_iter().map(|at| &text[at]).collect()
    }

    /// CAL-SCH-1: the file is the schema's own, in any layout.
    #[test]
    fn entries_are_found_in_our_layout_and_in_any_other() {
        let Begun { head, tail } = begun_new();
        assert!(entries_of(&format!("{head}{tail}")).is_empty());
        assert!(entries_of("{\n  \"version\": \"1.2\",\n  \"tasks\": []\n}\n").is_empty());
        let ours = format!("{head}\n    {{\"a\":1}},\n    {{\"b\":[2]}}{tail}");
        assert_eq!(entries_of(&ours), ["{\"a\":1}", "{\"b\":[2]}"]);
        let other = "{\"tasks\" : [ {\"a\" : 1},{}\n],\"version\":\"1.2\"}";
        assert_eq!(entries_of(other), ["{\"a\" : 1}", "{}"]);
    }

    /// CAL-SCH-1: a version is two numbers; later ones are distinguished from text that is no
    /// version.
    #[test]
    fn versions_are_compared_and_what_is_none_is_not_taken_for_one() {
        let check = |text: &str, expected: Option<bool>| {
            let version = text.parse::<LedgerVersion>();
            let is_later = version.ok().map(|version| version > LedgerVersion::OURS);
            assert_eq!(is_later, expected, "{text}");
        };
        for later in ["1.3", "1.10", "2", "2.0", "99999999999999999999.0"] {
            check(later, Some(true));
        }
        for known in ["1.2", "1.0", "1", "0.9"] {
            check(known, Some(false));
        }
        for none in ["", ".", "abc", "1.", "1.2.3", "+1.2", "-1", "1.2 ", "v2"] {
            check(none, None);
        }
    }

    /// CAL-SCH-1: fields that the schema does not have survive.
    #[test]
    fn other_fields_are_kept_around_the_entries() {
        let text = r#"{"note": {"b":1, "a":[]}, "version": "1.0", "tasks": [], "é": 1.50}"#;
        let Begun { head, tail } = begun_like(text.as_bytes()).unwrap();
        assert_eq!(
            format!("{head}{tail}"),
            "{\n  \"version\": \"1.2\",\n  \"note\": {\"a\":[],\"b\":1},\n  \"\\u00e9\": 1.5,\n  \"tasks\": [\n  ]\n}\n"
        );
    }

    #[test]
    fn other_fields_are_the_same_in_any_order() {
        let one = br#"{"version":"1.2","a":1,"b":[2],"tasks":[]}"#;
        let sorted = br#"{"b": [2], "tasks": [{}], "version": "1.2", "a": 1}"#;
        let other = br#"{"b": [3], "tasks": [], "version": "1.2", "a": 1}"#;
        assert!(have_same_other_fields(one, sorted));
        assert!(!have_same_other_fields(one, other));
        assert!(!have_same_other_fields(
            one,
            br#"{"version":"1.2","a":1,"tasks":[]}"#
        ));
    }

    #[test]
    fn what_is_no_ledger_is_refused_with_the_reason() {
        let check = |text: &str, message: &str| {
            let error = LedgerFile::scan(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
        };
        check(
            "",
            "not a ledger: the text ends too early at line 1, column 1",
        );
        check("{}", "not a ledger: `version` is missing");
        let Begun { head, tail } = begun_new();
        check(
            &format!("{head}\n    {{\"a\":1}}\n    {{\"b\":2}}{tail}"),
            "not a ledger: expected `,` or `]` at line 5, column 5",
        );
        check(
            &format!("{head}\n    {{\"a\":1}},{tail}"),
            "not a ledger: expected a value at line 5, column 3",
        );
        check(
            r#"{"version":1.2,"tasks":[]}"#,
            "not a ledger: `version` is `1.2`, but must be text such as `\"1.2\"`",
        );
        check(
            r#"{"version":"x","tasks":[]}"#,
            "not a ledger: `version` is `\"x\"`, but must be text such as `\"1.2\"`",
        );
        check(
            r#"{"version":"1.2","tasks":{}}"#,
            "not a ledger: `tasks` is not an array",
        );
        let torn = format!("{head}\n    {{\"a\":1}}{tail}");
        let torn = &torn[..torn.len() - 3];
        check(
            torn,
            "not a ledger: the text ends too early at line 5, column 4",
        );
    }
}
