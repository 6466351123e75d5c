//! Sessions on disks that a test can crash. One binary; this is its table of contents.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

/// Notes that are written while others write them.
mod beside;
/// The seven steps before a context is cleared, the hand-off, and what is recovered.
mod checkpoints;
/// Cost of counting claims, in files opened.
mod counting;
/// Checkpoints of the time between: what happened is kept before it is lost.
mod deltas;
/// Design documents next to the notes: their differences from the code and the beads.
mod designs;
/// Files as people, other programs and accidents leave them.
mod hostile;
/// After any crash during a step, the next session has all of it or none.
mod interrupted;
/// Notes that were lost, and who still has what was decided.
mod lost;
/// Decisions of one second that two checkouts made.
mod merged;
/// Times that identify decisions.
mod naming;
/// Hand-offs that name an agent, and the start text of a new session.
mod openings;
/// A project to try them in.
mod place;
/// Search for decisions on a topic, of any age.
mod recalling;
/// Old trajectories are compressed, and read all the same.
mod retention;
/// Two sessions that write at once.
mod together;
