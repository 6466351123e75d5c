//! Ids of entries by how they begin, and archives that need not be unpacked.

use std::collections::BTreeSet;

use callosum_host::Disk;

use super::{
    Reader, archives::Archive, entries::Unanswered, read_error::ReadError, source::Source,
};
use crate::{hashlog::Hashlog, paths::LedgerPaths, task_id::TaskId};

impl Reader {
    /// Returns the ids that begin with `prefix` and have an entry, in order, at most `most`.
    ///
    /// Reads hashlogs, and an archive itself only if its hashlog is not the one that the journal tells of.
    pub fn ids_with_prefix(&self, prefix: &str, most: usize) -> Result<Vec<TaskId>, ReadError> {
        let mut ids = BTreeSet::new();
        ids.extend(self.active.ask(|source| source.ids_after(prefix))?);
        for archive in self.present()? {
            if ids.len() > most {
                break;
            }
            if let Some(hashlog) = trusted_hashlog(&self.disk, &self.paths, &archive)? {
                ids.extend(hashlog.ids_after(prefix)?);
            } else {
                let source = archive.open(&self.disk, &self.paths)?;
                ids.extend(source.ask(|source| source.ids_after(prefix))?);
            }
        }
        let ids = ids.iter().filter_map(|id| id.parse().ok());
        Ok(ids.take(most).collect())
    }
}

impl Source {
    /// Returns the ids in it that begin so.
    fn ids_after(&self, prefix: &str) -> Result<Vec<String>, Unanswered> {
        match self {
            Self::Missing => Ok(Vec::new()),
            Self::Indexed { hashlog, .. } => Ok(hashlog.ids_after(prefix)?),
            Self::Scanned { .. } => {
                let mut ids = Vec::new();
                self.each(|entry| {
                    let id = entry.task_id.as_str();
                    if id.starts_with(prefix) {
                        ids.push(id.to_owned());
                    }
                })?;
                Ok(ids)
            }
        }
    }
}

/// Returns true if an archive's hashlog, which is the one that the journal tells of, has no entry of the task.
///
/// Then the archive need not be opened: of a compressed one that costs the unpacking of its first and last entries.
pub(super) fn lacks_task(
    disk: &Disk,
    paths: &LedgerPaths,
    archive: &Archive,
    task_id: &TaskId,
) -> Result<bool, ReadError> {
    match trusted_hashlog(disk, paths, archive)? {
        Some(hashlog) => Ok(hashlog.places_of(task_id)?.is_empty()),
        None => Ok(false),
    }
}

/// Returns an archive's hashlog if it is the one that the journal tells of.
fn trusted_hashlog(
    disk: &Disk,
    paths: &LedgerPaths,
    archive: &Archive,
) -> Result<Option<Hashlog>, ReadError> {
    let Some(record) = &archive.record else {
        return Ok(None);
    };
    let hashlog = Hashlog::open(
        disk,
        &paths.archived_hashlog(&archive.name),
        &paths.archived_index(&archive.name),
    )?;
    let Some(hashlog) = hashlog else {
        return Ok(None);
    };
    // Its ends are the journal's, and all lines between them are there.
    let is_whole = hashlog.joins(record.follows, record.hashlog)? && hashlog.ends()?.is_some();
    Ok(is_whole.then_some(hashlog))
}
