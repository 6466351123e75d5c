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

/// Longest wait for the start of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longest wait for the next event before the caller has a turn.
const TURN: Duration = Duration::from_millis(100);

/// Time in which a silent daemon counts as running: it sends something every 15 s.
const QUIET: Duration = Duration::from_secs(45);

/// Most bytes of one item of a stream.
const LONGEST: usize = 4 * 1024 * 1024;

/// Most bytes of the answer to a published event.
const LONGEST_ANSWER: u64 = 1024 * 1024;

/// Subscription at the daemon that serves a folder.
#[derive(Debug)]
pub struct Listening {
    stream: UnixStream,
    /// Bytes that were read and are not complete yet.
    bytes: Vec<u8>,
    quiet: Duration,
}

/// Item of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMessage {
    /// Position after it; empty if it did not change.
    pub cursor: String,
    /// `reset`, `dropped`, `damaged` or `failed`; empty for an event.
    pub kind: String,
    /// JSON; empty if there was only a cursor.
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
        // HTTP/1.0: the stream comes as it is, without chunk sizes in between.
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

    /// Returns the next item, or `None` if there was none for a moment. Fails if the daemon is
    /// gone.
    pub fn next_event(&mut self) -> io::Result<Option<ServerMessage>> {
        loop {
            if let Some(block) = self.until(b"\n\n") {
                let mut item = ServerMessage::default();
                for line in block.lines() {
                    match line.split_once(": ") {
                        Some(("id", id)) => id.clone_into(&mut item.cursor),
                        Some(("event", kind)) => kind.clone_into(&mut item.kind),
                        Some(("data", data)) => data.clone_into(&mut item.data),
                        _ => {}
                    }
                }
                return Ok(Some(item));
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
