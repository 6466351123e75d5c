//! From the errors of the ledger to what failed, why, and one hint to paste.

use callosum_ledger::{CreateError, ErrorCode, OpenError, ReadError, WriteError};

use crate::disk_errors::{WHEN_FREE, with_disk_hint};
use crate::{CommandError, Exit};

/// Explains why the ledger's files could not be created.
pub fn uncreated(error: &CreateError) -> CommandError {
    match error {
        CreateError::Open(error) => unopened(error),
        _ => CommandError::from_error(Exit::Environment, error)
            .hint("nothing was changed; repair the file or move it away"),
    }
}

/// Explains why the ledger could not be opened for writing.
pub fn unopened(error: &OpenError) -> CommandError {
    let explained = CommandError::because(Exit::Environment, "cannot open the ledger", error)
        .coded(error.code());
    match error {
        OpenError::NotCreated { .. } => explained.hint("callosum init"),
        OpenError::Newer { .. } => explained
            .hint("a newer callosum wrote it; this version can still read it: callosum ledger query"),
        OpenError::Foreign { .. } => explained.hint(
            "see what differs: callosum ledger verify; then rebuild the ledger from the journal: callosum \
             ledger recover --from-audit; or import what was added: callosum ledger recover --import-appended",
        ),
        OpenError::NotALedger { .. } => {
            explained.hint("repair the file or move it away; the next command rebuilds it")
        }
        OpenError::JournalGone { .. } => explained.hint(
            "restore the folder from a backup or version control, or start a new journal from the ledger: \
             callosum ledger recover --new-journal",
        ),
        OpenError::Cut { .. } => explained.hint(
            "restore what is missing (`callosum audit verify` lists it), or accept the journal as it is: \
             callosum audit checkpoint --reset",
        ),
        OpenError::DayToCome { .. } => {
            explained.hint("callosum did not write this file: move it away")
        }
        _ if error.code() == Some(ErrorCode::LockTimeout) => explained.hint(WHEN_FREE),
        _ => with_disk_hint(explained, error),
    }
}

/// Explains why something was not written.
pub fn unwritten(error: &WriteError) -> CommandError {
    let explained = CommandError::because(Exit::Environment, "cannot write to the ledger", error)
        .coded(error.code());
    if error.code() == Some(ErrorCode::LockTimeout) {
        return explained.hint(WHEN_FREE);
    }
    with_disk_hint(explained, error)
}

/// Returns the hint to restore an archive that is missing or was changed.
pub fn way_back_to(is_in_journal: bool) -> &'static str {
    if is_in_journal {
        "callosum ledger recover --from-audit"
    } else {
        "restore the file from a copy: it was imported with the ledger, so the audit journal has only its \
         hash; then check it: callosum ledger verify --all"
    }
}

/// Explains why the ledger could not be read.
pub fn unreadable(error: &ReadError) -> CommandError {
    // An entry that is not what was committed is an answer, and the answer is no.
    let exit = match error.code() {
        Some(ErrorCode::ChecksumMismatch) => Exit::No,
        _ => Exit::Environment,
    };
    let explained =
        CommandError::because(exit, "cannot read the ledger", error).coded(error.code());
    if let ReadError::ArchiveGone { is_in_journal, .. }
    | ReadError::ArchiveChanged { is_in_journal, .. } = error
    {
        return explained.hint(way_back_to(*is_in_journal));
    }
    if exit == Exit::No {
        return explained.hint("callosum ledger verify");
    }
    if matches!(error, ReadError::LedgerGone { .. }) {
        return explained.hint("rebuild it from the journal: callosum init");
    }
    with_disk_hint(explained, error)
}
