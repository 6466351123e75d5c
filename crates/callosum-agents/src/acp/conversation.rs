//! [`Conversation`]: requests and what comes between them and their answers, a line of JSON each.

use std::{
    io::{ErrorKind, Read, Write},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{policy::Policy, session::Session};
use crate::{
    dialect::{CUT_OFF, Complaint, LARGEST_STREAM, UNREACHABLE},
    transport::{Event, Tell},
};

/// Longest message of an agent, in bytes.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// How much of a line that is no message is told, in bytes.
const LONGEST_ODD: usize = 400;

/// How much is read at once, in bytes.
const PIECE: usize = 16 * 1024;

/// How many pieces may wait to be looked at.
const MOST_WAITING: usize = 16;

/// What comes to whoever speaks with an agent.
#[derive(Debug)]
pub(super) enum Incoming {
    /// The next bytes from the agent.
    Piece(Vec<u8>),
    /// The agent has closed its output.
    End,
    /// It is time to take leave of it.
    Leave,
}

/// Has an agent's output read by a thread, which ends with it. Others may say that it is time to
/// leave.
pub(super) fn listen(
    mut from: impl Read + Send + 'static,
) -> (SyncSender<Incoming>, Receiver<Incoming>) {
    let (sender, incoming) = sync_channel(MOST_WAITING);
    let ours = sender.clone();
    thread::spawn(move || {
        let mut piece = [0; PIECE];
        loop {
            let next = match from.read(&mut piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => Incoming::End,
                Ok(count) => Incoming::Piece(piece[..count].to_vec()),
            };
            let is_last = matches!(next, Incoming::End);
            if sender.send(next).is_err() || is_last {
                return;
            }
        }
    });
    (ours, incoming)
}

/// Why a conversation ended early.
#[derive(Debug)]
pub(super) enum Broken {
    /// There was more than an answer may have.
    TooMuch,
    /// Nobody listens any more, or waits for an answer.
    Unheard,
    /// For this reason.
    Because(Complaint),
}

impl From<Complaint> for Broken {
    fn from(complaint: Complaint) -> Self {
        Self::Because(complaint)
    }
}

/// A conversation with one agent.
pub(super) struct Conversation<'t, W> {
    from: Receiver<Incoming>,
    to: W,
    policy: Policy<'t>,
    tell: &'t mut Tell<'t>,
    /// What came and was not looked at yet.
    unread: Vec<u8>,
    total: usize,
    asked: u64,
    /// Whether it ever said something.
    spoke: bool,
    /// Whether it wrote what is no message.
    odd: bool,
    /// Until when is listened to it, once nobody waits for its answer.
    until: Option<Instant>,
}

impl<'t, W: Write> Conversation<'t, W> {
    pub(super) fn new(
        from: Receiver<Incoming>,
        to: W,
        policy: Policy<'t>,
        tell: &'t mut Tell<'t>,
    ) -> Self {
        Self {
            from,
            to,
            policy,
            tell,
            unread: Vec::new(),
            total: 0,
            asked: 0,
            spoke: false,
            odd: false,
            until: None,
        }
    }

