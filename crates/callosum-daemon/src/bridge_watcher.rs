//! [`BridgeWatcher`]: the thread that separates concurrent authors of the bridge file, and reads what each of them wrote.
//!
//! Two authors who edit the file overwrite one another's additions as soon as both have read it. An
//! author who begins to write gets the file alone as soon as this thread notices: a [`StandbyFile`]
//! replaces it, for the next one. Each text is read when its file is closed, and the file goes back
//! to where it was written, no matter what else the daemon is doing.
//! [`BoardWorker`](super::board_worker::Keeper) applies the text when it gets to it. Two authors who open the
//! file before that still overwrite one another; [`BridgeVersions`] counts them.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use callosum_host::{
    Disk,
    disk::{EntryKind, FileId, FileStat, OpenHow},
    watch::{Change, FileChange, Watch},
};
use callosum_mesh::bridge::{FILE, KEPT, NEXT, StandbyFile};

use super::{
    bridge_versions::{BridgeVersions, Reading, VersionKey},
    unlinked_files::Replaced,
};

/// Time without notices after which the identity of the folder is checked.
const REST: Duration = Duration::from_millis(500);

/// Longest wait for this thread before a file is written to its place.
const MOMENT: Duration = Duration::from_millis(50);

/// Interval of reading the file if the system does not notify about writes.
const LOOK: Duration = Duration::from_millis(2);

/// Most readings that wait to be taken over. What is written after that stays in the file alone.
const MOST: usize = 64;

/// Most bytes of them.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The thread; asked to end when this is dropped, and not waited for.
pub(super) struct BridgeWatcher {
    read: Arc<Mutex<Read>>,
    apart: Arc<Apart>,
    is_over: Arc<AtomicBool>,
}

/// Progress of this thread with the files that are about to replace the bridge file.
#[derive(Debug, Default)]
struct Apart {
    seen_to: Mutex<SeenTo>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SeenTo {
    is_watching: bool,
    /// The last file whose closes are each reported separately.
    file: Option<FileId>,
}

impl Apart {
    fn lock(&self) -> MutexGuard<'_, SeenTo> {
        self.seen_to.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Text that was read from the file.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The oldest first.
    pub(super) versions: Vec<Vec<u8>>,
    /// Number of texts that were overwritten before they could be read, as far as the system
    /// notifies.
    pub(super) overwritten: usize,
}

impl BridgeWatcher {
    /// Begins to read the file in the folder of the mesh; says by `tell` that there is something to take over.
    pub(super) fn start(
        disk: Disk,
        folder: PathBuf,
        tell: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let read = Arc::new(Mutex::new(Read::default()));
        let is_over = Arc::new(AtomicBool::new(false));
        let apart = Arc::new(Apart::default());
        let mut work = Work {
            spare: StandbyFile::of(&disk, &folder),
            disk,
            folder,
            read: Arc::clone(&read),
            is_over: Arc::clone(&is_over),
            watch: None,
            apart: Arc::clone(&apart),
            trail: BridgeVersions::default(),
            replaced: Replaced::default(),
            shown: None,
        };
        thread::Builder::new().spawn(move || work.run(tell))?;
        Ok(Self {
            read,
            apart,
            is_over,
        })
    }

    /// Waits for a moment until each close of a file that is about to replace the bridge file is
    /// reported separately. So, if two authors have it open at once before its replacement is
    /// noticed, both are counted.
    pub(super) fn tell_apart(&self, disk: Disk) -> impl Fn(&Path) + Send + Sync + use<> {
        let apart = Arc::clone(&self.apart);
        move |path| {
            let id = disk.stat(path).ok().flatten().and_then(|stat| stat.id);
            let is_awaited = |seen: &mut SeenTo| seen.is_watching && seen.file != id;
            let waited = apart
                .changed
                .wait_timeout_while(apart.lock(), MOMENT, is_awaited);
            // Who did not come to it in time counts both as one.
            drop(waited);
        }
    }

