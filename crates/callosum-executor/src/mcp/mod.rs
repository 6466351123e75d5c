//! MCP: servers of the Model Context Protocol, one of whose tools takes a prompt and answers.
//!
//! Start with [`answer`], which does one job in a process of its own: it starts the server, or
//! asks one over HTTP (`http_transport`), finds out which lifecycle it has, and lists or calls its
//! tools. `tool` chooses the argument for a prompt and reads a result. `resources` reads files that a
//! server lists.
//!
//! Deliberately not here: sampling, elicitation and roots, which are refused or empty; deadlines,
//! which end the process and the server with it, after a notice.

mod http_transport;
mod resources;
mod tool;
mod worker;

pub(crate) use self::worker::answer;
