//! Beginning a ledger: files and folders, and an older ledger taken over.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use callosum_host::{Clock, Disk, DiskError};
use jiff::Timestamp;

use crate::{
    adoption::{Adopted, restore_hashlog},
    align::{Expected, OpenError, cut_torn},
    canonical::DuplicateKeys,
    checksum::Checksum,
    entry::{Entry, EntryError, is_sealed, seal},
    event::{AuditEvent, Event},
    group::{Writer, stored_event},
    journal::{Batch, JOURNAL_FORMAT, StoredEntry, day_of, follow},
    ledger::Ledger,
    ledger_file::{
        LedgerFile, LedgerFileError, LedgerVersion, NotToWrite, begun_like, begun_new,
        refuse_to_write,
    },
    locks::ExclusiveLedger,
    open_files::OpenFiles,
    paths::LedgerPaths,
    position::{Begun, Position, View},
    quarantine,
};

/// What creating a ledger did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Creation {
    /// The files and folders that were missing and are there now.
    pub created: Vec<PathBuf>,
    /// The ledger that was there before the journal, if there was one with entries or archives.
    pub adopted: Option<Adoption>,
}

/// A ledger that was taken over, with its archives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adoption {
    /// How many entries it had.
    pub entries: u64,
    /// Where its file was set aside as it had been, if it had entries.
    pub original: Option<PathBuf>,
    /// How many archives the journal tells of from now on.
    pub archives: u64,
    /// Files that have an archive's name and are not a ledger whose every checksum is right: they
    /// are left as they are, and nothing reads them.
    pub passed_over: Vec<PathBuf>,
}

/// Why a ledger could not be created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// A ledger is there and cannot be opened, or a file or lock failed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file that is there is not a ledger.
    #[error("cannot take over `{}`", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
        /// Why.
        source: LedgerFileError,
    },
    /// An entry in it is not what the schema says, or its checksum is wrong.
    #[error("cannot take over `{}`: entry {number}", path.display())]
    BadEntry {
        /// The file.
        path: PathBuf,
        /// The entry's number in it, from 1.
        number: usize,
        /// Why.
        source: EntryError,
    },
    /// Two entries in it are of one task.
    #[error("cannot take over `{}`: entry {number} is of a task that has one already", path.display())]
    Duplicate {
        /// The file.
        path: PathBuf,
        /// The second entry's number in it, from 1.
        number: usize,
    },
}

impl From<DiskError> for CreateError {
    fn from(error: DiskError) -> Self {
        Self::Open(error.into())
    }
}

impl Ledger {
    /// Creates what is missing of a project's ledger, and says what that was.
    ///
    /// Nothing that is there is overwritten, and doing it twice does nothing the second time. A
    /// ledger of another program, without a journal, is taken over where every checksum in it is
    /// right: each entry becomes a record of the journal and the original file is set aside.
    ///
    /// Fails, with everything left as it was but for empty folders, where what is there is not a
    /// ledger, or newer than this program.
    pub fn create(
        disk: &Disk,
        paths: &LedgerPaths,
        clock: &Clock,
    ) -> Result<Creation, CreateError> {
        let mut creation = Creation::default();
        let parent = paths.ledger.parent().unwrap_or(&paths.root);
        disk.create_dir_all(parent)?;
        for folder in [&paths.history, &paths.audit, &paths.locks] {
            if disk.create_dir_all(folder)? {
                creation.created.push(folder.clone());
            }
        }
        let held = ExclusiveLedger::acquire(disk, paths).map_err(OpenError::from)?;
        let _audit = held.lock_audit().map_err(OpenError::from)?;
        let missing = [&paths.ledger, &paths.hashlog]
            .into_iter()
            .map(|path| Ok((!disk.exists(path)?).then(|| path.clone())))
            .collect::<Result<Vec<_>, DiskError>>()?;
        let mut writer = Writer::default();
        match writer.bring_in_line(disk, paths, clock, &held, 0) {
            Ok(_) => {}
            Err(OpenError::NotCreated { .. }) => {
                creation.adopted = begin(disk, paths, clock)?;
                writer.bring_in_line(disk, paths, clock, &held, 0)?;
            }
            Err(error) => return Err(error.into()),
        }
        creation.created.extend(missing.into_iter().flatten());
        Ok(creation)
    }
}

/// Begins the journal with a ledger: an empty one, or the one that is there.
fn begin(disk: &Disk, paths: &LedgerPaths, clock: &Clock) -> Result<Option<Adoption>, CreateError> {
    let ledger = disk.read_if_there(&paths.ledger)?;
    let (begun, entries) = match &ledger {
        Some(bytes) => take_over(&paths.ledger, bytes)?,
        None => (begun_new(), Vec::new()),
    };
    let now = clock.now();
    let original = match &ledger {
        Some(bytes) if !entries.is_empty() => Some(set_aside(disk, paths, bytes, now)?),
        _ => None,
    };

    let found = follow(disk, paths, &Position::start()).map_err(OpenError::from)?;
    cut_torn(disk, paths, found.torn.as_ref())?;
    let is_first = found.position.seq == 0;
    let start = if is_first {
        Position::start()
    } else {
        found.position
    };
    let archives = Adopted::find(disk, paths, day_of(now))?;
    let start = Start {
        position: start,
        begun,
        hashlog: archives.head(),
        archives,
        details: Vec::new(),
    };
    let adopted = begin_with(disk, paths, start, &entries, now)?;
    let adoption = Adoption {
        entries: entries.len() as u64,
        original,
        archives: adopted.archives.len() as u64,
        passed_over: adopted.passed_over,
    };
    Ok((adoption != Adoption::default()).then_some(adoption))
}

