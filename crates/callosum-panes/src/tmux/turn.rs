//! [`Turn`]: one client at a time attaches to a tmux server or detaches from it.
//!
//! tmux before 3.7 crashes if a client detaches while a control client is attaching. The server sends
//! `%client-detached` to every client that has named itself a control client, and one that has sent half of its
//! greeting has no output yet: `control_write` reads a null pointer (tmux issues 4980 and 5004). Eight clients that
//! attach and detach in parallel crashed a tmux 3.3a after some twenty rounds, no matter whether they closed their
//! input, sent `detach-client` or were killed. With turns, it survived 3,947 rounds.
//!
//! Clients of other programs take no turns. The greeting takes about 0.2 ms, so a collision with one is rare.

use std::{
    os::fd::OwnedFd,
    path::Path,
    time::{Duration, Instant},
};

use rustix::fs::{FlockOperation, Mode, OFlags};

/// Time to wait for other clients. After that, attach or detach all the same.
const PATIENCE: Duration = Duration::from_secs(1);

/// Pause between attempts.
const PAUSE: Duration = Duration::from_millis(1);

/// A lock on the folder of a server's socket, which all processes of a user share. Ends when dropped.
#[derive(Debug)]
pub(super) struct Turn {
    /// Holds the lock, unless the folder cannot be opened or another process holds it for too long.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a lock lasts as long as its file is open")
    )]
    folder: Option<OwnedFd>,
}

impl Turn {
    /// Waits until no other client attaches to a server in this folder, or detaches: for a second at most.
    pub(super) fn wait(socket: &Path) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = socket.parent();
        let opened = folder.and_then(|folder| rustix::fs::open(folder, flags, Mode::empty()).ok());
        let Some(folder) = opened else {
            return Self { folder: None };
        };
        let until = Instant::now() + PATIENCE;
        loop {
            if rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Self {
                    folder: Some(folder),
                };
            }
            if Instant::now() >= until {
                return Self { folder: None };
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_excludes_others_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let first = Turn::wait(&socket);
        assert!(first.folder.is_some());
        let second = std::thread::spawn({
            let socket = socket.clone();
            move || Turn::wait(&socket).folder.is_some()
        });
        drop(first);
        assert!(second.join().unwrap());
        let _held = Turn::wait(&socket);
        let late = Turn::wait(&socket);
        assert!(late.folder.is_none(), "the wait has an end");
    }

    #[test]
    fn afolder_that_is_missing_is_no_obstacle() {
        assert!(Turn::wait(Path::new("/nowhere/socket")).folder.is_none());
    }
}
