//! [`align`]: the steps of an alignment, from a known position on.

use std::path::Path;

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};
use jiff::Timestamp;

use super::{
    archives,
    external_changes::{
        refuse_days_to_come, refuse_foreign_hashlog, refuse_foreign_ledger, refuse_journal_gone,
    },
    replacement::put,
};
use crate::{
    archive_files,
    archive_import::restore_hashlog,
    derived_files::{ComparedViews, Expected, NewViews, mode_like},
    journal::{
        Archived, Begins, DayFile, EntryRef, Followed, RecordPlace, ScanVisitor, StoredEntry,
        Until, follow, path_of_day, stock_of_days, walk_days,
    },
    locks::ExclusiveLedger,
    open_error::OpenError,
    open_files::OpenFiles,
    paths::LedgerPaths,
    position::{Position, View},
    repair::{Repair, RepairKind, cut_torn, extended},
    rotation, watermark,
};

/// The state of journal and views after they were brought in line.
pub(crate) struct Aligned {
    pub(crate) position: Position,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) news: News,
}

/// News from the journal.
pub(crate) enum News {
    /// The entries that it has beyond the position that was known.
    Since(Vec<StoredEntry>),
    /// It was read from its beginning, or is about another ledger: all earlier knowledge is void.
    All,
}

/// Brings the views in line with the journal, from a position that is known to be in line.
///
/// Without one, the watermark is used where it holds, else everything is read. Refuses, with
/// everything left as it is, a journal that has fewer records than were `signed` of it.
pub(crate) fn align(
    disk: &Disk,
    paths: &LedgerPaths,
    _held: &ExclusiveLedger<'_>,
    known: Option<Position>,
    files: &mut OpenFiles,
    (now, signed): (Timestamp, u64),
) -> Result<Aligned, OpenError> {
    let from = match known {
        Some(known) => {
            if is_unchanged(disk, paths, &known, files)? {
                return Ok(Aligned {
                    position: known,
                    repairs: Vec::new(),
                    news: News::Since(Vec::new()),
                });
            }
            Some(known)
        }
        None => watermark::read(disk, paths)?,
    };
    // A file that is brought in line below may be another file under the same name afterwards.
    files.close();
    refuse_days_to_come(disk, paths, now)?;
    if let Some(from) = from
        && has_archives(disk, paths, &from)?
        && let Some(aligned) = align_ends(disk, paths, &from, signed)?
    {
        return Ok(aligned);
    }
    align_whole(disk, paths, signed)
}

/// Refuses a journal that was cut, or put back to an earlier state.
fn refuse_cut(paths: &LedgerPaths, followed: &Followed, signed: u64) -> Result<(), OpenError> {
    let records = followed.position.seq;
    if records < signed {
        return Err(OpenError::Cut {
            audit: paths.audit.clone(),
            records,
            signed,
        });
    }
    Ok(())
}

