//! Comparison of archives with the journal, and their repair.
//!
//! [`wrong`] finds those that differ; [`write`] repairs them. Both read the journal, up to the
//! sizes of its files at a given moment, and hold a piece of an archive at a time.

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use super::replacement::put;
use crate::{
    archive_files,
    archive_name::ArchiveName,
    derived_files::{ComparedViews, NewViews, mode_like},
    journal::{
        Archived, Begins, DayFile, EntryRef, IgnoreEntries, RecordPlace, ScanVisitor, Until,
        walk_days,
    },
    open_error::OpenError,
    open_ledger::{OpenLedger, is_corrupt},
    paths::LedgerPaths,
    position::{Position, View},
    quarantine,
    repair::{Repair, RepairKind},
};

/// An archive's missing part.
#[derive(Debug)]
pub(crate) struct Lacking {
    name: ArchiveName,
    ledger: bool,
    hashlog: bool,
}

impl Lacking {
    /// Lists the parts of archives that are missing.
    pub(crate) fn missing(
        disk: &Disk,
        paths: &LedgerPaths,
        name: &ArchiveName,
    ) -> Result<Self, DiskError> {
        Ok(Self {
            name: *name,
            ledger: !archive_files::is_kept(disk, paths, name)?,
            hashlog: !disk.exists(&paths.archived_hashlog(name))?,
        })
    }
}

/// Lists the archives that differ from the journal, or are missing.
pub(crate) fn wrong(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
) -> Result<Vec<Lacking>, OpenError> {
    let names = recorded_names(disk, paths, days)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut checking = Checking {
        disk,
        paths,
        names: names.into_iter(),
        next: None,
        found: None,
        wrong: Vec::new(),
    };
    checking.next = checking.names.next();
    let start = Position::start();
    walk_days(disk, paths, days, &start, Until::End, &mut checking)?;
    Ok(checking.wrong)
}

/// Returns the names of the archives that the journal lists, in order.
fn recorded_names(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
) -> Result<Vec<ArchiveName>, OpenError> {
    let start = Position::start();
    let followed = walk_days(disk, paths, days, &start, Until::End, &mut IgnoreEntries)?;
    let name = |archived: &Archived| archived.archive;
    Ok(followed.archived.iter().map(name).collect())
}

struct Checking<'a> {
    disk: &'a Disk,
    paths: &'a LedgerPaths,
    names: std::vec::IntoIter<ArchiveName>,
    /// Archive that the entries read now become part of.
    next: Option<ArchiveName>,
    found: Option<ComparedViews<OpenLedger, DiskFile>>,
    wrong: Vec<Lacking>,
}

impl Checking<'_> {
    fn open(&self, name: &ArchiveName) -> Result<ComparedViews<OpenLedger, DiskFile>, DiskError> {
        let ledger = match OpenLedger::open(self.disk, &self.paths.archive(name)) {
            Ok(ledger) => Some(ledger),
            Err(error) if error.is_absent() || is_corrupt(&error) => None,
            Err(error) => return Err(error),
        };
        let hashlog = self.paths.archived_hashlog(name);
        let hashlog = self.disk.open_if_there(&hashlog, OpenHow::READ)?;
        Ok(ComparedViews::new(ledger, hashlog))
    }

    fn end(&mut self, name: ArchiveName) -> Result<(), DiskError> {
        let Some(mut found) = self.found.take() else {
            return Ok(());
        };
        let lacking = Lacking {
            name,
            ledger: !is_whole(found.has_ledger())?,
            hashlog: !found.has_hashlog()?,
        };
        if lacking.ledger || lacking.hashlog {
            self.wrong.push(lacking);
        }
        Ok(())
    }
}

impl ScanVisitor for Checking<'_> {
    fn begins(&mut self, _before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        if let Some(archived) = &begins.archived {
            self.end(archived.archive)?;
            self.next = self.names.next();
        }
        if let Some(name) = &self.next {
            let mut found = self.open(name)?;
            is_whole(found.begin(begins.view()).map(|()| true))?;
            self.found = Some(found);
        }
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        if let Some(found) = &mut self.found {
            is_whole(found.push(entry).map(|()| true))?;
        }
        Ok(())
    }
}

/// An archive that cannot be decompressed is not whole.
fn is_whole(compared: Result<bool, DiskError>) -> Result<bool, DiskError> {
    match compared {
        Err(error) if is_corrupt(&error) => Ok(false),
        compared => compared,
    }
}

/// Writes what archives lack, as the journal has it; what stood there is kept in the quarantine.
pub(crate) fn write(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
    lacking: &[Lacking],
) -> Result<Vec<Repair>, OpenError> {
    if lacking.is_empty() {
        return Ok(Vec::new());
    }
    disk.create_dir_all(&paths.history)?;
    let mut writing = Writing {
        disk,
        paths,
        lacking,
        at: 0,
        names: recorded_names(disk, paths, days)?,
        new: None,
        repairs: Vec::new(),
    };
    let start = Position::start();
    walk_days(disk, paths, days, &start, Until::End, &mut writing)?;
    Ok(writing.repairs)
}

struct Writing<'a> {
    disk: &'a Disk,
    paths: &'a LedgerPaths,
    lacking: &'a [Lacking],
    names: Vec<ArchiveName>,
    at: usize,
    new: Option<NewViews>,
    repairs: Vec<Repair>,
}

impl Writing<'_> {
    fn lacking(&self, name: &ArchiveName) -> Option<&Lacking> {
        self.lacking.iter().find(|lacking| lacking.name == *name)
    }

    fn end(&mut self, name: &ArchiveName) -> Result<(), DiskError> {
        let (disk, paths) = (self.disk, self.paths);
        let (
            Some(new),
            Some(&Lacking {
                ledger, hashlog, ..
            }),
        ) = (self.new.take(), self.lacking(name))
        else {
            return Ok(());
        };
        let (_, new_ledger, new_hashlog) = new.end()?;
        if ledger {
            self.repairs.push(put(disk, paths, new_ledger)?);
            let compressed = paths.compressed_archive(name);
            if let Some(found) = disk.open_if_there(&compressed, OpenHow::READ)? {
                let kept = quarantine::keep_file(disk, paths, &found)?;
                disk.remove_file(&compressed)?;
                disk.sync_dir(&paths.history)?;
                self.repairs.push(Repair {
                    path: compressed,
                    what: RepairKind::Rewritten,
                    kept: Some(kept),
                });
            }
        }
        if hashlog {
            self.repairs.push(put(disk, paths, new_hashlog)?);
        }
        Ok(())
    }
}

impl ScanVisitor for Writing<'_> {
    fn begins(&mut self, _before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        if let Some(archived) = &begins.archived {
            self.end(&archived.archive)?;
            self.at += 1;
        }
        let Some(name) = self.names.get(self.at) else {
            return Ok(());
        };
        if self.lacking(name).is_some() {
            let (disk, paths) = (self.disk, self.paths);
            let places = (paths.archive(name), paths.archived_hashlog(name));
            let mode = mode_like(disk, &paths.ledger)?;
            let new = NewViews::begin(disk, (&places.0, &places.1), (mode, mode), begins.view())?;
            self.new = Some(new);
        }
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        self.new.as_mut().map_or(Ok(()), |new| new.push(entry))
    }
}
