//! `callosum mcp`: one server of the Model Context Protocol, on standard input and output.
//!
//! Start with [`run`], which serves until standard input ends. `server` answers requests, of both
//! lifecycles: the one with `server/discover`, in which every request names its client, and the
//! older one with `initialize`. `framing` reads and writes messages; `caller` finds the caller in the
//! fields of each client; `working_dir` finds the project; `tools` has the tools, one file each, over the
//! functions that the command line calls; `resources` has the project's session files; `output_budget` limits the length of results.
//!
//! Deliberately not here: the work of the tools, and anything but the protocol on
//! standard output. Warnings go to standard error, which clients keep as the server's log.

#![forbid(unsafe_code)]

mod caller;
mod framing;
mod output_budget;
mod resources;
mod run;
mod server;
mod tools;
mod working_dir;

pub use self::run::run;
