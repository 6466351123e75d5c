//! Moves a project's state out of its tree into the machine's folder, for `uninstall --move-out`: the reverse of
//! [`moving`](super::moving).
//!
//! A kill at any moment loses nothing. The steps are: mark the folder as one that copies go to, copy each file, mark it
//! as the place of the state, remove the files from the tree, take both marks away. Until the second mark the tree is the
//! place, and the same command starts again; from then on the folder is, and the same command goes on. Files that are
//! not Callosum's are never moved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use callosum_config::{MOVING, MOVING_SESSIONS, NewState, is_initialized};
use callosum_host::{Disk, DiskError};
use callosum_ledger::LedgerPaths;
use callosum_ledger::locks::ExclusiveLedger;
use callosum_session::Zones;
use callosum_session::trajectory::Agent;

use crate::context::Context;
use crate::init::moving::{
    LEDGER, LOCKS, SESSIONS, close_lock, copied, give_lock_back, has_any, remove,
};
use crate::state_inventory::Group;
use crate::{CommandError, Exit, disk_errors, session, state_inventory};

/// The file in the machine's folder that marks its state as copies: a move out of the tree has begun.
const COPYING: &str = ".moving-out";

/// The same for session files.
const COPYING_SESSIONS: &str = ".moving-sessions-out";

/// Refuses a move where this run's environment would not find the state afterwards.
pub fn check_place(context: &Context) -> Result<(), CommandError> {
    if context.project.homes.new_state == NewState::Project {
        let what = "cannot move the state out of the tree: CALLOSUM_STATE is `project`";
        return Err(CommandError::new(Exit::Usage, what)
            .hint("env -u CALLOSUM_STATE callosum uninstall --move-out"));
    }
    Ok(())
}

/// Returns why the ledger cannot be moved out, as an error.
pub fn check_ledger(context: &Context) -> Result<(), CommandError> {
    let (disk, root) = (&context.disk, context.state());
    let folder = context.project.homes.project(root);
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    if disk.exists(&folder.join(MOVING)).map_err(failed)?
        || !is_initialized(disk, root).map_err(failed)?
    {
        return Ok(());
    }
    let group = state_inventory::ledger(disk, root).map_err(failed)?;
    if let Some(foreign) = group.foreign.first() {
        let what = format!(
            "cannot move the ledger out of the tree: `{}` is not Callosum's",
            foreign.display()
        );
        return Err(CommandError::new(Exit::No, what)
            .hint("move it away, then: callosum uninstall --move-out"));
    }
    let is_copy = disk.exists(&folder.join(COPYING)).map_err(failed)?;
    if !is_copy && has_any(disk, &folder, &LEDGER).map_err(failed)? {
        let what = format!(
            "cannot move the ledger out of the tree: `{}` already has one",
            folder.display()
        );
        return Err(CommandError::new(Exit::No, what)
            .hint("move that folder away, then: callosum uninstall --move-out"));
    }
    Ok(())
}

/// Moves ledger, journal, registry and settings out of the tree, if they are in it. Returns how many files were moved.
pub fn ledger(context: &Context) -> Result<u64, CommandError> {
    check_ledger(context)?;
    let (disk, root) = (&context.disk, context.state());
    let homes = &context.project.homes;
    let folder = homes.project(root);
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let step = MoveOut::of_ledger(disk, root, &folder);
    let is_moving = disk.exists(&folder.join(MOVING)).map_err(failed)?;
    if !is_moving && !is_initialized(disk, root).map_err(failed)? {
        return Ok(0);
    }
    homes.create_project(disk, root).map_err(failed)?;
    give_lock_back(disk, &folder).map_err(failed)?;
    disk.create_dir_all(&folder.join(LOCKS)).map_err(failed)?;
    // Of a move that was cut short, the folder has the state and its lock.
    let place = if is_moving { &folder } else { root };
    let paths = LedgerPaths::in_root(place);
    let held =
        ExclusiveLedger::acquire(disk, &paths).map_err(|error| disk_errors::unlocked(&error))?;
    let moved = move_ledger(&step, is_moving).map_err(failed)?;
    drop(held);
    give_lock_back(disk, root).map_err(failed)?;
    Ok(moved)
}

/// Moves the files of a ledger, whose lock is held, or goes on with a move that was cut short.
fn move_ledger(step: &MoveOut<'_>, is_moving: bool) -> Result<u64, DiskError> {
    let (disk, root) = (step.disk, step.root);
    let mut moved = 0;
    if !is_moving {
        moved = step.copy(&files_of_ledger(disk, root)?)?;
    }
    // A process that waits for the lock here fails, and writes no new state into the tree. A move that was cut short may
    // have closed it already.
    give_lock_back(disk, root)?;
    close_lock(disk, root, step.folder)?;
    files_of_ledger(disk, root)?.remove(disk)?;
    if !is_initialized(disk, root)? {
        step.finish()?;
    }
    Ok(moved)
}

