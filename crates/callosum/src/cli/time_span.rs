//! [`time_span`]: a length of time on the command line, as `30s`, `10m`, `2h` or `7d`.

use std::time::Duration;

/// The longest span that is accepted.
const LONGEST: Duration = Duration::from_hours(7 * 24);

/// Reads a whole number with `s`, `m`, `h` or `d` behind it, from 1 s to 7 days.
pub(in crate::cli) fn time_span(text: &str) -> Result<Duration, String> {
    let seconds = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 60 * 60,
        Some('d') => 24 * 60 * 60,
        _ => 0,
    };
    let digits = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
    let count = digits.parse::<u64>().ok();
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    count
        .filter(|_| is_number)
        .and_then(|count| count.checked_mul(seconds))
        .map(Duration::from_secs)
        .filter(|span| !span.is_zero() && *span <= LONGEST)
        .ok_or_else(|| "allowed: 1s to 7d, such as 30s, 10m or 2h".to_owned())
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
}
