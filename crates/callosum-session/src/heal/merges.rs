//! Merges that nobody has finished, in files of a session: both sides are taken, and what git left is set aside.

use std::path::{Path, PathBuf};

use callosum_host::disk::{EntryKind, FileStat};

use super::{Healed, Healer};
use crate::{
    merge::{Kind, merged, sides},
    notes::LARGEST_NOTES,
    step::{Held, SessionError},
    zones::ZoneError,
};

impl Held<'_> {
    /// Takes both sides wherever git has left the marks of a merge in notes, beads or trajectories. Not by itself where a
    /// session begins: whoever merges may be at it.
    pub fn finish_merges(&self) -> Result<Vec<Healed>, SessionError> {
        let session = &self.session;
        let (disk, zones) = (session.disk, session.zones);
        // What a link leads to out of the project is named by who heals, and is nobody's to merge.
        let inside = |path: &Path| match zones.real(disk, path) {
            Ok(path) => Ok(Some(path)),
            Err(ZoneError::Outside { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let mut files: Vec<PathBuf> = inside(&zones.notes())?.into_iter().collect();
        for folder in [zones.beads(), zones.trajectories()] {
            if let Some(folder) = inside(&folder)? {
                let names = disk.list_dir(&folder)?.into_iter();
                files.extend(names.map(|entry| folder.join(entry.name)));
            }
        }
        let mut healed = Vec::new();
        for path in files {
            let file = zones.named(&path);
            let Some(kind) = Kind::of(&file) else {
                continue;
            };
            if !self.is_small_file(&path)? {
                continue;
            }
            let bytes = disk.read_if_there(&path)?.unwrap_or_default();
            let Some([ours, theirs]) = sides(&bytes) else {
                continue;
            };
            let (made, was) = match merged(kind, None, &ours, &theirs) {
                Ok(made) => (Some(made), "a merge that nobody has finished".to_owned()),
                Err(error) => (None, format!("a merge that nobody has finished ({error})")),
            };
            let aside = match &made {
                Some(_) => self.set_aside(&path)?,
                None => None,
            };
            if let Some(made) = &made {
                self.write_if_changed(&path, made)?;
            }
            healed.push(Healed {
                file,
                was,
                from: made.map_or(Healer::Nobody, |_| Healer::Sides),
                aside,
            });
        }
        Ok(healed)
    }

    fn is_small_file(&self, path: &Path) -> Result<bool, SessionError> {
        let stat = self.session.disk.stat(path)?;
        let is_file = |stat: &FileStat| stat.kind == EntryKind::File && stat.len <= LARGEST_NOTES;
        Ok(stat.as_ref().is_some_and(is_file))
    }
}
