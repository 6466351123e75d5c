//! Errors in the output of tools: their names, and the events that report them.
//!
//! Start with [`OutputReader`], which reads a stream, and [`ErrorEvent`], which it reports. [`error_type`] is the closed
//! list of types. `tool` has a reader for each family of tools.
//! `tests/outputs` holds recorded outputs of real tools with the events that they call for; the readers are measured
//! against it.
//!
//! This crate does not decide what to do about an error. It is pure: it reads no file, runs nothing and asks no clock.

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
