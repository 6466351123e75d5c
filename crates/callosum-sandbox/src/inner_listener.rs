//! [`Gate`]: transfer of listeners on a loopback that is not the controller's own.
//!
//! The keeper listens in its network namespace and passes the listeners out, by a socket with a
//! path that no process inside sees. The process that accepts on them is outside all the same: no
//! process inside forwards anything, and nothing inside is reachable but the requested ports.

use std::{
    io,
    net::{TcpListener, TcpStream},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{Mode, OFlags},
    io::Errno,
};

use super::fd_passing;
use callosum_host::process::Cancel;

/// Most ports that one order can have listened on.
pub const MOST_PORTS: usize = fd_passing::MOST;

/// A socket through which a keeper passes its listeners.
#[derive(Debug)]
pub struct Gate {
    socket: UnixListener,
    path: PathBuf,
}

impl Gate {
    /// Makes it in a private folder, under a name that is free there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join("gate");
        let socket = at_short_path(&path, |path| UnixListener::bind(path))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path })
    }

    /// Its path, for [`SandboxSpec::gate`](super::SandboxSpec::gate).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the listeners, in the order in which they were asked for; `None` where `stop` was
    /// asked for before.
    pub fn wait(self, stop: &Cancel) -> io::Result<Option<Listeners>> {
        let keeper = loop {
            if readable(&[self.socket.as_fd()], stop)?.is_none() {
                return Ok(None);
            }
            match self.socket.accept() {
                Ok((keeper, _)) => break keeper,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        };
        keeper.set_nonblocking(true)?;
        loop {
            if readable(&[keeper.as_fd()], stop)?.is_none() {
                return Ok(None);
            }
            match receive(&keeper) {
                Ok(all) => return Ok(Some(Listeners(all))),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Listeners on another namespace's loopback.
#[derive(Debug)]
pub struct Listeners(Vec<TcpListener>);

impl Listeners {
    /// Waits for a connection: at which of them it was made, and the connection. `None` once `stop`
    /// was asked for.
    pub fn accept(&self, stop: &Cancel) -> io::Result<Option<(usize, TcpStream)>> {
        let ends: Vec<BorrowedFd<'_>> = self.0.iter().map(AsFd::as_fd).collect();
        loop {
            let Some(place) = readable(&ends, stop)? else {
                return Ok(None);
            };
            match self.0[place].accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    return Ok(Some((place, stream)));
                }
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Hands listeners out at the gate at this path.
pub(super) fn send_listeners(path: &Path, listeners: &[TcpListener]) -> io::Result<()> {
    let gate = at_short_path(path, |path| UnixStream::connect(path))?;
    let ends: Vec<BorrowedFd<'_>> = listeners.iter().map(AsFd::as_fd).collect();
    fd_passing::send(&gate, &ends)
}

fn receive(keeper: &UnixStream) -> io::Result<Vec<TcpListener>> {
    let passed = fd_passing::receive(keeper)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let listeners = passed.into_iter().map(TcpListener::from);
    listeners
        .map(|listener| {
            // One that gave up before it was accepted must not be waited for.
            listener.set_nonblocking(true)?;
            Ok(listener)
        })
        .collect()
}

/// The first of `ends` that can be read from; `None` once `stop` was asked for.
fn readable(ends: &[BorrowedFd<'_>], stop: &Cancel) -> io::Result<Option<usize>> {
    loop {
        if stop.is_cancelled() {
            return Ok(None);
        }
        let stop_end = stop.readable();
        let mut waiting: Vec<PollFd<'_>> = ends
            .iter()
            .chain([&stop_end])
            .map(|end| PollFd::from_borrowed_fd(*end, PollFlags::IN))
            .collect();
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = waiting.iter().position(|end| !end.revents().is_empty());
        if let Some(place) = ready.filter(|place| *place < ends.len()) {
            return Ok(Some(place));
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}

/// A socket's path holds about a hundred bytes; by way of its folder it may be of any length.
fn at_short_path<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder: OwnedFd = rustix::fs::open(folder, how, Mode::empty())?;
    let short = Path::new("/proc/self/fd")
        .join(folder.as_raw_fd().to_string())
        .join(name);
    act(&short)
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, net::Ipv4Addr};

    use super::*;

    /// The home folder's long name would not fit in a socket's own path.
    #[test]
    fn listeners_come_through_a_gate_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(200));
        callosum_host::disk::Disk::real()
            .create_dir_all(&deep)
            .unwrap();
        let gate = Gate::open(&deep).unwrap();
        let stop = Cancel::new().unwrap();
        let listeners: Vec<TcpListener> = (0..3)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
            .collect();
        let third = listeners[2].local_addr().unwrap();
        send_listeners(gate.path(), &listeners).unwrap();
        drop(listeners);
        let listeners = gate.wait(&stop).unwrap().unwrap();
        let mut client = TcpStream::connect(third).unwrap();
        let (place, stream) = listeners.accept(&stop).unwrap().unwrap();
        assert_eq!(place, 2);
        drop(stream);
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        stop.cancel();
        assert!(listeners.accept(&stop).unwrap().is_none());
    }

    #[test]
    fn waiting_at_an_unused_gate_ends_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let stop = Cancel::new().unwrap();
        stop.cancel();
        let gate = Gate::open(folder.path()).unwrap();
        assert!(gate.wait(&stop).unwrap().is_none());
    }
}
