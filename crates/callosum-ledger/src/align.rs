//! Bringing ledger file and hashlog in line with the journal.
//!
//! Start with [`align`]. It runs on opening, and before each write for what other processes did
//! meanwhile; where nothing happened it costs a look at three files.
//!
//! The journal is the truth. A crash can leave it with a torn end that nobody was promised, and
//! the two views at an earlier state or torn: all that is mended, and what is cut off is kept in
//! the quarantine. What no crash can leave, such as an entry that the journal does not tell of, is
//! somebody's doing: then nothing is touched and the error says what differs.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, LockError, OpenHow};
use jiff::{Timestamp, ToSpan};

use crate::{
    adoption::restore_hashlog,
    canonical::DuplicateKeys,
    chain::HASHLOG,
    entry::{Entry, seal},
    error_code::ErrorCode,
    journal::{
        Archived, Followed, JournalError, StoredEntry, Torn, Until, day_files, day_of, follow,
        follow_segments, path_of_day,
    },
    ledger::is_unwritable,
    ledger_file::{
        LedgerFile, LedgerFileError, LedgerVersion, NotToWrite, have_same_other_fields,
        refuse_to_write,
    },
    lines::Lines,
    locks::ExclusiveLedger,
    open_files::OpenFiles,
    open_ledger::{is_corrupt, read_archive},
    paths::LedgerPaths,
    position::{Position, View},
    quarantine, rotation, watermark,
};

/// Something that was brought in line with the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The file.
    pub path: PathBuf,
    /// What was done to it.
    pub what: RepairKind,
    /// Where the bytes were put that it lost.
    pub kept: Option<PathBuf>,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairKind {
    /// A torn end was cut off.
    Cut {
        /// How many bytes.
        bytes: u64,
    },
    /// It stood at an earlier state and was brought up to date.
    Extended {
        /// How many bytes were added.
        bytes: u64,
    },
    /// It was missing, torn or laid out otherwise, and was written anew.
    Rewritten,
    /// It had not got its place when a rotation was interrupted, and has it now.
    Archived,
}

impl RepairKind {
    /// The word for it in the journal.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cut { .. } => "cut",
            Self::Extended { .. } => "extended",
            Self::Rewritten => "rewritten",
            Self::Archived => "archived",
        }
    }
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match self.what {
            RepairKind::Cut { bytes } => write!(f, "cut {bytes} torn bytes off `{path}`")?,
            RepairKind::Extended { bytes } => {
                write!(f, "brought `{path}` up to date ({bytes} bytes)")?;
            }
            RepairKind::Rewritten => write!(f, "wrote `{path}` anew from the audit journal")?,
            RepairKind::Archived => write!(f, "finished the rotation to `{path}`")?,
        }
        match &self.kept {
            Some(kept) => write!(f, "; what stood there is in `{}`", kept.display()),
            None => Ok(()),
        }
    }
}

/// Why a ledger cannot be opened for writing.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The ledger stayed locked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal cannot be followed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal could not be written: told what was done, or cut where a crash had torn it.
    #[error("the audit journal cannot be written")]
    Unrecorded(#[source] DiskError),
    /// No ledger was begun here.
    #[error("there is no ledger in `{}` yet", root.display())]
    NotCreated {
        /// The project.
        root: PathBuf,
    },
    /// A later version wrote the ledger. It can still be read, by a [`Reader`](crate::Reader).
    #[error("`{}` has version {found}, and this program writes {supported}", path.display())]
    Newer {
        /// The ledger.
        path: PathBuf,
        /// Its version.
        found: LedgerVersion,
        /// Ours.
        supported: LedgerVersion,
    },
    /// What stands in the ledger's place is whole, and not a ledger. Nothing was changed.
    #[error("`{}` cannot be written", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
        /// Why.
        source: LedgerFileError,
    },
    /// The ledger has entries by its hashlog, and there is no journal. Nothing was changed.
    #[error(
        "the audit journal in `{}` is gone, and `{}` shows that entries were stored",
        audit.display(), hashlog.display()
    )]
    JournalGone {
        /// The journal's folder.
        audit: PathBuf,
        /// The hashlog.
        hashlog: PathBuf,
    },
    /// The journal has fewer records than were signed: it was cut, or put back to an earlier state.
    #[error(
        "the audit journal in `{}` has {records} records, and {signed} of it were signed",
        audit.display()
    )]
    Cut {
        /// The journal's folder.
        audit: PathBuf,
        /// How many it has.
        records: u64,
        /// How many were signed.
        signed: u64,
    },
    /// A day file of the journal is of a day after tomorrow.
    #[error("`{}` is of a day to come: move it away, or set the clock right", path.display())]
    DayToCome {
        /// The day file.
        path: PathBuf,
    },
    /// A file says something that the journal does not. Nothing was changed.
    #[error("`{}` says what the audit journal does not: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What differs first.
        what: String,
    },
}

