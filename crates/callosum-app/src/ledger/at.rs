//! `callosum ledger at`: the ledger as it stood at a time.

use callosum_ledger::{OpenError, PastError};

use crate::{CommandError, Exit, disk_errors};

/// Explains why an earlier state cannot be shown.
pub fn explain(error: &PastError) -> CommandError {
    let exit = match error {
        PastError::NotYet { .. } | PastError::Entry { .. } => Exit::No,
        PastError::Journal(_) => Exit::Environment,
    };
    let is_of_disk = match error {
        PastError::Journal(OpenError::Disk(_)) => true,
        PastError::Journal(_) | PastError::NotYet { .. } | PastError::Entry { .. } => false,
    };
    let explained = CommandError::because(exit, "cannot rebuild the ledger at that time", error)
        .coded(error.code());
    if is_of_disk {
        return disk_errors::with_disk_hint(explained, error);
    }
    let hint = match error {
        PastError::NotYet { .. } => "see when the journal begins: callosum audit query --limit 1",
        PastError::Entry { .. } | PastError::Journal(_) => "callosum audit verify",
    };
    explained.hint(hint)
}
