//! Errors in what tools print: their names, and the events that report them.
//!
//! Start with [`OutputReader`], which reads a stream, and [`ErrorEvent`], which it reports. [`error_type`] is the closed
//! list of types. `tool` has a reader for each family of tools.
//! `tests/outputs` holds recorded outputs of real tools with the events that they call for; the readers are measured
//! against it.
//!
//! What is deliberately not here: what follows from an error. Pure: nothing is read, run or timed.

#![forbid(unsafe_code)]

pub mod error_type;
mod event;
mod finding;
mod line;
mod patterns;
mod prefix;
mod quoted;
mod reader;
mod tool;
mod window;

pub use crate::{
    event::{ErrorEvent, Severity, StreamSource},
    patterns::{PatternError, Patterns},
    reader::{Diagnosis, OutputReader, each_reader, read},
};
