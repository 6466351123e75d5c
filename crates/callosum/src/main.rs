//! `callosum`: several coding agents, working as one.
//!
//! Start with [`cli`], which has one file per command. `config` knows settings, homes, the root and
//! trust; `committed` asks git what was, and `renames` where it is now; `daemon` serves who connects; `hook` and `mcp` answer coding agents and `registration` tells them to
//! ask; `undo` keeps what they change, `intervention` the errors that they hit; `metrics` counts both, and `logging` writes the log file of long commands; `transcript` reads how full their contexts are; `ui` is the only room that writes to the
//! terminal. This crate only translates: what is decided, run and kept, the crates below decide, run
//! and keep.

#![forbid(unsafe_code)]

mod bd;
mod ck;
mod cli;
mod committed;
mod config;
mod daemon;
mod hook;
mod intervention;
mod logging;
mod machine_mesh;
mod mcp;
mod metrics;
mod registration;
mod renames;
mod sources;
mod transcript;
mod ui;
mod undo;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Where the signal cannot be handled, a write past a limit on file sizes ends the process, as it would without this.
    drop(callosum_host::process::survive_file_size_limit());
    cli::run(std::env::args_os().collect())
}
