//! [`Changes`]: the effect of a restore from a snapshot on the tree as it is now.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use super::{metadata::Made, repository::is_ours};

/// Effect on one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is not there, and would be.
    Create,
    /// It is there, and would be what it was.
    Rewrite,
    /// It was not there, and stays: nothing that a snapshot does not hold is removed.
    Leave,
    /// It was not there, and gives way: it is in the place of a folder of the snapshot.
    Replace,
    /// Going back has made it, and it is what was made: undoing that removes it.
    Remove,
    /// It would be written, but no snapshot holds the current contents of its place: it stays.
    Refuse,
}

impl ChangeKind {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Rewrite => "rewrite",
            Self::Leave => "leave",
            Self::Replace => "replace",
            Self::Remove => "remove",
            Self::Refuse => "refuse",
        }
    }

    /// Whether a file is written.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Rewrite)
    }
}

/// Effect on one file, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, seen from the tree's top folder.
    pub path: PathBuf,
    /// Effect on it.
    pub kind: ChangeKind,
    /// The content that it would have, in git's name.
    pub(super) blob: String,
}

/// All that would happen, in the order of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(pub Vec<Change>);

impl Changes {
    /// The files that would be written.
    pub fn written(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(|change| change.kind.writes())
    }

    /// The files that would be removed.
    pub fn removed(&self) -> impl Iterator<Item = &Change> {
        self.of_kind(ChangeKind::Remove)
    }

    /// Returns the files that are not put back, because what is in their place now would be lost.
    pub fn refused(&self) -> impl Iterator<Item = &Change> {
        self.of_kind(ChangeKind::Refuse)
    }

    fn of_kind(&self, kind: ChangeKind) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(move |change| change.kind == kind)
    }

    /// Returns the files that writing creates in empty places. A name that is no text is left out,
    /// so that such a file stays.
    pub(super) fn made(&self) -> Vec<Made> {
        let made = |change: &Change| {
            Some(Made {
                path: change.path.to_str()?.to_owned(),
                blob: change.blob.clone(),
            })
        };
        self.of_kind(ChangeKind::Create).filter_map(made).collect()
    }

    /// Reads `git diff-tree -r -z` from the tree as it is now to the snapshot's.
    ///
    /// `in_place` returns what is in the way of a path: a file or link at it or above it. `inside`
    /// lists the files of a folder, if it can. `made` is what restores have created since the
    /// snapshot.
    pub(super) fn read(
        printed: &[u8],
        made: &[Made],
        in_place: impl Fn(&Path) -> Option<PathBuf>,
        inside: impl Fn(&Path) -> Option<Vec<PathBuf>>,
    ) -> Self {
        let mut changes = Vec::new();
        let mut words = printed.split(|byte| *byte == 0);
        while let (Some(change), Some(path)) = (words.next(), words.next()) {
            let path = PathBuf::from(OsStr::from_bytes(path));
            let change = String::from_utf8_lossy(change);
            // `:MODE MODE BLOB BLOB STATUS`, of what is and of what would be.
            let fields: Vec<&str> = change.split(' ').collect();
            let [_, _, is, would_be, status] = fields[..] else {
                continue;
            };
            if is_ours(&path) {
                continue;
            }
            let was_made = || {
                let mut made = made.iter();
                made.any(|made| Some(made.path.as_str()) == path.to_str() && made.blob == is)
            };
            let kind = match status {
                "D" if was_made() => ChangeKind::Remove,
                "D" => ChangeKind::Leave,
                "A" => ChangeKind::Create,
                _ => ChangeKind::Rewrite,
            };
            let blob = would_be.to_owned();
            changes.push(Change { path, kind, blob });
        }
        // Files in the way that are in no snapshot would be lost.
        let of = |kinds: &[ChangeKind]| -> BTreeSet<PathBuf> {
            let fitting = changes.iter().filter(|change| kinds.contains(&change.kind));
            fitting.map(|change| change.path.clone()).collect()
        };
        let held = of(&[ChangeKind::Leave, ChangeKind::Remove]);
        let removed = of(&[ChangeKind::Remove]);
        let mut replaced = BTreeSet::new();
        for change in &mut changes {
            let created = change.kind == ChangeKind::Create;
            let Some(standing) = in_place(&change.path).filter(|_| created) else {
                continue;
            };
            // Of a folder that holds no file nothing is lost.
            let gives_way = || {
                let files = inside(&standing);
                files.is_some_and(|files| files.iter().all(|file| removed.contains(file)))
            };
            if held.contains(&standing) {
                replaced.insert(standing);
            } else if !gives_way() {
                change.kind = ChangeKind::Refuse;
            }
        }
        for change in &mut changes {
            if change.kind == ChangeKind::Leave && replaced.contains(&change.path) {
                change.kind = ChangeKind::Replace;
            }
        }
        Self(changes)
    }
}
