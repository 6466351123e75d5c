//! [`Budget`]: the fill level of a context, in four zones (Seed LOA §4.3).
//!
//! A zone begins at a share of the model's window, or at a number of tokens that the session has
//! added since its first request. Nothing here blocks; the caller reads the numbers from the
//! client.

use std::fmt;

/// Fill level of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// There is room.
    Green,
    /// Progress is worth saving now: the threshold of delta synthesis.
    Yellow,
    /// It fills.
    Orange,
    /// Older content fills the context.
    Red,
}

impl Zone {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Orange => "orange",
            Self::Red => "red",
        }
    }

    /// Returns the zone of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Green, Self::Yellow, Self::Orange, Self::Red]
            .into_iter()
            .find(|zone| zone.name() == name)
    }

    /// Returns the seed's advice to the user for this zone.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            Self::Green | Self::Yellow => None,
            Self::Orange => Some("Context is filling. Consider /clear when ready."),
            Self::Red => Some("Attention budget high. Recommend /clear."),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Threshold of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At this number of tokens.
    Tokens(u64),
    /// At such a share of the model's window, in percent.
    Percent(u64),
}

/// The window that is assumed if the client names none, in tokens: the smallest of today's hosted models.
const ASSUMED_WINDOW: u64 = 200_000;

impl Limit {
    /// Returns the limit in tokens.
    fn tokens(self, window: Option<u64>) -> u64 {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Percent(percent) => window.unwrap_or(ASSUMED_WINDOW) / 100 * percent,
        }
    }
}

/// Thresholds of the three upper zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `attention_budget.yellow`.
    pub yellow: Limit,
    /// `attention_budget.orange`.
    pub orange: Limit,
    /// `attention_budget.red`.
    pub red: Limit,
}

impl Default for Limits {
    /// Half, 65 and 80 % of the window. Seed LOA §5.4 has 5,000, 10,000 and 15,000 tokens, which one test log fills.
    fn default() -> Self {
        Self {
            yellow: Limit::Percent(50),
            orange: Limit::Percent(65),
            red: Limit::Percent(80),
        }
    }
}

/// Context usage as reported by the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that the next request begins with.
    pub in_use: u64,
    /// Tokens of the session's first request, if known.
    pub first: Option<u64>,
    /// Size of the model's context window in tokens, if known.
    pub window: Option<u64>,
}

/// Fill level of a context, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The zone.
    pub zone: Zone,
    /// Tokens that were added since the first request, or all tokens if the first request is not
    /// known.
    pub tokens: u64,
    /// The share of the window that is in use, in percent, cut.
    pub percent: Option<u64>,
    /// Thresholds of yellow, orange and red, in tokens.
    pub begins: [u64; 3],
}

impl Budget {
    /// Returns how full a context is. A share of a window that the client does not name is one of 200,000 tokens.
    pub fn of(usage: &Usage, limits: &Limits) -> Self {
        let tokens = usage.in_use.saturating_sub(usage.first.unwrap_or(0));
        let window = usage.window.filter(|window| *window > 0);
        let begins = [limits.yellow, limits.orange, limits.red].map(|limit| limit.tokens(window));
        // A share of the window is one of all that is in it.
        let reached = |limit: Limit, begins: u64| match limit {
            Limit::Percent(_) => usage.in_use >= begins,
            Limit::Tokens(_) => tokens >= begins,
        };
        let zones = [
            (Zone::Red, limits.red, begins[2]),
            (Zone::Orange, limits.orange, begins[1]),
            (Zone::Yellow, limits.yellow, begins[0]),
        ];
        let mut zones = zones.into_iter();
        let zone = zones.find(|(_, limit, begins)| reached(*limit, *begins));
        let zone = zone.map_or(Zone::Green, |(zone, ..)| zone);
        Self {
            zone,
            tokens,
            percent: window.map(|window| usage.in_use.saturating_mul(100) / window),
            begins,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn used(in_use: u64) -> Usage {
        Usage {
            in_use,
            first: Some(12_000),
            window: Some(200_000),
        }
    }

    /// LOA-BUD-1: zones begin at shares of the window, of an assumed one if the client names none.
    #[test]
    fn zones_begin_at_shares_of_the_window() {
        for (in_use, zone, tokens) in [
            (11_000, Zone::Green, 0),
            (99_999, Zone::Green, 87_999),
            (100_000, Zone::Yellow, 88_000),
            (130_000, Zone::Orange, 118_000),
            (160_000, Zone::Red, 148_000),
        ] {
            let budget = Budget::of(&used(in_use), &Limits::default());
            assert_eq!((budget.zone, budget.tokens), (zone, tokens));
            assert_eq!(budget.percent, Some(in_use / 2_000));
        }
        let unknown = Usage {
            first: None,
            window: None,
            ..used(130_000)
        };
        let budget = Budget::of(&unknown, &Limits::default());
        assert_eq!((budget.zone, budget.percent), (Zone::Orange, None));
    }

    /// LOA-BUD-1: the seed's numbers, if they are configured, count above the first request.
    #[test]
    fn tokens_count_above_the_first_request() {
        let seed = Limits {
            yellow: Limit::Tokens(5_000),
            orange: Limit::Tokens(10_000),
            red: Limit::Tokens(15_000),
        };
        for (in_use, zone) in [
            (16_999, Zone::Green),
            (17_000, Zone::Yellow),
            (22_000, Zone::Orange),
            (27_000, Zone::Red),
        ] {
            assert_eq!(Budget::of(&used(in_use), &seed).zone, zone);
        }
    }

    /// LOA-BUD-1: shares and tokens may be mixed.
    #[test]
    fn shares_and_tokens_may_be_mixed() {
        let limits = Limits {
            yellow: Limit::Percent(40),
            orange: Limit::Percent(60),
            red: Limit::Tokens(150_000),
        };
        let budget = Budget::of(&used(100_000), &limits);
        assert_eq!(budget.begins, [80_000, 120_000, 150_000]);
        assert_eq!(budget.zone, Zone::Yellow);
        let full = Usage {
            in_use: 31_560,
            first: Some(20_010),
            window: Some(40_000),
        };
        let red = Limits {
            red: Limit::Percent(70),
            ..limits
        };
        let budget = Budget::of(&full, &red);
        assert_eq!((budget.zone, budget.percent), (Zone::Red, Some(78)));
        let unknown = Usage {
            window: None,
            ..used(100_000)
        };
        let budget = Budget::of(&unknown, &limits);
        assert_eq!(budget.begins, [80_000, 120_000, 150_000]);
        assert_eq!((budget.zone, budget.percent), (Zone::Yellow, None));
    }

    proptest! {
        /// LOA-BUD-1: more tokens in use never give a lower zone, for any numbers that a client
        /// reports.
        #[test]
        fn a_zone_never_falls_as_a_context_fills(
            one in any::<u64>(), more in any::<u64>(), first in any::<Option<u64>>(), window in any::<Option<u64>>(),
        ) {
            let of = |in_use| Budget::of(&Usage { in_use, first, window }, &Limits::default()).zone;
            prop_assert!(of(one) <= of(one.saturating_add(more)));
        }
    }
}