impl OpenError {
    /// The seed's code for it, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Lock(LockError::Timeout { .. }) => Some(ErrorCode::LockTimeout),
            Self::Unrecorded(error) if is_unwritable(error) => Some(ErrorCode::AuditFailure),
            Self::Disk(_)
            | Self::Unrecorded(_)
            | Self::Lock(LockError::Disk(_))
            | Self::Journal(JournalError::Disk(_)) => Some(ErrorCode::DiskFailure),
            Self::Journal(JournalError::Damaged { .. }) => Some(ErrorCode::ChecksumMismatch),
            Self::Journal(JournalError::Newer { .. })
            | Self::NotCreated { .. }
            | Self::Newer { .. }
            | Self::NotALedger { .. }
            | Self::JournalGone { .. }
            | Self::Cut { .. }
            | Self::DayToCome { .. }
            | Self::Foreign { .. } => None,
        }
    }

    /// The file operation that failed, if that was it.
    pub fn disk_error(&self) -> Option<&DiskError> {
        match self {
            Self::Disk(error)
            | Self::Unrecorded(error)
            | Self::Lock(LockError::Disk(error))
            | Self::Journal(JournalError::Disk(error)) => Some(error),
            _ => None,
        }
    }
}

/// The state of journal and views after they were brought in line.
pub(crate) struct Aligned {
    pub(crate) position: Position,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) news: News,
}

/// What the journal told.
pub(crate) enum News {
    /// The entries that it has beyond the position that was known.
    Since(Vec<StoredEntry>),
    /// It was read from its beginning: all entries of the active ledger.
    All(Vec<StoredEntry>),
}

/// Brings the views in line with the journal, from a position that is known to be in line.
///
/// Without one, the watermark is used where it holds, else everything is read.
pub(crate) fn align(
    disk: &Disk,
    paths: &LedgerPaths,
    _held: &ExclusiveLedger<'_>,
    known: Option<Position>,
    files: &mut OpenFiles,
    now: Timestamp,
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
    // What is brought in line below may be another file under the same name afterwards.
    files.close();
    refuse_days_to_come(disk, paths, now)?;
    if let Some(from) = from
        && has_archives(disk, paths, &from)?
        && let Some(aligned) = align_ends(disk, paths, &from)?
    {
        return Ok(aligned);
    }
    align_whole(disk, paths, Foreign::Refused)
}

