//! Sessions on disks that a test can crash. One binary; this is its table of contents.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

/// Notes that are written while others write them.
mod beside;
/// The seven steps before a context is cleared, the hand-off, and what is recovered.
mod checkpoints;
/// What counting claims costs, in files opened.
mod counting;
/// Checkpoints of the time between: what happened is kept before it is lost.
mod deltas;
/// Design documents beside the notes: what the code and the beads say otherwise.
mod designs;
/// Files as people, other programs and accidents leave them.
mod hostile;
/// Whatever a crash leaves of a step, the next session has all of it or none.
mod interrupted;
/// Notes that were lost, and who still has what was decided.
mod lost;
/// Decisions of one second that two checkouts made.
mod merged;
/// Times by which decisions are told apart.
mod naming;
/// Hand-offs that name an agent, and what a new session is told of its own accord.
mod openings;
/// A project to try them in.
mod place;
/// What was decided about something, however long ago.
mod recalling;
/// Old trajectories are compressed, and read all the same.
mod retention;
/// Two sessions that write at once.
mod together;
