//! [`RunLock`]: the right to carry on a run, and the request to its holder to end it.
//!
//! It is in the machine's home, with one file for each run of a folder: in the project it would be
//! a file that git does not know, which `git clean` and `git stash -u` remove, and the next process
//! would make each call again.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use callosum_host::process::Cancel;
use callosum_host::{Disk, FileLock, LockFile};
use callosum_plan_run::run::RunId;

use crate::context::Context;
use crate::{CommandError, disk_errors};

/// Interval at which a process checks for a request to end its run.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Permission bits of the mark that requests the end of a run.
const MODE: u32 = 0o600;

/// The right to carry on a run. A process that dies gives it back.
pub struct RunLock {
    disk: Disk,
    path: PathBuf,
    mark: PathBuf,
    _lock: FileLock,
}

impl RunLock {
    /// Takes it; `None` where another process has it.
    pub fn take(context: &Context, run: &RunId) -> Result<Option<Self>, CommandError> {
        let folder = folder(context);
        let failed = |error| disk_errors::disk_failed(&error);
        let homes = &context.project.homes;
        homes.create_machine(&context.disk).map_err(failed)?;
        context.disk.create_private_dir(&folder).map_err(failed)?;
        let path = path(&folder, run);
        let lock = LockFile::private().try_acquire(&context.disk, &path);
        let lock = lock.map_err(failed)?;
        Ok(lock.map(|lock| Self {
            disk: context.disk.clone(),
            path,
            mark: mark(&folder, run),
            _lock: lock,
        }))
    }

    /// Cancels `end` once a person or process requests the end of the run, until `done` is
    /// canceled.
    pub fn watch(&self, end: &Cancel, done: &Cancel) {
        watch(&self.disk, &self.mark, LOOK_EVERY, end, done);
    }

    /// Gives it back for good: the run is over.
    pub fn end(self) {
        // Left behind they are empty files, and do no harm.
        drop(self.disk.remove_file(&self.mark));
        drop(self.disk.remove_file(&self.path));
    }
}

/// Looks for a mark now and after each `pause`, and returns the number of looks. Returns at once when `done` is asked
/// for: a run that slept through its pause ended 100 ms late.
fn watch(disk: &Disk, mark: &Path, pause: Duration, end: &Cancel, done: &Cancel) -> usize {
    let mut looks = 0;
    while !done.is_cancelled() {
        looks += 1;
        if disk.exists(mark).unwrap_or(false) {
            end.cancel();
            break;
        }
        if done.wait_for(pause).is_err() {
            thread::sleep(pause);
        }
    }
    looks
}

/// Whether a process has the lock of a run at this moment. Creates nothing.
pub fn is_held(context: &Context, run: &RunId) -> bool {
    let path = path(&folder(context), run);
    if !context.disk.exists(&path).unwrap_or(false) {
        return false;
    }
    // A lock that can't be tried belongs to no process that this user can see.
    let lock = LockFile::private().try_acquire(&context.disk, &path);
    lock.is_ok_and(|lock| lock.is_none())
}

/// Requests the end of a run from the process that has its lock.
pub fn ask_for_end(context: &Context, run: &RunId) -> Result<(), CommandError> {
    let mark = mark(&folder(context), run);
    let written = context.disk.replace_unsynced(&mark, b"", MODE);
    written.map_err(|error| disk_errors::disk_failed(&error))
}

fn folder(context: &Context) -> PathBuf {
    context.project.homes.plan_locks(context.state())
}

fn path(folder: &Path, run: &RunId) -> PathBuf {
    folder.join(run.as_str())
}

fn mark(folder: &Path, run: &RunId) -> PathBuf {
    folder.join(format!("{run}.end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pause that no test sits through.
    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn the_end_of_a_run_wakes_its_watcher() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("run.end");
        let (end, done) = (Cancel::new().unwrap(), Cancel::new().unwrap());
        let looks = thread::scope(|scope| {
            let watching = scope.spawn(|| watch(&Disk::real(), &mark, HOUR, &end, &done));
            done.cancel();
            watching.join().unwrap()
        });
        assert!(looks <= 1, "{looks}");
        assert!(!end.is_cancelled());
    }

    #[test]
    fn a_mark_ends_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("run.end");
        let disk = Disk::real();
        let (end, done) = (Cancel::new().unwrap(), Cancel::new().unwrap());
        let pause = Duration::from_millis(1);
        let looks = thread::scope(|scope| {
            let watching = scope.spawn(|| watch(&Disk::real(), &mark, pause, &end, &done));
            disk.replace_unsynced(&mark, b"", MODE).unwrap();
            watching.join().unwrap()
        });
        assert!(looks >= 1);
        assert!(end.is_cancelled());
    }
}
