//! Files that someone puts into `bridge.d/`: additions that no one else can overwrite. They are
//! applied and removed.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, disk::EntryKind};

use crate::quarantine::is_no_folder;

/// Most files that are taken in at once, and most others that are named.
const MOST: usize = 1000;

/// So deep folders are looked into: one for each agent.
const DEEPEST: usize = 2;

/// A file that is no JSON may still be written for so long after its last change.
pub(super) const STILL_WRITTEN: Duration = Duration::from_secs(1);

/// Files in the folder, by name.
#[derive(Debug, Default)]
pub(super) struct DropIn {
    /// Files to apply: `*.json` in the folder and in those one below it.
    pub(super) files: Vec<PathBuf>,
    /// Files that are left alone.
    pub(super) strays: Vec<Stray>,
}

/// Something that is not taken in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stray {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason for leaving it alone.
    pub why: &'static str,
}

/// Lists the files. Hidden ones are ignored: programs write those before renaming them into place.
pub(super) fn found(disk: &Disk, folder: &Path) -> Result<DropIn, DiskError> {
    let mut found = DropIn::default();
    if is_no_folder(disk, folder)? {
        found.strays.push(Stray {
            path: folder.to_owned(),
            why: "is not a folder",
        });
        return Ok(found);
    }
    look(disk, folder, DEEPEST, &mut found)?;
    found.files.sort();
    found.strays.sort();
    Ok(found)
}

fn look(disk: &Disk, folder: &Path, left: usize, found: &mut DropIn) -> Result<(), DiskError> {
    for entry in disk.list_dir(folder)? {
        let path = folder.join(&entry.name);
        let is_hidden = entry.name.as_encoded_bytes().starts_with(b".");
        let is_json = path.extension().is_some_and(|end| end == "json");
        let why = match entry.kind {
            _ if is_hidden => continue,
            EntryKind::File if is_json => {
                if found.files.len() < MOST {
                    found.files.push(path);
                }
                continue;
            }
            EntryKind::Folder if left > 1 => {
                look(disk, &path, left - 1, found)?;
                continue;
            }
            EntryKind::File => "does not end in .json",
            EntryKind::Folder => "is a folder in an agent's folder",
            EntryKind::Link => "is a link",
            EntryKind::Other => "is not a regular file",
        };
        if found.strays.len() < MOST {
            found.strays.push(Stray { path, why });
        }
    }
    Ok(())
}
