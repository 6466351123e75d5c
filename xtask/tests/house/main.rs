//! The rules of the house, each as a test over the whole repository.
//!
//! - [`layering`]: which crate may depend on which, and which libraries belong to certain crates.
//! - [`cycles`]: no import cycle spans two folders.
//! - [`sources`]: how source files open, what they are called, and what they don't contain.
//! - [`dependencies`]: where dependencies come from and under which licences.
//! - [`dialect`]: words that plain English does without, whose number may only fall.
//! - [`locks`]: where locks stand that an executor must not hold.
//! - [`papers`]: the root folder, the licence texts, links, formats and schemas.
//! - [`requirements`]: a requirement called done is cited by a test.
//!
//! Every rule is a function from facts to findings, tried on small bad examples beside it;
//! [`tree`] gathers the facts. What is deliberately not here: what clippy and rustfmt hold.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a rule that can't read the repository has failed"
)]

mod cycles;
mod dependencies;
mod dialect;
mod layering;
mod locks;
mod markdown;
mod papers;
mod requirements;
mod sources;
mod tree;

/// Fails with all findings, one a line.
#[track_caller]
fn none_of(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
