//! Merges that nobody has finished, in files of a session: both sides are taken, and what git left is set aside.

use std::path::{Path, PathBuf};

use callosum_host::disk::{EntryKind, FileStat};

use super::{Healed, Healer, Past};
use crate::{
    merge::{Kind, Left, MergeError, OpenMerge, first_mark, marked, merged, sides, taken},
    notes::LARGEST_NOTES,
    step::{Held, Session, SessionError},
    zones::ZoneError,
};

/// What is said of such a file.
const OPEN: &str = "a merge that nobody has finished";

impl Session<'_> {
    /// The files in which git has not ended a merge and lacks something of their side, without marks that say so: as git leaves
    /// a file where it could not start the program that merges it.
    pub fn unfinished(&self, past: &dyn Past) -> Result<Vec<String>, SessionError> {
        let mut unfinished = Vec::new();
        for open in past.open_merges() {
            let there = self.there(&self.zones.root.join(&open.file))?;
            // Marks are named by their lines.
            let there = there.filter(|there| first_mark(there).is_none());
            if there.is_some_and(|there| open.left(&there) != Left::Nothing) {
                unfinished.push(open.file);
            }
        }
        Ok(unfinished)
    }

    /// What stands in a file of the project; nothing where there is none, or it is none to merge.
    fn there(&self, path: &Path) -> Result<Option<Vec<u8>>, SessionError> {
        // What a link leads to out of the project is named by who heals, and is nobody's to merge.
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

impl Held<'_> {
    /// Looks for merges that git has not ended: a checkpoint that is made now blocks by them.
    pub fn look_for_merges(&mut self, past: &dyn Past) -> Result<(), SessionError> {
        self.unfinished = self.session.unfinished(past)?;
        Ok(())
    }

    /// Takes both sides wherever git has left the marks of a merge in notes, beads or trajectories, or has not ended one. Not by
    /// itself where a session begins: whoever merges may be at it.
    pub fn finish_merges(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let open = past.open_merges();
        let mut healed = Vec::new();
        for path in self.mergeable()? {
            let file = self.session.zones.named(&path);
            let (Some(kind), Some(there)) = (Kind::of(&file), self.session.there(&path)?) else {
                continue;
            };
            let open = open.iter().find(|open| open.file == file);
            let finished = match (sides(&there), open) {
                (Some([ours, theirs]), open) => {
                    let base = open.and_then(|open| open.base.as_deref());
                    both(kind, base, &ours, &theirs)
                }
                (None, _) if first_mark(&there).is_some() => {
                    Err(format!("{OPEN} (its marks do not go together)"))
                }
                (None, Some(open)) => match open.left(&there) {
                    Left::Nothing => continue,
                    Left::Write(made) => Ok((made, OPEN.to_owned())),
                    Left::Decide(error) => self.shown(&path, kind, open, &error)?,
                },
                (None, None) => continue,
            };
            healed.push(match finished {
                Ok((made, was)) => {
                    let aside = self.set_aside(&path)?;
                    self.write_if_changed(&path, &made)?;
                    Healed {
                        file,
                        was,
                        from: Healer::Sides,
                        aside,
                    }
                }
                Err(was) => Healed {
                    file,
                    was,
                    from: Healer::Nobody,
                    aside: None,
                },
            });
        }
        Ok(healed)
    }

    /// The notes, and what stands in the folders of beads and trajectories.
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

    /// Both sides of a file that has ours alone: where no rule brings them together, with git's marks for a person to finish.
    fn shown(
        &self,
        path: &Path,
        kind: Kind,
        open: &OpenMerge,
        why: &MergeError,
    ) -> Result<Finished, SessionError> {
        if kind != Kind::Bead {
            return Ok(both(kind, None, &open.ours, &open.theirs));
        }
        self.write_if_changed(path, &marked(&open.ours, &open.theirs))?;
        let was = format!("{OPEN} ({why}; both sides stand there now, with git's marks)");
        Ok(Err(was))
    }
}

/// What is made of both sides and what was found, or why nothing is made.
type Finished = Result<(Vec<u8>, String), String>;

/// Both sides, by what they came from, else by what they are.
fn both(kind: Kind, base: Option<&[u8]>, ours: &[u8], theirs: &[u8]) -> Finished {
    if base.is_some()
        && let Ok(made) = merged(kind, base, ours, theirs)
    {
        return Ok((made, OPEN.to_owned()));
    }
    match taken(kind, ours, theirs) {
        Ok((made, None)) => Ok((made, OPEN.to_owned())),
        Ok((made, Some(lost))) => Ok((
            made,
            format!(
                "{OPEN} (`{lost}` has no place beside ours, and stands in what was set aside alone)"
            ),
        )),
        Err(error) => Err(format!("{OPEN} ({error})")),
    }
}
