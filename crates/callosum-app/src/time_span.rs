//! Lengths of time on the command line, as `30s`, `10m`, `2h` or `7d`: [`time_span`], and [`any_span`] without bounds.

use std::time::Duration;

/// The longest span that is accepted.
const LONGEST: Duration = Duration::from_hours(7 * 24);

/// Reads a whole number with `s`, `m`, `h` or `d` behind it, from 1 s to 7 days.
pub fn time_span(text: &str) -> Result<Duration, String> {
    read(text)
        .filter(|span| span.subsec_nanos() == 0 && !span.is_zero() && *span <= LONGEST)
        .ok_or_else(|| "allowed: 1s to 7d, such as 30s, 10m or 2h".to_owned())
}

/// Reads a whole number with `ms`, `s`, `m`, `h` or `d` behind it.
pub fn any_span(text: &str) -> Result<Duration, String> {
    read(text)
        .ok_or_else(|| "allowed: a number and a unit, such as 500ms, 30s, 10m, 2h or 7d".to_owned())
}

/// Returns the milliseconds of a span.
pub fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Returns milliseconds as [`any_span`] reads them, in the largest unit that is exact.
pub fn span_text(milliseconds: u64) -> String {
    let units = [
        (24 * 60 * 60 * 1000, "d"),
        (60 * 60 * 1000, "h"),
        (60 * 1000, "m"),
        (1000, "s"),
    ];
    let (length, unit) = units
        .into_iter()
        .find(|(length, _)| milliseconds >= *length && milliseconds.is_multiple_of(*length))
        .unwrap_or((1, "ms"));
    format!("{}{unit}", milliseconds / length)
}

fn read(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at(text.find(|it: char| !it.is_ascii_digit())?);
    let count = digits.parse::<u64>().ok()?;
    let seconds = match unit {
        "ms" => return Some(Duration::from_millis(count)),
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    count.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_span_is_a_number_and_a_unit() {
        for (text, seconds) in [("30s", 30), ("10m", 600), ("2h", 7_200), ("7d", 604_800)] {
            assert_eq!(time_span(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "s",
            "0s",
            "30",
            "+3s",
            "-3s",
            "8d",
            "1.5h",
            "3é",
            "99999999999999999999d",
        ] {
            assert!(time_span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn any_span_is_read_as_it_is_written() {
        for (milliseconds, text) in [
            (0, "0ms"),
            (1_500, "1500ms"),
            (90_000, "90s"),
            (600_000, "10m"),
            (7_200_000, "2h"),
            (864_000_000, "10d"),
        ] {
            assert_eq!(span_text(milliseconds), text);
            assert_eq!(any_span(text), Ok(Duration::from_millis(milliseconds)));
        }
        for text in ["", "5", "-1s", "0.5s", "99999999999999999d"] {
            assert!(any_span(text).is_err(), "{text}");
        }
        assert!(time_span("500ms").is_err());
    }
}
