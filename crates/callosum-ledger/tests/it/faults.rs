//! Full and failing disks, at every single call.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use callosum_host::{
    Disk, DiskError, DiskFile, OpenHow,
    disk::{Access, FileHandle, FileId, FileStat, FileSystem, ListedEntry},
};
use callosum_ledger::{Creation, Entry, ErrorCode, Ledger, OpenError, Query, WriteError, verify};

use crate::project::{Project, spawn};

/// Failure of the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// One call fails with an input/output error.
    Once,
    /// One call, and every one after it, fails with an input/output error.
    ForGood,
    /// From one call on the disk is full: what grows a file writes the half of it, then fails.
    Full,
}

/// The real disk, until a given number of calls was made.
pub(crate) struct Faulty {
    real: Disk,
    calls_left: Arc<AtomicI64>,
    failure: Failure,
}

impl Faulty {
    pub(crate) fn disk(calls: i64, failure: Failure) -> (Disk, Arc<AtomicI64>) {
        let calls_left = Arc::new(AtomicI64::new(calls));
        let faulty = Self {
            real: Disk::real(),
            calls_left: Arc::clone(&calls_left),
            failure,
        };
        (Disk::with(Arc::new(faulty)), calls_left)
    }
}

fn call(calls_left: &AtomicI64, failure: Failure, grows: bool) -> io::Result<()> {
    let left = calls_left.fetch_sub(1, Ordering::SeqCst);
    match failure {
        Failure::Once if left == 0 => Err(io::Error::other("injected")),
        Failure::ForGood if left <= 0 => Err(io::Error::other("injected")),
        Failure::Full if left <= 0 && grows => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }
}

/// The system's own reason, without the path.
pub(crate) fn source<T>(result: Result<T, DiskError>) -> io::Result<T> {
    result.map_err(|error| error.source)
}

impl FileSystem for Faulty {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>> {
        let creates = how.access == Access::ReadWrite && !source(self.real.exists(path))?;
        call(&self.calls_left, self.failure, creates)?;
        Ok(Box::new(FaultyFile {
            real: source(self.real.open(path, how))?,
            calls_left: Arc::clone(&self.calls_left),
            failure: self.failure,
        }))
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        call(&self.calls_left, self.failure, true)?;
        source(self.real.create_dir_all(path)).map(drop)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.rename(from, to))
    }
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        call(&self.calls_left, self.failure, true)?;
        source(self.real.hard_link(from, to))
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.remove_file(path)).map(drop)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.remove_dir(path)).map(drop)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.sync_dir(path))
    }
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.stat(path))?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.list_dir(path))
    }
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.canonicalize(path))
    }
}

struct FaultyFile {
    real: DiskFile,
    calls_left: Arc<AtomicI64>,
    failure: Failure,
}

impl FileHandle for FaultyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.read_at(buffer, offset))
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let grows = offset + bytes.len() as u64 > source(self.real.size())?;
        if let Err(error) = call(&self.calls_left, self.failure, grows) {
            source(self.real.write_at(&bytes[..bytes.len() / 2], offset))?;
            return Err(error);
        }
        source(self.real.write_at(bytes, offset))?;
        Ok(bytes.len())
    }
    fn size(&self) -> io::Result<u64> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.size())
    }
    fn id(&self) -> io::Result<Option<FileId>> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.id())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.set_len(len))
    }
    fn sync_data(&self) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.sync_data())
    }
    fn sync_all(&self) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.sync_all())
    }
    fn try_lock(&self) -> io::Result<bool> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.try_lock())
    }
    fn unlock(&self) -> io::Result<()> {
        call(&self.calls_left, self.failure, false)?;
        source(self.real.unlock())
    }
}

/// Reserves and commits on a disk that may fail; what was acknowledged.
fn work(project: &Project) -> (Vec<Entry>, Vec<WriteError>) {
    let (mut stored, mut failed) = (Vec::new(), Vec::new());
    let Ok(ledger) = project.try_open() else {
        return (stored, failed);
    };
    for number in 0..4 {
        let committed = ledger
            .reserve(spawn())
            .and_then(|id| ledger.commit(project.entry(id, &format!("entry {number}"))));
        match committed {
            Ok(entry) => stored.push(entry),
            Err(error) => failed.push(error),
        }
    }
    if let Err(error) = ledger.flush() {
        failed.push(error);
    }
    (stored, failed)
}

/// Everything that was acknowledged is there, nothing is half there, and all is sound.
fn check_after(mut project: Project, stored: &[Entry], context: &str) {
    project.disk = Disk::real();
    project.create();
    let ledger = project.open();
    let again = project.store(&ledger, "after the fault");
    drop(ledger);
    let reader = project.reader();
    for entry in stored.iter().chain([&again]) {
        let found = reader.find(&entry.task_id).unwrap();
        assert_eq!(
            found.map(|found| found.entry).as_ref(),
            Some(entry),
            "{context}"
        );
    }
    let found = verify(&project.disk, &project.paths).unwrap();
    assert_eq!(found.problems, [], "{context}");
    assert_eq!(
        reader.query(&Query::default()).unwrap().len() as u64,
        found.entries + found.archived_entries,
        "{context}"
    );
}

