//! Sockets at a path of any length. The system takes about a hundred bytes of one; a longer one is
//! reached through its folder, held open, if the system supports that (Linux).

use std::{
    io,
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
};

/// Longest path that every system takes, in bytes.
#[cfg(target_os = "linux")]
const LONGEST: usize = 100;

/// Listens at a path, which must be unused.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    reached(path, |path| UnixListener::bind(path))
}

/// Connects to who listens at a path.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    reached(path, |path| UnixStream::connect(path))
}

#[cfg(target_os = "linux")]
fn reached<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use rustix::fs::{Mode, OFlags, open};
    use std::{os::fd::AsRawFd as _, path::PathBuf};
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return act(path);
    };
    if path.as_os_str().len() <= LONGEST {
        return act(path);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let held = open(folder, flags, Mode::empty())?;
    let way = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
    act(&way.join(name))
}

#[cfg(not(target_os = "linux"))]
fn reached<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    act(path)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;
    use crate::Disk;

    #[test]
    fn a_long_path_has_a_socket_as_well() {
        let home = tempfile::tempdir().unwrap();
        for folder in [home.path().to_owned(), home.path().join("long/".repeat(60))] {
            Disk::real().create_private_dir(&folder).unwrap();
            let path = folder.join("a.sock");
            let listener = listen(&path).unwrap();
            assert!(Disk::real().exists(&path).unwrap());
            let mut near = connect(&path).unwrap();
            near.write_all(b"here").unwrap();
            drop(near);
            let mut heard = String::new();
            listener
                .accept()
                .unwrap()
                .0
                .read_to_string(&mut heard)
                .unwrap();
            assert_eq!(heard, "here");
        }
    }
}
