//! [`merged`]: one session file made of the versions of two branches.
//!
//! Git's own merge goes by lines, and the additions of two branches are at the same place: the
//! result is a conflict or, if the lines of both are taken, torn entries. Here, what one side
//! changed or removed since the base and the other left as it was takes effect; additions of both
//! are kept; and what both changed differently is for a person to decide. Start with [`Kind`], the
//! files that are known, [`sides`], for a file in which git has left its markers, and
//! [`OpenMerge`], for one in which it may have left none. `diff3` finds the side that made each
//! change, `records` merges trajectories; notes and beads are merged where they are read.

pub(crate) mod conflict_markers;
pub(crate) mod diff3;
mod records;

use std::collections::HashSet;

pub(crate) use self::{conflict_markers::first_mark, records::units};
pub use self::{
    conflict_markers::{Sides, marked, sides},
    diff3::merged_lines,
};
use crate::{
    bead::{BeadId, Sheet, SheetError, merged as merged_beads},
    notes::merge::{ConflictSide, merged as merged_notes},
};

/// Kind of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `NOTES.md`.
    Notes,
    /// A trajectory.
    Trajectory,
    /// A bead.
    Bead,
}

impl Kind {
    /// Returns the kind of the file of this path; `None` if it is not a session file.
    pub fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match folder.rsplit('/').next().unwrap_or_default() {
            _ if name == "NOTES.md" => Some(Self::Notes),
            "trajectory" => name.strip_suffix(".jsonl").map(|_| Self::Trajectory),
            // Other programs keep files of their own next to beads.
            ".beads" => BeadId::of_file(name).map(|_| Self::Bead),
            _ => None,
        }
    }
}

/// Error while merging two files. Neither is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// One side is not a bead.
    #[error(transparent)]
    Bead(#[from] SheetError),
    /// One side has markers of an unfinished merge.
    #[error("one side contains an unfinished merge")]
    Unfinished,
    /// One side is not UTF-8 text.
    #[error("one side is not UTF-8 text")]
    NotText,
    /// The merged file would not read as both sides intended.
    #[error("the merged file would not read as both sides intended")]
    Unread,
}

/// Result of a merge of both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The file, with our value in conflicts.
    pub bytes: Vec<u8>,
    /// The same with their value in conflicts; `None` if there is no conflict.
    pub instead: Option<Vec<u8>>,
    /// Values that both sides changed differently, by name.
    pub conflicts: Vec<String>,
    /// Values of theirs that gave way because only one can be kept, and that need no person.
    pub told: Vec<String>,
}

impl Merged {
    fn settled(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            ..Self::default()
        }
    }

    /// Returns the file with git's markers around the conflicts.
    pub fn marked(&self) -> Vec<u8> {
        match &self.instead {
            Some(instead) => marked(&self.bytes, instead),
            None => self.bytes.clone(),
        }
    }

    /// Returns the conflicts that a person must decide, as text; `None` if there are none.
    pub fn asks(&self) -> Option<String> {
        let named: Vec<String> = self
            .conflicts
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        (!named.is_empty()).then(|| format!("both sides changed {}", named.join(", ")))
    }
}

/// A file in which git has not finished a merge: the three versions that git keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenMerge {
    /// The file, from the root.
    pub file: String,
    /// Common ancestor; `None` if both created the file.
    pub base: Option<Vec<u8>>,
    /// Our side; `None` if it removed the file.
    pub ours: Option<Vec<u8>>,
    /// Their side; `None` if it removed the file.
    pub theirs: Option<Vec<u8>>,
}

/// Remaining work for a file in which git has not finished a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing: it includes their content, or a person has decided.
    Nothing,
    /// To write this, which has both sides.
    Write(Vec<u8>),
    /// A person must decide; includes the reason and the text to show.
    Decide { why: String, shown: Vec<u8> },
}

