//! [`Threshold`]: a share that must be reached, compared exactly.

use std::fmt;

/// Most digits after the decimal point.
const MOST_DIGITS: usize = 6;

/// A share from 0 to 1, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold {
    text: String,
    /// In millionths.
    millionths: u64,
}

/// Error for a text that is not a threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a threshold: use a number from 0 to 1 with at most {MOST_DIGITS} decimals, \
     such as 0.95"
)]
pub struct ThresholdError {
    /// Given text, its control characters escaped.
    pub text: String,
}

impl Threshold {
    /// Reads one.
    pub fn parse(text: &str) -> Result<Self, ThresholdError> {
        let wrong = || ThresholdError {
            text: text.escape_debug().take(60).collect(),
        };
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = is_digits(whole)
            && is_digits(decimals)
            && !(whole.is_empty() && decimals.is_empty())
            && whole.len() <= 2
            && decimals.len() <= MOST_DIGITS;
        if !is_number {
            return Err(wrong());
        }
        let whole: u64 = if whole.is_empty() {
            0
        } else {
            whole.parse().map_err(|_| wrong())?
        };
        let millionths = format!("{decimals:0<MOST_DIGITS$}")
            .parse::<u64>()
            .map_err(|_| wrong())?;
        let millionths = whole * 1_000_000 + millionths;
        if millionths > 1_000_000 {
            return Err(wrong());
        }
        Ok(Self {
            text: text.to_owned(),
            millionths,
        })
    }

    /// Whether this many of this many claims reach it. Without claims, it is always reached.
    pub fn is_reached(&self, grounded: usize, total: usize) -> bool {
        grounded as u128 * 1_000_000 >= u128::from(self.millionths) * total as u128
    }

    /// It as a number, for records.
    pub fn as_f64(&self) -> f64 {
        self.millionths as f64 / 1_000_000.0
    }
}

impl Default for Threshold {
    /// Seed LOA §4.2: 0.95.
    fn default() -> Self {
        Self {
            text: "0.95".to_owned(),
            millionths: 950_000,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns a ratio of two decimals, cut and never rounded up: 948 of 1000 is 0.94.
pub fn shown_ratio(grounded: usize, total: usize) -> String {
    if total == 0 {
        return "1.00".to_owned();
    }
    let hundredths = grounded * 100 / total;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-GRD-1: what is compared is whole numbers, and what is shown is never more than there is.
    #[test]
    fn shares_are_compared_exactly_and_cut() {
        let usual = Threshold::default();
        for (grounded, total, reached, shown) in [
            (0, 0, true, "1.00"),
            (0, 1, false, "0.00"),
            (1, 1, true, "1.00"),
            (19, 20, true, "0.95"),
            (18, 20, false, "0.90"),
            (948, 1000, false, "0.94"),
            (949, 999, false, "0.94"),
            (950, 1000, true, "0.95"),
            (999_999, 1_000_000, true, "0.99"),
        ] {
            assert_eq!(
                usual.is_reached(grounded, total),
                reached,
                "{grounded}/{total}"
            );
            assert_eq!(shown_ratio(grounded, total), shown);
        }
    }

    #[test]
    fn a_threshold_out_of_range_is_refused() {
        for text in [
            "1.50",
            "-0.1",
            "1.000001",
            "",
            ".",
            "0,9",
            "1e-1",
            "NaN",
            "0.9500000",
            "100",
        ] {
            assert!(Threshold::parse(text).is_err(), "{text}");
        }
        for (text, millionths) in [
            ("0.95", 950_000),
            (".5", 500_000),
            ("1", 1_000_000),
            ("1.00", 1_000_000),
            ("0", 0),
        ] {
            assert_eq!(Threshold::parse(text).unwrap().millionths, millionths);
        }
    }
}
