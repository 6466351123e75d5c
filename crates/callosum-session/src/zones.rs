//! [`Zones`]: the locations of a session's files. None is reached through a link that leaves the
//! project.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};

use crate::bead::BeadId;

/// The state zone's folder (Seed LOA §2.3).
const STATE: &str = "loa-grimoire";

/// Name of the file with the fingerprints of cited files, in [`Zones::own`].
pub(crate) const FINGERPRINTS: &str = "cited";

/// The folders of a project as a session sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zones {
    /// The tree that is cited: `${PROJECT_ROOT}`.
    pub tree: PathBuf,
    /// The folder that holds the zones; another than `tree` in a linked git worktree.
    pub root: PathBuf,
}

impl Zones {
    /// `NOTES.md` (Seed LOA §5.1).
    pub fn notes(&self) -> PathBuf {
        self.root.join(STATE).join("NOTES.md")
    }

    /// Returns the folder of beads (Seed LOA §5.2).
    pub fn beads(&self) -> PathBuf {
        self.root.join(".beads")
    }

    /// Returns the folder of trajectories (Seed LOA §5.3).
    pub fn trajectories(&self) -> PathBuf {
        self.root.join(STATE).join("a2a").join("trajectory")
    }

    /// Returns the settings (Seed LOA §5.4).
    pub fn config(&self) -> PathBuf {
        self.root.join(".loa.config.yaml")
    }

    /// Returns the folder of our own files between the others: the lock, the current step, and
    /// derived files. Git ignores it.
    pub fn own(&self) -> PathBuf {
        self.root.join(STATE).join(".session")
    }

    /// Returns a path as it is named in records: from the root.
    pub fn named(&self, path: &Path) -> String {
        let named = path.strip_prefix(&self.root).unwrap_or(path);
        named.display().to_string()
    }

    /// Returns the path with every link on it resolved, also if its last parts do not exist yet.
    ///
    /// Fails if it would lead out of the root: a cloned repository may have a link in the place of
    /// one of our files, and their content is shown to models.
    pub fn real(&self, disk: &Disk, path: &Path) -> Result<PathBuf, ZoneError> {
        let root = disk.canonicalize(&self.root)?;
        let mut missing = Vec::new();
        for there in path.ancestors() {
            if !disk.exists(there)? {
                missing.extend(there.file_name());
                continue;
            }
            let real = disk.canonicalize(there).map_err(|error| {
                if error.is_absent() {
                    ZoneError::outside(path)
                } else {
                    error.into()
                }
            })?;
            if !real.starts_with(&root) {
                return Err(ZoneError::outside(path));
            }
            return Ok(missing
                .iter()
                .rev()
                .fold(real, |real, name| real.join(name)));
        }
        Err(ZoneError::outside(path))
    }

    /// Whether sessions are kept here: the state zone's folder exists, its settings, or a bead.
    ///
    /// Another program's files in the folder of beads do not count.
    pub fn are_used(&self, disk: &Disk) -> Result<bool, DiskError> {
        if disk.exists(&self.root.join(STATE))? || disk.exists(&self.config())? {
            return Ok(true);
        }
        let beads = disk.list_dir(&self.beads())?;
        let mut names = beads.iter().filter_map(|entry| entry.name.to_str());
        Ok(names.any(|name| BeadId::of_file(name).is_some()))
    }

    /// Whether a path from the root is of a file by which sessions are kept.
    pub fn are_named(path: &str) -> bool {
        let of_bead = path.strip_prefix(".beads/").and_then(BeadId::of_file);
        path == ".loa.config.yaml"
            || of_bead.is_some()
            || path
                .strip_prefix(STATE)
                .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Creates [`own`](Self::own) if it is missing, with an ignore file for git.
    pub(crate) fn create_own(&self, disk: &Disk) -> Result<PathBuf, ZoneError> {
        let own = self.real(disk, &self.own())?;
        disk.create_dir_all(&own)?;
        disk.create(&own.join(".gitignore"), b"*\n", 0o644)?;
        Ok(own)
    }
}

/// Error for a file of a zone that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ZoneError {
    /// A link leads out of the project, or nowhere.
    #[error("`{}` is a link that points outside the project", path.display())]
    Outside {
        /// The file that was meant.
        path: PathBuf,
    },
    /// The disk does not do it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl ZoneError {
    fn outside(path: &Path) -> Self {
        Self::Outside {
            path: path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// LOA-SEC-1: no link leads a file of ours out of the project.
    #[test]
    fn a_link_that_leaves_the_project_is_refused_and_one_inside_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let top = disk.canonicalize(folder.path()).unwrap();
        let root = top.join("root");
        disk.create_dir_all(&root.join("docs")).unwrap();
        let zones = Zones {
            tree: root.clone(),
            root: root.clone(),
        };
        assert_eq!(
            zones.real(&disk, &zones.notes()).unwrap(),
            root.join("loa-grimoire/NOTES.md")
        );
        symlink("docs", root.join("loa-grimoire")).unwrap();
        assert_eq!(
            zones.real(&disk, &zones.notes()).unwrap(),
            root.join("docs/NOTES.md")
        );
        symlink("../../secret", root.join("docs/NOTES.md")).unwrap();
        let refused = zones.real(&disk, &zones.notes()).unwrap_err();
        assert!(matches!(refused, ZoneError::Outside { .. }));
        disk.replace(&top.join("secret"), b"x", 0o600).unwrap();
        let refused = zones.real(&disk, &zones.notes()).unwrap_err();
        assert!(matches!(refused, ZoneError::Outside { .. }));
    }
}
