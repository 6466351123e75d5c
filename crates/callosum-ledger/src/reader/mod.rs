//! Reading without a lock: one entry, a query, the statistics.
//!
//! Start with [`Reader`]. It reads the active ledger up to the last whole line that the hashlog had
//! when it was opened, so concurrent writes are not seen; then the archives. A ledger without a
//! hashlog, or laid out by another program, is readable as well, only slower.

mod archives;
mod candidate;
mod entries;
mod location;
mod prefix;
mod query;
mod read_error;
mod source;
mod stats;
#[cfg(test)]
mod tests;

pub(crate) use self::archives::{archived_among, highest_of_day, recorded_archives, stored_among};
pub use self::{
    location::{EntryLocation, LocatedEntry},
    query::Query,
    read_error::ReadError,
    stats::{ExecutorStats, LedgerState, StateStats, Stats},
};

use std::{cell::RefCell, path::PathBuf};

use callosum_host::{Disk, DiskError};

use self::{archives::Archive, prefix::lacks_task, query::Given, source::Source};
use crate::{
    entry::Entry, journal::day_files, ledger_file::LedgerVersion, paths::LedgerPaths,
    task_id::TaskId,
};

/// Answers questions about a project's ledger.
#[derive(Debug)]
pub struct Reader {
    disk: Disk,
    paths: LedgerPaths,
    active: Source,
}

/// An archive that the journal lists and that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneArchive {
    /// Path at which it should be.
    pub path: PathBuf,
    /// Whether the journal has its contents, and can rebuild it. An archive older than the journal
    /// only comes back from a copy.
    pub is_in_journal: bool,
}

impl Reader {
    /// Opens a ledger for reading, also one that a later version wrote or that is read-only.
    ///
    /// A project without a ledger reads as an empty one. Fails if the ledger file is gone and the
    /// journal is not: opening the ledger for writing rebuilds the file.
    pub fn open(disk: Disk, paths: LedgerPaths) -> Result<Self, ReadError> {
        let active = Source::active(&disk, &paths)?;
        if matches!(active, Source::Missing) && !day_files(&disk, &paths.audit)?.is_empty() {
            return Err(ReadError::LedgerGone { path: paths.ledger });
        }
        Ok(Self {
            disk,
            paths,
            active,
        })
    }

    /// Returns the version in the active ledger; `None` if there is no ledger.
    pub fn version(&self) -> Option<LedgerVersion> {
        self.active.version()
    }

    /// Finds a task's entry, in the active ledger or else in the archives, the newest first.
    ///
    /// Fails with E004 if the entry does not match its checksum, and if no readable archive has it
    /// and some archive is not readable.
    pub fn find(&self, task_id: &TaskId) -> Result<Option<LocatedEntry>, ReadError> {
        if let Some(found) = self.active.ask(|source| source.find(task_id))? {
            return Ok(Some(found));
        }
        let mut unread = None;
        for archive in self.all_archives()? {
            if archive.is_there(&self.disk, &self.paths)?
                && lacks_task(&self.disk, &self.paths, &archive, task_id)?
            {
                continue;
            }
            match archive.open(&self.disk, &self.paths) {
                Ok(source) => {
                    if let Some(found) = source.ask(|source| source.find(task_id))? {
                        return Ok(Some(found));
                    }
                }
                Err(error @ (ReadError::ArchiveGone { .. } | ReadError::ArchiveChanged { .. })) => {
                    unread.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        unread.map_or(Ok(None), Err)
    }

    /// Lists the archives that the journal records and that are missing: no query finds their
    /// entries.
    pub fn gone_archives(&self) -> Result<Vec<GoneArchive>, ReadError> {
        let mut gone = Vec::new();
        for archive in self.all_archives()? {
            if !archive.is_there(&self.disk, &self.paths)? {
                gone.push(GoneArchive {
                    path: archive.path(&self.paths),
                    is_in_journal: archive.is_in_journal(),
                });
            }
        }
        Ok(gone)
    }

    /// Returns the entries that match a query, newest first.
    ///
    /// Within a file the entries' own times decide; the active ledger comes before the archives,
    /// and a later archive before an earlier one. Fails with E004 if a matching entry does not
    /// match its checksum.
    pub fn query(&self, query: &Query) -> Result<Vec<Entry>, ReadError> {
        let mut entries = Vec::new();
        self.each(query, |entry| entries.push(entry))?;
        Ok(entries)
    }

    /// Gives the same entries one after the other, and holds one at a time.
    ///
    /// Those before one whose checksum is wrong were given when it fails.
    pub fn each(&self, query: &Query, mut take: impl FnMut(Entry)) -> Result<(), ReadError> {
        let given = RefCell::new(Given::to(&mut take));
        let ask = |source: &Source| source.ask(|source| query.run(source, &mut given.borrow_mut()));
        ask(&self.active)?;
        for archive in self.present()? {
            if query.is_full(given.borrow().count()) {
                break;
            }
            let path = archive.path(&self.paths);
            if self.active.has_become(&self.disk, &path)? {
                continue;
            }
            given.borrow_mut().next_file();
            ask(&archive.open(&self.disk, &self.paths)?)?;
        }
        Ok(())
    }

    /// Counts entries and tokens over the active ledger and the archives. Reads all of them and
    /// checks every checksum, which determines the state of an archive.
    pub fn stats(&self) -> Result<Stats, ReadError> {
        let mut stats = Stats::default().with_active(&self.active)?;
        stats.ledger_bytes = self.size()?;
        let active = stats.entries;
        for archive in self.present()? {
            let path = archive.path(&self.paths);
            if self.active.has_become(&self.disk, &path)? {
                stats.note_rotating(active);
                continue;
            }
            stats = stats.with_archive(&archive.open(&self.disk, &self.paths)?)?;
        }
        Ok(stats)
    }

    fn all_archives(&self) -> Result<Vec<Archive>, ReadError> {
        archives::of_project(&self.disk, &self.paths, &self.active)
    }

    /// Lists the archives that exist; [`gone_archives`](Self::gone_archives) lists the missing
    /// ones.
    fn present(&self) -> Result<Vec<Archive>, ReadError> {
        let mut present = Vec::new();
        for archive in self.all_archives()? {
            if archive.is_there(&self.disk, &self.paths)? {
                present.push(archive);
            }
        }
        Ok(present)
    }

    fn size(&self) -> Result<u64, DiskError> {
        let stat = self.disk.stat(&self.paths.ledger)?;
        Ok(stat.map_or(0, |stat| stat.len))
    }
}
