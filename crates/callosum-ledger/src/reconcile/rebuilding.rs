//! [`Rebuilding`]: ledger file and hashlog rewritten from the journal, in any state.
//!
//! The slow part happens before the locks are taken: everything is written, and what it replaces is
//! kept. [`rebuild_archives`] needs no lock at all, because an archive's contents never change.

use callosum_host::Disk;

use super::{
    archives,
    external_changes::refuse_journal_gone,
    procedure::{
        Aligned, News, hold_against_journal, new_views, refuse_in_the_way, restore_hashlogs,
    },
    replacement::Replacement,
};
use crate::{
    compression,
    journal::{DayFile, Followed},
    open_error::OpenError,
    paths::LedgerPaths,
    repair::{Repair, cut_torn},
};

/// Rewrites the archives from the journal, up to the given sizes of its files. The replaced files
/// go to the quarantine.
///
/// No process may have been writing when the sizes were taken: an unfinished rotation is one that
/// was interrupted.
pub(crate) fn rebuild_archives(
    disk: &Disk,
    paths: &LedgerPaths,
    days: &[(DayFile, u64)],
    followed: &Followed,
) -> Result<Vec<Repair>, OpenError> {
    refuse_in_the_way(disk, paths, followed)?;
    // If both forms of an archive exist, the other one may be right.
    let mut repairs = compression::tidy(disk, paths, &followed.position.archives)?;
    let wrong = archives::wrong(disk, paths, days)?;
    repairs.extend(archives::write(disk, paths, days, &wrong)?);
    repairs.extend(restore_hashlogs(disk, paths, &followed.position)?);
    Ok(repairs)
}

/// Ledger file and hashlog as they are to be, without their names.
pub(crate) struct Rebuilding {
    followed: Followed,
    replacements: Vec<Replacement>,
}

impl Rebuilding {
    /// Writes the files that differ from the journal, up to the given sizes of its files. No
    /// existing file is changed.
    pub(crate) fn prepare(
        disk: &Disk,
        paths: &LedgerPaths,
        days: &[(DayFile, u64)],
    ) -> Result<Self, OpenError> {
        let (mut followed, mut found) = hold_against_journal(disk, paths, days)?;
        if followed.position.view.is_none() {
            refuse_journal_gone(disk, paths)?;
            return Err(OpenError::NotCreated {
                root: paths.root.clone(),
            });
        }
        let (has_ledger, has_hashlog) = (found.has_ledger()?, found.has_hashlog()?);
        let mut replacements = Vec::new();
        if !(has_ledger && has_hashlog) {
            let (_, ledger, hashlog) = new_views(disk, paths, days)?.end()?;
            for (new, is_right) in [(ledger, has_ledger), (hashlog, has_hashlog)] {
                if !is_right {
                    replacements.push(Replacement::prepare(disk, paths, new)?);
                }
            }
        }
        followed.position.view = found.view().cloned();
        Ok(Self {
            followed,
            replacements,
        })
    }

    /// Puts the files in their places. The caller must hold the locks, and nothing may have changed
    /// since [`prepare`](Self::prepare).
    pub(crate) fn carry_out(self, disk: &Disk, paths: &LedgerPaths) -> Result<Aligned, OpenError> {
        let mut repairs = cut_torn(disk, paths, self.followed.torn.as_ref())?;
        for replacement in self.replacements {
            repairs.push(replacement.carry_out()?);
        }
        Ok(Aligned {
            position: self.followed.position,
            repairs,
            news: News::All,
        })
    }
}
