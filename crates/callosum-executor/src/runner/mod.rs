//! Running an executor: one program, one request, one answer, and every way in which that fails.
//!
//! Start with [`run`], or with [`exchange`] if the output is not an
//! [`Answer`](crate::protocol::Answer). [`environment`] decides what a child may see, `spawn` starts
//! it, and `supervise` reads its output to the end.
//!
//! Deliberately not here: retries, how executors are confined, and executors that are not programs.

mod environment;
mod run;
mod spawn;
mod supervise;
mod unread;

pub use self::{
    environment::{environment, passes},
    run::{
        ExecutionEnvironment, LARGEST_ANSWER, QUIET, Reply, RunError, Sign, Timeouts, exchange, run,
    },
};

pub(crate) use self::{
    environment::is_secret,
    run::{HELPS, NOTHING_TELLING, cause_of},
    spawn::{SpawnSpec, own_folder},
    supervise::{Counting, Ended, Listener, hear_out, judge_ending, last_words, listen},
};

#[cfg(test)]
mod tests;
