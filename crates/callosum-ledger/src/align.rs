//! Bringing ledger file and hashlog in line with the journal.
//!
//! Start with [`align`]. It runs on opening, and before each write for what other processes did
//! meanwhile; where nothing happened it costs a look at three files.
//!
//! The journal is the truth. A crash can leave it with a torn end that nobody was promised, and
//! the two views at an earlier state or torn: all that is mended, and what is cut off is kept in
//! the quarantine. What no crash can leave, such as an entry that the journal does not tell of, is
//! somebody's doing: then nothing is touched and the error says what differs.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use callosum_host::{
    Disk, DiskError, DiskFile, LockError, OpenHow,
    disk::{EntryKind, NewFile},
};
use jiff::{Timestamp, ToSpan};

use crate::{
    adoption::restore_hashlog,
    archives,
    canonical::DuplicateKeys,
    chain::HASHLOG,
    entry::{Entry, seal},
    error_code::ErrorCode,
    journal::{
        Archived, Begins, Followed, JournalError, RecordPlace, StoredEntry, Told, ToldEntry, Torn,
        Until, day_files, day_of, follow, path_of_day, walk,
    },
    ledger::is_unwritable,
    ledger_file::{
        LedgerFile, LedgerFileError, LedgerVersion, NotToWrite, have_same_other_fields,
        refuse_to_write,
    },
    lines::Lines,
    locks::ExclusiveLedger,
    open_files::OpenFiles,
    paths::LedgerPaths,
    position::{Position, View},
    quarantine, rotation,
    views::{ComparedViews, NewViews, is_beginning},
    watermark,
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
    /// It was read from its beginning, or tells of another ledger: whatever was known before.
    All,
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
    let wrong = archives::wrong(disk, paths)?;
    aligned
        .repairs
        .extend(archives::write(disk, paths, &wrong)?);
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
/// one of them would be the last for ever. One of a later day than today's that is empty has nothing
/// to go back from, and is removed: today's records would go into it.
fn refuse_days_to_come(disk: &Disk, paths: &LedgerPaths, now: Timestamp) -> Result<(), OpenError> {
    let today = day_of(now);
    // Clocks differ, by a day at most where only the zone is wrong.
    let tomorrow = today.saturating_add(1.day());
    let days = day_files(disk, &paths.audit)?.into_iter().rev();
    for last in days.take_while(|day| day.day > today) {
        let stat = disk.stat(&last.path)?;
        if stat.is_some_and(|stat| stat.kind == EntryKind::File && stat.len == 0) {
            disk.remove_file(&last.path)?;
        } else if last.day > tomorrow {
            return Err(OpenError::DayToCome { path: last.path });
        } else {
            break;
        }
    }
    Ok(())
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

/// Brings everything in line, the journal being read from its beginning.
fn align_whole(disk: &Disk, paths: &LedgerPaths, foreign: Foreign) -> Result<Aligned, OpenError> {
    let (mut followed, mut found) = hold_against_journal(disk, paths)?;
    let Some(view) = followed.position.view.take() else {
        refuse_journal_gone(disk, paths)?;
        return Err(OpenError::NotCreated {
            root: paths.root.clone(),
        });
    };
    let placed = place_archives(disk, paths, &followed.archived, &view)?.unwrap_or_default();
    if !placed.is_empty() {
        // Other files have the names now.
        (followed, found) = hold_against_journal(disk, paths)?;
    }
    let mut missing = Vec::new();
    for archived in &followed.archived {
        let name = &archived.archive;
        if !rotation::is_whole(disk, paths, name)? {
            missing.push(archives::Lacking::missing(disk, paths, name)?);
        }
        if let Some(path) = rotation::in_the_way(disk, paths, name)? {
            let what = "it is not a file, and an archive belongs there".to_owned();
            return Err(OpenError::Foreign { path, what });
        }
    }
    let has_ledger = found.has_ledger()?;
    let has_hashlog = found.has_hashlog()?;
    // Both are judged before anything is changed.
    if !has_ledger && foreign == Foreign::Refused {
        refuse_foreign_ledger(disk, paths, &view, followed.recovered)?;
    }
    if !has_hashlog && found.hashlog_is_alike() && foreign == Foreign::Refused {
        let end = found.view().map_or(0, |view| view.hashlog_end);
        refuse_foreign_hashlog(disk, paths, end, followed.recovered)?;
    }
    let mut repairs = cut_torn(disk, paths, followed.torn.as_ref())?;
    repairs.extend(placed);
    repairs.extend(archives::write(disk, paths, &missing)?);
    if !(has_ledger && has_hashlog) {
        let (ledger, hashlog) = write_views(disk, paths)?;
        for (new, is_right) in [(ledger, has_ledger), (hashlog, has_hashlog)] {
            if !is_right {
                repairs.push(put(disk, paths, new)?);
            }
        }
    }
    for adopted in followed
        .position
        .archives
        .iter()
        .filter(|told| told.is_adopted)
    {
        let written = restore_hashlog(disk, paths, adopted)?;
        repairs.extend(written.map(|path| Repair {
            path,
            what: RepairKind::Rewritten,
            kept: None,
        }));
    }
    followed.position.view = found.view().cloned();
    Ok(Aligned {
        position: followed.position,
        repairs,
        news: News::All,
    })
}

type Found = ComparedViews<DiskFile, DiskFile>;

/// Reads the whole journal and holds ledger file and hashlog against it.
fn hold_against_journal(disk: &Disk, paths: &LedgerPaths) -> Result<(Followed, Found), OpenError> {
    let ledger = disk.open_if_there(&paths.ledger, OpenHow::READ)?;
    let hashlog = disk.open_if_there(&paths.hashlog, OpenHow::READ)?;
    let mut found = ComparedViews::new(ledger, hashlog);
    let followed = walk(disk, paths, &Position::start(), Until::End, &mut found)?;
    Ok((followed, found))
}

/// Writes ledger file and hashlog as the journal has them, without giving them their names.
fn write_views(disk: &Disk, paths: &LedgerPaths) -> Result<(NewFile, NewFile), OpenError> {
    let mut written = Writing {
        disk,
        paths,
        new: None,
    };
    walk(disk, paths, &Position::start(), Until::End, &mut written)?;
    let Some(new) = written.new else {
        return Err(OpenError::NotCreated {
            root: paths.root.clone(),
        });
    };
    let (_, ledger, hashlog) = new.end()?;
    Ok((ledger, hashlog))
}

struct Writing<'a> {
    disk: &'a Disk,
    paths: &'a LedgerPaths,
    new: Option<NewViews>,
}

impl Told for Writing<'_> {
    fn begins(&mut self, _before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        let paths = (&*self.paths.ledger, &*self.paths.hashlog);
        let modes = (
            rotation::mode_like(self.disk, paths.0)?,
            rotation::mode_like(self.disk, paths.1)?,
        );
        self.new = Some(NewViews::begin(self.disk, paths, modes, begins.view())?);
        Ok(())
    }

    fn stores(&mut self, entry: ToldEntry<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        self.new.as_mut().map_or(Ok(()), |new| new.push(entry))
    }
}

