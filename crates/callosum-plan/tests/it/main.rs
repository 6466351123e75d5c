//! The language as its users meet it. One binary; this is its table of contents.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

/// Programs at the edges of what can be counted, indexed and held.
mod edges;
/// Calls: where programs stop for them, and how they go on.
mod effects;
/// Properties of any text, as functions that a fuzzer calls too.
mod fuzzing;
/// Programs that mean harm.
mod hostile;
/// Programs that were written for other implementations of RTFS.
mod interchange;
/// Values of programs: forms, patterns, functions, failures.
mod language;
/// Properties of any program, over generated and mutated ones.
mod laws;
/// The examples of the language's page.
mod page;
/// Plans that models propose.
mod proposals;
/// Sources run to their end.
mod running;
/// The samples of the seed, and counts of calls.
mod samples;
