//! [`ClaudeSocket`]: the socket on which a session of Claude Code (2.1.224 or newer) takes messages.
//!
//! The client names the socket in its session file, which any program of the user may write. So the path is checked: it
//! must be a socket of this user in a private folder of this user, named after the process, and the process that
//! listens must be the client.

use std::{
    io::{self, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::disk::user;
use rustix::{
    fs::{FileType, Mode},
    net::{AddressFamily, SocketAddrUnix, SocketType},
};
use serde_json::json;

use super::{super::DeliveryRoute, Mailbox, MailboxError};
use crate::claude_sessions::ClaudeSession;

/// Timeout for the client to read a text.
const WRITE: Duration = Duration::from_secs(5);

/// The socket of one session.
#[derive(Debug)]
pub struct ClaudeSocket {
    path: PathBuf,
    pid: u32,
    /// Open until the injection ends: the client may not have read yet.
    stream: Option<UnixStream>,
}

impl ClaudeSocket {
    /// Returns the socket that a session names, if it names one. Nothing is opened yet.
    pub fn of(session: &ClaudeSession) -> Option<Self> {
        Some(Self {
            path: session.socket.clone()?,
            pid: session.pid,
            stream: None,
        })
    }

    /// Connects to the socket if it is the client's.
    fn connect(&self) -> Result<UnixStream, String> {
        is_private_socket(&self.path, self.pid)?;
        let stream = open(&self.path)
            .map_err(|error| format!("the session's socket {}: {error}", self.path.display()))?;
        is_listener(&stream, self.pid)?;
        Ok(stream)
    }
}

impl Mailbox for ClaudeSocket {
    fn route(&self) -> DeliveryRoute {
        DeliveryRoute::ClaudeSocket
    }

    fn check(&self) -> Result<(), String> {
        self.connect().map(drop)
    }

    fn leave(&mut self, text: &str) -> Result<(), MailboxError> {
        let mut stream = self.connect().map_err(MailboxError::Unavailable)?;
        let message = json!({"type": "user", "message": {"role": "user", "content": text}});
        let line = format!("{message}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match stream.write(rest) {
                Ok(count) if count > 0 => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Nothing of the text has left yet.
                Err(error) if rest.len() == line.len() => {
                    return Err(MailboxError::Unavailable(error.to_string()));
                }
                ended => {
                    let why = ended.err().map(|error| error.to_string());
                    let why = why.unwrap_or_else(|| "it is closed".to_owned());
                    let what = format!("the session's socket took only a part of the text: {why}");
                    return Err(MailboxError::Interrupted(what));
                }
            }
        }
        self.stream = Some(stream);
        Ok(())
    }
}

/// Checks that a path is where Claude Code puts the socket of this process: `PID.sock` in a folder that only this user
/// may enter, neither of them a link.
fn is_private_socket(path: &Path, pid: u32) -> Result<(), String> {
    let refuse = |what: &str| Err(format!("{what}: {}", path.display()));
    let is_named = path
        .file_name()
        .is_some_and(|name| *name == *format!("{pid}.sock"));
    let Some(folder) = path.parent().filter(|_| path.is_absolute() && is_named) else {
        return refuse("the session's socket is not named after its process");
    };
    let Ok(found) = rustix::fs::lstat(folder) else {
        return refuse("the folder of the session's socket is missing");
    };
    let is_private = FileType::from_raw_mode(found.st_mode) == FileType::Directory
        && found.st_uid == user()
        && !Mode::from_raw_mode(found.st_mode).intersects(Mode::RWXG | Mode::RWXO);
    if !is_private {
        return refuse("the folder of the session's socket is not this user's alone");
    }
    let Ok(found) = rustix::fs::lstat(path) else {
        return refuse("the session's socket is missing");
    };
    let is_own =
        FileType::from_raw_mode(found.st_mode) == FileType::Socket && found.st_uid == user();
    if !is_own {
        return refuse("the session's socket is not a socket of this user");
    }
    Ok(())
}

/// Connects without waiting. The system makes a program wait as long as a listener takes nothing.
fn open(path: &Path) -> io::Result<UnixStream> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    rustix::net::connect(&stream, &SocketAddrUnix::new(path)?)?;
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(WRITE))?;
    Ok(stream)
}

