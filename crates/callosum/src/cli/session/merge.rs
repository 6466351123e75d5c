//! `callosum session merge`: the merge driver that git calls for a session's file.

use std::path::PathBuf;

use callosum_app::{CommandError, Exit, disk_errors};
use callosum_redact::secrets::mask;
use callosum_redact::terminal_escape::harmless;
use callosum_session::merge::{Kind, MergeError, marked, merged};
use clap::Args;

use crate::cli::context::Context;

/// Merge NOTES.md, a trajectory or a bead for git
///
/// Writes OURS with everything that THEIRS added, changed and removed since BASE. Merges entries, records, rows and
/// questions, not lines. If both sides changed the same thing in different ways, writes git's conflict markers around
/// it and exits with 1. Git reports that as a conflict.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ git config merge.callosum.driver 'callosum session merge %O %A %B --path %P'
  $ git check-attr merge loa-grimoire/NOTES.md")]
pub(crate) struct MergeArgs {
    /// Merge base of both files; an empty file if there is none
    base: PathBuf,
    /// Our file; receives the result
    ours: PathBuf,
    /// Their file
    theirs: PathBuf,
    /// Path in the project; it determines the kind of file
    #[arg(long, value_name = "PATH")]
    path: String,
}

pub(super) fn run(context: &Context, args: &MergeArgs) -> Result<(), CommandError> {
    let Some(kind) = Kind::of(&args.path) else {
        let what = format!("`{}` is not a session file", args.path);
        let hint = "NOTES.md, a trajectory (*.jsonl) or a bead (.beads/ID.yaml)";
        return Err(CommandError::new(Exit::No, what).hint(hint));
    };
    let read = |path: &PathBuf| {
        let bytes = context.disk.read(path);
        bytes.map_err(|error| disk_errors::disk_failed(&error))
    };
    let (base, ours, theirs) = (read(&args.base)?, read(&args.ours)?, read(&args.theirs)?);
    let write = |made: &[u8]| {
        let written = context.disk.rewrite(&args.ours, made, 0o644);
        written.map_err(|error| disk_errors::disk_failed(&error))
    };
    // Git passes an empty base if both sides created the file.
    let base = Some(base).filter(|base| !base.is_empty());
    let made = match merged(kind, base.as_deref(), &ours, &theirs) {
        Ok(made) => made,
        Err(error) => {
            // Git takes the content for the conflict: without marks, our side alone would be
            // committed.
            if error != MergeError::Unfinished {
                write(&marked(&ours, &theirs))?;
            }
            return Err(CommandError::from_error(Exit::No, &error));
        }
    };
    for line in &made.told {
        let line = mask(line).text;
        context
            .report
            .say(&harmless(&format!("{}: {line}", args.path)));
    }
    write(&made.marked())?;
    match made.asks() {
        None => Ok(()),
        Some(asked) => {
            let what = harmless(&mask(&asked).text);
            let hint = "resolve git's conflict markers in it, then `git add` it";
            Err(CommandError::new(Exit::No, what).hint(hint))
        }
    }
}
