//! Runs of plans: each effect passes one kernel, and a run survives the end of its process.
//!
//! Start with [`kernel::Kernel`], the one door that each effect of a plan passes: it reads the
//! constitution and the capabilities, and answers with an `ApprovedCall` or a refusal. [`run`]
//! drives a plan through it, journals each step before the next one, and resumes after a crash.
//! [`horizon`] selects what a plan may see of earlier records.
//!
//! Deliberately not here: the language of plans (`callosum-plan`), scheduling tasks
//! (`callosum-arbiter`), and how a capability does its work: providers are passed in.

#![forbid(unsafe_code)]

pub mod horizon;
pub mod kernel;
pub mod run;
