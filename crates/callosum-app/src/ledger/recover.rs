//! `callosum ledger recover`: the ledger brought back.

use std::path::Path;

use callosum_host::disk::EntryKind;
use callosum_ledger::{BackupError, CreateError, ErrorCode, RecoverError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, Exit, disk_errors, ledger_errors};

/// `callosum ledger recover --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecoverOutput {
    /// Entries that were taken into the audit journal.
    pub imported: u64,
    /// Entries of a backup that were passed over, because an archive has them.
    pub archived: u64,
    /// The tasks whose entries are not in the ledger any more, because the backup is older.
    pub left_out: Vec<String>,
    /// Parts that were restored to the state in the audit journal.
    pub restored: Vec<String>,
    /// Files that the replaced parts were moved to.
    pub set_aside: Vec<String>,
    /// The archives that are gone or hold something else, and whose entries the audit journal does
    /// not have: they only come back from a copy.
    pub not_in_journal: Vec<String>,
}

/// Fails with [`Exit::No`] if a part is still not what it was; the parts have been reported.
pub fn answer(output: &RecoverOutput) -> Result<(), CommandError> {
    if output.not_in_journal.is_empty() {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

/// Fails if a path is not a regular file.
pub fn refuse_what_is_no_file(context: &Context, file: &Path) -> Result<(), CommandError> {
    let found = context.disk.canonicalize(file).ok();
    let stat = found.map(|path| context.disk.stat(&path)).transpose();
    let stat = stat
        .map_err(|error| disk_errors::disk_failed(&error))?
        .flatten();
    match stat.map(|stat| stat.kind) {
        Some(EntryKind::File) => Ok(()),
        Some(_) => Err(no_backup(format!("`{}` is not a file", file.display()))),
        None => Err(no_backup(format!("`{}` does not exist", file.display()))),
    }
}

fn no_backup(what: String) -> CommandError {
    CommandError::new(Exit::Usage, what)
        .hint("see where backups are stored: callosum ledger backup")
}

/// Explains why the ledger was not recovered.
pub fn explain(error: &RecoverError) -> CommandError {
    let what = "cannot recover the ledger";
    let explained = CommandError::because(Exit::No, what, error).coded(error.code());
    match error {
        RecoverError::Open(error) => match error.code() {
            Some(ErrorCode::ChecksumMismatch) => ledger_errors::unopened(error).hint(
                "check that the ledger itself is sound: callosum ledger verify; then: callosum ledger \
                 recover --new-journal",
            ),
            _ => ledger_errors::unopened(error),
        },
        RecoverError::Archive(error) => ledger_errors::unreadable(error),
        RecoverError::Itself { .. } => no_backup(error.to_string()),
        RecoverError::Backup { source, .. } if is_no_ledger(source) => {
            CommandError::because(Exit::Usage, what, error)
                .hint("see where backups are stored: callosum ledger backup")
        }
        RecoverError::NoNote { .. } | RecoverError::Untold { .. } => explained.hint(
            "if you know where the file comes from: callosum ledger recover FILE --skip-verify",
        ),
        RecoverError::Beyond { .. } => explained.hint(
            "import what was appended: callosum ledger recover --import-appended; or drop it: callosum ledger \
             recover --from-audit --force; check the journal first: callosum ledger verify",
        ),
        RecoverError::JournalIsSound { .. } => explained.hint(
            "callosum ledger recover --from-audit; or drop the journal and its proof: callosum ledger \
             recover --new-journal --force",
        ),
        _ => explained.hint("callosum ledger verify"),
    }
}

/// Whether a file is not a ledger at all, rather than one in which something is wrong.
fn is_no_ledger(error: &BackupError) -> bool {
    matches!(error, BackupError::Wrong(CreateError::NotALedger { .. }))
}