/// Whether the three files have the sizes of the position, and none was replaced.
fn is_unchanged(
    disk: &Disk,
    paths: &LedgerPaths,
    at: &Position,
    files: &mut OpenFiles,
) -> Result<bool, DiskError> {
    let (Some(day), Some(view)) = (at.day, &at.view) else {
        return Ok(false);
    };
    let expected = [
        (path_of_day(&paths.audit, day), at.offset),
        (paths.ledger.clone(), view.ledger_len()),
        (paths.hashlog.clone(), view.hashlog_end),
    ];
    for (path, len) in expected {
        if !files.still_has(disk, &path, len)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the archives have their places that the journal can bring back.
fn has_archives(disk: &Disk, paths: &LedgerPaths, at: &Position) -> Result<bool, DiskError> {
    for archived in at.archives.iter().filter(|archived| !archived.is_adopted) {
        if !archive_files::is_whole(disk, paths, &archived.archive)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Brings the part beyond `from` in line, if the views end in a state that they once had.
///
/// Returns `None` if they do not, so that everything must be looked at.
fn align_ends(
    disk: &Disk,
    paths: &LedgerPaths,
    from: &Position,
    signed: u64,
) -> Result<Option<Aligned>, OpenError> {
    let Ok(followed) = follow(disk, paths, from) else {
        return Ok(None);
    };
    refuse_cut(paths, &followed, signed)?;
    let Some(view) = &followed.position.view else {
        return Ok(None);
    };
    let mut repairs = Vec::new();
    if followed.began {
        match place_archives(disk, paths, &followed.archived, view)? {
            Some(placed) => repairs.extend(placed),
            None => return Ok(None),
        }
    }
    if !has_head(disk, paths, view)? {
        return Ok(None);
    }
    let expected = Expected::after(view, &followed.entries);
    let (Some(ledger), Some(hashlog)) = (
        read_end(disk, &paths.ledger, view.ledger_end)?,
        read_end(disk, &paths.hashlog, view.hashlog_end)?,
    ) else {
        return Ok(None);
    };
    let tail = view.begun.tail.as_bytes();
    let is_earlier = ledger.strip_suffix(tail).is_some_and(|entries| {
        expected.ledger.starts_with(entries)
            && (expected.ends().contains(&entries.len()) || entries.is_empty())
    });
    if !is_earlier || !expected.hashlog.starts_with(&hashlog) {
        return Ok(None);
    }
    repairs.extend(cut_torn(disk, paths, followed.torn.as_ref())?);
    let had = ledger.len() - tail.len();
    if had < expected.ledger.len() {
        let end = [&expected.ledger[had..], tail].concat();
        let file = disk.open(&paths.ledger, OpenHow::READ_WRITE)?;
        file.write_at(&end, view.ledger_end + had as u64)?;
        repairs.push(extended(&paths.ledger, expected.ledger.len() - had));
    }
    if hashlog.len() < expected.hashlog.len() {
        let file = disk.open(&paths.hashlog, OpenHow::READ_WRITE)?;
        let had = hashlog.len();
        file.write_at(&expected.hashlog[had..], view.hashlog_end + had as u64)?;
        repairs.push(extended(&paths.hashlog, expected.hashlog.len() - had));
    }
    let mut position = followed.position;
    position.view = Some(expected.view);
    Ok(Some(Aligned {
        position,
        repairs,
        news: if followed.began {
            News::All
        } else {
            News::Since(followed.entries)
        },
    }))
}

/// Sees to it that the ledgers which were archived since a position have their places.
///
/// `None` where the journal itself must be asked what belongs there.
fn place_archives(
    disk: &Disk,
    paths: &LedgerPaths,
    archived: &[Archived],
    view: &View,
) -> Result<Option<Vec<Repair>>, DiskError> {
    let Some((last, earlier)) = archived.split_last() else {
        return Ok(None);
    };
    for archived in earlier {
        if !archive_files::is_whole(disk, paths, &archived.archive)? {
            return Ok(None);
        }
    }
    let finished = rotation::finish(disk, paths, last, view)?;
    Ok(finished.map(|did| {
        let placed = did.then(|| Repair {
            path: paths.archive(&last.archive),
            what: RepairKind::Archived,
            kept: None,
        });
        placed.into_iter().collect()
    }))
}

/// Brings everything in line, the journal being read from its beginning.
fn align_whole(disk: &Disk, paths: &LedgerPaths, signed: u64) -> Result<Aligned, OpenError> {
    let days = stock_of_days(disk, &paths.audit)?;
    let (mut followed, mut found) = hold_against_journal(disk, paths, &days)?;
    if followed.position.view.is_some() {
        refuse_cut(paths, &followed, signed)?;
    }
    let Some(view) = followed.position.view.take() else {
        refuse_journal_gone(disk, paths)?;
        return Err(OpenError::NotCreated {
            root: paths.root.clone(),
        });
    };
    let placed = place_archives(disk, paths, &followed.archived, &view)?.unwrap_or_default();
    if !placed.is_empty() {
        // Other files have the names now.
        (followed, found) = hold_against_journal(disk, paths, &days)?;
    }
    let mut missing = Vec::new();
    for archived in &followed.archived {
        if !archive_files::is_whole(disk, paths, &archived.archive)? {
            missing.push(archives::Lacking::missing(disk, paths, &archived.archive)?);
        }
    }
    refuse_in_the_way(disk, paths, &followed)?;
    let has_ledger = found.has_ledger()?;
    let has_hashlog = found.has_hashlog()?;
    // Both are judged before anything is changed.
    if !has_ledger {
        refuse_foreign_ledger(disk, paths, &view, followed.recovered)?;
    }
    if !has_hashlog && found.hashlog_is_alike() {
        let end = found.view().map_or(0, |view| view.hashlog_end);
        refuse_foreign_hashlog(disk, paths, end, followed.recovered)?;
    }
    let mut repairs = cut_torn(disk, paths, followed.torn.as_ref())?;
    repairs.extend(placed);
    repairs.extend(archives::write(disk, paths, &days, &missing)?);
    if !(has_ledger && has_hashlog) {
        let (_, ledger, hashlog) = new_views(disk, paths, &days)?.end()?;
        for (new, is_right) in [(ledger, has_ledger), (hashlog, has_hashlog)] {
            if !is_right {
                repairs.push(put(disk, paths, new)?);
            }
        }
    }
    repairs.extend(restore_hashlogs(disk, paths, &followed.position)?);
    followed.position.view = found.view().cloned();
    Ok(Aligned {
        position: followed.position,
        repairs,
        news: News::All,
    })
}

/// Refuses to continue if something other than a file is in an archive's place.
pub(super) fn refuse_in_the_way(
    disk: &Disk,
    paths: &LedgerPaths,
    followed: &Followed,
) -> Result<(), OpenError> {
    for archived in &followed.archived {
        if let Some(path) = archive_files::in_the_way(disk, paths, &archived.archive)? {
            let what = "it is not a regular file, but an archive belongs there".to_owned();
            return Err(OpenError::Foreign { path, what });
        }
    }
    Ok(())
}

/// Writes the hashlogs of adopted archives that are not there.
pub(super) fn restore_hashlogs(
    disk: &Disk,
    paths: &LedgerPaths,
    position: &Position,
) -> Result<Vec<Repair>, DiskError> {
    let mut repairs = Vec::new();
    for adopted in position
        .archives
        .iter()
        .filter(|archived| archived.is_adopted)
    {
        let written = restore_hashlog(disk, paths, adopted)?;
        repairs.extend(written.map(|path| Repair {
            path,
            what: RepairKind::Rewritten,
            kept: None,
        }));
    }
    Ok(repairs)
}

type FileState = ComparedViews<DiskFile, DiskFile>;

/// Reads the whole journal, up to the given sizes of its files, and compares ledger file and
/// hashlog with it.
pub(super) fn hold_against_journal(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
) -> Result<(Followed, FileState), OpenError> {
    let ledger = disk.open_if_there(&paths.ledger, OpenHow::READ)?;
    let hashlog = disk.open_if_there(&paths.hashlog, OpenHow::READ)?;
    let mut found = ComparedViews::new(ledger, hashlog);
    let start = Position::start();
    let followed = walk_days(disk, paths, days, &start, Until::End, &mut found)?;
    Ok((followed, found))
}

/// Writes ledger file and hashlog as the journal has them, as far as its files went when these sizes
/// were taken, without giving them their names.
pub(crate) fn new_views(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
) -> Result<NewViews, OpenError> {
    let mut written = Writing {
        disk,
        paths,
        new: None,
    };
    let start = Position::start();
    walk_days(disk, paths, days, &start, Until::End, &mut written)?;
    written.new.ok_or_else(|| OpenError::NotCreated {
        root: paths.root.clone(),
    })
}

struct Writing<'a> {
    disk: &'a Disk,
    paths: &'a LedgerPaths,
    new: Option<NewViews>,
}

impl ScanVisitor for Writing<'_> {
    fn begins(&mut self, _before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        let paths = (&*self.paths.ledger, &*self.paths.hashlog);
        let modes = (
            mode_like(self.disk, paths.0)?,
            mode_like(self.disk, paths.1)?,
        );
        self.new = Some(NewViews::begin(self.disk, paths, modes, begins.view())?);
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        self.new.as_mut().map_or(Ok(()), |new| new.push(entry))
    }
}

fn has_head(disk: &Disk, paths: &LedgerPaths, view: &View) -> Result<bool, DiskError> {
    let head = view.begun.head.as_bytes();
    match disk.open_if_there(&paths.ledger, OpenHow::READ)? {
        Some(file) => Ok(file.read_range(0, head.len())? == head),
        None => Ok(false),
    }
}

/// Returns the bytes of a file from `from` on; `None` if it is too short.
fn read_end(disk: &Disk, path: &Path, from: u64) -> Result<Option<Vec<u8>>, DiskError> {
    match disk.open_if_there(path, OpenHow::READ)? {
        Some(file) if file.size()? >= from => file.read_from(from).map(Some),
        Some(_) | None => Ok(None),
    }
}
