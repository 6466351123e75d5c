//! From a failure of the disk or of a lock to what failed, why, and one hint to paste.

use std::error::Error;
use std::io::ErrorKind;

use callosum_host::{DiskError, LockError};
use callosum_ledger::ErrorCode;

use crate::{CommandError, Exit, shell_word};

/// Hint if a lock is held (E007).
pub(crate) const WHEN_FREE: &str =
    "try again when the other process has finished; the lock of a dead process is released";

/// Explains a failure of the disk.
pub fn disk_failed(error: &DiskError) -> CommandError {
    let explained =
        CommandError::from_error(Exit::Environment, error).coded(Some(ErrorCode::DiskFailure));
    with_disk_hint(explained, error)
}

/// Explains why a lock was not acquired.
pub fn unlocked(error: &LockError) -> CommandError {
    match error {
        LockError::Timeout { .. } => CommandError::because(
            Exit::Environment,
            "another process is using these files",
            error,
        )
        .coded(Some(ErrorCode::LockTimeout))
        .hint(WHEN_FREE),
        LockError::Disk(error) => disk_failed(error),
    }
}

/// Returns the hint if there was no room for a file.
fn making_room(disk: &DiskError) -> String {
    const THEN: &str = "then run it again: acknowledged writes are on disk, and this write is either \
                        complete or absent";
    if disk.source.kind() == ErrorKind::FileTooLarge {
        return format!("raise the file size limit (`ulimit -f`), {THEN}");
    }
    let folder = disk
        .path
        .parent()
        .unwrap_or(&disk.path)
        .display()
        .to_string();
    let folder = shell_word(&folder);
    format!("free space on the disk of {folder} (see `df -h {folder}`), {THEN}")
}

/// Adds what to do where the disk is behind it.
pub fn with_disk_hint(explained: CommandError, error: &(dyn Error + 'static)) -> CommandError {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(disk) = cause.downcast_ref::<DiskError>() {
            if disk.is_full() {
                return explained.hint(making_room(disk));
            }
            if disk.is_read_only() || disk.is_denied() {
                let folder = disk.path.parent().unwrap_or(&disk.path);
                return explained.hint(format!(
                    "callosum needs write access to {}; `callosum doctor` lists the other folders",
                    folder.display()
                ));
            }
        }
        next = cause.source();
    }
    explained
}
