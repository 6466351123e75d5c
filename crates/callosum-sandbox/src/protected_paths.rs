//! [`Protected`]: paths that no executor may write, and the part of a requested path that is denied for that.

use std::path::{Component, Path, PathBuf};

use callosum_host::Disk;

use super::{
    grants::resolve,
    mounts::wished,
    nested_repositories::{is_obeyed, nested},
};

/// Paths that no executor may write, regardless of its entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    /// Folders in which everything called `.cal…` or `registry.json` is protected, whether it is there yet or
    /// not, and what git and coding agents obey there and in any folder below.
    pub roots: Vec<PathBuf>,
    /// Files and folders with all that is in them.
    pub paths: Vec<PathBuf>,
    /// Folders that are hidden as well: a program that may read a lock's file may hold the lock.
    pub hidden: Vec<PathBuf>,
}

/// The part of a requested writable path that is always denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeniedPath {
    /// All of it.
    All,
    /// The protected part of it; the rest is granted.
    Part,
}

impl Protected {
    /// Whether a path is protected, or part of a protected one.
    pub fn covers(&self, path: &Path) -> bool {
        let named = |root: &PathBuf| {
            let Ok(rest) = path.strip_prefix(root) else {
                return false;
            };
            let is_ours = rest.iter().next().is_some_and(|name| {
                let name = name.as_encoded_bytes();
                name.starts_with(b".cal") || name == b"registry.json"
            });
            is_ours || rest.iter().any(is_obeyed)
        };
        self.paths.iter().any(|known| path.starts_with(known)) || self.roots.iter().any(named)
    }

    /// Lists the parts of trees that a path comprises: itself, or the trees below it.
    pub fn parts_of_trees<'p>(&'p self, path: &'p Path) -> impl Iterator<Item = &'p Path> {
        self.roots.iter().filter_map(move |root| {
            if path.starts_with(root) {
                Some(path)
            } else {
                root.starts_with(path).then_some(root.as_path())
            }
        })
    }

    /// Whether something protected is, or may come to be, somewhere in a folder.
    pub fn is_within(&self, folder: &Path) -> bool {
        self.paths.iter().any(|path| path.starts_with(folder))
            || self.roots.iter().any(|root| root.starts_with(folder))
    }

    /// The same but for these places: what a client keeps of its own, if it can be given no other.
    #[must_use]
    pub fn without(&self, own: &[PathBuf]) -> Self {
        let mut less = self.clone();
        less.paths
            .retain(|path| !own.iter().any(|own| path.starts_with(own)));
        less
    }

    /// Whether a path is in one of the trees.
    pub fn is_in_a_tree(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Returns how much of a requested writable path is denied for this root; `None` if all of it
    /// is granted.
    pub fn withheld(
        &self,
        wish: &str,
        root: &Path,
        home: Option<&Path>,
        disk: &Disk,
    ) -> Option<DeniedPath> {
        let path = wished(wish, root, home)?;
        let real = match resolve(wish, root, home, disk) {
            Ok(Some(real)) => real,
            Ok(None) => plain(&path),
            Err(outside) => outside.target,
        };
        if self.covers(&real) || self.covers(&plain(&path)) {
            return Some(DeniedPath::All);
        }
        let has_some = self.is_within(&real) || !nested(&real, disk).obeyed.is_empty();
        has_some.then_some(DeniedPath::Part)
    }
}

/// Returns a path without `.` and `..`, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-SEC-1, REQ-GOV-005: a wish for what git, agents or this program obey is known for what it is, by any spelling.
    #[test]
    fn a_wish_for_what_is_protected_is_not_granted() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap().join("p");
        for path in ["p/.git/hooks", "p/src", "p/cal_audit", "other/.git"] {
            disk.create_dir_all(&folder.path().join(path)).unwrap();
        }
        std::os::unix::fs::symlink(root.join(".git"), root.join("link")).unwrap();
        let protected = Protected {
            roots: vec![root.clone()],
            paths: vec![
                root.join("cal_audit"),
                root.parent().unwrap().join(".claude"),
            ],
            hidden: Vec::new(),
        };
        for (wish, withheld) in [
            (".git", Some(DeniedPath::All)),
            (".git/hooks/", Some(DeniedPath::All)),
            ("./src/../.git/config", Some(DeniedPath::All)),
            ("link", Some(DeniedPath::All)),
            (".cal_memory.json", Some(DeniedPath::All)),
            ("cal_audit/", Some(DeniedPath::All)),
            ("registry.json", Some(DeniedPath::All)),
            (".husky/", Some(DeniedPath::All)),
            ("docs/AGENTS.md", Some(DeniedPath::All)),
            ("loa-grimoire/", Some(DeniedPath::All)),
            (".envrc", Some(DeniedPath::All)),
            ("~/.claude/", Some(DeniedPath::All)),
            ("~/.claude/settings.json", Some(DeniedPath::All)),
            ("~/", Some(DeniedPath::Part)),
            ("~/other/", Some(DeniedPath::Part)),
            ("sub/.claude/settings.json", Some(DeniedPath::All)),
            ("./", Some(DeniedPath::Part)),
            ("~/p/", Some(DeniedPath::Part)),
            ("src/", None),
            ("target/", None),
            ("/tmp/else/", None),
        ] {
            let home = root.parent();
            assert_eq!(
                protected.withheld(wish, &root, home, &disk),
                withheld,
                "{wish}"
            );
        }
    }
}
