//! [`Replacement`]: a whole file that is ready to be put in another's place, with that kept.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError, OpenHow, disk::NewFile};

use crate::{
    derived_files::is_beginning,
    paths::LedgerPaths,
    quarantine,
    repair::{Repair, RepairKind},
};

/// A file that is on disk as it is to be, without its name.
#[derive(Debug)]
pub(crate) struct Replacement {
    new: NewFile,
    /// Path of a copy of the replaced file.
    kept: Option<PathBuf>,
}

impl Replacement {
    /// Makes the new file durable, and copies the old one to the quarantine unless the new one
    /// begins with it. Changes no existing file.
    pub(crate) fn prepare(
        disk: &Disk,
        paths: &LedgerPaths,
        mut new: NewFile,
    ) -> Result<Self, DiskError> {
        new.sync()?;
        let kept = match disk.open_if_there(new.path(), OpenHow::READ)? {
            // A beginning of the right bytes holds nothing that they lack.
            Some(found) if !is_beginning(&found, new.written()?)? => {
                Some(quarantine::keep_file(disk, paths, &found)?)
            }
            _ => None,
        };
        Ok(Self { new, kept })
    }

    /// Gives it its name. The file that it replaces must not have changed.
    pub(crate) fn carry_out(self) -> Result<Repair, DiskError> {
        let path = self.new.path().to_owned();
        self.new.replace()?;
        Ok(Repair {
            path,
            what: RepairKind::Rewritten,
            kept: self.kept,
        })
    }
}

/// Gives a new file its name at once; what stood there, and is not a beginning of it, is kept.
pub(crate) fn put(disk: &Disk, paths: &LedgerPaths, new: NewFile) -> Result<Repair, DiskError> {
    Replacement::prepare(disk, paths, new)?.carry_out()
}
