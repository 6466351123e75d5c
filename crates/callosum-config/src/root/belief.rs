//! [`Belief`]: files above a folder that may mark it as part of their project.
//!
//! A folder above may be shared: anyone can put a `.calrc` or a `.git` into `/tmp`. Such a file
//! would choose where our ledger is written and whose notes an agent reads. Start with
//! [`Belief::in_mark`].

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
};

use callosum_host::{
    Disk, DiskError,
    disk::{Ownership, user},
};

/// A file that would mark a folder as the root, and does not, since it belongs to another user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignMark {
    /// The file or folder.
    pub path: PathBuf,
    /// The number of its owner.
    pub user: u32,
}

/// Decides which marks count, as seen from a folder, and remembers those that do not.
pub(super) struct Belief<'a> {
    disk: &'a Disk,
    from: &'a Path,
    foreign: RefCell<Vec<ForeignMark>>,
}

impl<'a> Belief<'a> {
    pub(super) fn new(disk: &'a Disk, from: &'a Path) -> Self {
        Self {
            disk,
            from,
            foreign: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn disk(&self) -> &'a Disk {
        self.disk
    }

    /// Whether a file or folder that exists may mark the folder that it is in. One that may not is remembered.
    pub(super) fn in_mark(&self, mark: &Path) -> Result<bool, DiskError> {
        let Some(owner) = self.disk.ownership(mark)? else {
            return Ok(true);
        };
        // Most marks are our own: of those nothing more is looked at.
        if owner.user == user() {
            return Ok(true);
        }
        let folder = match mark.parent() {
            Some(folder) => self.disk.ownership(folder)?,
            None => None,
        };
        let here = self.disk.ownership(self.from)?;
        if is_trusted(owner, folder, here) {
            return Ok(true);
        }
        let mark = ForeignMark {
            path: mark.to_owned(),
            user: owner.user,
        };
        let mut foreign = self.foreign.borrow_mut();
        if !foreign.contains(&mark) {
            foreign.push(mark);
        }
        Ok(false)
    }

    /// The marks that do not count, in the order in which they were looked at.
    pub(super) fn foreign(self) -> Vec<ForeignMark> {
        self.foreign.into_inner()
    }
}

/// Whether a mark of another user counts: one of root's, or of the owner of the folder that one
/// starts in, who could mark that one as well. In a folder that all may write to none does.
fn is_trusted(mark: Ownership, folder: Option<Ownership>, here: Option<Ownership>) -> bool {
    let is_shared = folder.is_some_and(Ownership::is_shared);
    !is_shared && (mark.user == 0 || here.is_some_and(|here| here.user == mark.user))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// REQ-SEC-001: in a shared folder only our own marks count, elsewhere root's and those of who owns the folder one starts in.
    #[test]
    fn marks_of_other_users_count_only_where_they_rule_anyway() {
        let owned = |user: u32, mode: u32| {
            Some(Ownership {
                user,
                group: 0,
                mode,
            })
        };
        for (mark, folder, here, expected) in [
            (7, owned(0, 0o1777), owned(1, 0o755), false),
            (7, owned(0, 0o1777), owned(7, 0o755), false),
            (0, owned(0, 0o1777), owned(1, 0o755), false),
            (7, owned(7, 0o777), owned(7, 0o755), false),
            (7, owned(7, 0o755), owned(1, 0o755), false),
            (7, owned(1, 0o755), owned(1, 0o755), false),
            (0, owned(0, 0o755), owned(1, 0o755), true),
            (7, owned(7, 0o755), owned(7, 0o755), true),
            (7, None, None, false),
        ] {
            let mark = Ownership {
                user: mark,
                group: 0,
                mode: 0o644,
            };
            let found = is_trusted(mark, folder, here);
            assert_eq!(found, expected, "{mark:?} in {folder:?} from {here:?}");
        }
    }
}