/// Gives a new file its name; what stood there, and is not a beginning of it, is kept.
pub(crate) fn put(disk: &Disk, paths: &LedgerPaths, mut new: NewFile) -> Result<Repair, DiskError> {
    let path = new.path().to_owned();
    let kept = match disk.open_if_there(&path, OpenHow::READ)? {
        // What is a beginning of the right bytes holds nothing that they do not.
        Some(found) if !is_beginning(&found, new.written()?)? => {
            Some(quarantine::keep_file(disk, paths, &found)?)
        }
        _ => None,
    };
    new.replace()?;
    Ok(Repair {
        path,
        what: RepairKind::Rewritten,
        kept,
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
                .push(entry.told(), &mut expected.ledger, &mut expected.hashlog);
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
///
/// One that a recovery replaced, and set aside before, is what a crash in its midst leaves.
fn refuse_foreign_ledger(
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
    // What is not JSON was torn by a crash, or is beyond telling; it goes to the quarantine.
    let Ok(file) = LedgerFile::parse(&found) else {
        return Ok(());
    };
    let foreign = |what: String| OpenError::Foreign {
        path: paths.ledger.clone(),
        what,
    };
    if !have_same_other_fields(&found, view.empty_file().as_bytes()) {
        return Err(foreign("its fields beside `tasks` differ".to_owned()));
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

/// The entries of a ledger file, held against those that the journal tells of.
struct Judging<'a> {
    found: &'a [u8],
    entries: &'a [Range<usize>],
    next: usize,
    /// The first that is another.
    differs: Option<usize>,
}

impl Told for Judging<'_> {
    fn begins(&mut self, _before: Option<&View>, _begins: &Begins) -> Result<(), DiskError> {
        self.next = 0;
        self.differs = None;
        Ok(())
    }

    fn stores(&mut self, told: ToldEntry<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        if let Some(at) = self.entries.get(self.next)
            && self.differs.is_none()
            && !is_told(&self.found[at.clone()], told.json)
        {
            self.differs = Some(self.next);
        }
        self.next += 1;
        Ok(())
    }
}

/// Whether an entry, in whatever layout, says what the journal does, and its checksum holds.
pub(crate) fn is_told(found: &[u8], told: &str) -> bool {
    told.as_bytes() == found
        || seal(found, DuplicateKeys::LastWins).is_ok_and(|(_, canonical)| {
            canonical == told && Entry::read(found).is_ok_and(|entry| entry.check().is_ok())
        })
}

fn name_of(entry: &[u8]) -> String {
    match Entry::read(entry) {
        Ok(entry) => format!(" (`{}`)", entry.task_id),
        Err(_) => String::new(),
    }
}

/// Refuses a hashlog that goes on, with whole lines, where the journal ends.
fn refuse_foreign_hashlog(
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
