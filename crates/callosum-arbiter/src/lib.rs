//! Assignment of tasks to executors: modes, order, and handling of failures.
//!
//! Start with [`Submission`], the input of one call, and [`Schedule`], which returns at each moment
//! what is to be started. [`choose_mode`] decides how a task runs and [`RecoveryPolicy`] what a
//! failure means. All of these decide over facts that the caller passes: no clock, no file, no
//! thread, so that the same facts always lead to the same decision.
//!
//! Deliberately not here: starting processes and reading answers (`callosum-executor`), runs of
//! plans (`callosum-plan-run`), writing what was decided (`callosum-ledger`), and anything that a
//! user sees.

#![forbid(unsafe_code)]

pub mod budget;
pub mod circuit;
pub mod delegation;
pub mod fraction;
pub mod lifecycle;
pub mod mode;
pub mod priority;
pub mod recovery;
pub mod schedule;
pub mod slots;
pub mod submission;
pub mod suggest;
pub mod task;
pub mod task_file;
pub mod tree_fingerprint;
pub mod truncate;

pub use crate::{
    fraction::{Fraction, InvalidShare},
    lifecycle::{IllegalTransition, State, Trigger},
    mode::{Decision, Facts, Mode, Reason, TaskFacts, choose_mode},
    priority::Priority,
    recovery::{RecoveryPolicy, Remedy},
    schedule::{
        Actions, Concurrency, Consequence, Ending, Limits, Outcome, Schedule, Start, WakeUp,
    },
    submission::{Submission, SubmissionError},
    task::{Kind, Link, Scope, Task, TaskIndex, kind_name},
};
