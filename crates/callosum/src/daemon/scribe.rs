//! [`Scribe`]: the thread that reads the bridge file each time that somebody has written it, before another overwrites
//! that.
//!
//! Two who edit the file overwrite one another's additions as soon as both have read it. What lies between is
//! there for moments, and is read here at once, whatever else the daemon is doing: [`Keeper`](super::keeper::Keeper)
//! takes it over when it gets to it.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use callosum_host::{
    Disk,
    disk::{EntryKind, FileId},
    watch::{Change, Watch},
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
    read: Arc<Mutex<Read>>,
    is_over: Arc<AtomicBool>,
}

/// What was read of the file.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The oldest first.
    pub(super) versions: Vec<Vec<u8>>,
    /// So often it was written, and written over before it could be read, as far as the system tells.
    pub(super) overwritten: usize,
}

impl Scribe {
    /// Begins to read the file in the folder of the mesh; says by `tell` that there is something to take over.
    pub(super) fn start(disk: Disk, folder: PathBuf, tell: impl Fn() + Send + 'static) -> Self {
        let read = Arc::new(Mutex::new(Read::default()));
        let is_over = Arc::new(AtomicBool::new(false));
        let mut work = Work {
            disk,
            folder,
            read: Arc::clone(&read),
            is_over: Arc::clone(&is_over),
            watch: None,
            last: Vec::new(),
            unread: 0,
            lost: 0,
            is_begun: false,
            was_begun: false,
        };
        thread::spawn(move || work.run(tell));
        Self { read, is_over }
    }

    /// What was read since it was last asked.
    pub(super) fn take(&self) -> Read {
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
    read: Arc<Mutex<Read>>,
    is_over: Arc<AtomicBool>,
    /// The watch of the folder that stood there.
    watch: Option<(Watch, Option<FileId>)>,
    /// What was read last.
    last: Vec<u8>,
    /// So often the file was written in its place, and not read since.
    unread: usize,
    /// So often it was overwritten before it could be read, which is told next.
    lost: usize,
    /// Whether somebody is at writing it.
    is_begun: bool,
    /// Whether somebody was when it was read last.
    was_begun: bool,
}

/// How a reading came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    New,
    Same,
    /// Somebody is at writing it.
    Cut,
    /// There is no file, or one that the keeper is left to.
    Nothing,
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
        if let Ok(changes) = watch.wait(FILE, REST) {
            return self.note(&changes);
        }
        self.watch = None;
        thread::sleep(LOOK);
        false
    }

    /// Counts what was written and not read; whether there is anything to read.
    fn note(&mut self, changes: &[Change]) -> bool {
        for change in changes {
            match change {
                Change::Begun => self.is_begun = true,
                Change::Closed => {
                    self.unread += 1;
                    self.is_begun = false;
                }
                Change::Put => {
                    // What stood there last is had elsewhere, unless somebody was at writing over it.
                    let is_had = usize::from(!self.is_begun);
                    self.lost += self.unread.saturating_sub(is_had);
                    self.unread = 0;
                    self.is_begun = false;
                }
                Change::Unknown => {}
            }
        }
        changes.iter().any(|change| *change != Change::Begun)
    }

    /// Reads the file for as long as it is written; whether there is anything to tell.
    ///
    /// Each reading is of one writing, so that what was closed more often than it was read was overwritten unread. One that
    /// finds what stood there before is of another that wrote the same, unless that was read while it was being written, in
    /// the place of what was closed before.
    fn reads(&mut self) -> bool {
        let mut is_told = false;
        let mut may_be_same = !self.was_begun;
        loop {
            let reading = self.reads_once();
            is_told |= reading == Reading::New;
            if reading == Reading::New || (may_be_same && reading == Reading::Same) {
                self.unread = self.unread.saturating_sub(1);
            }
            may_be_same = false;
            let changes = match &mut self.watch {
                Some((watch, _)) => watch.wait(FILE, Duration::ZERO).unwrap_or_default(),
                None => Vec::new(),
            };
            if self.note(&changes) {
                continue;
            }
            self.was_begun = self.is_begun;
            if reading != Reading::Cut {
                self.lost += std::mem::take(&mut self.unread);
            }
            if self.lost > 0 {
                self.read().overwritten += std::mem::take(&mut self.lost);
                is_told = true;
            }
            return is_told;
        }
    }

    /// Reads the file. What cannot be read the keeper meets, and counts.
    fn reads_once(&mut self) -> Reading {
        let path = self.folder.join(FILE);
        let stat = self.disk.stat(&path).ok().flatten();
        let Some(stat) = stat.filter(|stat| stat.kind == EntryKind::File) else {
            return Reading::Nothing;
        };
        if stat.len > MOST_BYTES as u64 {
            return Reading::Nothing;
        }
        let Ok(Some(bytes)) = self.disk.read_if_there(&path) else {
            return Reading::Nothing;
        };
        // To read it as what it is takes longer than another takes to write over it.
        let is_cut = bytes.trim_ascii_end().last() != Some(&b'}');
        if bytes == self.last {
            return Reading::Same;
        }
        if !bytes.is_empty() {
            let mut read = self.read();
            let waiting: usize = read.versions.iter().map(Vec::len).sum();
            if read.versions.len() < MOST && waiting + bytes.len() <= MOST_BYTES {
                read.versions.push(bytes.clone());
            } else {
                read.overwritten += 1;
            }
            drop(read);
            self.last = bytes;
        }
        if is_cut { Reading::Cut } else { Reading::New }
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-L3-1: what was closed and written over unread is counted, and what another file was put in the place of only
    /// where somebody was at writing over it.
    #[test]
    fn what_was_overwritten_unread_is_counted() {
        use Change::{Begun, Closed, Put};
        let cases: [(&[Change], usize, usize); 6] = [
            (&[Begun, Closed], 1, 0),
            (&[Begun, Closed, Begun, Closed], 2, 0),
            (&[Begun, Closed, Put], 0, 0),
            (&[Begun, Closed, Begun, Closed, Put], 0, 1),
            (&[Begun, Closed, Begun, Put], 0, 1),
            (&[Put, Begun, Closed], 1, 0),
        ];
        for (changes, unread, lost) in cases {
            let mut work = Work {
                disk: Disk::real(),
                folder: PathBuf::new(),
                read: Arc::default(),
                is_over: Arc::default(),
                watch: None,
                last: Vec::new(),
                unread: 0,
                lost: 0,
                is_begun: false,
                was_begun: false,
            };
            work.note(changes);
            assert_eq!((work.unread, work.lost), (unread, lost), "{changes:?}");
        }
    }
}