/// Makes ledger, hashlog and archives what the journal says, whatever they are; what stood there
/// is kept in the quarantine.
pub(crate) fn rebuild(disk: &Disk, paths: &LedgerPaths) -> Result<Aligned, OpenError> {
    let mut aligned = align_whole(disk, paths, Foreign::SetAside)?;
    follow_segments(disk, paths, Until::End, |passed| {
        let name = &passed.archived.archive;
        let (ledger, hashlog) = rotation::files_of(&passed);
        let is_right = match read_archive(disk, paths, name) {
            Err(error) if is_corrupt(&error) => false,
            found => found?.as_ref() == Some(&ledger),
        };
        let compressed = paths.compressed_archive(name);
        let hashlog_path = paths.archived_hashlog(name);
        let mut wrong = Vec::new();
        if !is_right {
            wrong.push((paths.archive(name), ledger));
        }
        if disk.read_if_there(&hashlog_path)?.as_ref() != Some(&hashlog) {
            wrong.push((hashlog_path, hashlog));
        }
        for (path, right) in wrong {
            let found = disk.read_if_there(&path)?;
            let repair = rewrite(disk, paths, &path, found.as_deref(), &right)?;
            aligned.repairs.push(repair);
        }
        if !is_right && let Some(found) = disk.read_if_there(&compressed)? {
            let kept = quarantine::keep(disk, paths, &compressed, &found)?;
            disk.remove_file(&compressed)?;
            disk.sync_dir(&paths.history)?;
            aligned.repairs.push(Repair {
                path: compressed,
                what: RepairKind::Rewritten,
                kept: Some(kept),
            });
        }
        Ok(())
    })?;
    Ok(aligned)
}

/// What happens to a file that says what the journal does not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Foreign {
    /// Nothing is touched.
    Refused,
    /// It is replaced, and kept in the quarantine.
    SetAside,
}

/// Refuses day files of a day after tomorrow. The journal never goes back to an earlier day, so
/// one of them would be the last for ever.
fn refuse_days_to_come(disk: &Disk, paths: &LedgerPaths, now: Timestamp) -> Result<(), OpenError> {
    let last = day_files(disk, &paths.audit)?.pop();
    // Clocks differ, by a day at most where only the zone is wrong.
    let tomorrow = day_of(now).saturating_add(1.day());
    match last {
        Some(last) if last.day > tomorrow => Err(OpenError::DayToCome { path: last.path }),
        _ => Ok(()),
    }
}

/// Whether the three files have the sizes that the position says, and none was replaced.
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
        if !rotation::is_whole(disk, paths, &archived.archive)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Brings in line what lies beyond `from`, where the views end in a state that they once had.
