//! [`wait_until_reset`]: the time until a limit is lifted, read from the words of a client or a server.
//!
//! Start with [`wait_until_reset`]. Words that name no time, or only a time in an unknown zone, have no answer: a
//! caller must not wait for a guess. Pure: the clock and the time zones are arguments.

use std::time::Duration;

use jiff::{
    Timestamp, ToSpan as _, Zoned,
    civil::{Date, Time},
    fmt::rfc2822,
    tz::TimeZone,
};

/// Names of months, by their first three letters.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Names of weekdays, by their first three letters, from Monday.
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Returns how long after `now` a limit is lifted that resets at the time in `words`.
///
/// Reads lengths (`in 17.7s`, `after 14h33m35s`, `in 2 min 5 s`), instants (RFC 3339, RFC 9110) and times of day with
/// or without a date (`3pm (Europe/Berlin)`, `at Nov 3rd, 2026 1:00 PM`, `Mon 9:30am`). `zone` returns the time zone of
/// a name, or that of this machine if there is no name. A time that has passed is zero.
pub fn wait_until_reset(
    words: &str,
    now: Timestamp,
    zone: &dyn Fn(Option<&str>) -> Option<TimeZone>,
) -> Option<Duration> {
    let words = words.trim();
    let named = ["at ", "on "].iter().find_map(|at| words.strip_prefix(at));
    let span = ["in ", "after "]
        .iter()
        .find_map(|after| words.strip_prefix(after));
    let words = named.or(span).unwrap_or(words);
    if let Some(at) = instant(words) {
        return Some(left(now, at));
    }
    let length = || length(words).filter(|_| named.is_none());
    length().or_else(|| time_of_day(words, now, zone))
}

/// Returns the zero or positive time from one instant to another.
fn left(now: Timestamp, at: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now)).unwrap_or_default()
}

/// Reads an instant as RFC 3339 or RFC 9110 write it.
fn instant(words: &str) -> Option<Timestamp> {
    let first = words
        .split_whitespace()
        .next()?
        .trim_end_matches(['.', ',']);
    let parsed: Option<Timestamp> = first.parse().ok();
    let http = || rfc2822::parse(words).ok().map(|time| time.timestamp());
    parsed.or_else(http)
}

