//! Runs a program under a pseudo-terminal or pipes, passes its bytes on unchanged, and shows them to a reader.
//!
//! Start with [`run()`]. A [`Tap`] sees a copy of what the program prints, on a thread of its own and only after the
//! caller has the bytes; an [`InputFilter`] sees what is typed before the program does. Under a pseudo-terminal the
//! program is started by way of [`child::become_session_leader_and_exec`], in a process of the caller's own program.
//!
//! What is deliberately not here: reading errors, and deciding anything about what the program prints.

#![forbid(unsafe_code)]

mod caller;
pub mod child;
mod exit;
mod input;
mod pump;
mod quiet_panic;
mod raw_mode;
mod run;
mod signals;
mod tap;
mod terminal_pair;
mod wake;

pub use crate::{
    caller::{CallerStreams, Mode},
    exit::{Ending, Exit, RunError, TapEnd},
    input::{InputFilter, Reply, TerminalState},
    run::{Run, run},
    tap::{Stream, TAP_GRACE, TAP_QUEUE_BYTES, Tap},
};
