//! `callosum ledger recover`: the ledger brought back.

use std::{fmt::Write as _, path::PathBuf};

use callosum_ledger::{ErrorCode, Ledger, RecoverError, RecoverFrom};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    cli::{context::Context, store},
    ui::{CommandError, Exit, Progress, many},
};

/// Bring the ledger back from a backup, the audit journal, or its own file
///
/// Nothing is deleted: what is replaced is put into .cal_quarantine, and the audit journal tells of
/// it. A backup is taken only if every checksum in it is right.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger recover .cal_backup/cal_memory_20260102_030405.json
  $ callosum ledger recover --from-audit
  $ callosum ledger recover --appended")]
#[group(required = true, multiple = false)]
pub(crate) struct RecoverArgs {
    /// Replace the ledger by this backup
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Make ledger, hashlog and archives what the audit journal says
    #[arg(long)]
    from_audit: bool,
    /// Take in the valid entries that another program appended to the ledger
    #[arg(long)]
    appended: bool,
    /// Begin a new audit journal with the ledger that is there, because the old one is lost
    #[arg(long)]
    new_journal: bool,
}

/// `callosum ledger recover --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RecoverOutput {
    /// Entries that were taken into the audit journal.
    pub(crate) taken_in: u64,
    /// Entries of a backup that were passed over, because an archive has them.
    pub(crate) archived: u64,
    /// What was made what the audit journal says.
    pub(crate) restored: Vec<String>,
    /// Where what was replaced was put.
    pub(crate) set_aside: Vec<String>,
}

pub(super) fn run(context: &Context, args: &RecoverArgs) -> Result<(), CommandError> {
    let file = args.file.as_ref().map(|file| context.folder.join(file));
    let from = match &file {
        Some(file) => RecoverFrom::Backup(file),
        None if args.from_audit => RecoverFrom::Audit,
        None if args.appended => RecoverFrom::Appended,
        None => RecoverFrom::LedgerAlone,
    };
    let progress = Progress::start(context.ui, "recovering");
    let paths = context.ledger_paths();
    let recovered = Ledger::recover(&context.disk, &paths, &context.clock, from)
        .map_err(|error| explain(&error))?;
    drop(progress);
    let shown = |path: &PathBuf| {
        let path = path.strip_prefix(context.state()).unwrap_or(path);
        path.display().to_string()
    };
    let output = RecoverOutput {
        taken_in: recovered.taken_in,
        archived: recovered.archived,
        restored: recovered
            .repairs
            .iter()
            .map(|repair| shown(&repair.path))
            .collect(),
        set_aside: recovered.set_aside.iter().map(shown).collect(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut text = format!(
        "{} taken into the audit journal\n",
        many(output.taken_in, "entry")
    );
    for (what, paths) in [
        ("restored", &output.restored),
        ("set aside", &output.set_aside),
    ] {
        if !paths.is_empty() {
            let _ = writeln!(text, "{what}: {}", paths.join(" "));
        }
    }
    context.ui.data(&text)
}

fn explain(error: &RecoverError) -> CommandError {
    let what = "the ledger was not recovered";
    match error {
        RecoverError::Open(error) => match error.code() {
            Some(ErrorCode::ChecksumMismatch) => store::unopened(error).hint(
                "callosum ledger recover --new-journal, once callosum ledger verify says that \
                 the ledger itself is sound",
            ),
            _ => store::unopened(error),
        },
        RecoverError::Archive(error) => store::unreadable(error),
        _ => CommandError::because(Exit::No, what, error)
            .coded(error.code())
            .hint("callosum ledger verify"),
    }
}
