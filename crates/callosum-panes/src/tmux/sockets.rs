//! Finds the tmux servers of this user.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use callosum_host::Disk;

/// Name of the socket that `tmux` uses without `-L`.
const DEFAULT: &str = "default";

/// Returns the sockets in `folder` (`/tmp/tmux-UID`), and `current`, the one of the server that this process runs in.
///
/// A socket may belong to a server that has ended.
pub fn sockets(disk: &Disk, folder: &Path, current: Option<&Path>) -> Vec<PathBuf> {
    let listed = disk.list_dir(folder).unwrap_or_default();
    let mut found: Vec<PathBuf> = listed
        .into_iter()
        .map(|entry| folder.join(entry.name))
        .filter(|path| is_own_socket(path))
        .collect();
    if let Some(current) = current
        && is_own_socket(current)
        && !found.iter().any(|path| path == current)
    {
        found.push(current.to_owned());
    }
    // The default server first, so that its panes keep their short names.
    found.sort_by_key(|path| (!is_default(path, folder), path.clone()));
    found
}

/// Whether this is the socket of the default server in the folder of sockets, whose panes need no prefix.
pub fn is_default(socket: &Path, folder: &Path) -> bool {
    // No `join`: this is asked for every pane at every look.
    socket.parent() == Some(folder) && socket.file_name() == Some(OsStr::new(DEFAULT))
}

/// Whether a path is a socket of this user's. Another user's server is not this user's to read.
fn is_own_socket(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|found| {
        rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::Socket
            && found.st_uid == callosum_host::disk::user()
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_sockets_are_servers_and_the_default_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let _open = ["work", "default"].map(|name| UnixListener::bind(path(name)).unwrap());
        Disk::real().replace(&path("file"), b"", 0o600).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let current = elsewhere.path().join("inner");
        let _current = UnixListener::bind(&current).unwrap();
        let disk = Disk::real();
        let found = sockets(&disk, folder.path(), Some(&current));
        assert_eq!(found[0], path("default"));
        assert_eq!(found.len(), 3);
        assert!(found.contains(&current) && found.contains(&path("work")));
        assert_eq!(sockets(&disk, folder.path(), Some(&path("work"))).len(), 2);
        assert!(sockets(&disk, &path("missing"), Some(&path("gone"))).is_empty());
    }
}
