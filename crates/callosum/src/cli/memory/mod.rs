//! Arguments and output of `callosum memory`.
//!
//! The use case is [`callosum_app::memory`].

mod render;

pub(crate) use self::render::sessions;

use std::fmt::Write as _;
use std::path::PathBuf;

use callosum_app::memory::{
    MemoryChangeOutput, MemoryMachine, exclude, export, forget_all, forget_session, install_model,
    rebuild, status, turn_off, turn_on,
};
use callosum_app::{CommandError, Exit, many};
use callosum_redact::terminal_escape::in_json;
use clap::{Args, Subcommand};

use super::context::Context;

/// Index the past sessions of your agents on this machine, to search them
///
/// Off until you turn it on. Reads the session files of Claude Code, Codex, Gemini CLI, Qwen Code and opencode, and never
/// changes them, and the ledgers, decisions, plans and messages of your projects. Secrets are masked before a text is stored,
/// in a file that only you can read. Nothing leaves the machine.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    On(OnArgs),
    Off(OffArgs),
    Status(StatusArgs),
    Exclude(ExcludeArgs),
    Forget(ForgetArgs),
    Rebuild(RebuildArgs),
    Export(ExportArgs),
    #[command(subcommand)]
    Model(ModelCommand),
}

/// Turn the memory on, and read the past sessions
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory on
  $ callosum find --sessions \"why did we drop the message broker\"")]
pub(crate) struct OnArgs {}

/// Turn the memory off
///
/// The index stays, and is not updated. `callosum memory forget --all` removes it.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory off")]
pub(crate) struct OffArgs {}

/// Show whether the memory is on, and what it holds
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory status
  $ callosum memory status --json")]
pub(crate) struct StatusArgs {}

/// Leave out the sessions that ran in a folder
///
/// Sessions in folders inside it are left out, too. Turns that are in the index already are removed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory exclude ~/private
  $ callosum memory exclude ~/private --end")]
pub(crate) struct ExcludeArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Read its sessions again
    #[arg(long)]
    end: bool,
}

/// Remove a session, or all, from the index
///
/// A session that was forgotten is not read again. The client's own file is not changed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory forget b79fbdfa-2c0b-419c-a0f7-ae50522efffc
  $ callosum memory forget --all")]
pub(crate) struct ForgetArgs {
    /// Id of a session, as `callosum find --sessions` prints it
    #[arg(value_name = "SESSION", required_unless_present = "all")]
    session: Option<String>,
    /// Remove the whole index, and turn the memory off
    #[arg(long, conflicts_with = "session")]
    all: bool,
}

/// Remove the index and read all sessions again
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory rebuild")]
pub(crate) struct RebuildArgs {}

/// Print all turns of the index, one JSON object per line
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory export
  $ callosum memory export > sessions.jsonl")]
pub(crate) struct ExportArgs {}

/// Install word vectors, so that sessions with a similar meaning are found
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    Install(InstallArgs),
}

/// Download word vectors (18 MB) from PyPI and check them
///
/// Installs WordLlama 0.4.0 (MIT license) into the folder `model` next to your configuration, by `pip download`. Nothing of
/// the package is run. `callosum find` uses the vectors, too. Removing the folder uninstalls them.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum memory model install")]
pub(crate) struct InstallArgs {}

pub(super) fn run(context: &Context, command: &MemoryCommand) -> Result<(), CommandError> {
    let machine = MemoryMachine::from(&**context);
    match command {
        MemoryCommand::On(_) => {
            let report = turn_on(&machine)?;
            read_all(context, &machine, "the memory is on", report.into())
        }
        MemoryCommand::Off(_) => {
            turn_off(&machine)?;
            changed(context, "the memory is off", MemoryChangeOutput::default())
        }
        MemoryCommand::Status(_) => render::status(context, &status(&machine)?),
        MemoryCommand::Exclude(args) => {
            let folder = context.folder.join(&args.folder);
            // A folder that is gone may still have sessions.
            let folder = context.disk.canonicalize(&folder).unwrap_or(folder);
            let shown = folder.display().to_string();
            let report = exclude(&machine, folder, args.end)?;
            let what = if args.end {
                format!("{shown} is no longer excluded")
            } else {
                format!("{shown} is excluded")
            };
            changed(context, &what, report.into())
        }
        MemoryCommand::Forget(args) => forget(context, &machine, args),
        MemoryCommand::Rebuild(_) => {
            let report = rebuild(&machine)?;
            read_all(
                context,
                &machine,
                "all sessions were read again",
                report.into(),
            )
        }
        MemoryCommand::Model(ModelCommand::Install(_)) => {
            let output = install_model(&machine)?;
            if context.ui.json {
                return context.ui.json_data(&output);
            }
            let what = if output.installed {
                format!("word vectors are installed in {}", output.folder)
            } else {
                format!("word vectors are already installed in {}", output.folder)
            };
            context.report.say(&what);
            Ok(())
        }
        MemoryCommand::Export(_) => {
            let mut any = false;
            export(&machine, &mut |turn| {
                any = true;
                let line = serde_json::to_string(turn).map_err(CommandError::internal)?;
                context.ui.data(&format!("{}\n", in_json(&line)))
            })?;
            if any {
                return Ok(());
            }
            let what = "the memory of past sessions is empty";
            Err(CommandError::new(Exit::No, what).hint(callosum_app::memory::ON))
        }
    }
}

fn forget(
    context: &Context,
    machine: &MemoryMachine,
    args: &ForgetArgs,
) -> Result<(), CommandError> {
    if let Some(session) = &args.session {
        let removed = forget_session(machine, session)?;
        let report = MemoryChangeOutput { added: 0, removed };
        return changed(context, &format!("session {session} is forgotten"), report);
    }
    let what = if forget_all(machine)? {
        "the index is removed, and the memory is off"
    } else {
        "there is no index; the memory is off"
    };
    changed(context, what, MemoryChangeOutput::default())
}

/// Prints how much is in the index after all sessions were read.
fn read_all(
    context: &Context,
    machine: &MemoryMachine,
    what: &str,
    output: MemoryChangeOutput,
) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let status = status(machine)?;
    let (turns, sessions) = (many(status.turns, "turn"), many(status.sessions, "session"));
    context
        .report
        .say(&format!("{what}: {turns} in {sessions}"));
    if status.turns > 0 {
        context.report.hint("callosum find --sessions QUESTION");
    }
    Ok(())
}

/// Prints what a command changed.
fn changed(context: &Context, what: &str, output: MemoryChangeOutput) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut line = what.to_owned();
    if output.added > 0 {
        let _ = write!(line, ", {} read", many(output.added, "turn"));
    }
    if output.removed > 0 {
        let _ = write!(line, ", {} removed", many(output.removed, "turn"));
    }
    context.report.say(&line);
    Ok(())
}
