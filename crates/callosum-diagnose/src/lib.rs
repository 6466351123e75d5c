//! Errors in what tools print: their names, and the events that report them.
//!
//! Start with [`ErrorEvent`], which is what a reader of output reports, and [`error_type`], the closed list of its types.
//! `tests/outputs` holds recorded outputs of real tools with the events that they call for; the readers are measured
//! against it.
//!
//! What is deliberately not here: what follows from an error. Pure: nothing is read, run or timed.

#![forbid(unsafe_code)]

pub mod error_type;
mod event;

pub use event::{ErrorEvent, Severity, StreamSource};
