//! Arguments and output of `callosum audit checkpoint`.
//!
//! The use case is [`callosum_app::audit::checkpoint`].

use std::fmt::Write as _;

use callosum_app::audit::checkpoint::CheckpointOutput;
use callosum_app::audit::git_ref;
use callosum_app::{CommandError, Exit, auto_checkpoint};
use callosum_ledger::checkpoint::Begin;
use clap::Args;

use crate::cli::context::Context;

/// Sign a checkpoint of the audit journal and store it outside the project
///
/// Commands that write sign a checkpoint automatically when they end. Checkpoints are in this
/// machine's state folder; `callosum audit verify` compares the journal with them.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit checkpoint
  $ callosum audit checkpoint --show-key
  $ callosum audit checkpoint --git-ref")]
pub(crate) struct CheckpointArgs {
    /// Print the key that verifies the journal's last checkpoint and proofs
    #[arg(long, conflicts_with_all = ["new_key", "reset", "git_ref"])]
    show_key: bool,
    /// Sign with a new key from now on, in all projects
    ///
    /// The old key signs this checkpoint too.
    #[arg(long, conflicts_with = "reset")]
    new_key: bool,
    /// Discard earlier checkpoints and trust the journal as it is now
    #[arg(long)]
    reset: bool,
    /// Also store all checkpoints in git, at refs/callosum/checkpoints
    #[arg(long)]
    git_ref: bool,
}

pub(super) fn run(context: &Context, args: &CheckpointArgs) -> Result<(), CommandError> {
    if args.show_key {
        return show_key(context);
    }
    let begin = match (args.new_key, args.reset) {
        (true, _) => Begin::NewKey,
        (false, true) => Begin::Anew,
        (false, false) => Begin::GoOn,
    };
    let made = auto_checkpoint::make_and_tell(context, begin)?;
    let mut output = match &made {
        Some(made) => CheckpointOutput::of(made),
        None => CheckpointOutput::last(context)?,
    };
    if args.git_ref {
        output.git_object = Some(git_ref::keep(context)?);
    }
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let word = if output.created {
        "signed"
    } else {
        "already signed"
    };
    let mut text = format!("{word}: {} records, root {}\n", output.size, output.root);
    for (what, value) in [
        ("key", &output.key),
        ("previous key", &output.previous_key),
        ("set aside", &output.set_aside),
        ("git object", &output.git_object),
    ] {
        if let Some(value) = value {
            let _ = writeln!(text, "{what}: {value}");
        }
    }
    context.ui.data(&text)
}

fn show_key(context: &Context) -> Result<(), CommandError> {
    let key = context
        .trust_store()
        .verifier(&context.disk)
        .map_err(|error| auto_checkpoint::unmade(&error))?;
    let next = context
        .trust_store()
        .next_verifier(&context.disk)
        .map_err(|error| auto_checkpoint::unmade(&error))?;
    match key {
        Some(key) => {
            if let Some(next) = next {
                context.report.say(&format!(
                    "another project changed the key; the next checkpoint will be signed with {next}"
                ));
            }
            context.ui.data(&format!("{key}\n"))
        }
        None => Err(
            CommandError::new(Exit::No, "this machine has no checkpoint of this project")
                .hint("callosum audit checkpoint"),
        ),
    }
}
