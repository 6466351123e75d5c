//! Beginning a ledger: files and folders, and an older ledger taken over.

use std::{collections::HashSet, path::PathBuf};

use callosum_host::{Clock, Disk, DiskError, OpenHow, disk::NewFile};
use jiff::Timestamp;

use crate::{
    archive_import::{Adopted, restore_hashlog},
    create_error::CreateError,
    derived_files::{NewViews, copy, mode_like},
    event::{AuditEvent, Event},
    group_commit::Writer,
    import_source::ImportSource,
    journal::{Batch, JOURNAL_FORMAT, day_of, walk_alone},
    ledger_file::{LedgerVersion, begun_new},
    locks::ExclusiveLedger,
    open_error::OpenError,
    paths::LedgerPaths,
    position::{Begun, Position, View},
    reconcile::put,
    repair::cut_torn,
    task_id::TaskId,
};
use callosum_json::Checksum;

/// Result of creating a ledger.
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
    /// Number of its entries.
    pub entries: u64,
    /// Path to which the original file was moved, if it had entries.
    pub original: Option<PathBuf>,
    /// Number of archives that the journal lists from now on.
    pub archives: u64,
    /// Files that have an archive's name and are not a ledger whose every checksum is right: they
    /// are left as they are, and nothing reads them.
    pub passed_over: Vec<PathBuf>,
}

/// Creates the missing parts of a project's ledger, under its locks; see [`Ledger::create`].
///
/// [`Ledger::create`]: crate::Ledger::create
pub(crate) fn create(
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

/// Begins the journal with a ledger: an empty one, or the one that is there.
fn begin(disk: &Disk, paths: &LedgerPaths, clock: &Clock) -> Result<Option<Adoption>, CreateError> {
    let taken = match disk.open_if_there(&paths.ledger, OpenHow::READ)? {
        Some(file) => Some(ImportSource::open(file)?),
        None => None,
    };
    let now = clock.now();
    let count = taken.as_ref().map_or(0, ImportSource::len);
    let original = if count > 0 {
        Some(set_aside(disk, paths, now)?)
    } else {
        None
    };

    let found = walk_alone(disk, paths).map_err(OpenError::from)?;
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
        begun: taken
            .as_ref()
            .map_or_else(begun_new, |taken| taken.begun.clone()),
        hashlog: archives.head(),
        archives,
        details: Vec::new(),
        replaces_journal: false,
    };
    let no_tasks = HashSet::new();
    let beginning = Beginning::prepare(disk, paths, start, taken.as_ref(), &no_tasks, now)?;
    let (_, adopted) = beginning.carry_out(disk, paths)?;
    let adoption = Adoption {
        entries: count as u64,
        original,
        archives: adopted.archives.len() as u64,
        passed_over: adopted.passed_over,
    };
    Ok((adoption != Adoption::default()).then_some(adoption))
}

