//! [`Watch`]: to be told at once when somebody has written a file in a folder.
//!
//! Deliberately not here: what was written. Who is told looks.

use std::{io, path::Path, time::Duration};

#[cfg(target_os = "linux")]
use std::{mem::MaybeUninit, os::fd::OwnedFd};

/// Something that was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Somebody is at writing it in its place.
    Begun,
    /// It was written in its place, and closed.
    Closed,
    /// Another file was put in its place.
    Put,
    /// Nobody knows: more was done than the system keeps.
    Unknown,
}

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
        // Two alike in a row are told as one: what is changed before it is closed stands between.
        let told = WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR;
        add_watch(&queue, folder, told)?;
        Ok(Self { queue })
    }

    /// Watches a folder. Fails with [`io::ErrorKind::Unsupported`]: nothing here tells as soon as would be of use.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_folder: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits until something is told of the folder, for `most` at the longest; what of the file of this name was. Takes in
    /// all that has been told so far, so that what is written from now on is told again.
    ///
    /// Where more was told than the system keeps, it counts as written.
    #[cfg(target_os = "linux")]
    pub fn wait(&mut self, name: &str, most: Duration) -> io::Result<Vec<Change>> {
        use rustix::{
            event::{PollFd, PollFlags, Timespec, poll},
            fs::inotify::{ReadFlags, Reader},
            io::Errno,
        };
        let timeout = Timespec::try_from(most).ok();
        let mut ends = [PollFd::new(&self.queue, PollFlags::IN)];
        match poll(&mut ends, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut told = Reader::new(&self.queue, &mut buffer);
        let mut changes = Vec::new();
        loop {
            match told.next() {
                Ok(event) => {
                    let what = event.events();
                    if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                        changes.push(Change::Unknown);
                    }
                    let is_it = event.file_name().map(std::ffi::CStr::to_bytes);
                    if is_it != Some(name.as_bytes()) {
                        continue;
                    }
                    let change = [
                        (ReadFlags::MODIFY, Change::Begun),
                        (ReadFlags::CLOSE_WRITE, Change::Closed),
                        (ReadFlags::MOVED_TO, Change::Put),
                    ];
                    let change = change.iter().find(|(flag, _)| what.contains(*flag));
                    changes.extend(change.map(|(_, change)| *change));
                }
                Err(Errno::AGAIN) => return Ok(changes),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits in vain.
    #[cfg(not(target_os = "linux"))]
    pub fn wait(&mut self, _name: &str, most: Duration) -> io::Result<Vec<Change>> {
        std::thread::sleep(most);
        Ok(Vec::new())
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
        let told = |watch: &mut Watch| watch.wait("a.json", Duration::ZERO).unwrap();
        assert_eq!(told(&mut watch), []);
        let file = disk
            .open(&path, OpenHow::READ_WRITE_CREATE.with_mode(0o600))
            .unwrap();
        file.write_at(b"1", 0).unwrap();
        assert_eq!(told(&mut watch), [Change::Begun]);
        drop(file);
        assert_eq!(told(&mut watch), [Change::Closed]);
        disk.replace_unsynced(&path, b"2", 0o600).unwrap();
        // It may be closed after it was put there.
        assert_eq!(told(&mut watch).first(), Some(&Change::Put));
        disk.replace_unsynced(&folder.path().join("b.json"), b"2", 0o600)
            .unwrap();
        assert_eq!(told(&mut watch), []);
        for bytes in [b"3", b"4", b"5"] {
            let file = disk.open(&path, OpenHow::READ_WRITE_CREATE).unwrap();
            file.write_at(bytes, 0).unwrap();
        }
        let each = [Change::Begun, Change::Closed];
        assert_eq!(told(&mut watch), [each, each, each].concat());
        assert!(Watch::of(&folder.path().join("none")).is_err());
    }
}
