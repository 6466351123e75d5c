//! [`ClaudeSession`]: the file that Claude Code keeps about a running session, `~/.claude/sessions/PID.json`.
//!
//! The format is the client's and undocumented. What is not understood is left out, and a file of a process that has
//! ended is not believed: a client that is killed leaves its file behind.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, process::table};
use jiff::Timestamp;
use serde::Deserialize;

use crate::state::State;

/// Bytes of a file that are read.
const LARGEST: u64 = 64 * 1024;

/// Files that are read.
const MOST: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    pid: u32,
    session_id: String,
    cwd: Option<PathBuf>,
    proc_start: Option<String>,
    status: Option<String>,
    waiting_for: Option<String>,
    messaging_socket_path: Option<PathBuf>,
    updated_at: Option<i64>,
    status_updated_at: Option<i64>,
}

/// A session of Claude Code that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaudeSession {
    /// Process id of the client.
    pub pid: u32,
    /// Start time of the process, in the system's ticks since boot.
    pub started: u64,
    /// The session's id.
    pub session_id: String,
    /// The folder that the session works in.
    pub folder: Option<PathBuf>,
    /// The client's word for what it does: `idle`, `busy`.
    pub status: Option<String>,
    /// Since when, if it says so.
    pub since: Option<Timestamp>,
    /// Socket that takes messages, if the client listens.
    pub socket: Option<PathBuf>,
}

impl ClaudeSession {
    /// Returns the state that the client's word means, if that is known.
    pub fn state(&self) -> Option<State> {
        match self.status.as_deref()? {
            "busy" | "working" | "shell" => Some(State::Working),
            "idle" => Some(State::TrulyIdle),
            "waiting" => Some(State::BlockedOnApproval),
            _ => None,
        }
    }
}

/// Returns the sessions whose files are in `folder` and whose processes run.
pub fn sessions(disk: &Disk, folder: &Path) -> Vec<ClaudeSession> {
    let listed = disk.list_dir(folder).unwrap_or_default();
    let files = listed.into_iter().filter(|entry| {
        let name = entry.name.to_string_lossy();
        name.strip_suffix(".json")
            .is_some_and(|pid| pid.parse::<u32>().is_ok())
    });
    files
        .take(MOST)
        .filter_map(|entry| {
            let bytes = disk.read_at_most(&folder.join(entry.name), LARGEST).ok()?;
            read(&bytes, |pid| table::entry(pid).map(|entry| entry.started))
        })
        .collect()
}

/// Returns the session of one process, if it runs.
pub fn session(disk: &Disk, folder: &Path, pid: u32) -> Option<ClaudeSession> {
    let bytes = disk.read_at_most(&folder.join(format!("{pid}.json")), LARGEST);
    let read = read(&bytes.ok()?, |pid| {
        table::entry(pid).map(|entry| entry.started)
    });
    read.filter(|session| session.pid == pid)
}

/// Reads a file. `started` returns the start time of a process that runs.
fn read(bytes: &[u8], started: impl Fn(u32) -> Option<u64>) -> Option<ClaudeSession> {
    let raw: Raw = serde_json::from_slice(bytes).ok()?;
    let started = started(raw.pid)?;
    // Without a start time, the number may be another process's by now.
    let is_same = raw.proc_start?.parse() == Ok(started);
    let is_waiting = raw.waiting_for.is_some_and(|what| !what.is_empty());
    let since = raw.status_updated_at.or(raw.updated_at);
    is_same.then(|| ClaudeSession {
        pid: raw.pid,
        started,
        session_id: raw.session_id,
        folder: raw.cwd,
        status: if is_waiting {
            Some("waiting".to_owned())
        } else {
            raw.status
        },
        since: since.and_then(|time| Timestamp::from_millisecond(time).ok()),
        socket: raw.messaging_socket_path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"pid":7,"sessionId":"s1","cwd":"/home/dev/shop","procStart":"48491","peerFeatures":["x"],
        "messagingSocketPath":"/tmp/cc-socks/7.sock","status":"busy","updatedAt":1795956401262,"statusUpdatedAt":1795956401000}"#;

    #[test]
    fn a_session_is_read() {
        let session = read(FILE.as_bytes(), |_| Some(48_491)).unwrap();
        assert_eq!((session.pid, session.session_id.as_str()), (7, "s1"));
        assert_eq!(session.state(), Some(State::Working));
        assert_eq!(session.since.unwrap().as_millisecond(), 1_795_956_401_000);
        assert_eq!(session.socket, Some(PathBuf::from("/tmp/cc-socks/7.sock")));
    }

    #[test]
    fn a_file_of_a_process_that_has_ended_is_not_believed() {
        assert_eq!(read(FILE.as_bytes(), |_| None), None);
        assert_eq!(
            read(FILE.as_bytes(), |_| Some(99_999)),
            None,
            "the number is another's now"
        );
        let without = FILE.replace("procStart", "other");
        assert_eq!(read(without.as_bytes(), |_| Some(48_491)), None);
    }

    #[test]
    fn a_word_that_is_not_known_is_no_state() {
        let odd = FILE.replace("busy", "dreaming");
        assert_eq!(
            read(odd.as_bytes(), |_| Some(48_491)).unwrap().state(),
            None
        );
        let waiting = FILE.replace("\"status\"", "\"waitingFor\":\"approve Bash\",\"status\"");
        let waiting = read(waiting.as_bytes(), |_| Some(48_491)).unwrap();
        assert_eq!(waiting.state(), Some(State::BlockedOnApproval));
        assert_eq!(read(b"{\"pid\":", |_| Some(1)), None);
    }

    #[test]
    fn a_folder_without_sessions_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        disk.replace(&folder.path().join("notes.txt"), b"x", 0o600)
            .unwrap();
        disk.replace(
            &folder.path().join("4294967295.json"),
            FILE.as_bytes(),
            0o600,
        )
        .unwrap();
        assert!(sessions(&disk, folder.path()).is_empty());
        assert!(sessions(&disk, &folder.path().join("missing")).is_empty());
    }
}
