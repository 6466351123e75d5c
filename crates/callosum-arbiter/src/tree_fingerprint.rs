//! [`TreeFingerprint`]: fingerprint of a source tree's content, and whether the tree still has it.
//!
//! It covers what a search of the tree sees, and the commit that is checked out. Ignored and hidden
//! files do not count, nor does what Callosum keeps itself.

use std::{
    fmt::Write as _,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::UNIX_EPOCH,
};

use callosum_host::{
    Disk, OpenHow,
    disk::{EntryKind, FileStat},
};
use callosum_json::Checksum;
use callosum_source::walk::{Scope, SourceTree};

/// Most bytes of a tree that are read; a larger tree has no print.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// A tree at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeFingerprint {
    /// The SHA-256 over names, contents and the commit that is checked out.
    pub content: Checksum,
    looks: Checksum,
}

impl TreeFingerprint {
    /// Reads every file of the tree once, on all cores.
    ///
    /// Returns `None` if there is nothing to rely on: a tree that changed during the read, that
    /// cannot be read, or that has more than 512 MiB.
    pub fn read(disk: &Disk, root: &Path) -> Option<Self> {
        let tree = SourceTree::read(disk, root, &Scope::of(&[])).ok()?;
        if tree.files.iter().map(|file| file.bytes).sum::<u64>() > MOST_BYTES {
            return None;
        }
        let looks = looks(disk, root, &tree);
        let contents = contents(disk, root, &tree)?;
        let mut text = head(disk, root);
        for (file, content) in tree.files.iter().zip(contents) {
            let _ = writeln!(text, "{:?} {content}", file.path);
        }
        for skipped in &tree.skipped {
            let _ = writeln!(text, "{:?} {}", skipped.path, skipped.why);
        }
        let print = Self {
            content: Checksum::of(text.as_bytes()),
            looks,
        };
        print.still_holds(disk, root).then_some(print)
    }

    /// Whether no file was changed, added or removed since, by name, size, time and number. Opens
    /// no file.
    pub fn still_holds(&self, disk: &Disk, root: &Path) -> bool {
        SourceTree::read(disk, root, &Scope::of(&[]))
            .is_ok_and(|tree| looks(disk, root, &tree) == self.looks)
    }
}

/// Returns a hash that shows a changed tree without opening a file.
fn looks(disk: &Disk, root: &Path, tree: &SourceTree) -> Checksum {
    let mut text = head(disk, root);
    let files = tree.files.iter().map(|file| &file.path);
    for path in files.chain(tree.skipped.iter().map(|skipped| &skipped.path)) {
        let found = disk.stat(&root.join(path)).ok().flatten();
        let _ = writeln!(text, "{path:?} {:?}", found.map(look));
    }
    Checksum::of(text.as_bytes())
}

fn look(found: FileStat) -> (u64, u128, Option<u64>) {
    let since = found.modified.duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    (found.len, nanos, found.id.map(|id| id.inode))
}

/// The hash of each file, in the tree's order; `None` where one cannot be read.
fn contents(disk: &Disk, root: &Path, tree: &SourceTree) -> Option<Vec<Checksum>> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let hashed = Mutex::new(Vec::with_capacity(tree.files.len()));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = tree.files.get(at) else {
                break;
            };
            mine.push((at, content(disk, &root.join(&file.path))));
        }
        hashed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut mine);
    };
    thread::scope(|scope| {
        for _ in 1..workers.min(tree.files.len()) {
            // What the system gives no thread for is hashed by this one.
            drop(thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    let mut hashed = hashed.into_inner().unwrap_or_else(PoisonError::into_inner);
    hashed.sort_by_key(|(at, _)| *at);
    hashed.into_iter().map(|(_, content)| content).collect()
}

fn content(disk: &Disk, path: &Path) -> Option<Checksum> {
    // What is no regular file any more is not opened: a pipe may wait for ever.
    let found = disk.stat(path).ok()??;
    if found.kind != EntryKind::File || found.len > MOST_BYTES {
        return None;
    }
    let file = disk.open(path, OpenHow::READ).ok()?;
    Some(Checksum::of(&file.read_range(0, found.len as usize).ok()?))
}

/// Returns the commit that `HEAD` names in git's files; an empty text if there is no repository.
fn head(disk: &Disk, root: &Path) -> String {
    let git = root.join(".git");
    let read = |path: &Path| {
        let bytes = disk.read_if_there(path).ok().flatten();
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let (folder, shared) = match disk.stat(&git).ok().flatten().map(|found| found.kind) {
        Some(EntryKind::Folder) => (git.clone(), git),
        Some(EntryKind::File) => {
            // A linked worktree: one line that names the folder of its own HEAD.
            let Some(place) = read(&git) else {
                return String::new();
            };
            let folder = root.join(place.trim_start_matches("gitdir: ").trim_end());
            let shared = read(&folder.join("commondir"))
                .map_or_else(|| folder.clone(), |common| folder.join(common.trim_end()));
            (folder, shared)
        }
        _ => return String::new(),
    };
    let head = read(&folder.join("HEAD")).unwrap_or_default();
    let named = head.strip_prefix("ref: ").map(str::trim_end);
    let commit = named.map(|name| {
        let packed = || {
            let all = read(&shared.join("packed-refs")).unwrap_or_default();
            let line = all.lines().find(|line| line.ends_with(name));
            line.unwrap_or_default().to_owned()
        };
        read(&shared.join(name)).unwrap_or_else(packed)
    });
    format!("{head}\n{}\n", commit.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// REQ-GOV-004: a tree is its content, at any place and time.
    #[test]
    fn the_print_is_that_of_the_content_and_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, root) = (Disk::real(), folder.path());
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, text.as_bytes(), 0o644).unwrap();
        };
        write("src/a.rs", "fn a() {}\n");
        let first = TreeFingerprint::read(&disk, root).unwrap();
        assert!(first.still_holds(&disk, root));
        write("src/a.rs", "fn b() {}\n");
        assert!(!first.still_holds(&disk, root));
        assert_ne!(
            TreeFingerprint::read(&disk, root).unwrap().content,
            first.content
        );
        write("src/a.rs", "fn a() {}\n");
        assert_eq!(
            TreeFingerprint::read(&disk, root).unwrap().content,
            first.content
        );
        write(".cal_memory.json", "{}");
        assert!(TreeFingerprint::read(&disk, root).unwrap().content == first.content);
        write(".git/HEAD", "ref: refs/heads/main\n");
        write(".git/refs/heads/main", "0123\n");
        let on_main = TreeFingerprint::read(&disk, root).unwrap().content;
        assert_ne!(on_main, first.content);
        disk.remove_file(&root.join(".git/refs/heads/main"))
            .unwrap();
        write(".git/packed-refs", "4567 refs/heads/main\n");
        assert_ne!(TreeFingerprint::read(&disk, root).unwrap().content, on_main);
    }
}
