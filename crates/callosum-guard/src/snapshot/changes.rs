//! [`Changes`]: what going back to a snapshot would do to the tree, as it is now.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf};

use super::repository::is_ours;

/// What would happen to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is not there, and would be.
    Create,
    /// It is there, and would be what it was.
    Rewrite,
    /// It was not there, and stays: nothing that a snapshot does not hold is ever removed.
    Leave,
    /// It would be written, but what stands there now is held by no snapshot: it stays.
    Refuse,
}

impl ChangeKind {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Rewrite => "rewrite",
            Self::Leave => "leave",
            Self::Refuse => "refuse",
        }
    }

    /// Whether a file is written.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Rewrite)
    }
}

/// What would happen to one file, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, seen from the tree's top folder.
    pub path: PathBuf,
    /// What would happen to it.
    pub kind: ChangeKind,
}

/// All that would happen, in the order of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(pub Vec<Change>);

impl Changes {
    /// The files that would be written.
    pub fn written(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(|change| change.kind.writes())
    }

    /// Reads `git diff-tree -r -z --name-status` from the tree as it is now to the snapshot's.
    ///
    /// `is_there` says whether something stands at a path.
    pub(super) fn read(printed: &[u8], is_there: impl Fn(&PathBuf) -> bool) -> Self {
        let mut changes = Vec::new();
        let mut words = printed.split(|byte| *byte == 0);
        while let (Some(status), Some(path)) = (words.next(), words.next()) {
            let path = PathBuf::from(OsStr::from_bytes(path));
            if is_ours(&path) {
                continue;
            }
            let kind = match status {
                b"D" => ChangeKind::Leave,
                // What stands there and is in no snapshot could not be brought back.
                b"A" if is_there(&path) => ChangeKind::Refuse,
                b"A" => ChangeKind::Create,
                _ => ChangeKind::Rewrite,
            };
            changes.push(Change { path, kind });
        }
        Self(changes)
    }
}
