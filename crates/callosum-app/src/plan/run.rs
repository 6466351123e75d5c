//! `callosum plan run`: a plan carried out, every effect on record before it happens.

use std::time::Duration;

use callosum_arbiter::budget::Money;
use callosum_plan_run::run::BeginError;

use crate::delegate::dollars;
use crate::time_span::any_span;
use crate::{CommandError, Exit, disk_errors, ledger_errors};

/// More than this is as good as no cap.
const YEAR: Duration = Duration::from_hours(366 * 24);

/// An amount above nothing: none would let nothing be called.
pub fn some_dollars(text: &str) -> Result<Money, String> {
    let amount = Money::of_dollars(dollars(text)?);
    if amount == Money(0) {
        return Err("expected at least 0.0001 US dollars".to_owned());
    }
    Ok(amount)
}

/// Parses a duration from 1 s to 366 days.
pub fn some_time(text: &str) -> Result<Duration, String> {
    let time = any_span(text)?;
    if !(Duration::from_secs(1)..=YEAR).contains(&time) {
        return Err("allowed: 1s to 366d".to_owned());
    }
    Ok(time)
}

/// Explains why a run did not start.
pub fn unbegun(error: &BeginError) -> CommandError {
    match error {
        BeginError::Secret { .. } => CommandError::from_error(Exit::Usage, error)
            .hint("pass the name of the secret, not the secret itself"),
        BeginError::Disk(error) => disk_errors::disk_failed(error),
        BeginError::Journal(error) => ledger_errors::unwritten(error),
    }
}
