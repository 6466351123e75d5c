//! Moves a project's state from the machine's folder into its tree; [`moving_out`](super::moving_out) is the reverse.
//!
//! A kill at any moment loses nothing: until the last step the machine's folder stays the place of the state, and `init`
//! run again goes on. The steps are: mark the folder as moving, copy each file, put a file where the folder's lock was, so
//! that a process that waits for it fails instead of writing, take the mark away, remove what was copied.

use std::path::Path;

use callosum_config::{MOVING, MOVING_SESSIONS, StatePlace, is_initialized};
use callosum_host::disk::EntryKind;
use callosum_host::{Disk, DiskError};
use callosum_ledger::LedgerPaths;
use callosum_ledger::locks::ExclusiveLedger;
use callosum_session::trajectory::Agent;

use crate::context::Context;
use crate::{CommandError, Exit, disk_errors, session};

/// The names of a ledger's state.
pub const LEDGER: [&str; 9] = [
    ".cal_answers",
    ".cal_quarantine",
    ".cal_backup",
    "registry.json",
    ".cal_memory_history",
    "cal_audit",
    ".cal_hashlog",
    ".cal_memory.json",
    ".calrc",
];

/// The names of session files.
pub const SESSIONS: [&str; 3] = [".beads", ".loa.config.yaml", "loa-grimoire"];

/// The folder of lock files, which are not moved.
pub const LOCKS: &str = ".cal_lock";

/// Prepares the machine's folder for the state of this project, which is not in its tree.
pub fn prepare(context: &Context) -> Result<(), CommandError> {
    let (disk, root) = (&context.disk, context.state());
    let homes = &context.project.homes;
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let now = StatePlace::find(disk, homes, root).map_err(failed)?;
    if now.is_in_tree {
        let what = "another process initialized the project meanwhile";
        return Err(CommandError::new(Exit::Environment, what).hint("run the command again"));
    }
    homes.create_project(disk, root).map_err(failed)?;
    give_lock_back(disk, &now.folder).map_err(failed)
}

/// Moves ledger, journal, registry and settings into the tree, if they are in the machine's folder. Returns how many files
/// were moved.
pub fn ledger(context: &Context) -> Result<u64, CommandError> {
    let (disk, root) = (&context.disk, context.state());
    let folder = context.project.homes.project(root);
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let is_moving = disk.exists(&folder.join(MOVING)).map_err(failed)?;
    let is_there = has_any(disk, &folder, &LEDGER).map_err(failed)?;
    // State in the tree is the project's own: the machine's state of it is not merged into it.
    if !is_there || !is_moving && is_initialized(disk, root).map_err(failed)? {
        return Ok(0);
    }
    give_lock_back(disk, &folder).map_err(failed)?;
    disk.create_dir_all(&folder.join(LOCKS)).map_err(failed)?;
    let paths = LedgerPaths::in_root(&folder);
    let held =
        ExclusiveLedger::acquire(disk, &paths).map_err(|error| disk_errors::unlocked(&error))?;
    let moved = move_ledger(disk, &folder, root).map_err(failed)?;
    drop(held);
    Ok(moved)
}

/// Moves the files of a ledger, whose lock is held, and closes the folder that they leave.
fn move_ledger(disk: &Disk, folder: &Path, root: &Path) -> Result<u64, DiskError> {
    let step = Move {
        disk,
        folder,
        root,
        names: &LEDGER,
        mark: MOVING,
    };
    let count = step.copy()?;
    close_lock(disk, folder, root)?;
    step.finish()?;
    Ok(count)
}

/// Moves session files into the tree, if they are in the machine's folder and the tree has none. Returns how many files
/// were moved.
pub fn sessions(context: &Context) -> Result<u64, CommandError> {
    let (disk, root) = (&context.disk, context.state());
    let folder = context.project.homes.project(root);
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let is_there = has_any(disk, &folder, &SESSIONS).map_err(failed)?;
    if context.sessions() != folder || !is_there {
        return Ok(0);
    }
    let zones = context.zones();
    let held = session::session(context, &zones, Agent::default())
        .hold()
        .map_err(|error| session::explain(&error))?;
    let moved = move_sessions(disk, &folder, root);
    drop(held);
    moved.map_err(failed)
}

/// Moves session files, whose lock is held.
fn move_sessions(disk: &Disk, folder: &Path, root: &Path) -> Result<u64, DiskError> {
    let step = Move {
        disk,
        folder,
        root,
        names: &SESSIONS,
        mark: MOVING_SESSIONS,
    };
    let count = step.copy()?;
    step.finish()?;
    Ok(count)
}

