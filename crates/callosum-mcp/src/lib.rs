//! `callosum mcp`: one server of the Model Context Protocol, on standard input and output.
//!
//! Start with [`run`], which serves until standard input ends. `server` answers requests, of both
//! lifecycles: the one with `server/discover`, in which every request says by itself who asks, and
//! the older one with `initialize`. `lines` is how messages come and go; `caller` who asks, from
//! the fields of each client; `place` which project is meant; `tools` what can be asked, one file
//! a tool, over the functions that the command line calls; `answer` limits the length of results.
//!
//! What is deliberately not here: anything that a tool does, and anything but the protocol on
//! standard output. Warnings go to standard error, which clients keep as the server's log.

#![forbid(unsafe_code)]

mod answer;
mod caller;
mod lines;
mod place;
mod run;
mod server;
mod tools;

pub use self::run::run;