/// Reads a length of time at the beginning of the words; a number without a unit is seconds.
pub(super) fn length(words: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = words.trim_start();
    let mut any = false;
    loop {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let behind = rest[digits..].trim_start();
        let letters = behind
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(behind.len());
        let seconds = match behind[..letters].to_ascii_lowercase().as_str() {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            "" if !any && (behind.is_empty() || behind.starts_with(['.', ',', ')', ';'])) => 1.0,
            _ => break,
        };
        let part = Duration::try_from_secs_f64(number * seconds).ok()?;
        total = total.checked_add(part)?;
        any = true;
        rest = behind[letters..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    any.then_some(total)
}

/// Reads a time of day, with or without a date or a weekday, and returns how far ahead its next occurrence is.
fn time_of_day(
    words: &str,
    now: Timestamp,
    zone: &dyn Fn(Option<&str>) -> Option<TimeZone>,
) -> Option<Duration> {
    let lower = words.to_ascii_lowercase();
    let (before, named) = match lower.split_once('(') {
        // Lowering ASCII letters keeps every offset.
        Some((before, _)) => {
            let named = words[before.len() + 1..].split(')').next()?;
            (before, Some(named.trim()))
        }
        None => (lower.as_str(), None),
    };
    let mut date = DateWords::default();
    let mut time = None;
    let mut named = named;
    let mut parts = before
        .split([' ', ',', '\u{a0}', '\u{202f}'])
        .filter(|part| !part.is_empty())
        .peekable();
    while let Some(part) = parts.next() {
        let next_is_half = parts.peek().is_some_and(|next| half_of_day(next).is_some());
        let short = part.get(..3).unwrap_or(part);
        if let Some(month) = MONTHS.iter().position(|month| *month == short) {
            date.month = Some(month as i8 + 1);
        } else if let Some(day) = WEEKDAYS.iter().position(|day| *day == short) {
            date.weekday = Some(day as i8 + 1);
        } else if matches!(part, "utc" | "gmt" | "z") {
            named = Some("UTC");
        } else if let Some(read) = clock_time(part, if next_is_half { parts.peek() } else { None })
        {
            time = Some(read);
        } else if !date.take(part) && !matches!(part, "at" | "on" | "am" | "pm") {
            break;
        }
    }
    let zone = match named {
        Some("UTC" | "GMT") => TimeZone::UTC,
        named => zone(named)?,
    };
    let now_there = now.to_zoned(zone);
    let at = date.next(time?, &now_there)?;
    Some(left(now, at.timestamp()))
}

/// Reads `3pm`, `3:30pm`, `15:30` and, with the half of the day in the next word, `1:00`.
fn clock_time(part: &str, half: Option<&&str>) -> Option<Time> {
    let (digits, own_half) = match part.find(['a', 'p']) {
        Some(at) => (&part[..at], Some(half_of_day(&part[at..])?)),
        None => (part, half.and_then(|half| half_of_day(half))),
    };
    let mut numbers = digits.split(':');
    let hour: i8 = numbers.next()?.parse().ok()?;
    let minute = numbers.next();
    if own_half.is_none() && minute.is_none() {
        return None;
    }
    let minute: i8 = minute.map_or(Some(0), |minute| minute.parse().ok())?;
    let second: i8 = numbers
        .next()
        .map_or(Some(0), |second| second.parse().ok())?;
    let hour = match own_half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(half) => hour % 12 + half,
        None => hour,
    };
    Time::new(hour, minute, second, 0).ok()
}

/// Returns the hours that `am` and `pm` add.
fn half_of_day(word: &str) -> Option<i8> {
    match word.trim_end_matches('.') {
        "am" | "a.m" => Some(0),
        "pm" | "p.m" => Some(12),
        _ => None,
    }
}

/// The parts of a date that words name.
#[derive(Default)]
struct DateWords {
    month: Option<i8>,
    day: Option<i8>,
    year: Option<i16>,
    weekday: Option<i8>,
}

impl DateWords {
    /// Reads a day of the month or a year; `false` if the word is neither.
    fn take(&mut self, word: &str) -> bool {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
        match digits.parse::<i16>() {
            Ok(year) if year > 1_000 => self.year = Some(year),
            Ok(day @ 1..=31) => self.day = i8::try_from(day).ok(),
            _ => return false,
        }
        true
    }

    /// Returns the next time that these parts name.
    fn next(&self, time: Time, now: &Zoned) -> Option<Zoned> {
        let zone = now.time_zone();
        let at = |date: Date| date.to_datetime(time).to_zoned(zone.clone()).ok();
        if let (Some(month), Some(day)) = (self.month, self.day) {
            let named = at(Date::new(self.year.unwrap_or(now.year()), month, day).ok()?)?;
            // At the turn of a year, a date without a year is in the next one.
            let is_past = self.year.is_none() && named < now.checked_sub(1.day()).ok()?;
            return if is_past {
                at(Date::new(now.year() + 1, month, day).ok()?)
            } else {
                Some(named)
            };
        }
        let mut date = now.date();
        for _ in 0..8 {
            let is_day = self
                .weekday
                .is_none_or(|day| date.weekday().to_monday_one_offset() == day);
            let named = at(date)?;
            if is_day && named > *now {
                return Some(named);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::{Offset, offset};

    use super::*;

    /// Returns the wait in seconds at 2026-11-02 (a Monday) 12:00 UTC, on a machine one hour east of UTC.
    fn wait(words: &str) -> Option<u64> {
        let now: Timestamp = "2026-11-02T12:00:00Z".parse().unwrap();
        let zone = |name: Option<&str>| match name {
            None | Some("Europe/Berlin") => Some(offset(1).to_time_zone()),
            Some("America/Los_Angeles") => Some(Offset::constant(-8).to_time_zone()),
            Some(_) => None,
        };
        wait_until_reset(words, now, &zone).map(|wait| wait.as_secs())
    }

    /// CAL-ERR-2: the reset of a limit is understood in each form in which clients and servers write it.
    #[test]
    fn a_reset_is_read_in_every_form_that_clients_write() {
        for (words, seconds) in [
            ("in 20s", 20),
            ("in 17.7s", 17),
            ("after 14h33m35s", 52_415),
            ("in 2 min 5 s", 125),
            ("in 3 h 4 min", 11_040),
            ("after 30 seconds", 30),
            ("in 1 day and 2 hours", 93_600),
            ("in 30", 30),
            ("in 5 minutes.", 300),
            ("2026-11-02T12:00:10Z", 10),
            ("at Mon, 02 Nov 2026 12:01:00 GMT", 60),
            ("3pm (Europe/Berlin)", 7_200),
            ("1pm (Europe/Berlin)", 86_400),
            ("3pm", 7_200),
            ("3:30pm (America/Los_Angeles)", 41_400),
            ("at 14:30 UTC", 9_000),
            ("Nov 3, 2pm (UTC)", 93_600),
            ("at Nov 3rd, 2026 1:00 PM", 86_400),
            ("Nov 3 at 1am (UTC)", 46_800),
            ("Tue 9:30am (UTC)", 77_400),
            ("Jan 1, 12am (UTC)", 5_140_800),
            ("2020-01-01T00:00:00Z", 0),
        ] {
            assert_eq!(wait(words), Some(seconds), "{words}");
        }
    }

    /// Words without a time, or in a zone that is unknown here, are not waited for.
    #[test]
    fn words_without_a_known_time_have_no_wait() {
        for words in [
            "",
            "soon",
            "tomorrow",
            "3pm (Mars/Olympus)",
            "in a while",
            "25:00 UTC",
            "13pm",
            "Feb 31, 2pm (UTC)",
            "at 3",
            "in 99999999999999999999999999 d",
        ] {
            assert_eq!(wait(words), None, "{words}");
        }
    }
}
