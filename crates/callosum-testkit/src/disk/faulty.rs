//! [`FaultyDisk`]: a file system whose calls fail on order.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callosum_host::{
    Disk, OpenHow,
    disk::{Access, Create, FileHandle, FileId, FileStat, FileSystem, ListedEntry},
};

/// Failure of a disk, after a number of successful calls that the fault concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One call fails with an input/output error; of a write, the half is done.
    Once,
    /// One call, and every one after it, fails with an input/output error.
    ForGood,
    /// The disk is full: what makes it fuller fails, of a write after the half is done.
    Full,
    /// One call is interrupted by a signal before it did anything.
    Interrupted,
    /// One call reads or writes a single byte where more were asked for.
    Short,
    /// One sync fails.
    Sync,
    /// One sync, and every one after it, fails.
    SyncForGood,
}

/// A file system in front of another one, whose calls it passes on until one is to fail.
#[derive(Clone)]
pub struct FaultyDisk {
    below: Arc<dyn FileSystem>,
    switch: Arc<Switch>,
}

struct Switch {
    fault: Fault,
    state: Mutex<State>,
}

struct State {
    calls_left: usize,
    has_failed: bool,
}

/// Kind of a call, as far as faults distinguish calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Write,
    /// Writes beyond the end.
    Append,
    /// Sets a size beyond the end, or gives a new name.
    Grow,
    Sync,
    Other,
}

struct FaultyFile {
    below: Box<dyn FileHandle>,
    switch: Arc<Switch>,
}

impl FaultyDisk {
    /// Returns a disk that has the fault after this many of the calls that it concerns.
    pub fn new(below: impl FileSystem + 'static, fault: Fault, calls: usize) -> Self {
        Self {
            below: Arc::new(below),
            switch: Arc::new(Switch {
                fault,
                state: Mutex::new(State {
                    calls_left: calls,
                    has_failed: false,
                }),
            }),
        }
    }

    /// The handle that the code under test takes.
    pub fn disk(&self) -> Disk {
        Disk::with(Arc::new(self.clone()))
    }

    /// Whether a call failed.
    pub fn has_failed(&self) -> bool {
        self.switch.state().has_failed
    }

    /// Has the next call that the fault concerns fail.
    pub fn fail_now(&self) {
        self.fail_after(0);
    }

    /// Makes a call fail after this many more of those that the fault concerns.
    pub fn fail_after(&self, calls: usize) {
        self.switch.state().calls_left = calls;
    }

    /// Has no call fail any more.
    pub fn mend(&self) {
        self.switch.state().calls_left = usize::MAX;
    }
}

impl Switch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, and returns whether it meets the fault.
    fn meets(&self, call: Call) -> bool {
        let is_concerned = match self.fault {
            Fault::Once | Fault::ForGood | Fault::Interrupted => true,
            Fault::Full => matches!(call, Call::Append | Call::Grow),
            Fault::Short => matches!(call, Call::Read | Call::Write | Call::Append),
            Fault::Sync | Fault::SyncForGood => call == Call::Sync,
        };
        if !is_concerned {
            return false;
        }
        let mut state = self.state();
        if state.calls_left > 0 {
            state.calls_left -= 1;
            return false;
        }
        state.has_failed = true;
        match self.fault {
            Fault::ForGood | Fault::Full | Fault::SyncForGood => {}
            Fault::Once | Fault::Interrupted | Fault::Short | Fault::Sync => {
                state.calls_left = usize::MAX;
            }
        }
        true
    }

    fn error(&self) -> io::Error {
        match self.fault {
            Fault::Full => io::ErrorKind::StorageFull.into(),
            Fault::Interrupted => io::ErrorKind::Interrupted.into(),
            Fault::Once | Fault::ForGood | Fault::Short | Fault::Sync | Fault::SyncForGood => {
                io::Error::other("injected")
            }
        }
    }

    /// Fails a call that can only be done or not.
    fn check(&self, call: Call) -> io::Result<()> {
        if self.meets(call) {
            Err(self.error())
        } else {
            Ok(())
        }
    }
}

impl FileSystem for FaultyDisk {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Box<dyn FileHandle>> {
        let creates = how.create != Create::Never
            && how.access == Access::ReadWrite
            && self.below.stat(path).is_err();
        let call = if creates { Call::Grow } else { Call::Other };
        self.switch.check(call)?;
        Ok(Box::new(FaultyFile {
            below: self.below.open(path, how)?,
            switch: Arc::clone(&self.switch),
        }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.switch.check(Call::Grow)?;
        self.below.create_dir(path)
    }

    fn create_private_dir(&self, path: &Path) -> io::Result<()> {
        self.switch.check(Call::Grow)?;
        self.below.create_private_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.switch.check(Call::Other)?;
        self.below.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.switch.check(Call::Grow)?;
        self.below.hard_link(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.switch.check(Call::Other)?;
        self.below.exchange(one, other)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.switch.check(Call::Other)?;
        self.below.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.switch.check(Call::Other)?;
        self.below.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.switch.check(Call::Sync)?;
        self.below.sync_dir(path)
    }

    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.switch.check(Call::Other)?;
        self.below.stat(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<ListedEntry>> {
        self.switch.check(Call::Other)?;
        self.below.list_dir(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.switch.check(Call::Other)?;
        self.below.canonicalize(path)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.switch.check(Call::Other)?;
        self.below.read_link(path)
    }

    fn make_link(&self, target: &Path, path: &Path) -> io::Result<()> {
        self.switch.check(Call::Other)?;
        self.below.make_link(target, path)
    }
}

impl FileHandle for FaultyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if !self.switch.meets(Call::Read) {
            return self.below.read_at(buffer, offset);
        }
        match self.switch.fault {
            Fault::Short => self.below.read_at(&mut buffer[..1], offset),
            _ => Err(self.switch.error()),
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let grows = offset + bytes.len() as u64 > self.below.size()?;
        let call = if grows { Call::Append } else { Call::Write };
        if !self.switch.meets(call) {
            return self.below.write_at(bytes, offset);
        }
        match self.switch.fault {
            Fault::Short => self.below.write_at(&bytes[..1], offset),
            Fault::Interrupted => Err(self.switch.error()),
            _ => {
                self.below.write_at(&bytes[..bytes.len() / 2], offset)?;
                Err(self.switch.error())
            }
        }
    }

    fn size(&self) -> io::Result<u64> {
        self.switch.check(Call::Other)?;
        self.below.size()
    }

    fn mode(&self) -> io::Result<Option<u32>> {
        self.switch.check(Call::Other)?;
        self.below.mode()
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.switch.check(Call::Other)?;
        self.below.set_mode(mode)
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        self.switch.check(Call::Other)?;
        self.below.id()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let grows = len > self.below.size()?;
        self.switch
            .check(if grows { Call::Grow } else { Call::Other })?;
        self.below.set_len(len)
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.switch.check(Call::Grow)?;
        self.below.reserve(offset, bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.switch.check(Call::Sync)?;
        self.below.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.switch.check(Call::Sync)?;
        self.below.sync_all()
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.switch.check(Call::Other)?;
        self.below.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.switch.check(Call::Other)?;
        self.below.unlock()
    }
}
