//! [`Stop`]: reason that an attempt ended early, from any source.
//!
//! Failures outside of the executor (ledger, budget, circuits, disk) become a [`Failure`] with the
//! seed's code here, in one place.

use callosum_host::DiskError;
use callosum_ledger::{ErrorCode, ReadError, WriteError};

use super::report::Failure;
use crate::{
    budget::{Bound, BudgetError},
    circuit::CircuitsError,
};

/// Reason that an attempt ended early.
pub(super) enum Stop {
    /// The attempt failed; another may not.
    Failed(Box<Failure>),
    /// The ledger takes nothing any more in this run.
    Unstorable(Box<Failure>),
    /// A bound of the tree of tasks was reached.
    OverBudget(Bound),
    /// The run was cancelled.
    Cancelled,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

impl From<CircuitsError> for Stop {
    fn from(error: CircuitsError) -> Self {
        let code = match error {
            CircuitsError::Lock(_) => Some(ErrorCode::LockTimeout),
            CircuitsError::Disk(_) => Some(ErrorCode::DiskFailure),
            CircuitsError::Unreadable { .. } => None,
        };
        Failure::of(code, one_line(&error)).into()
    }
}

impl From<BudgetError> for Stop {
    fn from(error: BudgetError) -> Self {
        let code = match error {
            BudgetError::Lock(_) => Some(ErrorCode::LockTimeout),
            BudgetError::Disk(_) => Some(ErrorCode::DiskFailure),
            _ => None,
        };
        Failure::of(code, one_line(&error)).into()
    }
}

impl From<WriteError> for Stop {
    fn from(error: WriteError) -> Self {
        let failure = Failure::of(error.code(), one_line(&error));
        if error.has_halted() {
            Self::Unstorable(Box::new(failure))
        } else {
            failure.into()
        }
    }
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Failure::of(error.code(), one_line(&error)).into()
    }
}

impl From<DiskError> for Stop {
    fn from(error: DiskError) -> Self {
        Failure::of(Some(ErrorCode::DiskFailure), one_line(&error)).into()
    }
}

/// Returns an error and its causes on one line, without causes that its text already contains.
pub(super) fn one_line(error: &(dyn std::error::Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !line.contains(&words) {
            line.push_str(": ");
            line.push_str(&words);
        }
        next = cause.source();
    }
    line
}
