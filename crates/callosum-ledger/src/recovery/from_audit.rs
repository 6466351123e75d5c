//! Recovery of ledger, hashlog and archives from the journal.

use std::cell::RefCell;

use super::{Project, RecoverError, Recovered};
use crate::{
    archive_files, archive_import,
    group_commit::Writer,
    journal::{IgnoreEntries, Until, walk_days},
    position::Position,
    reconcile::{Rebuilding, rebuild_archives},
    repair::rollback_event,
};

impl Project<'_> {
    pub(super) fn make_what_journal_says(&self) -> Result<Recovered, RecoverError> {
        let (disk, paths, clock) = (self.disk, self.paths, self.clock);
        // These stay as they were made, even if the rest is prepared again.
        let archives = RefCell::new(Vec::new());
        self.recover(
            |found| {
                let (days, start) = (&found.days, Position::start());
                let followed =
                    walk_days(disk, paths, days, &start, Until::End, &mut IgnoreEntries)?;
                let signed = self.refuse_loss(&followed)?;
                let made = rebuild_archives(disk, paths, days, &followed)?;
                archives.borrow_mut().extend(made);
                Ok((signed, Rebuilding::prepare(disk, paths, days)?))
            },
            |(signed, rebuilding)| {
                let mut aligned = rebuilding.carry_out(disk, paths)?;
                let mut not_in_journal = Vec::new();
                for adopted in aligned
                    .position
                    .archives
                    .iter()
                    .filter(|archived| archived.is_adopted)
                {
                    if archive_import::lines_of(disk, paths, adopted)?.is_none() {
                        not_in_journal.push(archive_files::place_of(
                            disk,
                            paths,
                            &adopted.archive,
                        )?);
                    }
                }
                aligned.repairs.extend(archives.take());
                let mut writer = Writer::default();
                let repairs = writer.settle(disk, paths, clock, aligned, rollback_event)?;
                Ok(Recovered {
                    signed,
                    repairs,
                    not_in_journal,
                    ..Recovered::default()
                })
            },
        )
    }
}
