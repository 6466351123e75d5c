//! States that no crash can leave, which are refused: files that disagree with the journal.
//!
//! Nothing is changed here, except that a day file without a record is removed.

use std::ops::Range;

use callosum_host::{Disk, DiskError, OpenHow, disk::EntryKind};
use jiff::{Timestamp, ToSpan};

use crate::{
    archive_files,
    chain::HASHLOG,
    clock_skew::has_record,
    entry::{Entry, seal},
    journal::{Begins, EntryRef, RecordPlace, ScanVisitor, Until, day_files, day_of, walk},
    ledger_file::{LedgerFile, LedgerVersion, NotToWrite, have_same_other_fields, refuse_to_write},
    lines::Lines,
    open_error::OpenError,
    paths::LedgerPaths,
    position::{Position, View},
    quarantine,
};
use callosum_json::canonical::DuplicateKeys;

/// Refuses day files of a day after tomorrow that hold no record. No clock that was ahead left
/// them, and the journal, which never goes back to an earlier day, would continue in them. An empty
/// file of a day after today is removed for the same reason. A file with records is part of the
/// journal, regardless of its day.
pub(super) fn refuse_days_to_come(
    disk: &Disk,
    paths: &LedgerPaths,
    now: Timestamp,
) -> Result<(), OpenError> {
    let today = day_of(now);
    // Clocks differ, by a day at most where only the zone is wrong.
    let tomorrow = today.saturating_add(1.day());
    let days = day_files(disk, &paths.audit)?.into_iter().rev();
    for last in days.take_while(|day| day.day > today) {
        let stat = disk.stat(&last.path)?;
        if stat.is_some_and(|stat| stat.kind == EntryKind::File && stat.len == 0) {
            disk.remove_file(&last.path)?;
        } else if last.day > tomorrow && !has_record(disk, &last.path)? {
            return Err(OpenError::DayToCome { path: last.path });
        } else {
            break;
        }
    }
    Ok(())
}

/// Refuses to begin a journal where a hashlog of ours, of the ledger or of an archive, shows that
/// there was one.
pub(super) fn refuse_journal_gone(disk: &Disk, paths: &LedgerPaths) -> Result<(), OpenError> {
    let archives = archive_files::names(disk, &paths.history)?;
    let archived = archives.iter().map(|name| paths.archived_hashlog(name));
    for path in [paths.hashlog.clone()].into_iter().chain(archived) {
        let Some(hashlog) = disk.open_if_there(&path, OpenHow::READ)? else {
            continue;
        };
        let mut lines = Lines::new(&hashlog, 0, hashlog.size()?);
        if let Some(line) = lines.next()?
            && line.is_whole
            && HASHLOG.check(line.bytes).is_ok()
        {
            return Err(OpenError::JournalGone {
                audit: paths.audit.clone(),
                hashlog: path,
            });
        }
    }
    Ok(())
}

/// Refuses a ledger file that is not to be written by this version, by its own fields.
pub(crate) fn refuse_other_version(paths: &LedgerPaths, found: &[u8]) -> Result<(), OpenError> {
    refuse_to_write(found).map_err(|reason| match reason {
        NotToWrite::Newer(found) => OpenError::Newer {
            path: paths.ledger.clone(),
            found,
            supported: LedgerVersion::OURS,
        },
        NotToWrite::NotALedger(source) => OpenError::NotALedger {
            path: paths.ledger.clone(),
            source,
        },
    })
}

/// Refuses a ledger file that is whole and disagrees with the journal.
///
/// A file that a recovery replaced, and set aside before, is the result of a crash during it.
pub(super) fn refuse_foreign_ledger(
    disk: &Disk,
    paths: &LedgerPaths,
    view: &View,
    recovered: bool,
) -> Result<(), OpenError> {
    let Some(file) = disk.open_if_there(&paths.ledger, OpenHow::READ)? else {
        return Ok(());
    };
    if recovered && quarantine::has(disk, paths, &file)? {
        return Ok(());
    }
    let found = file.read_all()?;
    refuse_other_version(paths, &found)?;
    // A file that is not JSON was torn by a crash, or cannot be judged; it goes to the quarantine.
    let Ok(file) = LedgerFile::parse(&found) else {
        return Ok(());
    };
    let foreign = |what: String| OpenError::Foreign {
        path: paths.ledger.clone(),
        what,
    };
    if !have_same_other_fields(&found, view.empty_file().as_bytes()) {
        return Err(foreign("its fields other than `tasks` differ".to_owned()));
    }
    let mut judging = Judging {
        found: &found,
        entries: &file.entries,
        next: 0,
        differs: None,
    };
    walk(disk, paths, &Position::start(), Until::End, &mut judging)?;
    let (index, what) = match judging.differs {
        Some(index) => (index, "differs"),
        None => (judging.next, "was added"),
    };
    match file.entries.get(index) {
        Some(at) => {
            let name = name_of(&found[at.clone()]);
            Err(foreign(format!("entry {}{name} {what}", index + 1)))
        }
        None => Ok(()),
    }
}

/// The entries of a ledger file, compared with those that the journal records.
struct Judging<'a> {
    found: &'a [u8],
    entries: &'a [Range<usize>],
    next: usize,
    /// The first that is another.
    differs: Option<usize>,
}

impl ScanVisitor for Judging<'_> {
    fn begins(&mut self, _before: Option<&View>, _begins: &Begins) -> Result<(), DiskError> {
        self.next = 0;
        self.differs = None;
        Ok(())
    }

    fn stores(&mut self, recorded: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        if let Some(at) = self.entries.get(self.next)
            && self.differs.is_none()
            && !agrees(&self.found[at.clone()], recorded.json)
        {
            self.differs = Some(self.next);
        }
        self.next += 1;
        Ok(())
    }
}

/// Whether an entry, in any layout, agrees with the journal, and its checksum holds.
fn agrees(found: &[u8], recorded: &str) -> bool {
    recorded.as_bytes() == found
        || seal(found, DuplicateKeys::LastWins).is_ok_and(|(_, canonical)| {
            canonical == recorded && Entry::read(found).is_ok_and(|entry| entry.check().is_ok())
        })
}

fn name_of(entry: &[u8]) -> String {
    match Entry::read(entry) {
        Ok(entry) => format!(" (`{}`)", entry.task_id),
        Err(_) => String::new(),
    }
}

/// Refuses a hashlog that continues, with whole lines, where the journal ends.
pub(super) fn refuse_foreign_hashlog(
    disk: &Disk,
    paths: &LedgerPaths,
    end: u64,
    recovered: bool,
) -> Result<(), OpenError> {
    let Some(file) = disk.open_if_there(&paths.hashlog, OpenHow::READ)? else {
        return Ok(());
    };
    let mut lines = Lines::new(&file, end, file.size()?);
    let is_chained = match lines.next()? {
        Some(line) => HASHLOG.check(line.bytes).is_ok(),
        None => false,
    };
    if !is_chained || (recovered && quarantine::has(disk, paths, &file)?) {
        return Ok(());
    }
    Err(OpenError::Foreign {
        path: paths.hashlog.clone(),
        what: "it has entries beyond the last one of the journal".to_owned(),
    })
}
