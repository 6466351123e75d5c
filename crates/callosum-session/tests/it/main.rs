//! Sessions on disks that a test can crash. One binary; this is its table of contents.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

/// The seven steps before a context is cleared, the hand-off, and what is recovered.
mod checkpoints;
/// Checkpoints of the time between: what happened is kept before it is lost.
mod deltas;
/// Whatever a crash leaves of a step, the next session has all of it or none.
mod interrupted;
/// Two sessions that write at once.
mod together;
