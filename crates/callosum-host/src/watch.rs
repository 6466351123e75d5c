//! [`Watch`]: immediate notice when a program has written a file in a folder.
//!
//! Deliberately not here: the contents. The receiver reads them.

use std::{ffi::OsString, io, path::Path, time::Duration};

#[cfg(target_os = "linux")]
use std::{mem::MaybeUninit, os::fd::OwnedFd};

/// Something that was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A program is writing it in place.
    Begun,
    /// It was written in its place, and closed.
    Closed,
    /// A file was put in its place. The same move took it from elsewhere, if that is watched too.
    Put(Move),
    /// It was put elsewhere. Follows on a [`Put`](Self::Put) of another move where two were exchanged.
    Gone(Move),
    /// Unknown: more was done than the system keeps.
    Unknown,
}

/// Id of a move of a file; the same at its source and its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move(pub u32);

/// A change, and the file that it was made to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Index of its folder.
    pub folder: usize,
    /// Its name; empty if unknown.
    pub name: OsString,
    /// The change.
    pub change: Change,
}

/// Tells that files in some folders were written and closed, or came to stand there under another name.
#[derive(Debug)]
pub struct Watch {
    #[cfg(target_os = "linux")]
    queue: OwnedFd,
    /// The system's ids of the folders.
    #[cfg(target_os = "linux")]
    folders: Vec<i32>,
}

impl Watch {
    /// Watches folders, and not those in them. Fails with [`io::ErrorKind::Unsupported`] where the system cannot tell.
    #[cfg(target_os = "linux")]
    pub fn of(folders: &[&Path]) -> io::Result<Self> {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let queue = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        // The system merges two equal events in a row. The change of a file comes between two
        // closings.
        let events = WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::ONLYDIR;
        let folders = folders
            .iter()
            .map(|folder| add_watch(&queue, *folder, events));
        let folders = folders.collect::<Result<_, _>>()?;
        Ok(Self { queue, folders })
    }

    /// Watches folders. Fails with [`io::ErrorKind::Unsupported`]: nothing here tells as soon as would be of use.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_folders: &[&Path]) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Reports each closing of a file in one of the folders separately, also if two programs that
    /// had it open close it one after the other. Lasts for as long as the file exists, under any
    /// name.
    #[cfg(target_os = "linux")]
    pub fn tell_apart(&self, file: &Path) -> io::Result<()> {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        // The file's own events come between those of its folder, and are skipped.
        let events = WatchFlags::CLOSE_WRITE | WatchFlags::DONT_FOLLOW;
        Ok(add_watch(&self.queue, file, events).map(drop)?)
    }

    /// Reports nothing.
    #[cfg(not(target_os = "linux"))]
    pub fn tell_apart(&self, _file: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Waits for changes, for `most` at the longest, and returns them. Takes in all changes so far,
    /// so that later writes are reported again.
    #[cfg(target_os = "linux")]
    pub fn wait(&mut self, most: Duration) -> io::Result<Vec<FileChange>> {
        use rustix::{
            event::{PollFd, PollFlags, Timespec, poll},
            fs::inotify::{ReadFlags, Reader},
            io::Errno,
        };
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        let timeout = Timespec::try_from(most).ok();
        let mut ends = [PollFd::new(&self.queue, PollFlags::IN)];
        match poll(&mut ends, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut changes = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => {
                    let what = event.events();
                    if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                        changes.push(FileChange {
                            folder: 0,
                            name: OsString::new(),
                            change: Change::Unknown,
                        });
                    }
                    let folder = self.folders.iter().position(|wd| *wd == event.wd());
                    let (Some(folder), Some(name)) = (folder, event.file_name()) else {
                        continue;
                    };
                    let by = Move(event.cookie());
                    let change = [
                        (ReadFlags::MODIFY, Change::Begun),
                        (ReadFlags::CLOSE_WRITE, Change::Closed),
                        (ReadFlags::MOVED_TO, Change::Put(by)),
                        (ReadFlags::MOVED_FROM, Change::Gone(by)),
                    ];
                    let change = change.iter().find(|(flag, _)| what.contains(*flag));
                    changes.extend(change.map(|(_, change)| FileChange {
                        folder,
                        name: OsStr::from_bytes(name.to_bytes()).to_owned(),
                        change: *change,
                    }));
                }
                Err(Errno::AGAIN) => return Ok(changes),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sleeps for `most`, and returns no changes.
    #[cfg(not(target_os = "linux"))]
    pub fn wait(&mut self, most: Duration) -> io::Result<Vec<FileChange>> {
        std::thread::sleep(most);
        Ok(Vec::new())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{Disk, OpenHow};

    /// Returns the changes reported for `a.json` in the first folder, and all in the second.
    fn changes(watch: &mut Watch) -> Vec<(usize, Change)> {
        let changes = watch.wait(Duration::ZERO).expect("the queue can be read");
        let changes = changes
            .into_iter()
            .filter(|change| change.folder > 0 || change.name == "a.json");
        changes
            .map(|change| (change.folder, change.change))
            .collect()
    }

    #[test]
    fn a_watch_reports_written_files_and_moved_files() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("a.json");
        let mut watch = Watch::of(&[folder.path()]).unwrap();
        assert_eq!(changes(&mut watch), []);
        let file = disk
            .open(&path, OpenHow::READ_WRITE_CREATE.with_mode(0o600))
            .unwrap();
        file.write_at(b"1", 0).unwrap();
        assert_eq!(changes(&mut watch), [(0, Change::Begun)]);
        drop(file);
        assert_eq!(changes(&mut watch), [(0, Change::Closed)]);
        disk.replace_unsynced(&path, b"2", 0o600).unwrap();
        // It may be closed after it was put there.
        assert!(matches!(
            changes(&mut watch).first(),
            Some((0, Change::Put(_)))
        ));
        disk.replace_unsynced(&folder.path().join("b.json"), b"2", 0o600)
            .unwrap();
        assert_eq!(changes(&mut watch), []);
        for bytes in [b"3", b"4", b"5"] {
            let file = disk.open(&path, OpenHow::READ_WRITE_CREATE).unwrap();
            file.write_at(bytes, 0).unwrap();
        }
        let each = [(0, Change::Begun), (0, Change::Closed)];
        assert_eq!(changes(&mut watch), [each, each, each].concat());
        assert!(Watch::of(&[&folder.path().join("none")]).is_err());
    }

    #[test]
    fn two_closings_in_a_row_are_reported_as_two_and_an_exchange_as_two_moves() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let disk = Disk::real();
        let path = folders[0].path().join("a.json");
        let other = folders[1].path().join("b.json");
        for path in [&path, &other] {
            disk.replace_unsynced(path, b"1", 0o600).unwrap();
        }
        let mut watch = Watch::of(&[folders[0].path(), folders[1].path()]).unwrap();
        watch.tell_apart(&path).unwrap();
        let open = || disk.open(&path, OpenHow::READ_WRITE_CREATE).unwrap();
        let (one, two) = (open(), open());
        one.write_at(b"2", 0).unwrap();
        two.write_at(b"3", 0).unwrap();
        drop((one, two));
        let closed = (0, Change::Closed);
        assert_eq!(changes(&mut watch), [(0, Change::Begun), closed, closed]);
        disk.exchange(&other, &path).unwrap();
        let moves = changes(&mut watch);
        let [
            (1, Change::Gone(from)),
            (0, Change::Put(to)),
            (0, Change::Gone(back)),
            (1, Change::Put(there)),
        ] = moves.as_slice()
        else {
            panic!("{moves:?}");
        };
        assert_eq!((from, back), (to, there));
        assert_ne!(from, back);
    }
}
