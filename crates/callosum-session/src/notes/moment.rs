//! Parses the time at the start of a heading in any form that people write, if it can be read in
//! one way only.

use jiff::{Timestamp, civil::Date, civil::DateTime};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the time in ISO 8601; a day alone if the text has no hour.
pub(super) fn moment(text: &str) -> Option<String> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "[]()`*_".contains(c));
    let text = text.replace(',', " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (date, rest) = match words.as_slice() {
        [one] if one.len() > 8 && one.as_bytes()[8] == b'T' => return compact(one),
        [one, rest @ ..] if one.contains(['/', '.', '-']) => (numbers(one)?, rest),
        [one, rest @ ..] if one.len() == 8 => (compact_day(one)?, rest),
        [a, b, year, rest @ ..] => (named(a, b, year).or_else(|| named(b, a, year))?, rest),
        _ => return None,
    };
    let at = match rest {
        [] => return Some(date.to_string()),
        [time] => (*time).to_owned(),
        [time, "UTC" | "GMT" | "Z"] => format!("{time}Z"),
        [time, zone] if zone.starts_with(['+', '-']) => format!("{time}{zone}"),
        _ => return None,
    };
    known(format!("{date}T{at}"))
}

fn known(ts: String) -> Option<String> {
    let is_time = ts.parse::<Timestamp>().is_ok() || ts.parse::<DateTime>().is_ok();
    (is_time && ts.contains(':')).then_some(ts)
}

/// Parses `2026/11/23`, `2026.11.23`, `23.11.2026`; with slashes and the year last, only if one of
/// the others is not a month.
fn numbers(text: &str) -> Option<Date> {
    let mark = text.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = text.split(mark).collect();
    let [a, b, c] = parts.as_slice() else {
        return None;
    };
    match (a.len(), mark, c.len()) {
        (4, _, _) => day(a, b, c),
        (_, '.', 4) => day(c, b, a),
        (_, '/', 4) => match (day(c, a, b), day(c, b, a)) {
            (Some(one), Some(other)) => (one == other).then_some(one),
            (one, other) => one.or(other),
        },
        _ => None,
    }
}

fn day(year: &str, month: &str, day: &str) -> Option<Date> {
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

fn named(month: &str, of_month: &str, year: &str) -> Option<Date> {
    let month = month.trim_end_matches('.').to_ascii_lowercase();
    let is_it = |name: &str| month.len() >= 3 && name.starts_with(&month);
    let month = MONTHS.iter().position(|name| is_it(name))? + 1;
    let number = of_month.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    (year.len() == 4)
        .then(|| day(year, &month.to_string(), number))
        .flatten()
}

fn compact_day(text: &str) -> Option<Date> {
    let is_number = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number
        .then(|| day(&text[..4], &text[4..6], &text[6..]))
        .flatten()
}

/// `20261123T110000Z`, also without seconds or zone.
fn compact(text: &str) -> Option<String> {
    let (date, time) = text.split_once('T')?;
    let date = compact_day(date)?;
    let end = time
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(time.len());
    let (time, zone) = time.split_at(end);
    let at = match time.len() {
        4 => format!("{}:{}", &time[..2], &time[2..]),
        6 => format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..]),
        _ => return None,
    };
    known(format!("{date}T{at}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_where_they_can_be_read_in_one_way_alone() {
        for (text, read) in [
            ("2026-11-23 11:00", Some("2026-11-23T11:00")),
            ("2026-11-23 11:00:05 UTC", Some("2026-11-23T11:00:05Z")),
            ("2026/11/23", Some("2026-11-23")),
            ("23.11.2026", Some("2026-11-23")),
            ("11/23/2026", Some("2026-11-23")),
            ("03/04/2026", None),
            ("Nov 23, 2026", Some("2026-11-23")),
            ("23rd November 2026 09:30", Some("2026-11-23T09:30")),
            ("[2026-11-23]", Some("2026-11-23")),
            ("20261123T110000Z", Some("2026-11-23T11:00:00Z")),
            ("20261123", Some("2026-11-23")),
            ("2026-13-23 11:00", None),
            ("2026-11-23 at noon", None),
            ("1732360000", None),
            ("Ideas of 2026", None),
            ("€€€€", None),
            ("aaaaaaa€T", None),
        ] {
            assert_eq!(moment(text).as_deref(), read, "{text}");
        }
    }
}
