//! Arguments and output of `callosum shell`.
//!
//! The use case is [`callosum_app::shell`].

use std::ffi::OsString;
use std::path::Path;

use callosum_app::shell::LineFilter;
use callosum_app::watch::Watched;
use callosum_config::Environment;
use clap::Args;

use super::watch::run_watched;
use crate::ui::Ui;

/// Run a shell or an agent, report its errors and guard typed commands
///
/// Without AGENT, runs `$SHELL`. The guard checks each command line typed at a shell's prompt before it runs. For an
/// agent, the gate checks `/clear` if the gate is on. At the end, prints a list of the errors.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum shell
  $ callosum shell -- bash")]
pub(crate) struct ShellArgs {
    /// Agent or shell and its arguments, after `--` [default: $SHELL]
    #[arg(last = true, value_name = "AGENT")]
    command: Vec<OsString>,
}

/// Runs `callosum shell`, and returns the exit code of the program.
pub(super) fn run(environment: &Environment, args: &ShellArgs, folder: &Path, ui: Ui) -> u8 {
    let command = if args.command.is_empty() {
        let shell = environment.get("SHELL").map(ToOwned::to_owned);
        vec![shell.unwrap_or_else(|| "/bin/sh".into())]
    } else {
        args.command.clone()
    };
    let name = command[0].to_string_lossy().into_owned();
    let name = name.rsplit('/').next().unwrap_or(&name).to_owned();
    let filter = LineFilter::new(environment, &name, folder);
    run_watched(
        environment,
        Watched {
            command: &command,
            agent: &name,
            folder,
            filter: Some(Box::new(filter)),
        },
        ui,
    )
}
