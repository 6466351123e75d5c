//! [`path`]: the lock that keeps two injections out of one pane at the same time.

use std::path::{Path, PathBuf};

/// Bytes that a lock's name takes from the path of a socket. File systems allow 255.
const LONGEST_NAME: usize = 200;

/// Returns the lock's file: the path of the server's socket without signs, and the pane's number.
pub(super) fn path(folder: &Path, socket: &Path, pane: &str) -> PathBuf {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let name: String = socket.to_string_lossy().chars().map(plain).collect();
    let from = name.len().saturating_sub(LONGEST_NAME);
    let number = pane.trim_start_matches('%');
    folder.join(format!("{}-{number}.lock", &name[from..]))
}

/// Returns the lock's file of a client that is in no pane of tmux.
pub(super) fn path_outside_tmux(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("pid-{pid}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pane_of_each_server_has_its_own_lock() {
        let path = |socket: &str, pane: &str| path(Path::new("/l"), Path::new(socket), pane);
        assert_eq!(
            path("/run/tmux/default", "%3"),
            Path::new("/l/-run-tmux-default-3.lock")
        );
        assert_ne!(path("/a/default", "%3"), path("/b/default", "%3"));
        let long = path(&"ü/".repeat(400), "%3");
        assert!(long.file_name().unwrap().len() < 255);
        assert_ne!(path("pid", "%3"), path_outside_tmux(Path::new("/l"), 4));
    }
}