/// CAL-ERR-5, CAL-ERR-8, REQ-LED-001: whichever call fails, once or for good, the error is typed,
/// nothing acknowledged is lost and the next opening is clean.
#[test]
fn whichever_call_fails_nothing_acknowledged_is_lost() {
    for failure in [Failure::Once, Failure::ForGood, Failure::Full] {
        for calls in 0.. {
            let mut project = Project::with_entries(1).0;
            let (disk, calls_left) = Faulty::disk(calls, failure);
            project.disk = disk;
            let context = format!("{failure:?} after {calls} calls");
            let (stored, failed) = work(&project);
            for error in failed {
                assert!(
                    matches!(
                        error.code(),
                        Some(ErrorCode::DiskFailure | ErrorCode::AuditFailure)
                    ),
                    "{context}: {error}"
                );
            }
            let is_done = calls_left.load(Ordering::SeqCst) > 0;
            check_after(project, &stored, &context);
            if is_done {
                assert_eq!(stored.len(), 4);
                break;
            }
        }
    }
}

/// CAL-LED-1, CAL-ERR-5: the same where the ledger is archived on the way.
#[test]
fn whichever_call_of_a_rotation_fails_nothing_acknowledged_is_lost() {
    for failure in [Failure::Once, Failure::ForGood, Failure::Full] {
        for calls in 0.. {
            let mut project = Project::with_entries(1).0.rotating_at(400);
            let (disk, calls_left) = Faulty::disk(calls, failure);
            project.disk = disk;
            let context = format!("{failure:?} after {calls} calls");
            let (stored, failed) = work(&project);
            for error in failed {
                assert!(error.code().is_some(), "{context}: {error}");
            }
            let is_done = calls_left.load(Ordering::SeqCst) > 0;
            if is_done {
                assert_eq!(stored.len(), 4);
                let archives = project.disk.list_dir(&project.paths.history).unwrap();
                assert!(archives.len() > 2, "{archives:?}");
            }
            check_after(project, &stored, &context);
            if is_done {
                break;
            }
        }
    }
}

/// CAL-ERR-5: creating can fail at every call too, and then be done again.
#[test]
fn whichever_call_fails_creating_can_be_done_again() {
    for failure in [Failure::Once, Failure::ForGood, Failure::Full] {
        for calls in 0.. {
            let mut project = Project::empty();
            let (disk, calls_left) = Faulty::disk(calls, failure);
            project.disk = disk;
            let created = Ledger::create(&project.disk, &project.paths, &project.clock);
            let is_done = calls_left.load(Ordering::SeqCst) > 0;
            check_after(project, &[], &format!("{failure:?} after {calls} calls"));
            if is_done {
                assert_ne!(created.unwrap(), Creation::default());
                break;
            }
        }
    }
}

/// CAL-ERR-8: a journal that cannot be written is E008, a full disk is E005.
#[test]
fn a_journal_that_cannot_be_written_is_e008_and_a_full_disk_e005() {
    let project = Project::new();
    let ledger = project.open();
    let id = ledger.reserve(spawn()).unwrap();
    // A folder is in the place of the next day's file.
    let project = project.at("2026-11-03T00:00:00Z");
    let tomorrow = project.paths.audit.join("2026-11-03.jsonl");
    project.disk.create_dir_all(&tomorrow).unwrap();
    let next_day = project.open();
    let error = next_day.commit(project.entry(id, "lost")).unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuditFailure));
    project.disk.remove_dir(&tomorrow).unwrap();
    project.store(&next_day, "and then it can");
    drop(next_day);
    // So it is where opening has repaired something, and cannot tell of it.
    let project = project.at("2026-11-04T00:00:00Z");
    let tomorrow = project.paths.audit.join("2026-11-04.jsonl");
    project.disk.create_dir_all(&tomorrow).unwrap();
    project.disk.remove_file(&project.paths.hashlog).unwrap();
    let error = project.try_open().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuditFailure));
    project.disk.remove_dir(&tomorrow).unwrap();
    drop(project.open());

    let mut project = Project::new();
    let (disk, calls_left) = Faulty::disk(i64::MAX, Failure::Full);
    project.disk = disk;
    let ledger = project.open();
    calls_left.store(0, Ordering::SeqCst);
    let error = ledger.reserve(spawn()).unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::DiskFailure));
    calls_left.store(i64::MAX, Ordering::SeqCst);
    project.store(&ledger, "and then there is room");
}

/// A project on a file system that is mounted read-only.
struct ReadOnly(Disk);

impl FileSystem for ReadOnly {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>> {
        if how.access == Access::ReadWrite {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        Ok(Box::new(FaultyFile {
            real: source(self.0.open(path, how))?,
            calls_left: Arc::new(AtomicI64::new(i64::MAX)),
            failure: Failure::Once,
        }))
    }
    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
    fn hard_link(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
    fn remove_file(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
    fn remove_dir(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        source(self.0.stat(path))?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>> {
        source(self.0.list_dir(path))
    }
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        source(self.0.canonicalize(path))
    }
}

/// CAL-ERR-5: what cannot be written can be read and verified, and opening says why it fails.
#[test]
fn a_read_only_project_is_read_and_verified_and_opening_says_so() {
    let (mut project, ids) = Project::with_entries(2);
    project.disk = Disk::with(Arc::new(ReadOnly(Disk::real())));
    let error = project.try_open().unwrap_err();
    assert!(
        error.disk_error().is_some_and(DiskError::is_read_only),
        "{error}"
    );
    assert!(matches!(error, OpenError::Lock(_)));
    assert!(project.reader().find(&ids[1]).unwrap().is_some());
    assert!(verify(&project.disk, &project.paths).unwrap().is_sound());
}
