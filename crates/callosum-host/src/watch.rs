//! [`Watch`]: to be told at once when somebody has written a file in a folder.
//!
//! Deliberately not here: what was written. Who is told looks.

use std::{io, path::Path, time::Duration};

#[cfg(target_os = "linux")]
use std::{mem::MaybeUninit, os::fd::OwnedFd};

/// Tells that a file in a folder was written and closed, or came to stand there under another name.
#[derive(Debug)]
pub struct Watch {
    #[cfg(target_os = "linux")]
    queue: OwnedFd,
}

impl Watch {
    /// Watches a folder, and not those in it. Fails with [`io::ErrorKind::Unsupported`] where the system cannot tell.
    #[cfg(target_os = "linux")]
    pub fn of(folder: &Path) -> io::Result<Self> {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let queue = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let told = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        add_watch(&queue, folder, told)?;
        Ok(Self { queue })
    }

    /// Watches a folder. Fails with [`io::ErrorKind::Unsupported`]: nothing here tells as soon as would be of use.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_folder: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits until a file of this name was written, for `most` at the longest; whether one was. Takes in all that
    /// has been told so far, so that what is written from now on is told again.
    ///
    /// Where more was told than the system keeps, it counts as written.
    #[cfg(target_os = "linux")]
    pub fn wait(&mut self, name: &str, most: Duration) -> io::Result<bool> {
        use rustix::{
            event::{PollFd, PollFlags, Timespec, poll},
            fs::inotify::{ReadFlags, Reader},
            io::Errno,
        };
        let timeout = Timespec::try_from(most).ok();
        let mut ends = [PollFd::new(&self.queue, PollFlags::IN)];
        match poll(&mut ends, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut told = Reader::new(&self.queue, &mut buffer);
        let mut is_written = false;
        loop {
            match told.next() {
                Ok(event) => {
                    let is_it = event.file_name().map(std::ffi::CStr::to_bytes);
                    is_written |= is_it == Some(name.as_bytes())
                        || event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                }
                Err(Errno::AGAIN) => return Ok(is_written),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits in vain.
    #[cfg(not(target_os = "linux"))]
    pub fn wait(&mut self, _name: &str, most: Duration) -> io::Result<bool> {
        std::thread::sleep(most);
        Ok(false)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{Disk, OpenHow};

    #[test]
    fn who_watches_is_told_of_what_was_written_and_of_what_was_put_there() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("a.json");
        let mut watch = Watch::of(folder.path()).unwrap();
        let long = Duration::from_mins(1);
        assert!(!watch.wait("a.json", Duration::ZERO).unwrap());
        let file = disk
            .open(&path, OpenHow::READ_WRITE_CREATE.with_mode(0o600))
            .unwrap();
        file.write_at(b"1", 0).unwrap();
        assert!(
            !watch.wait("a.json", Duration::ZERO).unwrap(),
            "it is open yet"
        );
        drop(file);
        assert!(watch.wait("a.json", long).unwrap());
        assert!(!watch.wait("a.json", Duration::ZERO).unwrap());
        disk.replace_unsynced(&path, b"2", 0o600).unwrap();
        assert!(watch.wait("a.json", long).unwrap());
        disk.replace_unsynced(&folder.path().join("b.json"), b"2", 0o600)
            .unwrap();
        assert!(!watch.wait("a.json", long).unwrap());
        assert!(Watch::of(&folder.path().join("none")).is_err());
    }
}
