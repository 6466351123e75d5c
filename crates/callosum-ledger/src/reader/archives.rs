//! [`Archive`]: the archives that the journal lists, and nothing else in their folder.
//!
//! Their names come from the watermark if the active hashlog continues its state; else from the
//! journal. A file of such a name must hold the entries that were archived under it: see
//! [`Source::archive`].

use std::{collections::HashSet, path::PathBuf};

use callosum_host::{Disk, DiskError};
use jiff::{civil::Date, tz::TimeZone};

use super::{read_error::ReadError, source::Source};
use crate::{
    archive_files,
    archive_name::ArchiveName,
    journal::{Archived, day_files, follow},
    paths::LedgerPaths,
    position::Position,
    task_id::TaskId,
    watermark,
};
use callosum_json::Checksum;

/// An archived ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Archive {
    pub(crate) name: ArchiveName,
    /// The journal's statement about it; `None` if there is no journal, and so no proof of
    /// anything.
    pub(crate) record: Option<Archived>,
}

/// The archives of a project, the newest first. Without a journal, all that have a name of one.
pub(super) fn of_project(
    disk: &Disk,
    paths: &LedgerPaths,
    active: &Source,
) -> Result<Vec<Archive>, ReadError> {
    if day_files(disk, &paths.audit)?.is_empty() {
        let names = archive_files::names(disk, &paths.history)?;
        let found = |name| Archive { name, record: None };
        return Ok(names.into_iter().rev().map(found).collect());
    }
    Ok(newest_first(&list_recorded(disk, paths, active)?))
}

/// Returns the archives that the journal lists, the earliest first.
fn list_recorded(
    disk: &Disk,
    paths: &LedgerPaths,
    active: &Source,
) -> Result<Vec<Archived>, ReadError> {
    if let Some(follows) = active.follows()?
        && let Some(marked) = watermark::stated(disk, paths)?
        && knows_ledger_after(&marked, follows)
    {
        return Ok(marked.archives);
    }
    let known = watermark::read(disk, paths)?.unwrap_or_else(Position::start);
    Ok(follow(disk, paths, &known)?.position.archives)
}

/// Whether a position is from when the ledger existed whose hashlog continues `follows`, or later:
/// then it has all archives before that ledger.
fn knows_ledger_after(position: &Position, follows: Checksum) -> bool {
    let active = position.view.iter().map(|view| view.follows);
    let archived = position.archives.iter().map(|archived| archived.follows);
    active.chain(archived).any(|of_it| of_it == follows)
}

fn newest_first(archives: &[Archived]) -> Vec<Archive> {
    let archive = |archived: &Archived| Archive {
        name: archived.archive,
        record: Some(archived.clone()),
    };
    archives.iter().rev().map(archive).collect()
}

/// Lists the archives that the journal records, the earliest first.
pub(crate) fn recorded_archives(
    disk: &Disk,
    paths: &LedgerPaths,
) -> Result<Vec<Archived>, ReadError> {
    list_recorded(disk, paths, &Source::active(disk, paths)?)
}

impl Archive {
    /// Whether its file is there, compressed or not.
    pub(super) fn is_there(&self, disk: &Disk, paths: &LedgerPaths) -> Result<bool, DiskError> {
        archive_files::is_kept(disk, paths, &self.name)
    }

    /// The error that it is not.
    pub(super) fn gone(&self, paths: &LedgerPaths) -> ReadError {
        ReadError::ArchiveGone {
            path: self.path(paths),
            is_in_journal: self.is_in_journal(),
        }
    }

    /// Whether the journal has its entries; of one that was there before it, it has the hash alone.
    pub(super) fn is_in_journal(&self) -> bool {
        self.record
            .as_ref()
            .is_some_and(|record| !record.is_adopted)
    }

    /// Returns the path of its uncompressed form.
    pub(super) fn path(&self, paths: &LedgerPaths) -> PathBuf {
        paths.archive(&self.name)
    }

    /// Opens it to be asked.
    pub(super) fn open(&self, disk: &Disk, paths: &LedgerPaths) -> Result<Source, ReadError> {
        if !self.is_there(disk, paths)? {
            return Err(self.gone(paths));
        }
        Source::archive(disk, paths, self)
    }
}

/// Those of `ids` that have an entry in one of the archives.
pub(crate) fn archived_among(
    disk: &Disk,
    paths: &LedgerPaths,
    archives: &[Archived],
    ids: Vec<TaskId>,
) -> Result<HashSet<TaskId>, ReadError> {
    let mut archived = HashSet::new();
    for archive in newest_first(archives) {
        let source = archive.open(disk, paths)?;
        archived.extend(source.ask(|source| source.having(&ids))?);
    }
    Ok(archived)
}

/// Those of `ids` that have an entry, in the active ledger or one of the archives.
///
/// The archives are read only for what the active ledger does not have.
pub(crate) fn stored_among(
    disk: &Disk,
    paths: &LedgerPaths,
    archives: &[Archived],
    mut ids: Vec<TaskId>,
) -> Result<Vec<TaskId>, ReadError> {
    let mut stored = Vec::new();
    let mut look_in = |source: &Source| {
        let found: HashSet<TaskId> = source.ask(|source| source.having(&ids))?;
        let (here, left) = std::mem::take(&mut ids)
            .into_iter()
            .partition::<Vec<_>, _>(|id| found.contains(id));
        stored.extend(here);
        ids = left;
        Ok::<_, ReadError>(ids.is_empty())
    };
    if look_in(&Source::active(disk, paths)?)? {
        return Ok(stored);
    }
    for archive in newest_first(archives) {
        if look_in(&archive.open(disk, paths)?)? {
            break;
        }
    }
    Ok(stored)
}

/// Returns the highest number of a day's ids that have an entry, in the active ledger or one of the
/// archives; 0 if none has.
///
/// It is a second look, in addition to the journal: unreadable files are skipped. Reads the
/// hashlogs of the ledgers that have entries of that day or later.
pub(crate) fn highest_of_day(
    disk: &Disk,
    paths: &LedgerPaths,
    archives: &[Archived],
    day: Date,
) -> u16 {
    let prefix = TaskId::dated(day, 0).map(|id| id.as_str().trim_end_matches('0').to_owned());
    let since = day.to_zoned(TimeZone::UTC).map(|from| from.timestamp());
    let (Some(prefix), Ok(since)) = (prefix, since) else {
        return 0;
    };
    let active = Source::active(disk, paths);
    let archived = newest_first(archives);
    let archived = archived.iter().map(|archive| archive.open(disk, paths));
    std::iter::once(active)
        .chain(archived)
        .filter_map(Result::ok)
        .filter(|source| source.may_have(Some(since), None))
        .filter_map(|source| source.highest_after(&prefix).ok())
        .max()
        .unwrap_or(0)
}
