//! [`Chart`]: bars per day, as places in an SVG image that the template draws.

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};

use super::Spending;

/// Most days of a chart: the last ones.
const MOST_DAYS: usize = 92;

/// Width of the image, in its own units.
const WIDTH: f64 = 720.0;

/// Height of the tallest bar.
const HEIGHT: f64 = 120.0;

/// Height above the bars, for the largest value.
const TOP: f64 = 18.0;

/// Bars per day.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) title: &'static str,
    pub(super) bars: Vec<Bar>,
    /// The largest value in words.
    pub(super) largest: String,
    pub(super) first_day: String,
    pub(super) last_day: String,
}

/// The bar of a day.
#[derive(Debug)]
pub(super) struct Bar {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) width: String,
    pub(super) height: String,
    /// Day and value in words.
    pub(super) words: String,
}

impl Chart {
    /// Returns the chart of a value with its words; `None` without any day.
    ///
    /// Days without entries are in it, from the first day with entries to the last day or today.
    pub(super) fn new(
        title: &'static str,
        days: &[Spending],
        now: Timestamp,
        value: impl Fn(&Spending) -> (f64, String),
    ) -> Option<Self> {
        let read = days.iter();
        let read = read.filter_map(|day| Some((day.name.parse::<Date>().ok()?, value(day))));
        let known: Vec<(Date, (f64, String))> = read.collect();
        let first = known.iter().map(|(day, _)| *day).min()?;
        let today = now.to_zoned(TimeZone::UTC).date();
        let last = known.iter().map(|(day, _)| *day).max()?.max(today);
        let reach = i64::try_from(MOST_DAYS).unwrap_or_default() - 1;
        let earliest = last.checked_sub(reach.days()).unwrap_or(first);
        let first = first.max(earliest);
        let all: Vec<Date> = first
            .series(1.day())
            .take_while(|day| *day <= last)
            .take(MOST_DAYS)
            .collect();
        let value_of = |day: &Date| known.iter().find(|(known, _)| known == day);
        let of_days = all.iter().map(|day| match value_of(day) {
            Some((_, (value, words))) => (*day, *value, words.clone()),
            None => (*day, 0.0, "none".to_owned()),
        });
        let of_days: Vec<(Date, f64, String)> = of_days.collect();
        let most = of_days
            .iter()
            .max_by(|(_, one, _), (_, other, _)| one.total_cmp(other))?;
        let (largest, words) = (most.1.max(f64::MIN_POSITIVE), most.2.clone());
        let step = WIDTH / of_days.len() as f64;
        let bars = of_days
            .iter()
            .enumerate()
            .map(|(place, (day, value, words))| {
                let height = (value / largest * HEIGHT).clamp(0.0, HEIGHT);
                let width = (step * 0.8).min(60.0);
                Bar {
                    x: format!("{:.1}", step * (place as f64 + 0.5) - width / 2.0),
                    y: format!("{:.1}", TOP + HEIGHT - height),
                    width: format!("{width:.1}"),
                    height: format!("{height:.1}"),
                    words: format!("{day}: {words}"),
                }
            });
        Some(Self {
            title,
            bars: bars.collect(),
            largest: words,
            first_day: all.first()?.to_string(),
            last_day: all.last()?.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(name: &str, tokens_used: u64) -> Spending {
        Spending {
            name: name.to_owned(),
            tokens_used,
            ..Spending::default()
        }
    }

    fn chart(days: &[Spending], now: &str) -> Option<Chart> {
        let now = now.parse().unwrap();
        Chart::new("Tokens per day", days, now, |day| {
            (day.tokens_used as f64, day.tokens())
        })
    }

    #[test]
    fn each_day_has_a_bar_up_to_today() {
        let days = [day("2026-01-01", 50), day("2026-01-03", 100)];
        let chart = chart(&days, "2026-01-04T12:00:00Z").unwrap();
        let heights: Vec<&str> = chart.bars.iter().map(|bar| bar.height.as_str()).collect();
        assert_eq!(heights, ["60.0", "0.0", "120.0", "0.0"]);
        assert_eq!(chart.bars[1].words, "2026-01-02: none");
        assert_eq!((chart.largest.as_str(), chart.bars.len()), ("100", 4));
        assert_eq!(chart.last_day, "2026-01-04");
    }

    #[test]
    fn a_long_time_shows_its_last_days() {
        let days = [day("2000-01-01", 50), day("2026-01-03", 100)];
        let chart = chart(&days, "2026-01-03T12:00:00Z").unwrap();
        assert_eq!(chart.bars.len(), MOST_DAYS);
        assert_eq!(chart.last_day, "2026-01-03");
    }

    #[test]
    fn no_day_or_no_date_is_no_chart() {
        assert!(chart(&[], "2026-01-03T12:00:00Z").is_none());
        assert!(chart(&[day("<script>", 5)], "2026-01-03T12:00:00Z").is_none());
        let empty = chart(&[day("2026-01-03", 0)], "2026-01-03T12:00:00Z").unwrap();
        assert_eq!(empty.bars[0].height, "0.0");
    }
}
