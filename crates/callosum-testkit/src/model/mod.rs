//! A model server that never thinks: it plays back what the prompt asks for.
//!
//! Start with [`ModelServer`], which listens on loopback for as long as it lives and keeps what it
//! was asked; `model-server` is the same as a program. It speaks the five [`Dialect`]s that coding
//! agents speak, whole or streamed, so that real clients run against it without a network.
//!
//! What it answers is a [`ScriptTurn`] of a script, and the script rides in the prompt, as JSON behind
//! [`MARK`]: `SCRIPT:[{"calls":[{"name":"Bash","input":{"command":"ls"}}]},{"text":"done"}]`. The
//! turn played is the number of answers that stand after that message in the request itself, so
//! the server remembers nothing but how often a fault was served.
//!
//! What is deliberately not here: TLS, HTTP/2, compression, and any judgement of the request.

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