impl OpenMerge {
    /// Returns both sides and their base as git keeps them, if the file is as git has left it, with
    /// its markers: between these, git has merged by lines what belongs to one side. `None` if a
    /// person has begun to fix it.
    pub(crate) fn kept(&self, there: &[u8]) -> Option<Sides> {
        let (ours, theirs) = (self.ours.as_deref()?, self.theirs.as_deref()?);
        let base = self.base.as_deref().unwrap_or_default();
        let of = |bytes| {
            conflict_markers::lines(bytes)
                .into_iter()
                .map(<[u8]>::trim_ascii_end)
        };
        let of_either: HashSet<&[u8]> = of(ours).chain(of(theirs)).chain(of(base)).collect();
        let left = sides(there)?;
        let stand: HashSet<&[u8]> = of(&left.ours).chain(of(&left.theirs)).collect();
        let was: HashSet<&[u8]> = of(base).collect();
        let mut added = of(ours)
            .chain(of(theirs))
            .filter(|line| !was.contains(line));
        let is_untouched = stand.is_subset(&of_either) && added.all(|line| stand.contains(line));
        is_untouched.then(|| Sides {
            ours: ours.to_vec(),
            theirs: theirs.to_vec(),
            base: self.base.clone(),
        })
    }

    /// Returns the remaining work for a file with this content, without git's markers.
    pub(crate) fn left(&self, there: &[u8]) -> Left {
        let (Some(kind), Some(ours), Some(theirs)) =
            (Kind::of(&self.file), &self.ours, &self.theirs)
        else {
            return Left::Nothing;
        };
        if kind == Kind::Trajectory {
            let known: HashSet<&[u8]> = records::units(there).into_iter().collect();
            let was = self.base.as_deref().unwrap_or_default();
            let was: HashSet<&[u8]> = records::units(was).into_iter().collect();
            let mut new = records::units(theirs).into_iter();
            if new.all(|unit| known.contains(unit) || was.contains(unit)) {
                return Left::Nothing;
            }
        }
        let is_ours = there == ours;
        match merged(kind, self.base.as_deref(), there, theirs) {
            Ok(made) if made.bytes == there && made.conflicts.is_empty() => Left::Nothing,
            Ok(made) => match made.asks() {
                None => Left::Write(made.bytes),
                Some(why) if is_ours => Left::Decide {
                    why,
                    shown: made.marked(),
                },
                Some(_) => Left::Nothing,
            },
            Err(error) if is_ours => Left::Decide {
                why: error.to_string(),
                shown: marked(ours, theirs),
            },
            Err(_) => Left::Nothing,
        }
    }
}

/// Merges their changes into our file, by the common base. If that is not known, such as when both
/// created the file, nothing is removed.
pub fn merged(
    kind: Kind,
    base: Option<&[u8]>,
    ours: &[u8],
    theirs: &[u8],
) -> Result<Merged, MergeError> {
    if sides(ours).is_some() || sides(theirs).is_some() {
        return Err(MergeError::Unfinished);
    }
    if ours == theirs || base == Some(theirs) {
        return Ok(Merged::settled(ours));
    }
    if base == Some(ours) {
        return Ok(Merged::settled(theirs));
    }
    match kind {
        Kind::Notes => {
            let lean = |lean| merged_notes(base, ours, theirs, lean).ok_or(MergeError::Unread);
            let made = lean(ConflictSide::Ours)?;
            let instead = if made.conflicts.is_empty() {
                None
            } else {
                Some(lean(ConflictSide::Theirs)?.bytes)
            };
            Ok(Merged {
                bytes: made.bytes,
                instead,
                conflicts: made.conflicts,
                told: made.notices,
            })
        }
        Kind::Trajectory => {
            let base = base.unwrap_or_default();
            Ok(Merged::settled(&records::merged(base, ours, theirs)))
        }
        Kind::Bead => {
            let read = |bytes: &[u8]| {
                let text = std::str::from_utf8(bytes).map_err(|_| MergeError::NotText)?;
                Ok::<_, MergeError>(Sheet::read(text)?)
            };
            // One that both made has no base.
            let base = base.filter(|base| !base.is_empty()).map(read).transpose()?;
            let made = merged_beads(base.as_ref(), &read(ours)?, &read(theirs)?);
            Ok(Merged {
                bytes: made.ours.text().as_bytes().to_vec(),
                instead: made.theirs.map(|sheet| sheet.text().as_bytes().to_vec()),
                conflicts: made.conflicts,
                told: Vec::new(),
            })
        }
    }
}

#[cfg(test)]
mod tests;
