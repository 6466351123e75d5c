//! Detection of writers: the system grants no lease on a file that a process has open for writing,
//! so one is requested and released.

use std::{fs::File, io, os::fd::AsRawFd as _};

/// Selects the signal that notifies a process about its lease; the same number on all our systems.
const F_SETSIG: libc::c_int = 10;

/// Whether a process has the file open for writing; `None` if the file system grants no leases, or
/// none to this user.
///
/// A process that opens the file for writing at that very moment waits until the lease is released.
/// The system then notifies this process by a signal that it ignores; the default signal would end
/// it.
#[expect(unsafe_code, reason = "no crate of ours wraps this call")]
pub(super) fn has_writers(file: &File) -> io::Result<Option<bool>> {
    let ask = |what: libc::c_int, value: libc::c_int| {
        // SAFETY: the descriptor is open for as long as `file` is borrowed, and these calls take a number and no pointer.
        match unsafe { libc::fcntl(file.as_raw_fd(), what, value) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    ask(F_SETSIG, libc::SIGURG)?;
    match ask(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            ask(libc::F_SETLEASE, libc::F_UNLCK)?;
            Ok(Some(false))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Some(true)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::{Disk, OpenHow};

    #[test]
    fn who_has_a_file_open_to_write_it_is_seen_and_who_reads_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("a");
        disk.replace_unsynced(&path, b"1", 0o600).unwrap();
        let asked = disk.open(&path, OpenHow::READ).unwrap();
        if asked.is_being_written().unwrap().is_none() {
            return;
        }
        let reader = disk.open(&path, OpenHow::READ).unwrap();
        assert_eq!(asked.is_being_written().unwrap(), Some(false));
        let writer = disk.open(&path, OpenHow::READ_WRITE).unwrap();
        assert_eq!(asked.is_being_written().unwrap(), Some(true));
        assert_eq!(disk.is_being_written(&path).unwrap(), Some(true));
        disk.remove_file(&path).unwrap();
        assert_eq!(asked.is_being_written().unwrap(), Some(true));
        drop((reader, writer));
        assert_eq!(asked.is_being_written().unwrap(), Some(false));
        assert_eq!(disk.is_being_written(&path).unwrap(), None);
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "an editor opens the file as it likes"
    )]
    fn who_opens_a_file_while_it_is_asked_is_held_up_for_no_time_and_nothing_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "1").unwrap();
        let asked = Disk::real().open(&path, OpenHow::READ).unwrap();
        let longest = std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let took = (0..2_000).map(|_| {
                    let started = Instant::now();
                    std::fs::write(&path, "2").unwrap();
                    started.elapsed()
                });
                took.max()
            });
            while !writing.is_finished() {
                asked.is_being_written().unwrap();
            }
            writing.join().unwrap()
        });
        // A lease that is not given back holds an opener up for 45 s.
        assert!(longest < Some(Duration::from_secs(40)), "{longest:?}");
    }
}
