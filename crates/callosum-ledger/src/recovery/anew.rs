//! A new journal begun with the ledger that is there, because the old one is lost.

use std::collections::HashSet;

use callosum_host::OpenHow;

use super::{Project, RecoverError, Recovered, found::Found};
use crate::{
    adoption::Adopted,
    creation::{Beginning, Start},
    group::Writer,
    journal::{Nobody, Until, day_of, walk_days},
    position::Position,
    quarantine,
    taken::TakenLedger,
};

/// A journal, and the ledger that it begins with, that have not got their names yet.
struct Plan {
    beginning: Beginning,
    recovered: Recovered,
    /// Whether there is something of an old journal.
    has_old: bool,
}

impl Project<'_> {
    pub(super) fn begin_anew(&self) -> Result<Recovered, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        self.recover(
            |found| self.plan_anew(found),
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
    fn plan_anew(&self, found: &Found) -> Result<Plan, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let (days, start) = (&found.days, Position::start());
        if let Ok(followed) = walk_days(disk, paths, days, &start, Until::End, &mut Nobody)
            && followed.position.view.is_some()
            && !self.options.force
        {
            return Err(RecoverError::JournalIsSound {
                records: followed.position.seq,
            });
        }
        let ledger = disk.open(&paths.ledger, OpenHow::READ)?;
        let kept = quarantine::keep_file(disk, paths, &ledger)?;
        let taken = TakenLedger::open(ledger)?;
        let now = self.clock.now();
        let archives = Adopted::find(disk, paths, day_of(now))?;
        let has_old = !days.is_empty();
        let start = Start {
            position: start,
            begun: taken.begun.clone(),
            hashlog: archives.head(),
            archives,
            details: vec![
                ("recovered_from", self.shown(&paths.ledger)),
                ("kept", self.shown(&kept)),
            ],
            replaces_journal: has_old || !disk.exists(&paths.audit)?,
        };
        let nobody = HashSet::new();
        let beginning = Beginning::prepare(disk, paths, start, Some(&taken), &nobody, now)?;
        Ok(Plan {
            beginning,
            recovered: Recovered {
                taken_in: taken.len() as u64,
                set_aside: vec![kept],
                ..Recovered::default()
            },
            has_old,
        })
    }
}
