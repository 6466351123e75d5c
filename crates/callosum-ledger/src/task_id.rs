//! [`TaskId`]: the name of a task, in either of the two forms that the seed allows.

use std::{fmt, str::FromStr};

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, de};

/// The last number that a day has for ids of the dated form.
pub(crate) const LAST_NUMBER_OF_A_DAY: u16 = 9_999;

/// A task's name: `cal_YYYY_MM_DD_NNNN`, or a UUID of version 4.
///
/// Seed CAL §3.2 asks for both at once, which no text can be; each form is valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TaskId(String);

impl TaskId {
    /// The dated id with this number; `None` where the number takes more than four digits.
    pub(crate) fn dated(day: Date, number: u16) -> Option<Self> {
        (number <= LAST_NUMBER_OF_A_DAY).then(|| {
            Self(format!(
                "cal_{:04}_{:02}_{:02}_{number:04}",
                day.year(),
                day.month(),
                day.day()
            ))
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if `text` is not empty and an id may begin with it.
    pub fn may_begin_with(text: &str) -> bool {
        let ends = [
            "cal_2026_01_02_0001",
            "00000000-0000-4000-8000-000000000000",
        ];
        !text.is_empty()
            && text.is_ascii()
            && ends.iter().any(|end| {
                let rest = end.get(text.len()..);
                rest.is_some_and(|rest| format!("{text}{rest}").parse::<Self>().is_ok())
            })
    }

    /// The day and number of a dated id; `None` for a UUID, or a date that no calendar has.
    pub(crate) fn day_and_number(&self) -> Option<(Date, u16)> {
        let mut parts = self.0.strip_prefix("cal_")?.split('_');
        let mut next = || parts.next()?.parse::<i16>().ok();
        let (year, month, day, number) = (next()?, next()?, next()?, next()?);
        let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
        Some((date, u16::try_from(number).ok()?))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for TaskId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A text that names no task.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a task id (cal_YYYY_MM_DD_NNNN or a UUID of version 4)")]
pub struct InvalidTaskId {
    /// The text.
    pub text: String,
}

impl FromStr for TaskId {
    type Err = InvalidTaskId;

    fn from_str(text: &str) -> Result<Self, InvalidTaskId> {
        if is_dated(text) || is_uuid_v4(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidTaskId {
                text: text.to_owned(),
            })
        }
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

fn is_dated(text: &str) -> bool {
    matches_pattern(text, "cal_0000_00_00_0000", u8::is_ascii_digit)
}

fn is_uuid_v4(text: &str) -> bool {
    matches_pattern(text, "00000000-0000-4000-0000-000000000000", |c| {
        c.is_ascii_hexdigit()
    }) && matches!(text.as_bytes()[19], b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
}

/// Whether `text` is `pattern` with each `0` replaced by what `is_digit` accepts.
fn matches_pattern(text: &str, pattern: &str, is_digit: impl Fn(&u8) -> bool) -> bool {
    text.len() == pattern.len()
        && text
            .bytes()
            .zip(pattern.bytes())
            .all(|(c, p)| if p == b'0' { is_digit(&c) } else { c == p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_of_either_form_may_begin_an_id() {
        for text in [
            "c",
            "cal_2026",
            "cal_2026_01_02_000",
            "550e8400",
            "550E8400-e29b-41",
        ] {
            assert!(TaskId::may_begin_with(text), "{text}");
        }
        for text in [
            "",
            "T-1",
            "cal-2026",
            "cal_2026_01_02_00011",
            "550e8400-e29b-51",
            "é",
        ] {
            assert!(!TaskId::may_begin_with(text), "{text}");
        }
    }

    /// CAL-SCH-2: both forms that the seed asks for are valid.
    #[test]
    fn both_forms_are_accepted_and_print_as_they_were_read() {
        for text in [
            "cal_2026_11_02_0001",
            "cal_2026_99_99_9999",
            "00000000-0000-4000-8000-000000000001",
            "F47AC10B-58CC-4372-A567-0E02B2C3D479",
        ] {
            assert_eq!(text.parse::<TaskId>().unwrap().to_string(), text);
        }
    }

    /// CAL-SCH-2: anything else is refused, a UUID of another version included.
    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "cal_2026_11_02_001",
            "cal_2026_11_02_00011",
            "cal_2026-11-02_0001",
            "cal_２026_11_02_01",
            "00000000-0000-1000-8000-000000000001",
            "00000000-0000-4000-7000-000000000001",
            "../../etc/passwd",
        ] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_dated_id_gives_its_day_and_number_back() {
        let day = Date::constant(2026, 11, 2);
        let id = TaskId::dated(day, 42).unwrap();
        assert_eq!(id.as_str(), "cal_2026_11_02_0042");
        assert_eq!(id.day_and_number(), Some((day, 42)));
        assert_eq!(TaskId::dated(day, 10_000), None);
        let no_such_day: TaskId = "cal_2026_99_99_0001".parse().unwrap();
        assert_eq!(no_such_day.day_and_number(), None);
    }
}
