//! [`Scribe`]: the thread that reads the bridge file each time that somebody has written it, before another overwrites
//! that.
//!
//! Two who edit the file overwrite one another's additions as soon as both have read it. What lies between is
//! there for moments, and is read here at once, whatever else the daemon is doing: [`Keeper`](super::keeper::Keeper)
//! takes it over when it gets to it.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use callosum_host::{
    Disk,
    disk::{EntryKind, FileId},
    watch::Watch,
};
use callosum_mesh::bridge::FILE;

/// How long nothing may be told until it is looked whether the folder is still the same.
const REST: Duration = Duration::from_millis(500);

/// How often the file is read where the system does not tell that it was written.
const LOOK: Duration = Duration::from_millis(2);

/// Most readings that wait to be taken over. What is written after that stays in the file alone.
const MOST: usize = 64;

/// Most bytes of them.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The thread; asked to end when this is dropped, and not waited for.
pub(super) struct Scribe {
    read: Arc<Mutex<Vec<Vec<u8>>>>,
    is_over: Arc<AtomicBool>,
}

impl Scribe {
    /// Begins to read the file in the folder of the mesh; says by `tell` that there is something to take over.
    pub(super) fn start(disk: Disk, folder: PathBuf, tell: impl Fn() + Send + 'static) -> Self {
        let read = Arc::new(Mutex::new(Vec::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let mut work = Work {
            disk,
            folder,
            read: Arc::clone(&read),
            is_over: Arc::clone(&is_over),
            watch: None,
            last: Vec::new(),
        };
        thread::spawn(move || work.run(tell));
        Self { read, is_over }
    }

    /// What was read since it was last asked, the oldest first.
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        let read = self.read.lock();
        std::mem::take(&mut *read.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Scribe {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

struct Work {
    disk: Disk,
    folder: PathBuf,
    read: Arc<Mutex<Vec<Vec<u8>>>>,
    is_over: Arc<AtomicBool>,
    /// The watch of the folder that stood there.
    watch: Option<(Watch, Option<FileId>)>,
    /// What was read last.
    last: Vec<u8>,
}

impl Work {
    fn run(&mut self, tell: impl Fn()) {
        while !self.is_over.load(Ordering::Relaxed) {
            if self.waits() && self.reads() {
                tell();
            }
        }
    }

    /// Waits until the file may have been written; whether it may.
    fn waits(&mut self) -> bool {
        // Removed, and made anew: another folder under the same name.
        let id = self.disk.stat(&self.folder).ok().flatten();
        let id = id.and_then(|stat| stat.id);
        if self.watch.as_ref().is_none_or(|(_, known)| *known != id) {
            let watch = Watch::of(&self.folder).ok();
            let is_new = watch.is_some();
            self.watch = watch.map(|watch| (watch, id));
            if is_new {
                // What was written before it was watched.
                return true;
            }
        }
        let Some((watch, _)) = &mut self.watch else {
            thread::sleep(LOOK);
            return true;
        };
        if let Ok(is_written) = watch.wait(FILE, REST) {
            return is_written;
        }
        self.watch = None;
        thread::sleep(LOOK);
        false
    }

    /// Reads the file; whether there is anything new in it. What cannot be read the keeper meets, and counts.
    fn reads(&mut self) -> bool {
        let path = self.folder.join(FILE);
        let stat = self.disk.stat(&path).ok().flatten();
        let is_sound = stat.is_some_and(|stat| {
            stat.kind == EntryKind::File && stat.len > 0 && stat.len <= MOST_BYTES as u64
        });
        if !is_sound {
            return false;
        }
        let Ok(Some(bytes)) = self.disk.read_if_there(&path) else {
            return false;
        };
        if bytes.is_empty() || bytes == self.last {
            return false;
        }
        let read = self.read.lock();
        let mut read = read.unwrap_or_else(PoisonError::into_inner);
        let waiting: usize = read.iter().map(Vec::len).sum();
        if read.len() < MOST && waiting + bytes.len() <= MOST_BYTES {
            read.push(bytes.clone());
        }
        self.last = bytes;
        true
    }
}
