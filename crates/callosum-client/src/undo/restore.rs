//! Writes a file as it was: [`restore`].

use std::path::Path;

use callosum_host::{Disk, DiskError, OpenHow, disk::EntryKind};

use super::file_state::FileState;

/// The reason why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A link or file is on the way to it.
    #[error("`{0}` is no longer a folder")]
    InTheWay(String),
    /// A folder has its name.
    #[error("a folder has its name")]
    Folder,
    /// Its content is gone.
    #[error("its earlier content is gone")]
    Gone,
}

/// Makes what is at `path` in `tree` be `state` again, whose content is `bytes`.
///
/// No link on the way is followed. Folders that the file needs are made, and those that it leaves empty are removed.
pub fn restore(
    disk: &Disk,
    tree: &Path,
    path: &str,
    state: &FileState,
    bytes: Option<&[u8]>,
) -> Result<(), RestoreError> {
    let at = tree.join(path);
    let folder = at.parent().unwrap_or(tree);
    let mut is_missing = false;
    for above in Path::new(path).ancestors().skip(1) {
        let above = tree.join(above);
        match disk.stat(&above)?.map(|stat| stat.kind) {
            Some(EntryKind::Folder) => {}
            Some(_) => return Err(RestoreError::InTheWay(above.display().to_string())),
            None => is_missing = true,
        }
    }
    let found = disk.stat(&at)?;
    if found.is_some_and(|found| found.kind == EntryKind::Folder) {
        return Err(RestoreError::Folder);
    }
    if is_missing && *state != FileState::Absent {
        disk.create_dir_all(folder)?;
    }
    match state {
        FileState::Absent => {
            disk.remove_file(&at)?;
            for above in Path::new(path).ancestors().skip(1) {
                let is_top = above.as_os_str().is_empty();
                // One that holds something stays.
                if is_top || disk.remove_dir(&tree.join(above)).is_err() {
                    break;
                }
            }
        }
        FileState::File { mode, .. } => {
            let bytes = bytes.ok_or(RestoreError::Gone)?;
            disk.replace(&at, bytes, *mode)?;
            // The umask took bits away.
            let file = disk.open(&at, OpenHow::READ)?;
            if file.mode()?.map(|bits| bits & 0o7777) != Some(*mode) {
                file.set_mode(*mode)?;
            }
        }
        FileState::Link { target } => {
            disk.remove_file(&at)?;
            disk.make_link(Path::new(target), &at)?;
        }
        FileState::Object { .. } | FileState::Unknown { .. } => return Err(RestoreError::Gone),
    }
    Ok(())
}