    /// Asks something, and answers and takes in what comes before the answer to it.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: &Value,
        session: &mut Session,
    ) -> Result<Value, Broken> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        self.answer_to(id, session)
    }

    fn answer_to(&mut self, id: u64, session: &mut Session) -> Result<Value, Broken> {
        loop {
            let line = self.line()?;
            // Programs write warnings where only messages belong.
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                let line = &line[..line.len().min(LONGEST_ODD)];
                let line = String::from_utf8_lossy(line).trim().to_owned();
                if !line.is_empty() && !std::mem::replace(&mut self.odd, true) {
                    self.say(Event::Odd { line })?;
                }
                continue;
            };
            self.spoke |= message.get("jsonrpc").is_some();
            let asks = message.get("method").and_then(Value::as_str);
            match (asks, message.get("id")) {
                (Some(method), Some(theirs)) if !theirs.is_null() => {
                    let answer = self.policy.answer(method, &message["params"]);
                    let mut reply = json!({"jsonrpc": "2.0", "id": theirs});
                    match answer {
                        Ok(result) => reply["result"] = result,
                        Err((code, words)) => {
                            reply["error"] = json!({"code": code, "message": words});
                        }
                    }
                    self.send(&reply)?;
                }
                (Some("session/update"), _) => {
                    if !session.take(&message["params"]["update"]) {
                        return Err(Broken::TooMuch);
                    }
                    for event in session.events.drain(..) {
                        self.say(event)?;
                    }
                }
                (None, Some(answered)) if answered == id => {
                    return match message.get("error") {
                        Some(error) => Err(failed(error).into()),
                        None => Ok(message["result"].clone()),
                    };
                }
                // A notification, or an answer to nothing that was asked.
                (Some(_) | None, _) => {}
            }
        }
    }

    /// Tells the agent that nobody waits for its answer to what was asked last, and listens until it
    /// says that it has stopped, or ends, but not for long: it is about to be ended anyway.
    pub(super) fn cancel(&mut self, id: &str, session: &mut Session, within: Duration) {
        let params = json!({"sessionId": id});
        let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
        self.until = Some(Instant::now() + within);
        drop(
            self.send(&cancel)
                .and_then(|()| self.answer_to(self.asked, session)),
        );
    }

    /// Tells something.
    pub(super) fn say(&mut self, event: Event) -> Result<(), Broken> {
        if (self.tell)(event) {
            Ok(())
        } else {
            Err(Broken::Unheard)
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Broken> {
        let sent = writeln!(self.to, "{message}").and_then(|()| self.to.flush());
        sent.map_err(|_| self.gone())
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<Vec<u8>, Broken> {
        let mut looked_at = 0;
        loop {
            if let Some(end) = self.unread[looked_at..]
                .iter()
                .position(|byte| *byte == b'\n')
            {
                let rest = self.unread.split_off(looked_at + end + 1);
                let mut line = std::mem::replace(&mut self.unread, rest);
                line.pop();
                return Ok(line);
            }
            looked_at = self.unread.len();
            if looked_at > LONGEST_MESSAGE || self.total > LARGEST_STREAM {
                return Err(Broken::TooMuch);
            }
            match self.next() {
                Some(Incoming::Piece(piece)) => {
                    self.total += piece.len();
                    self.unread.extend_from_slice(&piece);
                    self.say(Event::Life)?;
                }
                Some(Incoming::End) => return Err(self.gone()),
                Some(Incoming::Leave) | None => return Err(Broken::Unheard),
            }
        }
    }

    /// What comes next; nothing where the time is up.
    fn next(&self) -> Option<Incoming> {
        match self.until {
            None => self.from.recv().ok(),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                self.from.recv_timeout(left).ok()
            }
        }
    }

    fn gone(&self) -> Broken {
        let (kind, words) = if self.spoke {
            (CUT_OFF, "the agent ended")
        } else {
            (
                UNREACHABLE,
                "the agent ended without a word of its protocol",
            )
        };
        Broken::Because(Complaint::of_kind(kind, words))
    }
}

/// What an agent says that went wrong.
fn failed(error: &Value) -> Complaint {
    let message = error["message"]
        .as_str()
        .unwrap_or("an error without words");
    let details = ["/data/details", "/data/message", "/data"]
        .iter()
        .find_map(|way| error.pointer(way)?.as_str());
    let words = match details {
        Some(details) if details != message => format!("{message}: {details}"),
        _ => message.to_owned(),
    };
    // The protocol's own code for somebody who must log in first.
    let kind = (error["code"] == -32000 && message.to_lowercase().contains("auth"))
        .then(|| "authentication_error".to_owned());
    Complaint {
        words,
        kind,
        ..Complaint::default()
    }
}
