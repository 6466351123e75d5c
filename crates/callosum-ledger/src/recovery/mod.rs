//! Bringing a ledger back: from a backup, from the journal, or from what stands in the file.
//!
//! Whatever is replaced is set aside in the quarantine first, and the journal tells of it, so that
//! replay and verification stay true. Nothing here runs unasked.

use std::path::{Path, PathBuf};

use callosum_host::{Clock, Disk, DiskError};

use crate::{
    adoption::Adopted,
    align::{OpenError, Repair, cut_torn},
    backup::{self, BackupError},
    creation::{CreateError, Start, begin_with, take_over},
    entry::Entry,
    error_code::ErrorCode,
    event::{AuditEvent, Event},
    group::{Writer, stored_event},
    journal::{Batch, Followed, day_files, day_of, follow},
    ledger::Ledger,
    ledger_file::have_same_other_fields,
    locks::ExclusiveLedger,
    open_files::OpenFiles,
    paths::LedgerPaths,
    position::Position,
    quarantine,
    reader::{ReadError, archived_among},
};

/// From what a ledger is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoverFrom<'a> {
    /// A backup, or any other ledger file whose every checksum is right.
    Backup(&'a Path),
    /// The journal: ledger, hashlog and archives are made what it says.
    Audit,
    /// The ledger file: the valid entries that another program appended to it are taken in.
    Appended,
    /// The ledger file: a new journal is begun with what it holds, because the old one is lost.
    LedgerAlone,
}

/// What a recovery did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// How many entries were taken into the journal.
    pub taken_in: u64,
    /// How many of a backup's entries were passed over, because an archive has them.
    pub archived: u64,
    /// Where what was replaced was put.
    pub set_aside: Vec<PathBuf>,
    /// What was brought in line with the journal.
    pub repairs: Vec<Repair>,
}

/// Why nothing was recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The journal cannot be followed, or a file or lock failed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The backup does not verify. Nothing was changed.
    #[error("cannot recover from `{}`", path.display())]
    Backup {
        /// The backup.
        path: PathBuf,
        /// Why.
        source: Box<BackupError>,
    },
    /// The ledger that is there cannot be taken over. Nothing was changed.
    #[error(transparent)]
    Ledger(Box<CreateError>),
    /// An archive could not be read.
    #[error(transparent)]
    Archive(#[from] ReadError),
    /// The ledger file says of an entry that the journal has something else.
    #[error(
        "entry {number} is not what the audit journal says; only entries after its last are taken in"
    )]
    Differs {
        /// The entry's number in the ledger, from 1.
        number: usize,
    },
    /// Fields beside the entries were changed.
    #[error("the ledger's fields beside `tasks` are not what the audit journal says")]
    OtherFields,
    /// A task whose entry was appended has one in an archive.
    #[error("entry {number} is of a task that has one in an archive")]
    Taken {
        /// The entry's number in the ledger, from 1.
        number: usize,
    },
}

impl RecoverError {
    /// The seed's code for it, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Open(error) => error.code(),
            Self::Backup { source, .. } => source.code(),
            Self::Archive(error) => error.code(),
            Self::Ledger(error) => match &**error {
                CreateError::Open(error) => error.code(),
                CreateError::BadEntry { .. } => Some(ErrorCode::ChecksumMismatch),
                _ => None,
            },
            Self::Differs { .. } | Self::OtherFields | Self::Taken { .. } => None,
        }
    }
}

impl From<CreateError> for RecoverError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::Open(error) => Self::Open(error),
            error => Self::Ledger(Box::new(error)),
        }
    }
}

impl From<DiskError> for RecoverError {
    fn from(error: DiskError) -> Self {
        Self::Open(error.into())
    }
}

impl Ledger {
    /// Recovers a project's ledger, and says what was done.
    ///
    /// Holds the ledger's lock throughout. Costs the reading of the whole journal, and writing what
    /// is taken into it. Doing it again after a crash in its midst does the rest.
    ///
    /// Fails, with everything left as it was, where what it is to be recovered from does not verify.
    pub fn recover(
        disk: &Disk,
        paths: &LedgerPaths,
        clock: &Clock,
        from: RecoverFrom<'_>,
    ) -> Result<Recovered, RecoverError> {
        disk.create_dir_all(&paths.locks)?;
        let held = ExclusiveLedger::acquire(disk, paths).map_err(OpenError::from)?;
        let _audit = held.lock_audit().map_err(OpenError::from)?;
        let project = Project { disk, paths, clock };
        let mut recovered = match from {
            RecoverFrom::Backup(path) => project.take_backup(path)?,
            RecoverFrom::Audit => Recovered::default(),
            RecoverFrom::Appended => project.take_appended()?,
            RecoverFrom::LedgerAlone => project.begin_anew()?,
        };
        let mut writer = Writer::default();
        recovered.repairs = match from {
            RecoverFrom::Audit => writer.rebuild(disk, paths, clock)?,
            _ => writer.bring_in_line(disk, paths, clock, &held, 0)?,
        };
        let kept = recovered
            .repairs
            .iter()
            .filter_map(|repair| repair.kept.clone());
        recovered.set_aside.extend(kept);
        Ok(recovered)
    }
}

struct Project<'a> {
    disk: &'a Disk,
    paths: &'a LedgerPaths,
    clock: &'a Clock,
}