///
/// `None` where they do not, so that everything must be looked at.
fn align_ends(
    disk: &Disk,
    paths: &LedgerPaths,
    from: &Position,
) -> Result<Option<Aligned>, OpenError> {
    let Ok(followed) = follow(disk, paths, from) else {
        return Ok(None);
    };
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
            && (expected.ends.contains(&entries.len()) || entries.is_empty())
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
            News::All(followed.entries)
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
        if !rotation::is_whole(disk, paths, &archived.archive)? {
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

/// Writes the archives that are missing, from the journal.
fn restore_archives(disk: &Disk, paths: &LedgerPaths) -> Result<Vec<Repair>, OpenError> {
    let mut written = Vec::new();
    follow_segments(disk, paths, Until::End, |passed| {
        if !rotation::is_whole(disk, paths, &passed.archived.archive)? {
            written.extend(rotation::restore(disk, paths, &passed)?);
        }
        Ok(())
    })?;
    let repairs = written.into_iter().map(|path| Repair {
        path,
        what: RepairKind::Rewritten,
        kept: None,
    });
    Ok(repairs.collect())
}

/// Brings everything in line, the journal being read from its beginning.
fn align_whole(disk: &Disk, paths: &LedgerPaths, foreign: Foreign) -> Result<Aligned, OpenError> {
    let Followed {
        mut position,
        entries,
        archived,
        torn,
        ..
    } = follow(disk, paths, &Position::start())?;
    let Some(view) = position.view.take() else {
        refuse_journal_gone(disk, paths)?;
        return Err(OpenError::NotCreated {
            root: paths.root.clone(),
        });
    };
    let placed = place_archives(disk, paths, &archived, &view)?.unwrap_or_default();
    let mut lacks_archive = false;
    for archived in &archived {
        lacks_archive |= !rotation::is_whole(disk, paths, &archived.archive)?;
        if let Some(path) = rotation::in_the_way(disk, paths, &archived.archive)? {
            let what = "it is not a file, and an archive belongs there".to_owned();
            return Err(OpenError::Foreign { path, what });
        }
    }
    let expected = Expected::after(&view, &entries);
    let head = view.begun.head.as_bytes();
    let tail = view.begun.tail.as_bytes();
    let ledger = [head, &expected.ledger, tail].concat();
    let found_ledger = disk.read_if_there(&paths.ledger)?;
    let found_hashlog = disk.read_if_there(&paths.hashlog)?;
    // Both are judged before anything is changed.
    let ledger_is_right = found_ledger.as_ref() == Some(&ledger);
    if let Some(found) = &found_ledger
        && !ledger_is_right
        && foreign == Foreign::Refused
    {
        refuse_foreign_ledger(paths, found, &ledger, &entries)?;
    }
    if let Some(found) = &found_hashlog
        && foreign == Foreign::Refused
    {
        refuse_foreign_hashlog(paths, found, &expected.hashlog)?;
    }
    let mut repairs = cut_torn(disk, paths, torn.as_ref())?;
    repairs.extend(placed);
    if lacks_archive {
        repairs.extend(restore_archives(disk, paths)?);
    }
    for adopted in position.archives.iter().filter(|told| told.is_adopted) {
        let written = restore_hashlog(disk, paths, adopted)?;
        repairs.extend(written.map(|path| Repair {
            path,
            what: RepairKind::Rewritten,
            kept: None,
        }));
    }
    if !ledger_is_right {
        repairs.push(rewrite(
            disk,
            paths,
            &paths.ledger,
            found_ledger.as_deref(),
            &ledger,
        )?);
    }
    if found_hashlog.as_ref() != Some(&expected.hashlog) {
        repairs.push(rewrite(
            disk,
            paths,
            &paths.hashlog,
            found_hashlog.as_deref(),
            &expected.hashlog,
        )?);
    }
    position.view = Some(expected.view);
    Ok(Aligned {
        position,
        repairs,
        news: News::All(entries),
    })
}

/// What the views hold beyond a state of theirs.
pub(crate) struct Expected {
    pub(crate) view: View,
    /// Entries with what joins them, without the tail.
    pub(crate) ledger: Vec<u8>,
    pub(crate) hashlog: Vec<u8>,
    /// Where in `ledger` each entry ends.
    ends: Vec<usize>,
}

impl Expected {
    pub(crate) fn after(view: &View, entries: &[StoredEntry]) -> Self {
        let mut expected = Self {
            view: view.clone(),
            ledger: Vec::new(),
            hashlog: Vec::new(),
            ends: Vec::new(),
        };
        for entry in entries {
            expected
                .view
                .push(entry, &mut expected.ledger, &mut expected.hashlog);
            expected.ends.push(expected.ledger.len());
        }
        expected
    }

    /// Where in `ledger` each entry ends.
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }
}

/// Refuses to begin a journal where a hashlog of ours, of the ledger or of an archive, shows that
/// there was one.
fn refuse_journal_gone(disk: &Disk, paths: &LedgerPaths) -> Result<(), OpenError> {
    let archives = rotation::names(disk, &paths.history)?;
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

/// Refuses a ledger file that is whole and says something that the journal does not.
fn refuse_foreign_ledger(
    paths: &LedgerPaths,
    found: &[u8],
    expected: &[u8],
    entries: &[StoredEntry],
) -> Result<(), OpenError> {
    refuse_other_version(paths, found)?;
    // What is not JSON was torn by a crash, or is beyond telling; it goes to the quarantine.
    let Ok(file) = LedgerFile::parse(found) else {
        return Ok(());
    };
    let foreign = |what: String| OpenError::Foreign {
        path: paths.ledger.clone(),
        what,
    };
    if !have_same_other_fields(found, expected) {
        return Err(foreign("its fields beside `tasks` differ".to_owned()));
    }
    for (index, at) in file.entries.iter().enumerate() {
        let number = index + 1;
        let found = &found[at.clone()];
        let Some(told) = entries.get(index) else {
            return Err(foreign(format!(
                "entry {number}{} was added",
                name_of(found)
            )));
        };
        let is_same = told.json.as_bytes() == found
            || seal(found, DuplicateKeys::LastWins).is_ok_and(|(_, canonical)| {
                canonical == told.json
                    && Entry::read(found).is_ok_and(|entry| entry.check().is_ok())
            });
        if !is_same {
            return Err(foreign(format!("entry {number}{} differs", name_of(found))));
        }
    }
    Ok(())
}

fn name_of(entry: &[u8]) -> String {
    match Entry::read(entry) {
        Ok(entry) => format!(" (`{}`)", entry.task_id),
        Err(_) => String::new(),
    }
}

/// Refuses a hashlog that goes on, with whole lines, where the journal ends.
fn refuse_foreign_hashlog(
    paths: &LedgerPaths,
    found: &[u8],
    expected: &[u8],
) -> Result<(), OpenError> {
    let Some(more) = found.strip_prefix(expected) else {
        return Ok(());
    };
    let first = more.split(|byte| *byte == b'\n').next().unwrap_or(more);
    if HASHLOG.check(first).is_err() {
        return Ok(());
    }
    Err(OpenError::Foreign {
        path: paths.hashlog.clone(),
        what: "it has entries beyond the journal's last".to_owned(),
    })
}

pub(crate) fn cut_torn(
    disk: &Disk,
    paths: &LedgerPaths,
    torn: Option<&Torn>,
) -> Result<Vec<Repair>, OpenError> {
    let Some(Torn { path, offset }) = torn else {
        return Ok(Vec::new());
    };
    let file = disk
        .open(path, OpenHow::READ_WRITE)
        .map_err(OpenError::Unrecorded)?;
    let bytes = file.read_from(*offset)?;
    let kept = quarantine::keep(disk, paths, path, &bytes)?;
    file.set_len(*offset)
        .and_then(|()| file.sync_all().inspect_err(|_| drop(file.write_again())))
        .map_err(OpenError::Unrecorded)?;
    Ok(vec![Repair {
        path: path.clone(),
        what: RepairKind::Cut {
            bytes: bytes.len() as u64,
        },
        kept: Some(kept),
    }])
}

fn rewrite(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
    found: Option<&[u8]>,
    right: &[u8],
) -> Result<Repair, DiskError> {
    let kept = match found {
        // What is a beginning of the right bytes holds nothing that they do not.
        Some(found) if !right.starts_with(found) => {
            Some(quarantine::keep(disk, paths, path, found)?)
        }
        _ => None,
    };
    disk.rewrite(path, right, 0o644)?;
    Ok(Repair {
        path: path.to_owned(),
        what: RepairKind::Rewritten,
        kept,
    })
}

fn extended(path: &Path, bytes: usize) -> Repair {
    Repair {
        path: path.to_owned(),
        what: RepairKind::Extended {
            bytes: bytes as u64,
        },
        kept: None,
    }
}

fn has_head(disk: &Disk, paths: &LedgerPaths, view: &View) -> Result<bool, DiskError> {
    let head = view.begun.head.as_bytes();
    match disk.open_if_there(&paths.ledger, OpenHow::READ)? {
        Some(file) => Ok(file.read_range(0, head.len())? == head),
        None => Ok(false),
    }
}

/// What stands in a file from `from` on; `None` where it does not reach so far.
fn read_end(disk: &Disk, path: &Path, from: u64) -> Result<Option<Vec<u8>>, DiskError> {
    match disk.open_if_there(path, OpenHow::READ)? {
        Some(file) if file.size()? >= from => file.read_from(from).map(Some),
        Some(_) | None => Ok(None),
    }
}
