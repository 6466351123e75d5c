//! MCP: servers of the Model Context Protocol, one of whose tools takes a prompt and answers.
//!
//! Start with [`answer`], which does one job in a process of its own: it starts the server, finds
//! out which lifecycle it has, and lists or calls its tools. `tool` is which argument a prompt
//! goes to and what a result says; `pipe` is how bytes become signs of life.
//!
//! What is deliberately not here: sampling, elicitation and roots, which are refused or empty;
//! servers over HTTP; deadlines and cancellation, which end the process and the server with it.

mod job;
mod pipe;
mod tool;

pub(crate) use self::job::answer;
