//! A new journal begun with the ledger and the archives that are there, because the old one is lost.

use std::collections::HashSet;

use callosum_host::OpenHow;

use super::{Project, RecoverError, Recovered, preconditions::Preconditions};
use crate::{
    archive_import::Adopted,
    group_commit::Writer,
    import_source::ImportSource,
    init::{Beginning, Start},
    journal::{IgnoreEntries, Until, day_of, walk_days},
    ledger_file::begun_new,
    open_error::OpenError,
    position::Position,
    quarantine,
};

/// A journal, and the ledger that it begins with, that have not got their names yet.
struct Plan {
    beginning: Beginning,
    recovered: Recovered,
    /// Whether there is something of an old journal.
    has_old: bool,
}

impl Project<'_> {
    pub(super) fn begin_from_scratch(&self) -> Result<Recovered, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        self.recover(
            |found| self.plan_from_scratch(found),
            |plan| {
                let mut recovered = plan.recovered;
                if plan.has_old {
                    // As a whole: some of a journal's days would pass for a journal. Without any
                    // there is none, and nothing but this begins one.
                    let moved = quarantine::move_folder(disk, paths, &paths.audit)?;
                    recovered.set_aside.push(moved);
                }
                disk.create_dir_all(&paths.audit)?;
                let (position, _) = plan.beginning.carry_out(disk, paths)?;
                Writer::default().stand_at(disk, paths, position);
                Ok(recovered)
            },
        )
    }

    /// Writes everything that is to be put in place.
    fn plan_from_scratch(&self, found: &Preconditions) -> Result<Plan, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let (days, start) = (&found.days, Position::start());
        if let Ok(followed) = walk_days(disk, paths, days, &start, Until::End, &mut IgnoreEntries)
            && followed.position.view.is_some()
            && !self.options.force
        {
            return Err(RecoverError::JournalIsSound {
                records: followed.position.seq,
            });
        }
        let now = self.clock.now();
        let archives = Adopted::find(disk, paths, day_of(now))?;
        let has_old = !days.is_empty();
        let (mut details, mut set_aside) = (Vec::new(), Vec::new());
        let taken = match disk.open_if_there(&paths.ledger, OpenHow::READ)? {
            Some(ledger) => {
                let kept = quarantine::keep_file(disk, paths, &ledger)?;
                details.push(("recovered_from", self.shown(&paths.ledger)));
                details.push(("kept", self.shown(&kept)));
                set_aside.push(kept);
                Some(ImportSource::open(ledger)?)
            }
            // It is lost as well: the rest is taken over with an empty one.
            None if has_old || !archives.archives.is_empty() => {
                details.push(("recovered_from", self.shown(&paths.history)));
                None
            }
            None => {
                return Err(RecoverError::Open(OpenError::NotCreated {
                    root: paths.root.clone(),
                }));
            }
        };
        let start = Start {
            position: start,
            begun: taken
                .as_ref()
                .map_or_else(begun_new, |taken| taken.begun.clone()),
            hashlog: archives.head(),
            archives,
            details,
            replaces_journal: has_old || !disk.exists(&paths.audit)?,
        };
        let no_tasks = HashSet::new();
        let beginning = Beginning::prepare(disk, paths, start, taken.as_ref(), &no_tasks, now)?;
        Ok(Plan {
            beginning,
            recovered: Recovered {
                taken_in: taken.map_or(0, |taken| taken.len() as u64),
                set_aside,
                ..Recovered::default()
            },
            has_old,
        })
    }
}