impl Project<'_> {
    fn take_backup(&self, path: &Path) -> Result<Recovered, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let read = backup::read(disk, path).map_err(|source| RecoverError::Backup {
            path: path.to_owned(),
            source: Box::new(source),
        });
        let (begun, mut entries) = read?;
        let followed = self.follow()?;
        let Some(view) = &followed.position.view else {
            return Err(RecoverError::Open(OpenError::NotCreated {
                root: paths.root.clone(),
            }));
        };
        let hashlog = view.hashlog_head;
        let count = entries.len();
        let ids = entries.iter().map(|entry| entry.task_id.clone()).collect();
        let archived = archived_among(disk, paths, &followed.position.archives, ids)?;
        entries.retain(|entry| !archived.contains(&entry.task_id));
        let mut set_aside = Vec::new();
        for path in [&paths.ledger, &paths.hashlog] {
            if let Some(bytes) = disk.read_if_there(path)? {
                set_aside.push(quarantine::keep(disk, paths, path, &bytes)?);
            }
        }
        let mut start = Start {
            position: followed.position,
            begun,
            hashlog,
            archives: Adopted::default(),
            details: vec![("recovered_from", self.shown(path))],
        };
        if let Some(kept) = set_aside.first() {
            start.details.push(("kept", self.shown(kept)));
        }
        begin_with(disk, paths, start, &entries, self.clock.now())?;
        Ok(Recovered {
            taken_in: entries.len() as u64,
            archived: (count - entries.len()) as u64,
            set_aside,
            repairs: Vec::new(),
        })
    }

    fn take_appended(&self) -> Result<Recovered, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let bytes = disk.read(&paths.ledger)?;
        let (_, found) = take_over(&paths.ledger, &bytes)?;
        let followed = self.follow()?;
        let Some(view) = &followed.position.view else {
            return Err(RecoverError::Open(OpenError::NotCreated {
                root: paths.root.clone(),
            }));
        };
        if !have_same_other_fields(&bytes, view.empty_file().as_bytes()) {
            return Err(RecoverError::OtherFields);
        }
        let told = &followed.entries;
        let differs = (0..told.len())
            .find(|at| found.get(*at).map(Entry::as_json) != Some(told[*at].json.as_str()));
        if let Some(at) = differs {
            return Err(RecoverError::Differs { number: at + 1 });
        }
        let appended = &found[told.len()..];
        let ids = appended.iter().map(|entry| entry.task_id.clone()).collect();
        let archived = archived_among(disk, paths, &followed.position.archives, ids)?;
        if let Some(at) = appended
            .iter()
            .position(|entry| archived.contains(&entry.task_id))
        {
            let number = told.len() + at + 1;
            return Err(RecoverError::Taken { number });
        }
        let now = self.clock.now();
        let mut batch = Batch::begin(followed.position, now);
        for entry in appended {
            let event = stored_event(Event::Adopted, "adopted", entry);
            batch.push(&event, now, Some(entry.as_json()));
        }
        batch
            .write(disk, paths, &mut OpenFiles::default(), true)
            .map_err(OpenError::Unrecorded)?;
        Ok(Recovered {
            taken_in: appended.len() as u64,
            ..Recovered::default()
        })
    }

    fn begin_anew(&self) -> Result<Recovered, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let bytes = disk.read(&paths.ledger)?;
        let (begun, entries) = take_over(&paths.ledger, &bytes)?;
        let mut set_aside = vec![quarantine::keep(disk, paths, &paths.ledger, &bytes)?];
        if !day_files(disk, &paths.audit)?.is_empty() {
            // As a whole: some of a journal's days would pass for a journal. Without any there is
            // none, and nothing but this begins one.
            set_aside.push(quarantine::move_folder(disk, paths, &paths.audit)?);
        }
        disk.create_dir_all(&paths.audit)?;
        let now = self.clock.now();
        let archives = Adopted::find(disk, paths, day_of(now))?;
        let start = Start {
            position: Position::start(),
            begun,
            hashlog: archives.head(),
            archives,
            details: vec![
                ("recovered_from", self.shown(&paths.ledger)),
                ("kept", self.shown(&set_aside[0])),
            ],
        };
        begin_with(disk, paths, start, &entries, now)?;
        Ok(Recovered {
            taken_in: entries.len() as u64,
            archived: 0,
            set_aside,
            repairs: Vec::new(),
        })
    }

    /// The journal to its end, with a torn end cut off.
    fn follow(&self) -> Result<Followed, RecoverError> {
        let followed =
            follow(self.disk, self.paths, &Position::start()).map_err(OpenError::from)?;
        cut_torn(self.disk, self.paths, followed.torn.as_ref())?;
        Ok(followed)
    }

    fn shown(&self, path: &Path) -> String {
        self.paths.shown(path).to_string_lossy().into_owned()
    }
}

/// The event of a file that was made what the journal says.
pub(crate) fn rollback_event(paths: &LedgerPaths, repair: &Repair) -> AuditEvent {
    let mut event = AuditEvent::new(Event::Rollback).with(
        "file",
        paths.shown(&repair.path).to_string_lossy().into_owned(),
    );
    event.status = Some(repair.what.name().to_owned());
    match &repair.kept {
        Some(kept) => event.with("kept", paths.shown(kept).to_string_lossy().into_owned()),
        None => event,
    }
}