/// Checks that the process at the other end is the client.
#[cfg(target_os = "linux")]
fn is_listener(stream: &UnixStream, pid: u32) -> Result<(), String> {
    let other = rustix::net::sockopt::socket_peercred(stream).map_err(|error| error.to_string())?;
    let other_pid = u32::try_from(other.pid.as_raw_nonzero().get()).ok();
    if other_pid != Some(pid) || other.uid.as_raw() != user() {
        return Err("another process listens on the session's socket".to_owned());
    }
    Ok(())
}

/// Accepts every process: the system does not say who listens, so the private folder has to do.
#[cfg(not(target_os = "linux"))]
fn is_listener(_stream: &UnixStream, _pid: u32) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader},
        os::unix::{fs::PermissionsExt as _, net::UnixListener},
    };

    use super::*;

    /// Returns a folder that only this user may enter, and the socket that a session of this process has in it.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = private_folder();
        let path = folder.path().join(format!("{}.sock", std::process::id()));
        (folder, path)
    }

    fn private_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), private).unwrap();
        folder
    }

    fn socket(path: &Path, pid: u32) -> ClaudeSocket {
        ClaudeSocket {
            path: path.to_owned(),
            pid,
            stream: None,
        }
    }

    #[test]
    fn a_text_is_one_line_of_json() {
        let (_folder, path) = place();
        let listener = UnixListener::bind(&path).unwrap();
        let mut socket = socket(&path, std::process::id());
        socket.check().unwrap();
        // The connection of the check.
        drop(listener.accept().unwrap());
        socket.leave("first \"line\"\nsecond ü").unwrap();
        let (stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let expected = json!({"type": "user", "message": {"role": "user", "content": "first \"line\"\nsecond ü"}});
        assert_eq!(value, expected);
    }

    #[test]
    fn a_path_that_is_not_the_clients_own_is_refused() {
        let (folder, path) = place();
        let own = std::process::id();
        let why = |path: &Path, pid: u32| socket(path, pid).check().unwrap_err();
        assert!(why(&path, own).contains("is missing"));
        let listener = UnixListener::bind(&path).unwrap();
        assert!(socket(&path, own).check().is_ok());
        assert!(why(&path, 1).contains("not named after its process"));
        assert!(why(Path::new("7.sock"), 7).contains("not named after"));
        let plain = folder.path().join("8.sock");
        callosum_host::Disk::real()
            .replace(&plain, b"", 0o600)
            .unwrap();
        assert!(why(&plain, 8).contains("not a socket"));
        let link = folder.path().join("9.sock");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(why(&link, 9).contains("not a socket"));
        let outer = tempfile::tempdir().unwrap();
        let linked = outer.path().join("linked");
        std::os::unix::fs::symlink(folder.path(), &linked).unwrap();
        let through = linked.join(path.file_name().unwrap());
        assert!(why(&through, own).contains("not this user's alone"));
        for mode in [0o770, 0o755, 0o1777] {
            let open = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(folder.path(), open).unwrap();
            assert!(why(&path, own).contains("not this user's alone"));
        }
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), private).unwrap();
        drop(listener);
        assert!(why(&path, own).contains("refused"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_process_that_listens_is_refused() {
        let folder = private_folder();
        // The name fits process 1, and this process listens.
        let path = folder.path().join("1.sock");
        let _listener = UnixListener::bind(&path).unwrap();
        let error = socket(&path, 1).leave("x").unwrap_err();
        assert!(
            matches!(&error, MailboxError::Unavailable(why) if why.contains("another process")),
            "{error}"
        );
    }

    #[test]
    fn a_client_that_reads_nothing_does_not_block_the_connection() {
        let (_folder, path) = place();
        let listener = UnixListener::bind(&path).unwrap();
        let socket = socket(&path, std::process::id());
        let mut held = Vec::new();
        let refused = (0..5_000).find_map(|_| match socket.connect() {
            Ok(stream) => {
                held.push(stream);
                None
            }
            Err(why) => Some(why),
        });
        drop(listener);
        assert!(refused.is_some_and(|why| why.contains("unavailable")));
    }
}
