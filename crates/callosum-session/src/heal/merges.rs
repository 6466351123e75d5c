//! Unfinished merges in files of a session: both sides are taken, and what git left is set aside.

use std::path::{Path, PathBuf};

use callosum_host::disk::{EntryKind, FileStat};

use super::{Healed, Past, RepairSource};
use crate::{
    merge::{Kind, Left, OpenMerge, Sides, first_mark, merged, sides},
    notes::LARGEST_NOTES,
    transaction::{LockedSession, Session, SessionError},
    zones::ZoneError,
};

/// Name shown when git is in the middle of an operation and cannot be asked which files it
/// concerns.
const UNKNOWN: &str = "loa-grimoire, .beads (cannot ask git which files)";

/// Message for such a file.
const OPEN: &str = "an unfinished merge";

impl Session<'_> {
    /// Returns the files in which git has not finished a merge and that lack part of their side,
    /// without markers that show it: git leaves a file like this if it could not start the merge
    /// driver.
    pub fn unfinished(&self, past: &dyn Past) -> Result<Vec<String>, SessionError> {
        let mut unfinished = Vec::new();
        let Some(all) = past.open_merges() else {
            return Ok(vec![UNKNOWN.to_owned()]);
        };
        for open in all {
            if open.ours.is_none() || open.theirs.is_none() {
                unfinished.push(open.file);
                continue;
            }
            let there = self.there(&self.zones.root.join(&open.file))?;
            // Marks are named by their lines.
            let there = there.filter(|there| first_mark(there).is_none());
            if there.is_some_and(|there| open.left(&there) != Left::Nothing) {
                unfinished.push(open.file);
            }
        }
        Ok(unfinished)
    }

    /// Reads the content of a file of the project; `None` if there is none, or it is not a file to
    /// merge.
    fn there(&self, path: &Path) -> Result<Option<Vec<u8>>, SessionError> {
        // The repair reports links that lead out of the project; their targets are not ours to
        // merge.
        let path = match self.zones.real(self.disk, path) {
            Ok(path) => path,
            Err(ZoneError::Outside { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let is_file = |stat: &FileStat| stat.kind == EntryKind::File && stat.len <= LARGEST_NOTES;
        if !self.disk.stat(&path)?.as_ref().is_some_and(is_file) {
            return Ok(None);
        }
        Ok(self.disk.read_if_there(&path)?)
    }
}

impl LockedSession<'_> {
    /// Looks for merges that git has not finished: a checkpoint made now is blocked by them.
    pub fn look_for_merges(&mut self, past: &dyn Past) -> Result<(), SessionError> {
        self.unfinished = self.session.unfinished(past)?;
        Ok(())
    }

    /// Merges both sides of each notes file, bead or trajectory in which git has left conflict
    /// markers or has not finished a merge. Not called automatically at session start: a person may
    /// be in the middle of the merge.
    pub fn finish_merges(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let open = past.open_merges().unwrap_or_default();
        let mut healed = Vec::new();
        for path in self.mergeable()? {
            let one = self.finish_merge(&path, &open);
            let one = one.map(|one| healed.extend(one));
            self.past_what_stays(one, &mut healed)?;
        }
        Ok(healed)
    }

    /// The same for one file; `None` if no merge is left in it.
    fn finish_merge(
        &self,
        path: &Path,
        open: &[OpenMerge],
    ) -> Result<Option<Healed>, SessionError> {
        let file = self.session.zones.named(path);
        let (Some(kind), Some(there)) = (Kind::of(&file), self.session.there(path)?) else {
            return Ok(None);
        };
        let open = open.iter().find(|open| open.file == file);
        let (made, was) = match (sides(&there), open) {
            (Some(sides), open) => {
                let kept = open.and_then(|open| open.kept(&there));
                both(kind, open, &kept.unwrap_or(sides))
            }
            (None, _) if first_mark(&there).is_some() => {
                (None, format!("{OPEN} (its conflict markers do not match)"))
            }
            (None, Some(open)) => match taken_out(open) {
                Some(was) => (None, was),
                None => match open.left(&there) {
                    Left::Nothing => return Ok(None),
                    Left::Write(made) => (Some((made, RepairSource::Sides)), OPEN.to_owned()),
                    Left::Decide { why, shown } => {
                        (Some((shown, RepairSource::Nobody)), asked(&why))
                    }
                },
            },
            (None, None) => return Ok(None),
        };
        let (from, aside) = match made {
            // Existing conflict markers are not reported again.
            Some((made, from)) if made != there => {
                // If the file shows both sides with markers, our side alone adds nothing.
                let is_kept = from == RepairSource::Sides || first_mark(&there).is_some();
                let aside = if is_kept { self.set_aside(path)? } else { None };
                self.write_if_changed(path, &made)?;
                (from, aside)
            }
            _ => (RepairSource::Nobody, None),
        };
        Ok(Some(Healed {
            file,
            was,
            from,
            aside,
        }))
    }

    /// Returns the notes, and the files in the folders of beads and trajectories.
    fn mergeable(&self) -> Result<Vec<PathBuf>, SessionError> {
        let (disk, zones) = (self.session.disk, self.session.zones);
        let mut files = vec![zones.notes()];
        for folder in [zones.beads(), zones.trajectories()] {
            match zones.real(disk, &folder) {
                Ok(folder) => {
                    let names = disk.list_dir(&folder)?.into_iter();
                    files.extend(names.map(|entry| folder.join(entry.name)));
                }
                Err(ZoneError::Outside { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(files)
    }
}

/// Returns the message for a file that one side removed and the other changed.
fn taken_out(open: &OpenMerge) -> Option<String> {
    let who = match (&open.ours, &open.theirs) {
        (Some(_), None) => "theirs deleted it, and ours changed it",
        (None, Some(_)) => "ours deleted it, and theirs changed it",
        _ => return None,
    };
    Some(format!(
        "{OPEN} ({who}: `git add` keeps it, `git rm` deletes it)"
    ))
}

/// Returns the message if a person must decide and sees both sides.
fn asked(why: &str) -> String {
    format!("{OPEN} ({why}; both sides are in the file, with git's conflict markers)")
}

/// Merge of both sides, if there is one, and the message.
type Finished = (Option<(Vec<u8>, RepairSource)>, String);

/// Merges both sides by their base, as git keeps it or its markers have it; without a base, keeps
/// everything that either has.
fn both(kind: Kind, open: Option<&OpenMerge>, sides: &Sides) -> Finished {
    let base = open.and_then(|open| open.base.as_ref());
    let base = base.or(sides.base.as_ref());
    let made = match merged(kind, base.map(Vec::as_slice), &sides.ours, &sides.theirs) {
        Ok(made) => made,
        Err(error) => return (None, format!("{OPEN} ({error})")),
    };
    let mut was = match made.asks() {
        Some(why) if base.is_some() => {
            return (Some((made.marked(), RepairSource::Nobody)), asked(&why));
        }
        Some(why) if kind == Kind::Bead => return (None, format!("{OPEN} ({why})")),
        Some(why) => {
            format!("{OPEN} ({why}: ours was kept, and theirs is only in the file set aside)")
        }
        // Git keeps no base of a file that both created.
        None if base.is_none() && open.is_none() => {
            format!("{OPEN} (the merge base is unknown: everything from both sides was kept)")
        }
        None => OPEN.to_owned(),
    };
    for notice in &made.told {
        was.push_str("; ");
        was.push_str(notice);
    }
    (Some((made.bytes, RepairSource::Sides)), was)
}
