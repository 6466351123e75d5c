//! The reader of JSON: exact about numbers, strict about everything, with places in its errors.

use std::{collections::btree_map, fmt, ops::Range};

use super::value::CanonicalValue;

/// Maximum nesting depth of arrays and objects.
///
/// The same as in `serde_json`, so that what has a checksum can also be read back.
pub const MAX_DEPTH: usize = 127;

/// Longest integer in digits. Python reads no longer one by default
/// (`sys.int_info.default_max_str_digits`), and what it cannot read it cannot check.
const LONGEST_INTEGER: usize = 4_300;

/// Treatment of an object that has a key twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateKeys {
    /// It is an error: every reader must get the same contents.
    Refused,
    /// The last one counts, as in Python: old files are read as they were meant.
    LastWins,
}

/// Position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The byte in the text, from 0.
    pub offset: usize,
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A text that has no canonical form, and the position of the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at {place}")]
pub struct CanonicalError {
    /// Position of the fault.
    pub place: TextPosition,
    /// Kind of the fault.
    pub fault: CanonicalFault,
}

/// Reason that a text has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalFault {
    /// The text ends within a value.
    #[error("the text ends too early")]
    EndsEarly,
    /// Something else was to come here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// NaN or an infinity, spelled out.
    #[error("`{0}` is not JSON")]
    NotFinite(&'static str),
    /// A number beyond what a float can hold.
    #[error("the number is too large for a float")]
    TooLarge,
    /// An integer that Python does not read.
    #[error("the integer has more than {LONGEST_INTEGER} digits")]
    TooManyDigits,
    /// Half of a surrogate pair without the other half.
    #[error("lone surrogate `\\u{0:04x}`")]
    LoneSurrogate(u16),
    /// A control character that is not escaped.
    #[error("control character U+{0:04X} in a string, which must be escaped")]
    ControlCharacter(u8),
    /// An escape that JSON does not have.
    #[error("unknown escape in a string")]
    UnknownEscape,
    /// Bytes that are not UTF-8.
    #[error("bytes that are not UTF-8")]
    NotUtf8,
    /// A key that the object has already.
    #[error("duplicate key `{0}`")]
    DuplicateKey(String),
    /// Arrays and objects in one another beyond the limit.
    #[error("more than {MAX_DEPTH} levels of nesting")]
    TooDeep,
}

/// Reads one JSON value, and nothing after it.
pub fn read(bytes: &[u8], duplicates: DuplicateKeys) -> Result<CanonicalValue, CanonicalError> {
    whole(bytes, duplicates, |reader| reader.value(0))
}

/// Reads an object's keys, and the byte range of each value. The values are read, not kept.
pub fn object_members(bytes: &[u8]) -> Result<Vec<(String, Range<usize>)>, CanonicalError> {
    whole(bytes, DuplicateKeys::LastWins, |reader| {
        let mut members = Vec::new();
        reader.object(|reader, key, _| {
            let from = reader.at;
            reader.skip(1)?;
            members.push((key, from..reader.at));
            Ok(())
        })?;
        Ok(members)
    })
}

/// Reads the byte range of each item of an array. The items are read, not kept.
pub fn array_items(bytes: &[u8]) -> Result<Vec<Range<usize>>, CanonicalError> {
    whole(bytes, DuplicateKeys::LastWins, |reader| {
        let mut items = Vec::new();
        reader.array(|reader| {
            let from = reader.at;
            reader.skip(1)?;
            items.push(from..reader.at);
            Ok(())
        })?;
        Ok(items)
    })
}

