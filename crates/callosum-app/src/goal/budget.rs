//! [`Budget`]: limit of one goal, in tokens or in US dollars.

use callosum_arbiter::budget::Money;
use callosum_plan_run::kernel::RunCaps;
use callosum_plan_run::run::Spent;

use crate::delegate::dollars;

/// A limit for all runs of a goal together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<Money>,
}

impl Budget {
    /// Reads `20000`, `20k` or `1.5M` as tokens, and `$0.50` or `0.50usd` as money.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let lower = text.to_lowercase();
        let money = text.strip_prefix('$').or_else(|| {
            lower
                .ends_with("usd")
                .then(|| text[..text.len() - 3].trim_end())
        });
        if let Some(amount) = money {
            let cost = Money::of_dollars(dollars(amount)?);
            if cost == Money(0) {
                return Err("expected at least $0.0001".to_owned());
            }
            return Ok(Self {
                tokens: None,
                cost: Some(cost),
            });
        }
        let (digits, factor) = match lower.strip_suffix(['k', 'm']) {
            Some(digits) if lower.ends_with('k') => (digits, 1e3),
            Some(digits) => (digits, 1e6),
            None => (lower.as_str(), 1.0),
        };
        let expected = "expected tokens (20000, 20k, 1.5M) or US dollars ($0.50)";
        let number: f64 = digits.parse().map_err(|_| expected.to_owned())?;
        let tokens = number * factor;
        if !(1.0..=1e15).contains(&tokens) || tokens.fract() != 0.0 {
            return Err(expected.to_owned());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between 1 and 10^15"
        )]
        let tokens = tokens as u64;
        Ok(Self {
            tokens: Some(tokens),
            cost: None,
        })
    }

    /// Returns the caps of the next run, after `spent`; `None` if nothing is left.
    pub fn left(&self, spent: &Spent) -> Option<RunCaps> {
        let tokens = match self.tokens {
            Some(tokens) => Some(tokens.checked_sub(spent.tokens).filter(|left| *left > 0)?),
            None => None,
        };
        let cost = match self.cost {
            Some(cost) => Some(Money(
                cost.0.checked_sub(spent.cost.0).filter(|left| *left > 0)?,
            )),
            None => None,
        };
        Some(RunCaps {
            tokens,
            cost,
            ..RunCaps::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_tokens_or_money() {
        let tokens = |count| {
            Ok(Budget {
                tokens: Some(count),
                cost: None,
            })
        };
        assert_eq!(Budget::parse("20000"), tokens(20_000));
        assert_eq!(Budget::parse("20k"), tokens(20_000));
        assert_eq!(Budget::parse("1.5M"), tokens(1_500_000));
        let half = Ok(Budget {
            tokens: None,
            cost: Some(Money::of_dollars(0.5)),
        });
        assert_eq!(Budget::parse("$0.50"), half);
        assert_eq!(Budget::parse("0.5 USD"), half);
        for wrong in ["", "0", "-5", "1.5", "ten", "$0", "$-1", "k", "inf"] {
            assert!(Budget::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// CCOS-MOD-1: two runs of one goal share a budget, and the second does not begin without any left.
    #[test]
    fn the_second_run_gets_what_the_first_left() {
        let budget = Budget::parse("1000").unwrap();
        let spent = |tokens| Spent {
            tokens,
            ..Spent::default()
        };
        assert_eq!(budget.left(&spent(400)).unwrap().tokens, Some(600));
        assert!(budget.left(&spent(1000)).is_none());
        assert!(Budget::default().left(&spent(1 << 40)).is_some());
    }
}
