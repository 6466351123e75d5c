//! A command file that takes the place of Claude Code's own `/clear`, so that a hook gets it: for
//! versions that call no plugin, and only if the user asks for it.
//!
//! It never clears: the hook reports whether the context may be, and what to type then.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};

/// Content of the file. It reaches the model only if the hook does not answer.
const COMMAND: &str = "---
description: Check whether the context may be cleared (callosum)
---
Run `callosum session check` and report its output. The context was not cleared: use `/new` once the check passes.
";

/// Returns the path of the file, next to a client's settings.
fn place(settings: &Path) -> PathBuf {
    settings.with_file_name("commands").join("clear.md")
}

/// Writes the file; returns whether it is there now. One that is not ours is left.
pub(super) fn write(disk: &Disk, settings: &Path) -> Result<bool, DiskError> {
    let path = place(settings);
    if let Some(folder) = path.parent() {
        disk.create_dir_all(folder)?;
    }
    disk.create(&path, COMMAND.as_bytes(), 0o644)?;
    Ok(disk.read(&path)? == COMMAND.as_bytes())
}

/// Removes the file if it is ours, and the folder if it holds nothing else.
pub(super) fn remove(disk: &Disk, settings: &Path) -> Result<(), DiskError> {
    let path = place(settings);
    if disk.read_if_there(&path)?.as_deref() == Some(COMMAND.as_bytes()) {
        disk.remove_file(&path)?;
        if let Some(folder) = path.parent() {
            // One that others put something into stays.
            drop(disk.remove_dir(folder));
        }
    }
    Ok(())
}
