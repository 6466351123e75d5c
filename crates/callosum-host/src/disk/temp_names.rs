//! Temporary names of new files until they get their own, and leftovers of killed processes.
//!
//! A process holds the lock of each such file for as long as it writes it, so that
//! [`Disk::sweep_new_files`] can recognize those that no process will finish. Process numbers
//! cannot show this: they are reused, and differ in every container.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    atomic::{folder_of, meant_for},
    file::DiskFile,
    file_system::{EntryKind, OpenHow},
    handle::{Disk, DiskError},
};

/// Tells apart the temporary files that one process has open at once.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Disk {
    /// Removes the files of [`new_file`](Self::new_file) in `folder` that a killed process left and
    /// whose intended name `is_ours`; returns their number. Costs the listing of the folder.
    ///
    /// A file whose lock is held is being written. Links are left alone, and so is everything if
    /// the file system has no locks. Continues after a file that cannot be removed, and returns the
    /// first such error at the end.
    pub fn sweep_new_files(
        &self,
        folder: &Path,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<usize, DiskError> {
        let (mut removed, mut failed) = (0, None);
        for entry in self.list_dir(folder)? {
            let meant = entry.name.to_str().and_then(name_meant);
            if entry.kind != EntryKind::File || !meant.is_some_and(&is_ours) {
                continue;
            }
            match self.remove_if_unlocked(&folder.join(&entry.name)) {
                Ok(was_removed) => removed += usize::from(was_removed),
                Err(error) if error.is_absent() || error.is_unsupported() => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(removed), Err)
    }

    fn remove_if_unlocked(&self, path: &Path) -> Result<bool, DiskError> {
        let file = self.open(path, OpenHow::READ_WRITE)?;
        // Held during the removal, so that a process that has only just created it begins another.
        if !file.try_lock()? || !self.is_at(&file, path)? {
            return Ok(false);
        }
        self.remove_file(path)
    }

    /// Opens a new file in the folder of `path`, under an unused name, with its lock held.
    pub(super) fn open_temporary(&self, path: &Path, mode: u32) -> Result<DiskFile, DiskError> {
        loop {
            let temporary = temporary_beside(path);
            let claimed = self.claim(&temporary, mode);
            if let Some(file) = claimed.map_err(|error| meant_for(path, &temporary, error))? {
                return Ok(file);
            }
        }
    }

    /// Creates a file and takes its lock; `None` if another exists, or it was swept in between.
    fn claim(&self, path: &Path, mode: u32) -> Result<Option<DiskFile>, DiskError> {
        let file = match self.open(path, OpenHow::CREATE_NEW.with_mode(mode)) {
            // Left by a process of the same number, or in use by one in another container.
            Err(error) if error.is_taken() => return Ok(None),
            opened => opened?,
        };
        let is_ours = match file.try_lock() {
            Ok(true) => self.is_at(&file, path),
            Ok(false) => Ok(false),
            Err(error) if error.is_unsupported() => Ok(true),
            Err(error) => Err(error),
        };
        match is_ours {
            Ok(is_ours) => Ok(is_ours.then_some(file)),
            Err(error) => {
                // The first error is the one to report.
                drop(self.remove_file(path));
                Err(error)
            }
        }
    }

    /// Whether the open file is what others find at `path`, as far as the file system can say.
    fn is_at(&self, file: &DiskFile, path: &Path) -> Result<bool, DiskError> {
        let Some(found) = self.stat(path)? else {
            return Ok(false);
        };
        let id = file.id()?;
        Ok(id.is_none() || found.id.is_none() || id == found.id)
    }
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    folder_of(path).join(name)
}

/// Returns the intended name of a file whose own is one of [`temporary_beside`].
fn name_meant(name: &str) -> Option<&str> {
    let (meant, numbers) = name
        .strip_prefix('.')?
        .strip_suffix(".tmp")?
        .rsplit_once('.')?;
    let (process, count) = numbers.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(process) && is_number(count)).then_some(meant)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(disk: &Disk, folder: &Path) -> Vec<String> {
        let entries = disk.list_dir(folder).unwrap();
        let name = |entry: &crate::disk::ListedEntry| entry.name.to_string_lossy().into_owned();
        entries.iter().map(name).collect()
    }

    /// CAL-LED-2: leftovers of a killed process are removed; files being written, other files, and
    /// files that only look like leftovers stay.
    #[test]
    fn a_sweep_removes_abandoned_files_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let at = |name: &str| folder.path().join(name);
        let mut written = disk.new_file(&at("ledger.json"), 0o600).unwrap();
        let own = std::process::id();
        let left = [
            ".ledger.json.1-0.tmp".to_owned(),
            // This process has this number, and did not write it.
            format!(".ledger.json.{own}-999999.tmp"),
            ".ledger.json.99999999999999999999-3.tmp".to_owned(),
        ];
        let not_ours = [
            ".ledger.json.1-.tmp",
            ".ledger.json.1.tmp",
            ".ledger.json.tmp",
            ".ledger.json.x-1.tmp",
            ".other.json.1-0.tmp",
            "ledger.json.1-0.tmp",
        ];
        for name in left.iter().map(String::as_str).chain(not_ours) {
            disk.create(&at(name), b"half of it", 0o600).unwrap();
        }
        symlink(at("ledger.json"), at(".ledger.json.2-0.tmp")).unwrap();
        disk.create_dir_all(&at(".ledger.json.3-0.tmp")).unwrap();
        let sweep = || disk.sweep_new_files(folder.path(), |name| name == "ledger.json");
        assert_eq!(sweep().unwrap(), left.len());
        assert_eq!(sweep().unwrap(), 0);
        let there = names(&disk, folder.path());
        assert_eq!(there.len(), not_ours.len() + 3, "{there:?}");
        assert!(
            not_ours
                .iter()
                .all(|name| there.iter().any(|found| found == name))
        );
        written.push(b"whole").unwrap();
        written.replace().unwrap();
        assert_eq!(disk.read(&at("ledger.json")).unwrap(), b"whole");
        assert_eq!(disk.sweep_new_files(&at("not there"), |_| true).unwrap(), 0);
    }

    /// CAL-LED-2: a process that writes files while others sweep loses none.
    #[test]
    fn files_are_written_and_swept_at_once_without_harm() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = |number: usize| folder.path().join(format!("file{number}"));
        std::thread::scope(|scope| {
            for number in 0..2 {
                let (disk, path) = (&disk, &path);
                scope.spawn(move || {
                    for round in 0..50 {
                        let bytes = format!("{number} {round}");
                        disk.replace(&path(number), bytes.as_bytes(), 0o600)
                            .unwrap();
                        assert_eq!(disk.read(&path(number)).unwrap(), bytes.as_bytes());
                    }
                });
                scope.spawn(move || {
                    for _ in 0..100 {
                        disk.sweep_new_files(path(0).parent().unwrap(), |_| true)
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(names(&disk, folder.path()), ["file0", "file1"]);
    }

    #[test]
    fn the_name_of_a_temporary_file_says_what_it_was_meant_for() {
        for name in ["cal", ".cal_hashlog", "a.1-2.tmp", "x.json.gz", "1-1"] {
            let temporary = temporary_beside(&Path::new("folder").join(name));
            let found = temporary.file_name().and_then(|found| found.to_str());
            assert_eq!(found.and_then(name_meant), Some(name));
        }
    }
}