/// The files of a ledger but for its locks.
fn files_of_ledger(disk: &Disk, root: &Path) -> Result<Group, DiskError> {
    let mut group = state_inventory::ledger(disk, root)?;
    let locks = root.join(LOCKS);
    group.files.retain(|path| !path.starts_with(&locks));
    group.folders.retain(|path| !path.starts_with(&locks));
    Ok(group)
}

/// Returns why session files stay in the tree, if they do.
pub fn sessions_stay(context: &Context) -> Result<Option<String>, CommandError> {
    let disk = &context.disk;
    let folder = context.project.homes.project(context.state());
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let root = context.sessions();
    if root == folder {
        return Ok(None);
    }
    let group = state_inventory::sessions(disk, root).map_err(failed)?;
    if group.is_empty() {
        return Ok(None);
    }
    if context.project.roots.commit_sessions(disk) {
        return Ok(Some("they are committed".to_owned()));
    }
    let zones = context.zones();
    let notes = zones.notes();
    let is_beside_notes = |path: &Path| notes.parent().is_some_and(|state| path.starts_with(state));
    let mut foreign = group.foreign.iter();
    if let Some(path) = foreign.find(|path| is_beside_notes(path)) {
        let named = zones.named(path);
        return Ok(Some(format!("`{named}` is not Callosum's")));
    }
    let is_copy = disk
        .exists(&folder.join(COPYING_SESSIONS))
        .map_err(failed)?;
    if !is_copy && has_any(disk, &folder, &SESSIONS).map_err(failed)? {
        return Ok(Some(format!("`{}` already has some", folder.display())));
    }
    Ok(None)
}

/// Moves session files out of the tree, unless [`sessions_stay`]. Returns how many files were moved.
pub fn sessions(context: &Context) -> Result<u64, CommandError> {
    let (disk, homes) = (&context.disk, &context.project.homes);
    let folder = homes.project(context.state());
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let is_moving = disk.exists(&folder.join(MOVING_SESSIONS)).map_err(failed)?;
    let root = if is_moving {
        context.state()
    } else {
        context.sessions()
    };
    let group = state_inventory::sessions(disk, root).map_err(failed)?;
    let is_done = !is_moving && (root == folder || group.is_empty());
    if is_done || sessions_stay(context)?.is_some() {
        return Ok(0);
    }
    homes
        .create_project(disk, context.state())
        .map_err(failed)?;
    let zones = context.zones();
    let held = session::session(context, &zones, Agent::default())
        .hold()
        .map_err(|error| session::explain(&error))?;
    let step = MoveOut::of_sessions(disk, root, &folder);
    let moved = move_sessions(&step, is_moving);
    drop(held);
    moved.map_err(failed)
}

/// Moves session files, whose lock is held, or goes on with a move that was cut short.
fn move_sessions(step: &MoveOut<'_>, is_moving: bool) -> Result<u64, DiskError> {
    let (disk, root) = (step.disk, step.root);
    let mut moved = 0;
    if !is_moving {
        moved = step.copy(&state_inventory::sessions(disk, root)?)?;
    }
    state_inventory::sessions(disk, root)?.remove(disk)?;
    let zones = Zones {
        tree: root.to_owned(),
        root: root.to_owned(),
    };
    if !zones.are_used(disk)? {
        step.finish()?;
    }
    Ok(moved)
}

/// One move of some files into the machine's folder.
struct MoveOut<'a> {
    disk: &'a Disk,
    root: &'a Path,
    folder: &'a Path,
    names: &'a [&'a str],
    /// Marks what the folder has of these names as copies.
    copying: &'a str,
    /// Makes the folder the place of the files.
    mark: &'a str,
}

impl<'a> MoveOut<'a> {
    fn of_ledger(disk: &'a Disk, root: &'a Path, folder: &'a Path) -> Self {
        Self {
            disk,
            root,
            folder,
            names: &LEDGER,
            copying: COPYING,
            mark: MOVING,
        }
    }

    fn of_sessions(disk: &'a Disk, root: &'a Path, folder: &'a Path) -> Self {
        Self {
            names: &SESSIONS,
            copying: COPYING_SESSIONS,
            mark: MOVING_SESSIONS,
            ..Self::of_ledger(disk, root, folder)
        }
    }

