//! Number of writes and syncs of the disk, counted call by call.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use callosum_host::{
    Disk, DiskFile, OpenHow,
    disk::{FileHandle, FileId, FileStat, FileSystem, ListedEntry},
};
use callosum_ledger::Ledger;

use crate::{
    faults::source,
    project::{Project, spawn},
};

/// A call that costs, and the name of the file that it was about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Call {
    Open(OsString),
    Write(OsString),
    Sync(OsString),
}

/// State shared by a recorded disk and the test that watches it.
#[derive(Default)]
struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    /// While it is closed, syncs do not end.
    is_closed: bool,
    /// Syncs that have begun and not ended.
    in_sync: usize,
}

impl Watch {
    /// The calls since this was asked last.
    fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.state.lock().unwrap().calls)
    }

    fn note(&self, call: Call) {
        self.state.lock().unwrap().calls.push(call);
    }

    fn close(&self) {
        self.state.lock().unwrap().is_closed = true;
    }

    fn open(&self) {
        self.state.lock().unwrap().is_closed = false;
        self.changed.notify_all();
    }

    /// Waits until a sync arrives at the closed gate.
    fn wait_for_sync(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.in_sync == 0));
    }

    fn pass_sync(&self, name: OsString) {
        let mut state = self.state.lock().unwrap();
        state.calls.push(Call::Sync(name));
        state.in_sync += 1;
        self.changed.notify_all();
        let mut state = self
            .changed
            .wait_while(state, |state| state.is_closed)
            .unwrap();
        state.in_sync -= 1;
    }
}

/// The real disk, watched.
struct Watched {
    real: Disk,
    watch: Arc<Watch>,
}

fn name_of(path: &Path) -> OsString {
    path.file_name().unwrap_or_default().to_owned()
}

impl FileSystem for Watched {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>> {
        self.watch.note(Call::Open(name_of(path)));
        Ok(Box::new(WatchedFile {
            real: source(self.real.open(path, how))?,
            watch: Arc::clone(&self.watch),
        }))
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        source(self.real.create_dir_all(path)).map(drop)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        source(self.real.rename(from, to))
    }
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        source(self.real.hard_link(from, to))
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        source(self.real.remove_file(path)).map(drop)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        source(self.real.remove_dir(path)).map(drop)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.watch.pass_sync(name_of(path));
        source(self.real.sync_dir(path))
    }
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        source(self.real.stat(path))?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>> {
        source(self.real.list_dir(path))
    }
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        source(self.real.canonicalize(path))
    }
}

struct WatchedFile {
    real: DiskFile,
    watch: Arc<Watch>,
}

impl FileHandle for WatchedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        source(self.real.read_at(buffer, offset))
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.watch.note(Call::Write(name_of(self.real.path())));
        source(self.real.write_at(bytes, offset)).map(|()| bytes.len())
    }
    fn size(&self) -> io::Result<u64> {
        source(self.real.size())
    }
    fn id(&self) -> io::Result<Option<FileId>> {
        source(self.real.id())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.watch.note(Call::Write(name_of(self.real.path())));
        source(self.real.set_len(len))
    }
    fn sync_data(&self) -> io::Result<()> {
        self.watch.pass_sync(name_of(self.real.path()));
        source(self.real.sync_data())
    }
    fn sync_all(&self) -> io::Result<()> {
        self.watch.pass_sync(name_of(self.real.path()));
        source(self.real.sync_all())
    }
    fn try_lock(&self) -> io::Result<bool> {
        source(self.real.try_lock())
    }
    fn unlock(&self) -> io::Result<()> {
        source(self.real.unlock())
    }
}

/// A project whose ledger is open on a watched disk, with one entry.
fn watched() -> (Project, Ledger, Arc<Watch>) {
    let mut project = Project::new();
    let watch = Arc::new(Watch::default());
    project.disk = Disk::with(Arc::new(Watched {
        real: Disk::real(),
        watch: Arc::clone(&watch),
    }));
    let ledger = project.open();
    project.store(&ledger, "the first");
    watch.take();
    (project, ledger, watch)
}

const JOURNAL: &str = "2026-11-02.jsonl";
const LEDGER: &str = ".cal_memory.json";
const HASHLOG: &str = ".cal_hashlog";

/// CAL-PERF-1, REQ-PERF-005: a commit, with all that was recorded before it, is one write to the
/// journal, one sync, and one write to each view; it opens no file.
#[test]
fn a_commit_is_one_write_to_each_file_and_one_sync() {
    let (project, ledger, watch) = watched();
    let id = ledger.reserve(spawn()).unwrap();
    assert_eq!(watch.take(), [Call::Write(JOURNAL.into())]);
    for _ in 0..3 {
        let event = callosum_ledger::AuditEvent::new(callosum_ledger::Event::State);
        ledger.record(event).unwrap();
    }
    assert_eq!(watch.take(), []);
    ledger.commit(project.entry(id, "the second")).unwrap();
    let expected = [
        Call::Write(JOURNAL.into()),
        Call::Sync(JOURNAL.into()),
        Call::Write(LEDGER.into()),
        Call::Write(HASHLOG.into()),
    ];
    assert_eq!(watch.take(), expected);
    ledger.flush().unwrap();
    assert_eq!(watch.take(), [Call::Sync(JOURNAL.into())]);
}

/// CAL-PERF-1, REQ-PERF-005: a writer that comes during the sync of a group waits for that sync and
/// for one more, which all share that came in that time: so entries for each sync grow with the
/// writers.
#[test]
fn however_many_wait_while_a_group_is_synced_one_more_sync_serves_them_all() {
    for writers in [1, 4, 12] {
        let (project, ledger, watch) = watched();
        let entries: Vec<_> = (0..=writers)
            .map(|number| {
                let id = ledger.reserve(spawn()).unwrap();
                project.entry(id, &format!("entry {number}"))
            })
            .collect();
        watch.take();
        watch.close();
        thread::scope(|scope| {
            let mut entries = entries.into_iter();
            let first = entries.next().unwrap();
            let at_work = scope.spawn(|| ledger.commit(first).unwrap());
            watch.wait_for_sync();
            let ledger = &ledger;
            let waiting: Vec<_> = entries
                .map(|entry| scope.spawn(move || ledger.commit(entry).unwrap()))
                .collect();
            while ledger.waiting() < writers {
                thread::yield_now();
            }
            let expected = [Call::Write(JOURNAL.into()), Call::Sync(JOURNAL.into())];
            assert_eq!(watch.take(), expected);
            assert!(!at_work.is_finished());
            watch.open();
            for thread in waiting {
                thread.join().unwrap();
            }
        });
        let calls = watch.take();
        let count = |call: Call| calls.iter().filter(|made| **made == call).count();
        assert_eq!(count(Call::Sync(JOURNAL.into())), 1, "{writers}");
        assert_eq!(count(Call::Write(JOURNAL.into())), 1, "{writers}");
        for view in [LEDGER, HASHLOG] {
            // One of the first group, after its sync, and one of the second.
            assert_eq!(count(Call::Write(view.into())), 2, "{writers}");
        }
        assert_eq!(calls.len(), 6, "{calls:?}");
        assert_eq!(
            project.reader().stats().unwrap().entries,
            writers as u64 + 2
        );
    }
}
