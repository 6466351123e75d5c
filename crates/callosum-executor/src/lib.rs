//! Executors: their entries, their protocols, and their runs.
//!
//! Start with [`registry::Executor`], the entry of one executor, and [`runner::run`], which sends
//! it a [`protocol::Request`] and returns a [`protocol::Answer`] or the reason why there is none.
//! [`handshake`] decides whether an executor may be used at all, [`health`] whether it still
//! answers. [`discover`] knows the programs that are worth a handshake, and [`local_server`] the
//! servers on this machine. [`transport`] is for executors that are not programs with an answer on
//! standard output.
//!
//! Deliberately not here: deciding which executor gets a task, retrying, and recording. An answer
//! that leaves this crate was valid when it was read; whether it is good is another question.

#![forbid(unsafe_code)]

mod acp;
pub mod client;
pub mod discover;
pub mod handshake;
pub mod health;
pub mod http;
pub mod json;
pub mod local_server;
mod mcp;
pub mod output_format;
pub mod protocol;
pub mod registry;
pub mod runner;
mod sanitize;
pub mod server_tool;
mod shim;
mod stderr_summary;
pub mod template;
pub mod transport;
pub mod worker;