    /// Copies the files into the folder, and makes it their place. Returns their number.
    fn copy(&self, group: &Group) -> Result<u64, DiskError> {
        let (disk, folder) = (self.disk, self.folder);
        disk.replace(&folder.join(self.copying), b"", 0o600)?;
        for name in self.names {
            remove(disk, &folder.join(name))?;
        }
        let mut folders = BTreeSet::from([folder.to_owned()]);
        let of_files = group.files.iter().filter_map(|path| path.parent());
        for path in group.folders.iter().map(PathBuf::as_path).chain(of_files) {
            let below = path.strip_prefix(self.root).unwrap_or(Path::new(""));
            let all = below.ancestors().map(|below| folder.join(below));
            folders.extend(all);
        }
        for path in &folders {
            disk.create_dir_all(path)?;
        }
        let mut count = 0;
        for below in group.relative() {
            count += copied(disk, &self.root.join(below), &folder.join(below))?;
        }
        for path in folders.iter().rev() {
            disk.sync_dir(path)?;
        }
        disk.replace(&folder.join(self.mark), b"", 0o600)?;
        disk.sync_dir(folder)?;
        Ok(count)
    }

    /// Takes the marks away, once the tree has none of the files. The first one goes first: alone, it would call the
    /// only copy of the state one that may be written over.
    fn finish(&self) -> Result<(), DiskError> {
        for mark in [self.copying, self.mark] {
            self.disk.remove_file(&self.folder.join(mark))?;
            self.disk.sync_dir(self.folder)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use callosum_testkit::disk::{Crashes, MemoryDisk};

    use super::*;
    use crate::init::moving::{samples, sessions_place};
    use callosum_config::StatePlace;

    /// After any crash during a move, the place of the state has all of it, and the same command
    /// ends the move.
    #[test]
    fn a_ledger_moved_out_survives_every_crash() {
        let (homes, root) = (samples::homes(), Path::new(samples::ROOT));
        let folder = homes.project(root);
        let memory = MemoryDisk::with(&samples::image(root, &folder, &samples::LEDGER_FILES));
        let disk = memory.disk();
        let moved = move_ledger(&MoveOut::of_ledger(&disk, root, &folder), false).unwrap();
        assert_eq!(moved, samples::LEDGER_FILES.len() as u64);
        memory.tell();
        let (mut in_tree, mut out) = (0, 0);
        for crash in &Crashes::of(&memory.trace(), 7).generate() {
            let memory = MemoryDisk::with(&crash.image);
            let disk = memory.disk();
            let place = StatePlace::find(&disk, &homes, root).unwrap();
            let is_whole = samples::whole(&disk, &place.folder, &samples::LEDGER_FILES);
            assert!(is_whole, "{}", crash.image.listing());
            if place.is_in_tree {
                in_tree += 1;
                assert_eq!(crash.told, 0);
            } else {
                out += 1;
            }
            let is_moving = disk.exists(&folder.join(MOVING)).unwrap();
            if is_moving || place.is_in_tree {
                let step = MoveOut::of_ledger(&disk, root, &folder);
                move_ledger(&step, is_moving).unwrap();
            }
            let place = StatePlace::find(&disk, &homes, root).unwrap();
            assert!(!place.is_in_tree && !disk.exists(&folder.join(MOVING)).unwrap());
            assert!(samples::whole(&disk, &folder, &samples::LEDGER_FILES));
        }
        assert!(in_tree > 10 && out > 10, "{in_tree} {out}");
    }

    #[test]
    fn session_files_moved_out_survive_every_crash() {
        let (homes, root) = (samples::homes(), Path::new(samples::ROOT));
        let folder = homes.project(root);
        let mut image = samples::image(root, &folder, &samples::SESSION_FILES);
        image.put_file(root.join(".beads/config.yaml"), "another program's");
        let memory = MemoryDisk::with(&image);
        let disk = memory.disk();
        let moved = move_sessions(&MoveOut::of_sessions(&disk, root, &folder), false).unwrap();
        assert_eq!(moved, samples::SESSION_FILES.len() as u64);
        memory.tell();
        let (mut in_tree, mut out) = (0, 0);
        for crash in &Crashes::of(&memory.trace(), 7).generate() {
            let memory = MemoryDisk::with(&crash.image);
            let disk = memory.disk();
            let place = sessions_place(&disk, &homes, root);
            let is_whole = samples::whole(&disk, &place, &samples::SESSION_FILES);
            assert!(is_whole, "{}", crash.image.listing());
            if place == root {
                in_tree += 1;
                assert_eq!(crash.told, 0);
            } else {
                out += 1;
            }
            let is_moving = disk.exists(&folder.join(MOVING_SESSIONS)).unwrap();
            if is_moving || place == root {
                let step = MoveOut::of_sessions(&disk, root, &folder);
                move_sessions(&step, is_moving).unwrap();
            }
            assert_eq!(sessions_place(&disk, &homes, root), folder);
            assert!(samples::whole(&disk, &folder, &samples::SESSION_FILES));
            assert!(disk.exists(&root.join(".beads/config.yaml")).unwrap());
        }
        assert!(in_tree > 10 && out > 10, "{in_tree} {out}");
    }
}
