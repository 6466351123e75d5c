//! Start and end of each task of a submission.
//!
//! Start with [`Schedule`]: a state machine that the driver asks after each event. It holds no
//! clock and no thread; the caller passes the time as a duration since the run began, and the
//! machine's state as [`Facts`](crate::Facts). So a whole run can be played through in a test.

mod actions;
mod limits;
mod run;

#[cfg(test)]
mod tests;

pub use self::{
    actions::{Actions, Consequence, Ending, Outcome, Start, WakeUp},
    limits::{Concurrency, ConcurrencyError, DEFAULT_STAGGER, Limits},
    run::{NotRunning, Schedule},
};
