//! A ledger put in the place of the one that is there, from a backup.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use callosum_host::{Disk, DiskError, OpenHow, disk::FileStat};

use super::{Project, RecoverError, RecoverFrom, Recovered};
use crate::{
    adoption::Adopted,
    align::OpenError,
    backup,
    checksum::Checksum,
    creation::{Beginning, Start},
    group::Writer,
    journal::{Begins, RecordPlace, Told, ToldEntry, Until, day_files, walk},
    paths::LedgerPaths,
    position::{Position, View},
    quarantine,
    reader::archived_among,
    taken::TakenLedger,
    task_id::TaskId,
};

/// So often everything is written before the lock is taken; then with the lock held, because
/// somebody writes all the time.
const TRIES_WITHOUT_LOCK: usize = 2;

impl Project<'_> {
    pub(super) fn take_backup(
        &self,
        path: &Path,
        from: RecoverFrom<'_>,
    ) -> Result<Recovered, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        if is_same_file(disk, path, &paths.ledger)? {
            return Err(RecoverError::Itself {
                path: path.to_owned(),
            });
        }
        let read = backup::open(disk, path).map_err(|source| RecoverError::Backup {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        let must_be_known = matches!(from, RecoverFrom::Backup(_));
        if must_be_known && !read.has_note {
            return Err(RecoverError::NoNote {
                path: path.to_owned(),
            });
        }
        let mut tries = 0;
        loop {
            let held = if tries < TRIES_WITHOUT_LOCK {
                None
            } else {
                Some(self.lock()?)
            };
            let plan = self.plan(path, &read.taken, must_be_known, held.is_some())?;
            let held = match held {
                Some(held) => held,
                None => self.lock()?,
            };
            if let Some(plan) = plan
                && plan.found == Found::now(disk, paths)?
            {
                let (position, _) = plan.beginning.carry_out(disk, paths)?;
                let mut writer = Writer::default();
                writer.stand_at(disk, paths, position);
                drop(held);
                return Ok(plan.recovered);
            }
            tries += 1;
        }
    }

    /// Writes everything that is to be put in place; `None` where the journal's end is torn, which
    /// may be a record that is being written, so that it must be looked at with the lock held.
    fn plan(
        &self,
        path: &Path,
        taken: &TakenLedger,
        must_be_known: bool,
        is_locked: bool,
    ) -> Result<Option<Plan>, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let mut found = Found::now(disk, paths)?;
        let mut told = OfBackup {
            by_task: &taken.by_task,
            known: HashSet::new(),
            another: None,
            left_out: Vec::new(),
        };
        let followed = walk(disk, paths, &Position::start(), Until::End, &mut told)?;
        if followed.torn.is_some() {
            if !is_locked {
                return Ok(None);
            }
            self.refuse_loss_of(&followed)?;
        } else if followed.position.seq < self.options.signed {
            self.refuse_loss_of(&followed)?;
        }
        let Some(view) = &followed.position.view else {
            return Err(RecoverError::Open(OpenError::NotCreated {
                root: paths.root.clone(),
            }));
        };
        if let Some(task_id) = told.another {
            return Err(RecoverError::NotCommitted { task_id });
        }
        let mut unknown = taken.by_task.keys().filter(|id| !told.known.contains(*id));
        if let Some(task_id) = unknown.next().filter(|_| must_be_known) {
            return Err(RecoverError::Untold {
                task_id: task_id.clone(),
            });
        }
        if followed.torn.is_some() {
            self.cut(&followed)?;
            found = Found::now(disk, paths)?;
        }
        let ids = taken.by_task.keys().cloned().collect();
        let archived = archived_among(disk, paths, &followed.position.archives, ids)?;
        let mut set_aside = Vec::new();
        for path in [&paths.ledger, &paths.hashlog] {
            if let Some(file) = disk.open_if_there(path, OpenHow::READ)? {
                set_aside.push(quarantine::keep_file(disk, paths, &file)?);
            }
        }
        let mut start = Start {
            hashlog: view.hashlog_head,
            position: followed.position,
            begun: taken.begun.clone(),
            archives: Adopted::default(),
            details: vec![("recovered_from", self.shown(path))],
        };
        if let Some(kept) = set_aside.first() {
            start.details.push(("kept", self.shown(kept)));
        }
        let now = self.clock.now();
        let beginning = Beginning::prepare(disk, paths, start, Some(taken), &archived, now)?;
        Ok(Some(Plan {
            found,
            beginning,
            recovered: Recovered {
                taken_in: (taken.len() - archived.len()) as u64,
                archived: archived.len() as u64,
                left_out: told.left_out,
                signed: None,
                set_aside,
                repairs: Vec::new(),
            },
        }))
    }
}

struct Plan {
    /// What it was made for.
    found: Found,
    beginning: Beginning,
    recovered: Recovered,
}

/// The files that must not change between reading them and replacing them.
#[derive(PartialEq, Eq)]
struct Found {
    journal: Option<FileStat>,
    ledger: Option<FileStat>,
    hashlog: Option<FileStat>,
}

impl Found {
    fn now(disk: &Disk, paths: &LedgerPaths) -> Result<Self, DiskError> {
        let journal = match day_files(disk, &paths.audit)?.pop() {
            Some(last) => disk.stat(&last.path)?,
            None => None,
        };
        Ok(Self {
            journal,
            ledger: disk.stat(&paths.ledger)?,
            hashlog: disk.stat(&paths.hashlog)?,
        })
    }
}

/// What the journal says of the tasks of a backup.
struct OfBackup<'a> {
    by_task: &'a HashMap<TaskId, Checksum>,
    known: HashSet<TaskId>,
    /// The first of which it has something else.
    another: Option<TaskId>,
    /// The tasks of the active ledger that the backup does not have.
    left_out: Vec<TaskId>,
}

impl Told for OfBackup<'_> {
    fn begins(&mut self, _before: Option<&View>, _begins: &Begins) -> Result<(), DiskError> {
        self.left_out.clear();
        Ok(())
    }

    fn stores(&mut self, entry: ToldEntry<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        let Some(task_id) = entry.task_id() else {
            return Ok(());
        };
        match self.by_task.get(&task_id) {
            Some(checksum) if *checksum == entry.checksum => {
                self.known.insert(task_id);
            }
            Some(_) => {
                self.another.get_or_insert(task_id);
            }
            None => self.left_out.push(task_id),
        }
        Ok(())
    }
}

/// Whether both paths lead to one file.
fn is_same_file(disk: &Disk, one: &Path, other: &Path) -> Result<bool, DiskError> {
    let real = |path: &Path| disk.canonicalize(path).ok();
    if let (Some(one), Some(other)) = (real(one), real(other))
        && one == other
    {
        return Ok(true);
    }
    let id = |path: &Path| Ok::<_, DiskError>(disk.stat(path)?.and_then(|stat| stat.id));
    let one = id(one)?;
    Ok(one.is_some() && one == id(other)?)
}
