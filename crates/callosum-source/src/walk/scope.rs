//! [`Scope`]: a part of a tree, in paths that cannot leave it.

use std::{fmt, path::Path};

/// The part of a tree that is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Files and folders below the root; none means the whole tree.
    pub paths: Vec<RelativePath>,
}

impl Scope {
    /// The whole tree.
    pub const WHOLE: Self = Self { paths: Vec::new() };

    /// The files and folders at `paths`, each part of the tree once: one that lies in another is
    /// left out, and the root among them means the whole tree.
    pub fn of(paths: &[RelativePath]) -> Self {
        let is_within_another = |(at, path): (usize, &RelativePath)| {
            paths.iter().enumerate().any(|(other_at, other)| {
                is_within(&path.0, &other.0) && (path != other || other_at < at)
            })
        };
        let mut kept: Vec<RelativePath> = paths
            .iter()
            .enumerate()
            .filter(|place| !is_within_another(*place))
            .map(|(_, path)| path.clone())
            .collect();
        kept.retain(|path| !path.0.is_empty());
        Self { paths: kept }
    }

    /// Whether `path` lies in it.
    pub fn holds(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|scope| is_within(path, &scope.0))
    }

    /// Whether the folder `path` lies in it or on the way to it.
    pub(super) fn leads_through(&self, path: &str) -> bool {
        self.holds(path) || self.paths.iter().any(|scope| is_within(&scope.0, path))
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path below a root, "/"-separated, without `.` and `..`; empty for the root itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(String);

impl RelativePath {
    /// Reads a path as a person writes it: `src/`, `./src`, `src//a/../b`.
    ///
    /// Looks at the words only, never at the disk: a link that leads out of the tree is found
    /// when the tree is read.
    pub fn parse(written: &str) -> Result<Self, PathError> {
        if Path::new(written).is_absolute() {
            return Err(PathError::Absolute {
                path: written.to_owned(),
            });
        }
        let mut parts = Vec::new();
        for part in written.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| PathError::Leaves {
                        path: written.to_owned(),
                    })?;
                }
                part => parts.push(part),
            }
        }
        Ok(Self(parts.join("/")))
    }

    /// The path, "/"-separated.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

/// A path that cannot be one below a root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It starts at the root of the file system.
    #[error("`{path}` is absolute; a path below the root is needed")]
    Absolute {
        /// The path as written.
        path: String,
    },
    /// It climbs above the root.
    #[error("`{path}` leaves the tree")]
    Leaves {
        /// The path as written.
        path: String,
    },
}