fn whole<T>(
    bytes: &[u8],
    duplicates: DuplicateKeys,
    inner: impl FnOnce(&mut Reader<'_>) -> Result<T, At>,
) -> Result<T, CanonicalError> {
    let text = std::str::from_utf8(bytes).map_err(|error| CanonicalError {
        place: place_of(bytes, error.valid_up_to()),
        fault: CanonicalFault::NotUtf8,
    })?;
    let mut reader = Reader {
        text,
        bytes,
        at: 0,
        duplicates,
    };
    reader.skip_space();
    inner(&mut reader)
        .and_then(|value| {
            reader.skip_space();
            if reader.at == bytes.len() {
                Ok(value)
            } else {
                Err(reader.expected("the end of the text"))
            }
        })
        .map_err(|At { offset, fault }| CanonicalError {
            place: place_of(bytes, offset),
            fault,
        })
}

/// A fault and its byte offset; lines and columns are counted only for the error.
struct At {
    offset: usize,
    fault: CanonicalFault,
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    duplicates: DuplicateKeys,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<CanonicalValue, At> {
        if depth >= MAX_DEPTH && matches!(self.peek(), Some(b'[' | b'{')) {
            return Err(self.fault(CanonicalFault::TooDeep));
        }
        match self.peek() {
            Some(b'"') => Ok(CanonicalValue::String(self.string()?)),
            Some(b'{') => self.object_value(depth),
            Some(b'[') => {
                let mut items = Vec::new();
                self.array(|reader| {
                    items.push(reader.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(CanonicalValue::Array(items))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", CanonicalValue::Bool(true)),
            Some(b'f') => self.word("false", CanonicalValue::Bool(false)),
            Some(b'n') => self.word("null", CanonicalValue::Null),
            Some(b'N') => Err(self.not_finite("NaN")),
            Some(b'I') => Err(self.not_finite("Infinity")),
            Some(_) => Err(self.expected("a value")),
            None => Err(self.fault(CanonicalFault::EndsEarly)),
        }
    }

    /// Reads a value as strictly as `value` does, and keeps nothing of it.
    fn skip(&mut self, depth: usize) -> Result<(), At> {
        match self.peek() {
            Some(b'{') if depth < MAX_DEPTH => self.object(|reader, _, _| reader.skip(depth + 1)),
            Some(b'[') if depth < MAX_DEPTH => self.array(|reader| reader.skip(depth + 1)),
            _ => self.value(depth).map(drop),
        }
    }

    fn object_value(&mut self, depth: usize) -> Result<CanonicalValue, At> {
        let mut fields = btree_map::BTreeMap::new();
        self.object(|reader, key, key_at| {
            let value = reader.value(depth + 1)?;
            match fields.entry(key) {
                btree_map::Entry::Vacant(vacant) => {
                    vacant.insert(value);
                }
                btree_map::Entry::Occupied(mut taken) => {
                    if reader.duplicates == DuplicateKeys::Refused {
                        return Err(At {
                            offset: key_at,
                            fault: CanonicalFault::DuplicateKey(taken.key().clone()),
                        });
                    }
                    taken.insert(value);
                }
            }
            Ok(())
        })?;
        Ok(CanonicalValue::Object(fields))
    }

    /// Reads an object, calling `member` where each value begins, with its key and the key's place.
    fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, String, usize) -> Result<(), At>,
    ) -> Result<(), At> {
        self.sequence(b'{', b'}', "`{`", "`,` or `}`", |reader| {
            let key_at = reader.at;
            if reader.peek().is_some_and(|byte| byte != b'"') {
                return Err(reader.expected("a key in quotes"));
            }
            let key = reader.string()?;
            reader.skip_space();
            reader.take(b':', "`:`")?;
            reader.skip_space();
            member(reader, key, key_at)
        })
    }

    /// Reads an array, calling `item` where each item begins.
    fn array(&mut self, item: impl FnMut(&mut Self) -> Result<(), At>) -> Result<(), At> {
        self.sequence(b'[', b']', "`[`", "`,` or `]`", item)
    }

    fn sequence(
        &mut self,
        open: u8,
        close: u8,
        opening: &'static str,
        further: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<(), At>,
    ) -> Result<(), At> {
        self.take(open, opening)?;
        self.skip_space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => return Err(self.expected(further)),
                None => return Err(self.fault(CanonicalFault::EndsEarly)),
            }
            self.skip_space();
        }
    }

    fn string(&mut self) -> Result<String, At> {
        self.take(b'"', "a string")?;
        let mut string = String::new();
        loop {
            let plain_from = self.at;
            self.at += plain_len(&self.bytes[plain_from..]);
            string.push_str(&self.text[plain_from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(control) => return Err(self.fault(CanonicalFault::ControlCharacter(control))),
                None => return Err(self.fault(CanonicalFault::EndsEarly)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, At> {
        let from = self.at;
        self.at += 1;
        let escaped = match self.peek() {
            Some(b'u') => return self.unicode_escape(from),
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(_) => {
                return Err(At {
                    offset: from,
                    fault: CanonicalFault::UnknownEscape,
                });
            }
            None => return Err(self.fault(CanonicalFault::EndsEarly)),
        };
        self.at += 1;
        Ok(escaped)
    }

    fn unicode_escape(&mut self, from: usize) -> Result<char, At> {
        self.at += 1;
        let first = self.four_hex_digits()?;
        let mut units = [first, 0];
        let mut count = 1;
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let before_second = self.at;
            self.at += 2;
            units[1] = self.four_hex_digits()?;
            if (0xdc00..0xe000).contains(&units[1]) {
                count = 2;
            } else {
                self.at = before_second;
            }
        }
        match char::decode_utf16(units[..count].iter().copied()).next() {
            Some(Ok(decoded)) => Ok(decoded),
            _ => Err(At {
                offset: from,
                fault: CanonicalFault::LoneSurrogate(first),
            }),
        }
    }

    fn four_hex_digits(&mut self) -> Result<u16, At> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte) => char::from(byte).to_digit(16),
                None => return Err(self.fault(CanonicalFault::EndsEarly)),
            };
            let Some(digit) = digit else {
                return Err(self.expected("four hexadecimal digits"));
            };
            unit = unit << 4 | digit as u16;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<CanonicalValue, At> {
        let from = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.peek() == Some(b'I') {
                return Err(At {
                    offset: from,
                    fault: CanonicalFault::NotFinite("-Infinity"),
                });
            }
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        let mut is_float = false;
        if self.peek() == Some(b'.') {
            is_float = true;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_float = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = &self.text[from..self.at];
        if !is_float {
            if text.trim_start_matches('-').len() > LONGEST_INTEGER {
                return Err(At {
                    offset: from,
                    fault: CanonicalFault::TooManyDigits,
                });
            }
            let digits = if text == "-0" { "0" } else { text };
            return Ok(CanonicalValue::Integer(digits.to_owned()));
        }
        match text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(CanonicalValue::Float(float)),
            _ => Err(At {
                offset: from,
                fault: CanonicalFault::TooLarge,
            }),
        }
    }

    /// Reads at least one digit.
    fn digits(&mut self) -> Result<(), At> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match self.peek() {
            _ if self.at > from => Ok(()),
            Some(_) => Err(self.expected("a digit")),
            None => Err(self.fault(CanonicalFault::EndsEarly)),
        }
    }

    fn word(&mut self, word: &'static str, value: CanonicalValue) -> Result<CanonicalValue, At> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.expected("a value"))
        }
    }

    fn not_finite(&self, word: &'static str) -> At {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.fault(CanonicalFault::NotFinite(word))
        } else {
            self.expected("a value")
        }
    }

    fn take(&mut self, byte: u8, name: &'static str) -> Result<(), At> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.expected(name)),
            None => Err(self.fault(CanonicalFault::EndsEarly)),
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn expected(&self, what: &'static str) -> At {
        self.fault(CanonicalFault::Expected(what))
    }

    fn fault(&self, fault: CanonicalFault) -> At {
        At {
            offset: self.at,
            fault,
        }
    }
}

/// Counts the bytes before a quote, a backslash or a control character.
fn plain_len(bytes: &[u8]) -> usize {
    let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
    let run = &bytes[..end];
    // The least of all bytes, since that is found many bytes at once.
    if run.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < b' ' {
        return run.iter().take_while(|byte| **byte >= b' ').count();
    }
    end
}

/// Counts the line and column of a byte.
fn place_of(bytes: &[u8], offset: usize) -> TextPosition {
    let before = &bytes[..offset.min(bytes.len())];
    let line_from = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    TextPosition {
        line: 1 + memchr::memchr_iter(b'\n', before).count(),
        column: 1 + String::from_utf8_lossy(&before[line_from..])
            .chars()
            .count(),
        offset,
    }
}
