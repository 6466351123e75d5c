//! A ledger put in the place of the one that is there, from a backup.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use callosum_host::{Disk, DiskError, OpenHow};

use super::{Project, RecoverError, RecoverFrom, Recovered, preconditions::Preconditions};
use crate::{
    archive_import::Adopted,
    backup,
    group_commit::Writer,
    import_source::ImportSource,
    init::{Beginning, Start},
    journal::{Begins, EntryRef, RecordPlace, ScanVisitor, Torn, Until, day_of, walk_days},
    open_error::OpenError,
    position::{Position, View},
    quarantine,
    reader::archived_among,
    repair::cut_torn,
    task_id::TaskId,
};
use callosum_json::Checksum;

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
        self.recover(
            |found| self.plan(path, &read.taken, must_be_known, found),
            |plan| {
                cut_torn(disk, paths, plan.torn.as_ref())?;
                disk.create_dir_all(&paths.audit)?;
                let (position, _) = plan.beginning.carry_out(disk, paths)?;
                Writer::default().stand_at(disk, paths, position);
                Ok(plan.recovered)
            },
        )
    }

    /// Writes everything that is to be put in place.
    fn plan(
        &self,
        path: &Path,
        taken: &ImportSource,
        must_be_known: bool,
        found: &Preconditions,
    ) -> Result<Plan, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        if found.days.is_empty() && !disk.exists(&paths.ledger)? {
            return self.plan_without_journal(path, taken);
        }
        let mut visitor = OfBackup {
            by_task: &taken.by_task,
            known: HashSet::new(),
            another: None,
            left_out: Vec::new(),
        };
        let (days, start) = (&found.days, Position::start());
        let followed = walk_days(disk, paths, days, &start, Until::End, &mut visitor)?;
        if followed.torn.is_some() || followed.position.seq < self.options.signed {
            self.refuse_loss(&followed)?;
        }
        let Some(view) = &followed.position.view else {
            return Err(RecoverError::Open(OpenError::NotCreated {
                root: paths.root.clone(),
            }));
        };
        if let Some(task_id) = visitor.another {
            return Err(RecoverError::NotCommitted { task_id });
        }
        let mut unknown = taken
            .by_task
            .keys()
            .filter(|id| !visitor.known.contains(*id));
        if let Some(task_id) = unknown.next().filter(|_| must_be_known) {
            return Err(RecoverError::Untold {
                task_id: task_id.clone(),
            });
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
            replaces_journal: false,
        };
        if let Some(kept) = set_aside.first() {
            start.details.push(("kept", self.shown(kept)));
        }
        let now = self.clock.now();
        let beginning = Beginning::prepare(disk, paths, start, Some(taken), &archived, now)?;
        Ok(Plan {
            torn: followed.torn,
            beginning,
            recovered: Recovered {
                taken_in: (taken.len() - archived.len()) as u64,
                archived: archived.len() as u64,
                left_out: visitor.left_out,
                set_aside,
                ..Recovered::default()
            },
        })
    }
}

impl Project<'_> {
    /// Writes the beginning of a new journal if the old one is lost, and the ledger with it: the
    /// backup, without the entries of the archives that still exist.
    fn plan_without_journal(
        &self,
        path: &Path,
        taken: &ImportSource,
    ) -> Result<Plan, RecoverError> {
        let (disk, paths, now) = (self.disk, self.paths, self.clock.now());
        let archives = Adopted::find(disk, paths, day_of(now))?;
        let ids = taken.by_task.keys().cloned().collect();
        let archived = archived_among(disk, paths, &archives.archives, ids)?;
        let start = Start {
            position: Position::start(),
            begun: taken.begun.clone(),
            hashlog: archives.head(),
            archives,
            details: vec![("recovered_from", self.shown(path))],
            replaces_journal: !disk.exists(&paths.audit)?,
        };
        Ok(Plan {
            torn: None,
            beginning: Beginning::prepare(disk, paths, start, Some(taken), &archived, now)?,
            recovered: Recovered {
                taken_in: (taken.len() - archived.len()) as u64,
                archived: archived.len() as u64,
                ..Recovered::default()
            },
        })
    }
}

struct Plan {
    torn: Option<Torn>,
    beginning: Beginning,
    recovered: Recovered,
}

/// The journal's records of the tasks of a backup.
struct OfBackup<'a> {
    by_task: &'a HashMap<TaskId, Checksum>,
    known: HashSet<TaskId>,
    /// First task for which the journal has a different entry.
    another: Option<TaskId>,
    /// The tasks of the active ledger that the backup does not have.
    left_out: Vec<TaskId>,
}

impl ScanVisitor for OfBackup<'_> {
    fn begins(&mut self, _before: Option<&View>, _begins: &Begins) -> Result<(), DiskError> {
        self.left_out.clear();
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
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
