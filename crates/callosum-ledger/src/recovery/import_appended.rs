//! Import of entries in the ledger file behind those that the journal records.

use std::collections::HashSet;

use callosum_host::{DiskError, OpenHow};
use jiff::civil::Date;

use super::{Project, RecoverError, Recovered, preconditions::Preconditions};
use crate::{
    create_error::CreateError,
    group_commit::Writer,
    import_source::{ImportSource, TakenEntry},
    journal::{
        Batch, Begins, EntryRef, Followed, RecordPlace, ScanVisitor, Until, day_of, walk_days,
    },
    ledger_file::have_same_other_fields,
    open_error::OpenError,
    open_files::OpenFiles,
    position::{Position, View},
    reader::archived_among,
    reconcile::{Aligned, News, Replacement, new_views},
    repair::{cut_torn, repair_event},
    task_id::TaskId,
};
use callosum_json::Checksum;

/// Records of the journal, and the files that tell the same, which have not got their names yet.
struct Plan {
    followed: Followed,
    batch: Batch,
    view: View,
    ledger: Replacement,
    hashlog: Replacement,
    recovered: Recovered,
}

impl Project<'_> {
    pub(super) fn take_appended(&self) -> Result<Recovered, RecoverError> {
        let (disk, paths, clock) = (self.disk, self.paths, self.clock);
        self.recover(
            |found| self.plan_appended(found),
            |plan| {
                let mut repairs = cut_torn(disk, paths, plan.followed.torn.as_ref())?;
                let mut position = plan
                    .batch
                    .write(disk, paths, &mut OpenFiles::default(), true)
                    .map_err(OpenError::Unrecorded)?;
                for replacement in [plan.ledger, plan.hashlog] {
                    repairs.push(replacement.carry_out()?);
                }
                position.view = Some(plan.view);
                let aligned = Aligned {
                    position,
                    repairs,
                    news: News::All,
                };
                let mut writer = Writer::default();
                let repairs = writer.settle(disk, paths, clock, aligned, repair_event)?;
                Ok(Recovered {
                    repairs,
                    ..plan.recovered
                })
            },
        )
    }

    /// Writes everything that is to be put in place.
    fn plan_appended(&self, found: &Preconditions) -> Result<Plan, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let taken = ImportSource::open(disk.open(&paths.ledger, OpenHow::READ)?)?;
        let mut in_line = InLine {
            checksums: &taken.checksums,
            count: 0,
            differs: None,
        };
        let (days, start) = (&found.days, Position::start());
        let followed = walk_days(disk, paths, days, &start, Until::End, &mut in_line)?;
        let Some(view) = &followed.position.view else {
            return Err(RecoverError::Open(OpenError::NotCreated {
                root: paths.root.clone(),
            }));
        };
        let empty = View::after(taken.begun.clone(), Checksum::ZERO).empty_file();
        if !have_same_other_fields(empty.as_bytes(), view.empty_file().as_bytes()) {
            return Err(RecoverError::OtherFields);
        }
        let known = in_line.count;
        if let Some(number) = in_line.differs {
            return Err(RecoverError::Differs { number });
        }
        let now = self.clock.now();
        let rules = Rules::new(self, &taken, known, &followed.position, day_of(now))?;
        let records = followed.position.seq;
        let signed = (records < self.options.signed).then_some(self.options.signed);
        let mut batch = Batch::begin(followed.position.clone(), now);
        let mut views = new_views(disk, paths, days)?;
        taken.each(|number, entry| {
            if number > known {
                rules.check(number, entry)?;
                batch.push(&entry.event(), now, Some(entry.sealed.json));
                views.push(entry.sealed)?;
            }
            Ok::<_, RecoverError>(())
        })?;
        let (view, ledger, hashlog) = views.end()?;
        Ok(Plan {
            batch,
            view,
            ledger: Replacement::prepare(disk, paths, ledger)?,
            hashlog: Replacement::prepare(disk, paths, hashlog)?,
            recovered: Recovered {
                taken_in: (taken.len() - known) as u64,
                signed,
                ..Recovered::default()
            },
            followed,
        })
    }
}

/// Whether the ledger's first entries are those that the journal records.
struct InLine<'a> {
    checksums: &'a [Checksum],
    count: usize,
    /// The number of the first that is not.
    differs: Option<usize>,
}

impl ScanVisitor for InLine<'_> {
    fn begins(&mut self, _before: Option<&View>, _begins: &Begins) -> Result<(), DiskError> {
        self.count = 0;
        self.differs = None;
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        if self.checksums.get(self.count) != Some(&entry.checksum) {
            self.differs.get_or_insert(self.count + 1);
        }
        self.count += 1;
        Ok(())
    }
}

/// Rules for every entry to be stored.
struct Rules<'a> {
    taken: &'a ImportSource,
    /// The tasks that have an entry in an archive.
    archived: HashSet<TaskId>,
    last_id: Option<(Date, u16)>,
    today: Date,
    appended: usize,
}

impl<'a> Rules<'a> {
    fn new(
        project: &Project<'_>,
        taken: &'a ImportSource,
        known: usize,
        position: &Position,
        today: Date,
    ) -> Result<Self, RecoverError> {
        let mut asked = Vec::new();
        taken.each(|number, entry| {
            if number > known {
                asked.push(entry.task_id.clone());
                let is_elsewhere = |id: &&TaskId| !taken.by_task.contains_key(*id);
                asked.extend(entry.linked_tasks.iter().filter(is_elsewhere).cloned());
            }
            Ok::<_, CreateError>(())
        })?;
        Ok(Self {
            archived: archived_among(project.disk, project.paths, &position.archives, asked)?,
            last_id: position.last_id,
            appended: taken.len() - known,
            taken,
            today,
        })
    }

    fn check(&self, number: usize, entry: &TakenEntry<'_>) -> Result<(), RecoverError> {
        if self.archived.contains(&entry.task_id) {
            return Err(RecoverError::Taken { number });
        }
        let has_entry = |id: &TaskId| {
            *id != entry.task_id
                && (self.taken.by_task.contains_key(id) || self.archived.contains(id))
        };
        let links = entry.linked_tasks.iter();
        let ids: Vec<_> = links.filter(|id| !has_entry(id)).cloned().collect();
        if !ids.is_empty() {
            return Err(RecoverError::UnknownLinks { number, ids });
        }
        if self.uses_up_ids(&entry.task_id) {
            return Err(RecoverError::Id {
                number,
                task_id: entry.task_id.clone(),
            });
        }
        Ok(())
    }

    /// Whether ids would be counted on from this one that are far beyond those given out: a day has
    /// 9,999.
    fn uses_up_ids(&self, id: &TaskId) -> bool {
        let Some((day, number)) = id.day_and_number() else {
            return false;
        };
        let given_out = match self.last_id {
            Some((last_day, _)) if day < last_day => return false,
            Some((last_day, last)) if day == last_day => usize::from(last),
            _ => 0,
        };
        day > self.today || usize::from(number) > given_out + self.appended
    }
}
