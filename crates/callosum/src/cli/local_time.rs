//! [`LocalTime`]: times as people read them, in the time zone of this machine. `--json` has UTC.

use std::ffi::OsString;

use callosum_arbiter::delegation::time_zone;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::context::Context;

/// The time zone of the reader: that of `TZ`, else of this machine, else UTC.
#[derive(Debug)]
pub(super) struct LocalTime(TimeZone);

impl LocalTime {
    /// Looks the zone up.
    pub(super) fn find(context: &Context) -> Self {
        let own = context.environment.get("TZ");
        let variables: Vec<(OsString, OsString)> = own
            .map(|zone| ("TZ".into(), zone.to_owned()))
            .into_iter()
            .collect();
        let posix = || TimeZone::posix(own?.to_str()?).ok();
        let zone = time_zone(&context.disk, &variables, None).or_else(posix);
        Self(zone.unwrap_or(TimeZone::UTC))
    }

    /// Returns UTC, for tests.
    #[cfg(test)]
    pub(super) fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns a time to the minute: `2026-01-02 03:04`.
    pub(super) fn show(&self, at: Timestamp) -> String {
        let at = at.to_zoned(self.0.clone());
        at.strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns the same for a time as JSON has it; any other text as it is.
    pub(super) fn show_utc(&self, at: &str) -> String {
        at.parse()
            .map_or_else(|_| at.to_owned(), |at: Timestamp| self.show(at))
    }

    /// Whether two times are on the same day here.
    pub(super) fn is_same_day(&self, one: Timestamp, other: Timestamp) -> bool {
        let date = |at: Timestamp| at.to_zoned(self.0.clone()).date();
        date(one) == date(other)
    }

    /// Returns a text with each UTC time in it, such as `2026-01-02T03:04:05Z`, as [`show`](Self::show) has it.
    pub(super) fn in_text(&self, text: &str) -> String {
        let is_part = |c: char| c.is_ascii_digit() || "-:.TZ".contains(c);
        let (mut shown, mut rest) = (String::new(), text);
        while let Some(end) = rest.find('Z') {
            let (head, tail) = rest.split_at(end + 1);
            let start = head.trim_end_matches(is_part).len();
            shown.push_str(&head[..start]);
            shown.push_str(&self.show_utc(&head[start..]));
            rest = tail;
        }
        shown.push_str(rest);
        shown
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::offset;

    use super::*;

    #[test]
    fn times_in_a_text_are_local_and_the_rest_stays() {
        let local = LocalTime(offset(2).to_time_zone());
        for (text, shown) in [
            (
                "process 7, since 2026-01-02T23:04:05.123Z; Zoe",
                "process 7, since 2026-01-03 01:04; Zoe",
            ),
            ("(2026-01-02T03:04:05Z)", "(2026-01-02 05:04)"),
            ("ZIP 12-03TZ Z", "ZIP 12-03TZ Z"),
            ("", ""),
        ] {
            assert_eq!(local.in_text(text), shown);
        }
        let day = |text: &str| text.parse::<Timestamp>().unwrap();
        let (one, other) = (day("2026-01-02T21:00:00Z"), day("2026-01-02T22:30:00Z"));
        assert!(!local.is_same_day(one, other));
        assert!(LocalTime(TimeZone::UTC).is_same_day(one, other));
    }
}
