//! [`TimeArg`]: a time as people say it at the command line.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A time as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeArg {
    /// A date or a time.
    At(Timestamp),
    /// A whole day, in UTC.
    Day(Timestamp),
    /// An age.
    Ago(SignedDuration),
}

impl TimeArg {
    /// Reads `2026-01-02`, `2026-01-02T03:04`, an ISO 8601 time, or a number with `s`, `m`, `h`, `d`
    /// or `w` behind it.
    pub fn read(text: &str) -> Result<Self, String> {
        if let Some(ago) = read_ago(text) {
            return Ok(Self::Ago(ago));
        }
        if let Ok(time) = text.parse() {
            return Ok(Self::At(time));
        }
        let in_utc = |time: DateTime| {
            let zoned = time.to_zoned(TimeZone::UTC);
            zoned
                .map(|zoned| zoned.timestamp())
                .map_err(|_| "it is out of range: the last day is 9999-12-30".to_owned())
        };
        if let Ok(day) = text.parse::<jiff::civil::Date>()
            && !text.contains(['T', 't', ' '])
        {
            return in_utc(day.at(0, 0, 0, 0)).map(Self::Day);
        }
        match text.parse::<DateTime>() {
            Ok(time) => in_utc(time).map(Self::At),
            Err(_) => Err(
                "allowed: a date (2026-01-02), a time (2026-01-02T03:04:05Z), or an age (30m, 2h, 7d)"
                    .to_owned(),
            ),
        }
    }

    /// The first instant of it.
    pub fn first(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) | Self::Day(time) => time,
            Self::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
        }
    }

    /// The last instant of it.
    pub fn last(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Day(time) => time
                .checked_add(SignedDuration::from_hours(24))
                .and_then(|next| next.checked_sub(SignedDuration::from_nanos(1)))
                .unwrap_or(Timestamp::MAX),
            Self::At(_) | Self::Ago(_) => self.first(now),
        }
    }
}

fn read_ago(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return None,
    };
    let number = text.strip_suffix(unit)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: i64 = number.parse().ok()?;
    Some(SignedDuration::from_secs(count.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-FLOW-2: times are written as people write them.
    #[test]
    fn a_time_is_a_date_an_instant_or_how_long_ago() {
        let now: Timestamp = "2026-11-02T10:00:00Z".parse().unwrap();
        let check = |text: &str, first: &str, last: &str| {
            let moment = TimeArg::read(text).unwrap();
            assert_eq!(moment.first(now).to_string(), first, "{text}");
            assert_eq!(moment.last(now).to_string(), last, "{text}");
        };
        check("2h", "2026-11-02T08:00:00Z", "2026-11-02T08:00:00Z");
        check("7d", "2026-10-26T10:00:00Z", "2026-10-26T10:00:00Z");
        check(
            "2026-11-01",
            "2026-11-01T00:00:00Z",
            "2026-11-01T23:59:59.999999999Z",
        );
        check(
            "2026-11-01T03:04",
            "2026-11-01T03:04:00Z",
            "2026-11-01T03:04:00Z",
        );
        check(
            "2026-11-01T03:04:05+02:00",
            "2026-11-01T01:04:05Z",
            "2026-11-01T01:04:05Z",
        );
        for text in [
            "",
            "h",
            "-2h",
            "yesterday",
            "2026-13-01",
            "9999-12-31",
            "99999999999999999999d",
        ] {
            assert!(TimeArg::read(text).is_err(), "{text}");
        }
    }
}
