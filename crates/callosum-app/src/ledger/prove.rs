//! `callosum ledger prove`: writes a file that proves an entry to someone who has nothing else.

use callosum_ledger::proof::ProveError;

use crate::{CommandError, Exit, auto_checkpoint, disk_errors};

/// Explains why there is no proof.
pub fn unproved(error: &ProveError) -> CommandError {
    let explained = |exit| CommandError::because(exit, "cannot prove the entry", error);
    match error {
        ProveError::Disk(error) => disk_errors::disk_failed(error),
        ProveError::Key(error) => auto_checkpoint::unkeyed(error),
        ProveError::Lock(_) => explained(Exit::Environment),
        ProveError::NoEntry { .. } => explained(Exit::No).hint("callosum ledger query"),
        ProveError::NotSigned { .. } => explained(Exit::No).hint("callosum audit checkpoint"),
        ProveError::Foreign { .. } | ProveError::Inconsistent { .. } => {
            explained(Exit::No).hint("callosum audit verify")
        }
    }
}
