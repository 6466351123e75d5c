//! Intents as a graph, and the engine that decides where a call runs.
//!
//! [`graph`] has goals with their states and relations. [`delegation`] decides whether a call runs in the evaluator, on a
//! local model, on a remote model, or from a compiled plan. Both decide over plain facts: no clock, no file, no process.

#![forbid(unsafe_code)]

pub mod delegation;
pub mod graph;
pub mod role;
pub mod template;