/// Beginning of a ledger, without its entries.
pub(crate) struct Start {
    /// End of the journal.
    pub(crate) position: Position,
    pub(crate) begun: Begun,
    /// Hash that the hashlog continues from.
    pub(crate) hashlog: Checksum,
    /// Archives that the journal does not list yet.
    pub(crate) archives: Adopted,
    /// Further details of its record.
    pub(crate) details: Vec<(&'static str, String)>,
    /// Whether the folder of the journal is another by the time at which the files get their names.
    pub(crate) replaces_journal: bool,
}

/// A ledger that is about to be begun: journal, ledger file and hashlog as they will be, without
/// their names.
pub(crate) struct Beginning {
    batch: Batch,
    journal: NewFile,
    view: View,
    ledger: NewFile,
    hashlog: NewFile,
    archives: Adopted,
}

impl Beginning {
    /// Writes all that a ledger with these entries is begun with, but for those of the tasks
    /// `without`. Nothing that is there is changed.
    ///
    /// Holds an entry at a time. Costs writing each twice, and the day's file of the journal.
    pub(crate) fn prepare(
        disk: &Disk,
        paths: &LedgerPaths,
        start: Start,
        taken: Option<&ImportSource>,
        without: &HashSet<TaskId>,
        now: Timestamp,
    ) -> Result<Self, CreateError> {
        let begun = start.begun;
        let mut batch = Batch::begin(start.position, now);
        let journal = if start.replaces_journal {
            batch.first_day_file(disk, paths)
        } else {
            batch.day_file(disk, paths)
        };
        let mut journal = journal.map_err(OpenError::Unrecorded)?;
        let mut created = AuditEvent::new(Event::Created)
            .with("journal", JOURNAL_FORMAT)
            .with("version", LedgerVersion::OURS.to_string())
            .with("head", begun.head.as_str())
            .with("tail", begun.tail.as_str());
        if start.hashlog != Checksum::ZERO {
            created = created.with("hashlog", start.hashlog.to_string());
        }
        let archives = start.archives;
        if !archives.archives.is_empty() {
            created = created.with("archives", archives.to_json());
        }
        if let Some(last_id) = &archives.last_id {
            created = created.with("last_id", last_id.as_str());
        }
        for (key, value) in start.details {
            created = created.with(key, value);
        }
        batch.push(&created, now, None);
        let modes = (
            mode_like(disk, &paths.ledger)?,
            mode_like(disk, &paths.hashlog)?,
        );
        let places = (&*paths.ledger, &*paths.hashlog);
        let view = View::after(begun, start.hashlog);
        let mut views = NewViews::begin(disk, places, modes, view)?;
        if let Some(taken) = taken {
            taken.each(|_, entry| {
                if !without.contains(&entry.task_id) {
                    batch.push(&entry.event(), now, Some(entry.sealed.json));
                    batch.drain(&mut journal).map_err(OpenError::Unrecorded)?;
                    views.push(entry.sealed)?;
                }
                Ok::<_, CreateError>(())
            })?;
        }
        batch.drain(&mut journal).map_err(OpenError::Unrecorded)?;
        journal.sync().map_err(OpenError::Unrecorded)?;
        let (view, mut ledger, mut hashlog) = views.end()?;
        ledger.sync()?;
        hashlog.sync()?;
        Ok(Self {
            batch,
            journal,
            view,
            ledger,
            hashlog,
            archives,
        })
    }

    /// Gives the files their names, the journal's first. Returns the new end of the journal and the
    /// archives that it lists.
    ///
    /// After a crash either all entries are in the journal, or none is; the next opening then
    /// writes ledger file and hashlog.
    pub(crate) fn carry_out(
        self,
        disk: &Disk,
        paths: &LedgerPaths,
    ) -> Result<(Position, Adopted), OpenError> {
        let written = self.batch.put(disk, paths, self.journal);
        let mut position = written.map_err(OpenError::Unrecorded)?;
        self.ledger.replace()?;
        put(disk, paths, self.hashlog)?;
        // Not before the record: a hashlog without a journal is one whose journal is lost.
        for archived in &self.archives.archives {
            restore_hashlog(disk, paths, archived)?;
        }
        if let Some(last_id) = &self.archives.last_id {
            position.note_id(last_id);
        }
        position.archives.extend_from_slice(&self.archives.archives);
        position.view = Some(self.view);
        Ok((position, self.archives))
    }
}

/// Puts a copy of the ledger that was found into the folder of backups.
fn set_aside(disk: &Disk, paths: &LedgerPaths, now: Timestamp) -> Result<PathBuf, DiskError> {
    disk.create_dir_all(&paths.backups)?;
    let found = disk.open(&paths.ledger, OpenHow::READ)?;
    let stamp = now.strftime("%Y%m%d_%H%M%S");
    let mut path = paths.backups.join(format!("cal_memory_{stamp}.json"));
    let mut count = 1;
    loop {
        let mut copied = disk.new_file(&path, 0o600)?;
        copy(&found, found.size()?, &mut copied)?;
        if copied.create()? {
            return Ok(path);
        }
        count += 1;
        path = paths
            .backups
            .join(format!("cal_memory_{stamp}_{count}.json"));
    }
}
