//! `callosum`: makes coding agents work as a team.
//!
//! Start with [`cli`], which has one file per command: its arguments, and how its result is printed. [`ui`] is the only module that
//! writes to the terminal. What a command does is in `callosum-app`; hooks are in `callosum-client`.

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
