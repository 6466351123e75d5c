//! The daemon: what it serves, to whom, and what happens when something else does not.

/// Each part by itself.
mod apart;
/// What changes the board, and the bridge file.
mod board;
/// The bus over WebSocket.
mod bus;
/// A daemon of a test's own.
pub(crate) mod daemon;
/// Six who edit the bridge file at once.
mod editors;
/// Events over HTTP.
mod events;
/// What may go wrong around it.
mod faults;
/// How it begins, is found, and ends.
mod life;
/// What Prometheus reads.
mod metrics;
/// Models that another Callosum asks.
mod models;
/// The page for people, and who may see it.
mod page;
/// Queries about past sessions.
mod queries;
/// What is passed on to places outside.
pub(crate) mod sinks;
/// Whom it does not answer.
mod strangers;
/// A client that goes on by itself.
mod subscribe;
