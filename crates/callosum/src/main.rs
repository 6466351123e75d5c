//! `callosum`: several coding agents, working as one.
//!
//! Start with [`cli`], which has one file per command; [`mcp`] serves tools, and [`ui`] is the only module that writes to the
//! terminal. Settings are in `callosum-config`, hooks and registration in `callosum-client`, the daemon in `callosum-daemon`.

#![forbid(unsafe_code)]

mod cli;
mod logging;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Where the signal cannot be handled, a write past a limit on file sizes ends the process, as it would without this.
    drop(callosum_host::process::survive_file_size_limit());
    cli::run(std::env::args_os().collect())
}