/// What a ledger is begun with, besides its entries.
pub(crate) struct Start {
    /// Where the journal ends.
    pub(crate) position: Position,
    pub(crate) begun: Begun,
    /// What the hashlog goes on from.
    pub(crate) hashlog: Checksum,
    /// The archives that the journal does not tell of yet.
    pub(crate) archives: Adopted,
    /// What its record says besides.
    pub(crate) details: Vec<(&'static str, String)>,
}

/// Tells the journal of a ledger that is begun with these entries, and writes its files.
///
/// A crash in between leaves a journal whose views the next opening writes.
pub(crate) fn begin_with(
    disk: &Disk,
    paths: &LedgerPaths,
    start: Start,
    entries: &[Entry],
    now: Timestamp,
) -> Result<Adopted, OpenError> {
    let begun = start.begun;
    let adopted = start.archives;
    let is_first = start.position.seq == 0;
    let mut batch = Batch::begin(start.position, now);
    let mut created = AuditEvent::new(Event::Created)
        .with("journal", JOURNAL_FORMAT)
        .with("version", LedgerVersion::OURS.to_string())
        .with("head", begun.head.as_str())
        .with("tail", begun.tail.as_str());
    if start.hashlog != Checksum::ZERO {
        created = created.with("hashlog", start.hashlog.to_string());
    }
    if !adopted.archives.is_empty() {
        created = created.with("archives", adopted.to_json());
    }
    if let Some(last_id) = &adopted.last_id {
        created = created.with("last_id", last_id.as_str());
    }
    for (key, value) in start.details {
        created = created.with(key, value);
    }
    batch.push(&created, now, None);
    for entry in entries {
        let event = stored_event(Event::Adopted, "adopted", entry);
        batch.push(&event, now, Some(entry.as_json()));
    }
    if is_first {
        // Entries of which only some are in the journal would be somebody's doing ever after.
        batch.write_whole(disk, paths)
    } else {
        let written = batch.write(disk, paths, &mut OpenFiles::default(), true);
        written.map(drop)
    }
    .map_err(OpenError::Unrecorded)?;

    let stored: Vec<_> = entries.iter().map(StoredEntry::of).collect();
    let view = View::after(begun, start.hashlog);
    let expected = Expected::after(&view, &stored);
    let ledger = [
        view.begun.head.as_bytes(),
        &expected.ledger,
        view.begun.tail.as_bytes(),
    ];
    disk.rewrite(&paths.ledger, &ledger.concat(), 0o644)?;
    if let Some(hashlog) = disk.read_if_there(&paths.hashlog)?
        && hashlog != expected.hashlog
    {
        quarantine::keep(disk, paths, &paths.hashlog, &hashlog)?;
    }
    disk.rewrite(&paths.hashlog, &expected.hashlog, 0o644)?;
    // Not before the record: a hashlog without a journal is one whose journal is lost.
    for archived in &adopted.archives {
        restore_hashlog(disk, paths, archived)?;
    }
    Ok(adopted)
}

/// What a ledger without a journal holds, every entry checked and brought into canonical form.
pub(crate) fn take_over(path: &Path, bytes: &[u8]) -> Result<(Begun, Vec<Entry>), CreateError> {
    let not_a_ledger = |source| CreateError::NotALedger {
        path: path.to_owned(),
        source,
    };
    if let Err(NotToWrite::Newer(found)) = refuse_to_write(bytes) {
        return Err(CreateError::Open(OpenError::Newer {
            path: path.to_owned(),
            found,
            supported: LedgerVersion::OURS,
        }));
    }
    let file = LedgerFile::parse(bytes).map_err(not_a_ledger)?;
    let mut entries = Vec::with_capacity(file.entries.len());
    let mut ids = HashSet::new();
    for (index, at) in file.entries.into_iter().enumerate() {
        let number = index + 1;
        let entry = canonical_entry(&bytes[at]).map_err(|source| CreateError::BadEntry {
            path: path.to_owned(),
            number,
            source,
        })?;
        if !ids.insert(entry.task_id.clone()) {
            return Err(CreateError::Duplicate {
                path: path.to_owned(),
                number,
            });
        }
        entries.push(entry);
    }
    Ok((begun_like(bytes).map_err(not_a_ledger)?, entries))
}

/// Reads an entry, checks its checksum where it has one, and gives it our own layout.
fn canonical_entry(bytes: &[u8]) -> Result<Entry, EntryError> {
    Entry::read(bytes)?.check()?;
    let (_, canonical) = seal(bytes, DuplicateKeys::LastWins)?;
    let entry = Entry::read(canonical.as_bytes())?;
    if is_sealed(canonical.as_bytes()) {
        Ok(entry)
    } else {
        Err(EntryError::Schema {
            reason: "it has a field that sorts before `checksum`".to_owned(),
        })
    }
}

/// Puts a copy of the ledger that was found into the folder of backups.
fn set_aside(
    disk: &Disk,
    paths: &LedgerPaths,
    bytes: &[u8],
    now: Timestamp,
) -> Result<PathBuf, DiskError> {
    disk.create_dir_all(&paths.backups)?;
    let stamp = now.strftime("%Y%m%d_%H%M%S");
    let mut path = paths.backups.join(format!("cal_memory_{stamp}.json"));
    let mut count = 1;
    while !disk.create(&path, bytes, 0o600)? {
        count += 1;
        path = paths
            .backups
            .join(format!("cal_memory_{stamp}_{count}.json"));
    }
    Ok(path)
}
