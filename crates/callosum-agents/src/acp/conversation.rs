//! [`Conversation`]: requests and what comes between them and their answers, a line of JSON each.

use std::io::{Read, Write};

use serde_json::{Value, json};

use super::{policy::Policy, session::Session};
use crate::{
    dialect::{CUT_OFF, Complaint, LARGEST_STREAM, UNREACHABLE},
    transport::{Event, Tell},
};

/// Longest message of an agent, in bytes.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// How much is read at once, in bytes.
const PIECE: usize = 16 * 1024;

/// Why a conversation ended early.
#[derive(Debug)]
pub(super) enum Broken {
    /// There was more than an answer may have.
    TooMuch,
    /// Nobody listens any more.
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
pub(super) struct Conversation<'t, R, W> {
    from: R,
    to: W,
    policy: Policy<'t>,
    tell: &'t mut Tell<'t>,
    /// What came and was not looked at yet.
    unread: Vec<u8>,
    total: usize,
    asked: u64,
    /// Whether it ever said something.
    spoke: bool,
}

impl<'t, R: Read, W: Write> Conversation<'t, R, W> {
    pub(super) fn new(from: R, to: W, policy: Policy<'t>, tell: &'t mut Tell<'t>) -> Self {
        Self {
            from,
            to,
            policy,
            tell,
            unread: Vec::new(),
            total: 0,
            asked: 0,
            spoke: false,
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
        loop {
            let line = self.line()?;
            // Programs write warnings where only messages belong.
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
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

    /// Tells the agent that nobody waits for its answer.
    pub(super) fn cancel(&mut self, session: &str) {
        let params = json!({"sessionId": session});
        // It is about to be ended anyway.
        drop(self.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params})));
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
            let mut piece = [0; PIECE];
            match self.from.read(&mut piece) {
                Ok(0) => return Err(self.gone()),
                Ok(count) => {
                    self.total += count;
                    self.unread.extend_from_slice(&piece[..count]);
                    self.say(Event::Life)?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.gone()),
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
