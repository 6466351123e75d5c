//! [`SymlinkResolver`]: resolved paths, with each folder on the way looked up once.
//!
//! Several paths that control this program are in the same few folders, and a hook resolves all of
//! them. Paths that may change in between are not resolved here.

use std::{
    cell::RefCell,
    collections::HashMap,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, disk::EntryKind};

/// Bytes of a path that the system takes (`PATH_MAX`); a longer one leads to nothing.
pub(super) const LONGEST: usize = 4096;

/// A cache of resolved paths.
pub(super) struct SymlinkResolver<'d> {
    disk: &'d Disk,
    known: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

impl<'d> SymlinkResolver<'d> {
    pub(super) fn new(disk: &'d Disk) -> Self {
        Self {
            disk,
            known: RefCell::new(HashMap::new()),
        }
    }

    /// Returns the path with all links followed; `None` if it leads to nothing, or permission is
    /// missing.
    pub(super) fn end(&self, path: &Path) -> Option<PathBuf> {
        if path.as_os_str().len() >= LONGEST {
            return None;
        }
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let end = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if path.is_absolute() => self
                .end(folder)
                .and_then(|folder| self.entry(folder.join(name))),
            // `/` itself, and what ends with `..`.
            _ => self.disk.canonicalize(path).ok(),
        };
        self.known.borrow_mut().insert(path.to_owned(), end.clone());
        end
    }

    /// The path with the links followed on the way to it, as far as its folders are there.
    pub(super) fn named(&self, path: &Path) -> PathBuf {
        for folder in path.ancestors().skip(1) {
            if let Some(end) = self.end(folder)
                && let Ok(rest) = path.strip_prefix(folder)
            {
                return end.join(rest);
            }
        }
        path.to_owned()
    }

    /// Resolves an entry of a folder that is itself reached by no link.
    fn entry(&self, path: PathBuf) -> Option<PathBuf> {
        match self.disk.stat(&path).ok()??.kind {
            EntryKind::Link => self.disk.canonicalize(&path).ok(),
            EntryKind::File | EntryKind::Folder | EntryKind::Other => Some(path),
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test lays out its files with what the standard library has"
)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// CAKE-SHIM-1: what steers the guard is known by every name that leads to it, as the system follows them.
    #[test]
    fn paths_lead_where_the_system_says() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let top = disk.canonicalize(folder.path()).unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join("a/b/file"), "x").unwrap();
        symlink("a", top.join("relative")).unwrap();
        symlink(top.join("a/b"), top.join("absolute")).unwrap();
        symlink("nothing", top.join("dangling")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        symlink("../relative/b/file", top.join("a/chain")).unwrap();
        let leads = SymlinkResolver::new(&disk);
        for path in [
            "a",
            "a/b/file",
            "relative/b/file",
            "absolute/file",
            "absolute/../chain",
            "absolute/..",
            "a/chain",
            "a/./b//file",
            "dangling",
            "dangling/x",
            "loop/x",
            "a/b/file/x",
            "missing/x",
        ] {
            let path = top.join(path);
            let expected = disk.canonicalize(&path).ok();
            assert_eq!(leads.end(&path), expected, "{}", path.display());
            assert_eq!(leads.end(&path), expected, "again, {}", path.display());
        }
        for parts in [LONGEST / 2 - 1, LONGEST / 2, 200_000] {
            let path = PathBuf::from("/a".repeat(parts));
            assert_eq!(leads.end(&path), None, "{parts} parts");
            assert_eq!(leads.named(&path), path, "{parts} parts");
        }
        assert_eq!(leads.named(&top.join("relative/x/y")), top.join("a/x/y"));
        assert_eq!(
            leads.named(&top.join("relative/b/file")),
            top.join("a/b/file")
        );
        assert_eq!(leads.named(&top.join("dangling")), top.join("dangling"));
    }
}
