//! Running an executor: one program, one request, one answer, and every way in which that fails.
//!
//! Start with [`run`], or with [`exchange`] if the output is not an
//! [`Answer`](crate::protocol::Answer). [`environment`] decides what a child may see, `spawn` starts
//! it, in its `sandbox` if the entry requires one, and `supervise` reads its output to the end.
//!
//! Deliberately not here: retries, and executors that are not programs.

mod environment;
mod execution_environment;
mod limits;
mod output;
mod run;
mod run_error;
mod sandbox;
mod spawn;
mod supervise;
mod unread;

pub use self::{
    environment::{environment, passes},
    execution_environment::ExecutionEnvironment,
    limits::{LARGEST_ANSWER, QUIET, Timeouts},
    output::{Reply, Sign},
    run::{exchange, run},
    run_error::RunError,
    sandbox::{Confiner, LastTranscript},
};

pub(crate) use self::{
    environment::is_secret,
    run_error::{HELPS, cause_of},
    spawn::{SpawnSpec, own_folder},
    supervise::{Counting, Ended, Listener, hear_out, judge_ending, last_words, listen},
};

#[cfg(test)]
mod tests;
