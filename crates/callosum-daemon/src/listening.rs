//! [`Listening`]: a client of the daemon's own, over its socket: it hears events as they happen, and hands some in.
//!
//! Blocking, and without a runtime: for commands that are one process with one thing to do.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use callosum_host::socket::connect;
use callosum_mesh::{journal::Cursor, topic::Pattern};
use serde_json::Value;

use super::instance::socket;

/// How long an answer may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long is waited for the next before the caller has a turn.
const TURN: Duration = Duration::from_millis(100);

/// How long a daemon that says nothing counts as there: it says something every 15 s.
const QUIET: Duration = Duration::from_secs(45);

/// Longest that one thing may be that is told.
const LONGEST: usize = 4 * 1024 * 1024;

/// Longest answer to what was handed in.
const LONGEST_ANSWER: u64 = 1024 * 1024;

/// What is heard of the daemon that serves a folder.
#[derive(Debug)]
pub struct Listening {
    stream: UnixStream,
    /// What was read and is not whole yet.
    bytes: Vec<u8>,
    quiet: Duration,
}

/// Something that was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Where to go on after it; empty where that did not change.
    pub cursor: String,
    /// `reset`, `dropped`, `damaged` or `failed`; empty for an event.
    pub kind: String,
    /// As JSON; empty where only the cursor was told.
    pub data: String,
}

impl Listening {
    /// Begins to hear what comes after `since`.
    pub fn begin(folder: &Path, topics: &[Pattern], since: &Cursor) -> io::Result<Self> {
        let mut stream = connect(&socket(folder))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // Nothing in either of them has to be written otherwise in a query.
        let topics = topics.iter().flat_map(|topic| ["&topic=", topic.as_str()]);
        let topics: String = topics.collect();
        // HTTP/1.0: what is told comes as it is, without the sizes of chunks between.
        let request =
            format!("GET /events/stream?since={since}{topics} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut listening = Self {
            stream,
            bytes: Vec::new(),
            quiet: Duration::ZERO,
        };
        let head = loop {
            if let Some(head) = listening.until(b"\r\n\r\n") {
                break head;
            }
            if !listening.read()? {
                return Err(io::ErrorKind::TimedOut.into());
            }
        };
        if !head.starts_with("HTTP/1.0 200") && !head.starts_with("HTTP/1.1 200") {
            let line = head.lines().next().unwrap_or_default().to_owned();
            return Err(io::Error::other(line));
        }
        listening.stream.set_read_timeout(Some(TURN))?;
        Ok(listening)
    }

    /// The next that is told; `None` where nothing was for a moment. An error where the daemon is gone.
    pub fn next_event(&mut self) -> io::Result<Option<Told>> {
        loop {
            if let Some(block) = self.until(b"\n\n") {
                let mut told = Told::default();
                for line in block.lines() {
                    match line.split_once(": ") {
                        Some(("id", id)) => id.clone_into(&mut told.cursor),
                        Some(("event", kind)) => kind.clone_into(&mut told.kind),
                        Some(("data", data)) => data.clone_into(&mut told.data),
                        _ => {}
                    }
                }
                return Ok(Some(told));
            }
            if !self.read()? {
                self.quiet += TURN;
                if self.quiet >= QUIET {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                return Ok(None);
            }
            self.quiet = Duration::ZERO;
        }
    }

    /// Takes what was read up to a mark, if that is there.
    fn until(&mut self, mark: &[u8]) -> Option<String> {
        let at = self
            .bytes
            .windows(mark.len())
            .position(|found| found == mark)?;
        let rest = self.bytes.split_off(at + mark.len());
        let mut block = std::mem::replace(&mut self.bytes, rest);
        block.truncate(at);
        Some(String::from_utf8_lossy(&block).into_owned())
    }

    /// Reads some more; whether there was anything.
    fn read(&mut self) -> io::Result<bool> {
        let mut block = [0; 16 * 1024];
        match self.stream.read(&mut block) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) if self.bytes.len() > LONGEST => Err(io::ErrorKind::InvalidData.into()),
            Ok(count) => {
                self.bytes.extend_from_slice(&block[..count]);
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Hands an event in at the daemon that serves a folder: the status of its answer, and the answer.
pub fn hand_in(folder: &Path, event: &Value) -> io::Result<(u16, Value)> {
    let mut stream = connect(&socket(folder))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let body = event.to_string();
    let length = body.len();
    let request = format!(
        "POST /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let body = serde_json::from_str(body).map_err(|_| broken())?;
    Ok((status.ok_or_else(broken)?, body))
}
