//! [`ArchiveName`]: file name of an archived ledger, and the order of archives.
//!
//! The seed's form (CAL §10.2) with a number appended if one second has more than one. Names grow
//! in the order of the rotations, even if a clock went back.

use std::{fmt, str::FromStr};

use jiff::{
    Timestamp, ToSpan,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use serde::{Deserialize, Serialize};

/// Prefix of every archive's name.
const PREFIX: &str = "cal_memory_";
/// Format of the time of a rotation.
const STAMP: &str = "%Y%m%d_%H%M%S";

/// The name of an archived ledger, such as `cal_memory_20261102_101500.json`.
///
/// A greater one was archived later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArchiveName {
    /// When it was archived, in UTC.
    at: DateTime,
    /// Number of the archive within its second, from 1.
    count: u32,
}

/// A text that is not an archive's name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the name of an archive (cal_memory_YYYYMMDD_HHMMSS.json)")]
pub struct NotAnArchiveName {
    /// The text.
    text: String,
}

impl ArchiveName {
    /// Returns the name for what is archived at `now`, after all of `names`.
    ///
    /// A name dated on a later day is ignored, because this program cannot have made it. Counting
    /// on from it would put all later names after it.
    pub(crate) fn next(now: Timestamp, names: &[Self]) -> Self {
        let now = now.to_zoned(TimeZone::UTC).datetime();
        let second = DateTime::from_parts(
            now.date(),
            now.time()
                .with()
                .subsec_nanosecond(0)
                .build()
                .unwrap_or(now.time()),
        );
        let last = names.iter().filter(|name| name.has_come(now.date())).max();
        match last {
            Some(last) if last.at >= second => last.following(),
            _ => Self {
                at: second,
                count: 1,
            },
        }
    }

    /// Whether it can have been given by `today`; clocks differ by a day at most.
    pub(crate) fn has_come(self, today: Date) -> bool {
        self.at.date() <= today.saturating_add(1.day())
    }

    /// The least name after this one.
    pub(crate) fn following(self) -> Self {
        match self.count.checked_add(1) {
            Some(count) => Self { count, ..self },
            None => Self {
                at: self.at.saturating_add(1.second()),
                count: 1,
            },
        }
    }

    /// The file of the ledger.
    pub(crate) fn ledger(self) -> String {
        format!("{self}")
    }

    /// The file of the ledger, compressed.
    pub(crate) fn compressed(self) -> String {
        format!("{}.json.gz", self.stem())
    }

    /// The file of its hashlog.
    pub(crate) fn hashlog(self) -> String {
        format!("{}.hashlog", self.stem())
    }

    /// The index of its hashlog.
    pub(crate) fn index(self) -> String {
        format!("{}.index", self.stem())
    }

    fn stem(self) -> String {
        let stamp = self.at.strftime(STAMP);
        match self.count {
            0 | 1 => format!("{PREFIX}{stamp}"),
            count => format!("{PREFIX}{stamp}_{count}"),
        }
    }
}

impl fmt::Display for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.json", self.stem())
    }
}

impl FromStr for ArchiveName {
    type Err = NotAnArchiveName;

    fn from_str(text: &str) -> Result<Self, NotAnArchiveName> {
        parse(text).ok_or_else(|| NotAnArchiveName {
            text: text.to_owned(),
        })
    }
}

fn parse(text: &str) -> Option<ArchiveName> {
    let stem = text.strip_suffix(".json")?.strip_prefix(PREFIX)?;
    let (stamp, rest) = stem.split_at_checked("20261102_101500".len())?;
    let at = DateTime::strptime(STAMP, stamp).ok()?;
    let count = match rest.strip_prefix('_') {
        Some(count) => count.parse().ok()?,
        None => 1,
    };
    let name = ArchiveName { at, count };
    // Another spelling of the same is not its name.
    (name.to_string() == text).then_some(name)
}

impl TryFrom<String> for ArchiveName {
    type Error = NotAnArchiveName;

    fn try_from(text: String) -> Result<Self, NotAnArchiveName> {
        text.parse()
    }
}

impl From<ArchiveName> for String {
    fn from(name: ArchiveName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-LED-1: names never collide, and grow also where the clock goes back.
    #[test]
    fn every_name_is_greater_than_the_last() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let first = ArchiveName::next(at("2026-11-02T10:15:00.9Z"), &[]);
        assert_eq!(first.to_string(), "cal_memory_20261102_101500.json");
        let same_second = ArchiveName::next(at("2026-11-02T10:15:00Z"), &[first]);
        assert_eq!(same_second.to_string(), "cal_memory_20261102_101500_2.json");
        let back = ArchiveName::next(at("2026-11-02T01:00:00Z"), &[same_second, first]);
        assert_eq!(back.to_string(), "cal_memory_20261102_101500_3.json");
        let later = ArchiveName::next(at("2026-11-02T10:15:01Z"), &[back]);
        assert!(first < same_second && same_second < back && back < later);
    }

    /// CAL-LED-1: a foreign file name does not use up the names after it.
    #[test]
    fn the_greatest_names_are_passed_over() {
        let now = "2026-11-02T10:15:00Z".parse::<Timestamp>().unwrap();
        let name = |text: &str| text.parse::<ArchiveName>().unwrap();
        let of_the_end = name("cal_memory_99991231_235959_4294967295.json");
        let next = ArchiveName::next(now, &[of_the_end]);
        assert_eq!(next.to_string(), "cal_memory_20261102_101500.json");
        let last_of_its_second = name("cal_memory_20261102_101500_4294967295.json");
        let next = ArchiveName::next(now, &[next, last_of_its_second, of_the_end]);
        assert_eq!(next.to_string(), "cal_memory_20261102_101501.json");
    }

    /// CAL-SEC-1: a name from a file leads nowhere else.
    #[test]
    fn only_names_of_the_form_are_read() {
        for text in [
            "cal_memory_20261102_101500.json",
            "cal_memory_20261102_101500_12.json",
        ] {
            assert_eq!(text.parse::<ArchiveName>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "../cal_memory_20261102_101500.json",
            "cal_memory_20261102_101500_1.json",
            "cal_memory_20261102_101500_02.json",
            "cal_memory_20261302_101500.json",
            "cal_memory_20261102_101500/../../x.json",
            "cal_memory_20261102_101500.json.gz",
            "cal_memory_é0261102_101500.json",
        ] {
            assert!(text.parse::<ArchiveName>().is_err(), "{text}");
        }
    }
}