/// One move of some files out of the machine's folder.
struct Move<'a> {
    disk: &'a Disk,
    folder: &'a Path,
    root: &'a Path,
    names: &'a [&'a str],
    mark: &'a str,
}

impl Move<'_> {
    /// Marks the folder as moving, and copies its files to the root; returns their number.
    fn copy(&self) -> Result<u64, DiskError> {
        self.disk
            .replace(&self.folder.join(self.mark), b"", 0o600)?;
        let mut count = 0;
        for name in self.names {
            count += copied(self.disk, &self.folder.join(name), &self.root.join(name))?;
        }
        self.disk.sync_dir(self.root)?;
        Ok(count)
    }

    /// Makes the root the place of the files, and removes them from the folder.
    fn finish(&self) -> Result<(), DiskError> {
        self.disk.remove_file(&self.folder.join(self.mark))?;
        self.disk.sync_dir(self.folder)?;
        for name in self.names {
            remove(self.disk, &self.folder.join(name))?;
        }
        Ok(())
    }
}

/// Whether a folder has any of these names.
pub fn has_any(disk: &Disk, folder: &Path, names: &[&str]) -> Result<bool, DiskError> {
    for name in names {
        if disk.exists(&folder.join(name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Puts a file where the folder of locks was: a process that found the state here before fails at its lock, and
/// would otherwise write what no one reads.
pub fn close_lock(disk: &Disk, folder: &Path, root: &Path) -> Result<(), DiskError> {
    let lock = folder.join(LOCKS);
    disk.remove_tree(&lock)?;
    let words = format!("The state of this project is in {}\n", root.display());
    disk.replace(&lock, words.as_bytes(), 0o600)
}

/// Removes the file that an earlier move left in place of the folder of locks: the state is here again.
pub fn give_lock_back(disk: &Disk, folder: &Path) -> Result<(), DiskError> {
    let lock = folder.join(LOCKS);
    let found = disk.stat(&lock)?.map(|found| found.kind);
    if found == Some(EntryKind::File) {
        disk.remove_file(&lock)?;
    }
    Ok(())
}

/// Copies a file, or a folder with everything in it; returns the number of files. Each file appears whole.
pub fn copied(disk: &Disk, from: &Path, to: &Path) -> Result<u64, DiskError> {
    match disk.stat(from)?.map(|found| found.kind) {
        None => Ok(0),
        Some(EntryKind::Folder) => {
            disk.create_dir_all(to)?;
            let mut count = 0;
            for entry in disk.list_dir(from)? {
                count += copied(disk, &from.join(&entry.name), &to.join(&entry.name))?;
            }
            disk.sync_dir(to)?;
            Ok(count)
        }
        Some(_) => {
            let mode = disk.ownership(from)?.map_or(0o644, |found| found.mode);
            disk.replace(to, &disk.read(from)?, mode & 0o777)?;
            Ok(1)
        }
    }
}

/// Removes a file, or a folder with its contents.
pub fn remove(disk: &Disk, path: &Path) -> Result<(), DiskError> {
    match disk.stat(path)?.map(|found| found.kind) {
        None => Ok(()),
        Some(EntryKind::Folder) => disk.remove_tree(path),
        Some(_) => disk.remove_file(path).map(|_| ()),
    }
}

/// The place of session files, as a command finds it.
#[cfg(test)]
pub fn sessions_place(
    disk: &Disk,
    homes: &callosum_config::Homes,
    root: &Path,
) -> std::path::PathBuf {
    let mut roots = callosum_config::Roots {
        tree: root.to_owned(),
        state: root.to_owned(),
        sessions: root.to_owned(),
        foreign: Vec::new(),
    };
    callosum_config::place_sessions(disk, homes, &mut roots);
    roots.sessions
}

/// A project's state, for tests of moves.
#[cfg(test)]
pub(crate) mod samples {
    use std::path::Path;

    use callosum_host::Disk;
    use callosum_testkit::disk::Image;

    use callosum_config::Homes;

    use super::LOCKS;

    pub(crate) const ROOT: &str = "/project";

    pub(crate) const LEDGER_FILES: [(&str, &str); 4] = [
        (".cal_memory.json", "ledger"),
        (".cal_hashlog", "hashes"),
        ("cal_audit/2026-01-02.jsonl", "journal"),
        (".calrc", "{}"),
    ];

    pub(crate) const SESSION_FILES: [(&str, &str); 5] = [
        (".beads/bd-1.yaml", "bead"),
        (".loa.config.yaml", "settings"),
        ("loa-grimoire/NOTES.md", "notes"),
        ("loa-grimoire/.session/cited", "derived"),
        (
            "loa-grimoire/a2a/trajectory/claude-2026-01-02.jsonl",
            "decisions",
        ),
    ];

    pub(crate) fn homes() -> Homes {
        let variables = [
            ("CALLOSUM_HOME", "/home/state"),
            ("CALLOSUM_CONFIG", "/home/config.toml"),
        ];
        Homes::find(&variables.into_iter().collect()).unwrap()
    }

    /// A disk with the files in `place`, and with the project's folder on the machine.
    pub(crate) fn image(place: &Path, folder: &Path, files: &[(&str, &str)]) -> Image {
        let mut image = Image::with_folder(ROOT);
        let mut with_folders = |path: &Path| {
            for part in path.ancestors().collect::<Vec<_>>().iter().rev().skip(1) {
                image.put_folder(part);
            }
        };
        with_folders(folder);
        with_folders(&place.join(LOCKS));
        for (name, _) in files {
            with_folders(place.join(name).parent().unwrap());
        }
        image.put_file(place.join(LOCKS).join("cal_mutex"), "");
        for (name, bytes) in files {
            image.put_file(place.join(name), *bytes);
        }
        image
    }

    pub(crate) fn whole(disk: &Disk, folder: &Path, files: &[(&str, &str)]) -> bool {
        files.iter().all(|(name, bytes)| {
            let found = disk.read_if_there(&folder.join(name)).unwrap();
            found.as_deref() == Some(bytes.as_bytes())
        })
    }
}

#[cfg(test)]
mod tests {
    use callosum_testkit::disk::{Crashes, MemoryDisk};

    use super::{
        samples::{LEDGER_FILES, ROOT, SESSION_FILES, homes, image, whole},
        *,
    };

    /// After any crash during a move, the place of the state has all of it, and `init` run again
    /// ends the move.
    #[test]
    fn a_move_that_is_cut_short_loses_nothing_and_is_ended_later() {
        let root = Path::new(ROOT);
        let homes = homes();
        let folder = homes.project(root);
        let memory = MemoryDisk::with(&image(&folder, &folder, &LEDGER_FILES));
        assert_eq!(move_ledger(&memory.disk(), &folder, root).unwrap(), 4);
        memory.tell();
        let crashes = Crashes::of(&memory.trace(), 7).generate();
        let (mut before, mut after) = (0, 0);
        for crash in &crashes {
            let memory = MemoryDisk::with(&crash.image);
            let disk = memory.disk();
            let place = StatePlace::find(&disk, &homes, root).unwrap();
            let is_whole = whole(&disk, &place.folder, &LEDGER_FILES);
            assert!(is_whole, "{}", crash.image.listing());
            if place.is_in_tree {
                after += 1;
                continue;
            }
            before += 1;
            assert_eq!(crash.told, 0);
            give_lock_back(&disk, &folder).unwrap();
            move_ledger(&disk, &folder, root).unwrap();
            let place = StatePlace::find(&disk, &homes, root).unwrap();
            assert!(place.is_in_tree && whole(&disk, root, &LEDGER_FILES));
        }
        assert!(before > 10 && after > 3, "{before} {after}");
    }

    /// The same for notes, decisions and beads.
    #[test]
    fn session_files_moved_in_survive_every_crash() {
        let root = Path::new(ROOT);
        let homes = homes();
        let folder = homes.project(root);
        let memory = MemoryDisk::with(&image(&folder, &folder, &SESSION_FILES));
        let moved = move_sessions(&memory.disk(), &folder, root).unwrap();
        assert_eq!(moved, SESSION_FILES.len() as u64);
        memory.tell();
        let (mut before, mut after) = (0, 0);
        for crash in &Crashes::of(&memory.trace(), 7).generate() {
            let memory = MemoryDisk::with(&crash.image);
            let disk = memory.disk();
            let place = sessions_place(&disk, &homes, root);
            let is_whole = whole(&disk, &place, &SESSION_FILES);
            assert!(is_whole, "{}", crash.image.listing());
            if place == root {
                after += 1;
                continue;
            }
            before += 1;
            assert_eq!(crash.told, 0);
            move_sessions(&disk, &folder, root).unwrap();
            assert_eq!(sessions_place(&disk, &homes, root), root);
            assert!(whole(&disk, root, &SESSION_FILES));
        }
        assert!(before > 10 && after > 3, "{before} {after}");
    }
}
