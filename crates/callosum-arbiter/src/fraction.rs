//! [`Fraction`]: a part of a whole, exact to the ten-thousandth, so that it can be compared and kept.

use std::{fmt, str::FromStr};

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fraction {
    parts: u64,
}

/// Parts of a whole.
const WHOLE: u64 = 10_000;

impl Fraction {
    /// Nothing.
    pub const NONE: Self = Self { parts: 0 };

    /// So many ten-thousandths; `None` beyond the whole.
    pub fn of_parts(parts: u64) -> Option<Self> {
        (parts <= WHOLE).then_some(Self { parts })
    }

    /// The nearest share to a number; `None` where it is not from 0 to 1.
    pub fn of_number(number: f64) -> Option<Self> {
        let parts = (number * WHOLE as f64).round();
        (0.0..=WHOLE as f64).contains(&parts).then_some(Self {
            parts: parts as u64,
        })
    }

    /// Whether `part` of `whole` is at least this. Of nothing, only nothing is.
    pub fn is_met(self, part: u64, whole: u64) -> bool {
        if whole == 0 {
            return self == Self::NONE;
        }
        u128::from(part) * u128::from(WHOLE) >= u128::from(self.parts) * u128::from(whole)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.parts as f64 / WHOLE as f64).fmt(f)
    }
}

impl FromStr for Fraction {
    type Err = InvalidShare;

    fn from_str(text: &str) -> Result<Self, InvalidShare> {
        text.parse()
            .ok()
            .and_then(Self::of_number)
            .ok_or(InvalidShare)
    }
}

/// A text that is not a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be a number from 0 to 1")]
pub struct InvalidShare;

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-GRD-1: the ratio is exact at its bound, and an answer without citations has none.
    #[test]
    fn a_share_is_met_at_its_bound_and_never_by_nothing() {
        let share: Fraction = "0.95".parse().unwrap();
        assert!(share.is_met(19, 20));
        assert!(!share.is_met(18, 19));
        assert!(!share.is_met(0, 0));
        assert!(Fraction::NONE.is_met(0, 0));
        assert_eq!(share.to_string(), "0.95");
        for text in ["1.01", "-0.1", "NaN", "inf", "", "x"] {
            assert_eq!(text.parse::<Fraction>(), Err(InvalidShare), "{text}");
        }
    }

    /// CAL-TEST-1: parts beyond the whole are no share.
    #[test]
    fn parts_of_a_whole_are_a_share_up_to_the_whole() {
        assert_eq!(Fraction::of_parts(WHOLE).unwrap().to_string(), "1");
        assert_eq!(Fraction::of_parts(2_500), "0.25".parse().ok());
        assert_eq!(Fraction::of_parts(WHOLE + 1), None);
    }
}