    /// Returns what was read since the last call.
    pub(super) fn take(&self) -> Read {
        let read = self.read.lock();
        std::mem::take(&mut *read.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for BridgeWatcher {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

struct Work {
    disk: Disk,
    folder: PathBuf,
    read: Arc<Mutex<Read>>,
    is_over: Arc<AtomicBool>,
    watch: Option<Watched>,
    apart: Arc<Apart>,
    trail: BridgeVersions,
    replaced: Replaced,
    spare: StandbyFile,
    /// The last projection that was read in the file, and its revision.
    shown: Option<(u64, Vec<u8>)>,
}

/// The watch of the folders that stood there.
struct Watched {
    watch: Watch,
    ids: [Option<FileId>; 3],
}

impl Work {
    fn run(&mut self, tell: impl Fn()) {
        while !self.is_over.load(Ordering::Relaxed) {
            self.waits();
            if self.attends() {
                tell();
            }
        }
        // It is a copy that no one has written into, and is removed sooner or later if it cannot be
        // removed now.
        drop(self.spare.lift());
    }

    /// Returns the mesh's folder, that of the next file, and that of the files that were exchanged
    /// away.
    fn folders(&self) -> [PathBuf; 3] {
        let next = self.folder.join(KEPT);
        [self.folder.clone(), next, self.spare.folder()]
    }

    /// Waits until a file may have been written.
    fn waits(&mut self) {
        let folders = self.folders();
        // Removed and created again: another folder under the same name.
        let ids = folders.each_ref().map(|folder| {
            let stat = self.disk.stat(folder).ok().flatten();
            stat.and_then(|stat| stat.id)
        });
        if self.watch.as_ref().is_none_or(|known| known.ids != ids) {
            let watch = Watch::of(&folders.each_ref().map(PathBuf::as_path)).ok();
            self.apart.lock().is_watching = watch.is_some();
            self.watch = watch.map(|watch| Watched { watch, ids });
            self.tells_apart();
            // What was written before it was watched.
            self.trail.look();
            if self.watch.is_none() {
                thread::sleep(LOOK);
            }
            return;
        }
        self.hears(REST);
    }

    /// Takes notices for so long. Returns whether they leave anything to be done.
    fn hears(&mut self, most: Duration) -> bool {
        let Some(watched) = &mut self.watch else {
            return false;
        };
        let Ok(changes) = watched.watch.wait(most) else {
            self.watch = None;
            self.apart.lock().is_watching = false;
            return false;
        };
        let is_next = |change: &FileChange| change.folder == 1 && change.name == NEXT;
        if changes.iter().any(is_next) {
            let next = self.folder.join(KEPT).join(NEXT);
            let id = self.disk.stat(&next).ok().flatten();
            // It may be gone again.
            drop(watched.watch.tell_apart(&next));
            self.apart.lock().file = id.and_then(|stat| stat.id);
            self.apart.changed.notify_all();
        }
        let is_put = |change: &FileChange| {
            change.folder == 0 && change.name == FILE && matches!(change.change, Change::Put(_))
        };
        if changes.iter().any(is_put) {
            self.tells_apart();
        }
        for change in changes {
            let place = match change.folder {
                _ if change.change == Change::Unknown => VersionKey::Bridge,
                0 if change.name == FILE => VersionKey::Bridge,
                1 if change.name == NEXT => VersionKey::Next,
                0 | 1 => continue,
                _ => VersionKey::Late(change.name),
            };
            self.trail.hear(place, change.change);
        }
        self.is_shared() || !self.trail.due().is_empty()
    }

    /// Requests a separate notice for each close of the bridge file.
    fn tells_apart(&self) {
        if let Some(watched) = &self.watch {
            // It may be gone again, or stand there not yet.
            drop(watched.watch.tell_apart(&self.folder.join(FILE)));
        }
    }

    /// Whether someone writes where another author may, and can be given the file alone.
    fn is_shared(&self) -> bool {
        self.trail.is_written() && self.spare.is_ready()
    }

    /// Parts those who write, and reads what was written; whether there is anything to tell.
    fn attends(&mut self) -> bool {
        let mut has_news = false;
        loop {
            if self.is_shared() {
                if self.spare.exchange().is_ok_and(|is_done| is_done) {
                    // The next one who writes may be there already.
                    self.lays();
                    self.hears(Duration::ZERO);
                } else {
                    // A file that cannot be exchanged is read where it is.
                    self.trail.leave();
                }
            }
            for place in self.trail.due() {
                has_news |= self.reads(&place);
            }
            for bytes in self.replaced.written(MOST_BYTES as u64) {
                self.keeps(bytes);
                has_news = true;
            }
            self.gives_back();
            if !self.hears(Duration::ZERO) {
                break;
            }
        }
        let overwritten = self.trail.rest();
        if overwritten > 0 {
            self.read().overwritten += overwritten;
            has_news = true;
        }
        self.lays();
        has_news
    }

    /// Lets who has done writing find what they wrote where they wrote it.
    fn gives_back(&mut self) {
        let is_done = |late| self.trail.is_done(late);
        if !self.trail.is_written() && self.spare.away().is_some_and(is_done) {
            // Where it cannot be, it was read all the same.
            drop(self.spare.give_back());
        }
    }

    /// Lays what the file shows ready for the next one who writes.
    fn lays(&mut self) {
        let (Some(watched), Some((revision, shown))) = (&self.watch, &self.shown) else {
            return;
        };
        // On a full disk there is none, and who writes is read where they do.
        if let Ok(Some(path)) = self.spare.lay(*revision, shown) {
            drop(watched.watch.tell_apart(&path));
        }
    }

    /// Reads a file. Returns whether someone has written something new. A file that cannot be read
    /// is left to the keeper, which counts it.
    fn reads(&mut self, place: &VersionKey) -> bool {
        let path = match place {
            VersionKey::Bridge => self.folder.join(FILE),
            VersionKey::Next => self.folder.join(KEPT).join(NEXT),
            VersionKey::Late(name) => self.spare.folder().join(name),
        };
        let stat = self.disk.stat(&path).ok().flatten();
        let is_read =
            |stat: &FileStat| stat.kind == EntryKind::File && stat.len <= MOST_BYTES as u64;
        let file = match stat.filter(is_read) {
            Some(_) => self.disk.open_if_there(&path, OpenHow::READ).ok().flatten(),
            None => None,
        };
        let bytes = file.as_ref().and_then(|file| file.read_all().ok());
        let reading = self.trail.read(place, bytes.as_deref());
        if let (VersionKey::Bridge, Some(file), Some(bytes)) = (place, file, &bytes) {
            let id = file.id().ok().flatten();
            self.replaced.record(file, id, bytes);
        }
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty() && reading != Reading::Same)
        else {
            return false;
        };
        if reading == Reading::New
            && let Ok(Some(revision)) = self.spare.revision_of(&bytes)
        {
            if *place == VersionKey::Bridge {
                self.shown = Some((revision, bytes));
            }
            return false;
        }
        self.keeps(bytes);
        reading == Reading::New
    }

    /// Stores text that someone wrote until it is applied; the same text once.
    fn keeps(&self, bytes: Vec<u8>) {
        let mut read = self.read();
        if read.versions.contains(&bytes) {
            return;
        }
        let waiting: usize = read.versions.iter().map(Vec::len).sum();
        if read.versions.len() < MOST && waiting + bytes.len() <= MOST_BYTES {
            read.versions.push(bytes);
        } else {
            read.overwritten += 1;
        }
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
