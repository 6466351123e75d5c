//! A model server that never thinks: it plays back what the prompt asks for.
//!
//! Start with [`ModelServer`], which listens on loopback for as long as it lives and keeps the
//! requests; `model-server` is the same as a program. It speaks the five [`Dialect`]s of coding
//! agents, whole or streamed, so that real clients run against it without a network.
//!
//! Its answer is a [`ScriptTurn`] of a script in the prompt, as JSON behind [`MARK`]:
//! `SCRIPT:[{"calls":[{"name":"Bash","input":{"command":"ls"}}]},{"text":"done"}]`. The index of
//! the turn is the number of answers after that message in the request itself, so the server
//! remembers nothing but the number of times that it served a fault.
//!
//! Deliberately not here: TLS, HTTP/2, compression, and any judgment of the request.

mod asked;
mod dialect;
pub(crate) mod http;
mod script;
mod server;

pub use self::{
    dialect::Dialect,
    script::{Call, MARK, ScriptFault, ScriptTurn, Usage},
    server::{ModelServer, Options, Prompt, ReceivedRequest},
};
