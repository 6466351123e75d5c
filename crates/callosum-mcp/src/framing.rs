//! [`Lines`]: messages as lines of JSON, bounded. Each line gets its answer.
//!
//! The transport of `rmcp` drops a line that is too long or no message, so that a client waits
//! forever; here it gets an error. Notifications before the first request are ignored: one that
//! takes back a probe is no reason to end.

use std::{io, sync::Arc};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage,
        RequestId, ServerJsonRpcMessage,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Mutex, mpsc},
};

/// Longest message that is read, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// Bytes of both ends that are kept of a longer message, to find its id in.
const ENDS: usize = 256;

/// Maximum number of messages that wait.
const WAITING: usize = 64;

/// The two ends.
pub(super) struct Lines<W> {
    read: mpsc::Receiver<ClientJsonRpcMessage>,
    write: Output<W>,
}

type Output<W> = Arc<Mutex<Option<W>>>;

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    /// Reads lines from `input` from now on.
    pub(super) fn new(input: impl AsyncRead + Send + Unpin + 'static, output: W) -> Self {
        let write = Arc::new(Mutex::new(Some(output)));
        let (sender, read) = mpsc::channel(WAITING);
        tokio::spawn(take_in(BufReader::new(input), sender, Arc::clone(&write)));
        Self { read, write }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Lines<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move { put(&write, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.read.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.write.lock().await.take());
        Ok(())
    }
}

async fn put<W: AsyncWrite + Unpin>(
    write: &Output<W>,
    message: &ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    write.write_all(&line).await?;
    write.flush().await
}

/// Passes on what is a message, and answers what is none, until the input ends.
async fn take_in<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    mut input: BufReader<R>,
    sender: mpsc::Sender<ClientJsonRpcMessage>,
    write: Output<W>,
) {
    let mut has_begun = false;
    while let Some(line) = next(&mut input).await {
        let message = match line {
            Line::Whole(line) if line.trim_ascii().is_empty() => continue,
            Line::Whole(line) => read(line.trim_ascii()),
            Line::TooLong(id) => {
                let what = format!("the message is longer than {LONGEST} bytes");
                Err(Refused::of(ErrorData::invalid_request(what, None), id))
            }
        };
        match message {
            Ok(JsonRpcMessage::Notification(_)) if !has_begun => {}
            Ok(message) => {
                has_begun |= begins(&message);
                if sender.send(message).await.is_err() {
                    return;
                }
            }
            Err(Refused(answer)) => {
                if put(&write, &answer).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Whether a message begins a lifecycle.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => !matches!(
            request.request,
            ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
        ),
        _ => false,
    }
}

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// Only the id is left of it, where one is found.
    TooLong(Option<RequestId>),
}

/// The next line; `None` where there is no more, or what is left has no end.
async fn next<R: AsyncRead + Unpin>(input: &mut BufReader<R>) -> Option<Line> {
    let mut line = Vec::new();
    let mut tail: Option<Vec<u8>> = None;
    loop {
        // An input that cannot be read is one that has ended.
        let buffer = input
            .fill_buf()
            .await
            .ok()
            .filter(|buffer| !buffer.is_empty())?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        match &mut tail {
            None => {
                line.extend_from_slice(piece);
                if line.len() > LONGEST {
                    tail = Some(line[line.len() - ENDS..].to_vec());
                    line.truncate(ENDS);
                }
            }
            Some(tail) => {
                tail.extend_from_slice(piece);
                tail.drain(..tail.len().saturating_sub(ENDS));
            }
        }
        let length = piece.len() + usize::from(end.is_some());
        input.consume(length);
        if end.is_some() {
            return Some(match tail {
                None => Line::Whole(line),
                Some(tail) => Line::TooLong(id_of(&line, &tail)),
            });
        }
    }
}

/// Returns the id of a message from its two ends: clients write it first or last.
fn id_of(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    let tail = String::from_utf8_lossy(tail);
    let head = String::from_utf8_lossy(head);
    let last = tail.trim_end().strip_suffix('}');
    let last = last.and_then(|tail| Some(tail.rsplit_once("\"id\":")?.1.to_owned()));
    let last = last.and_then(|id| serde_json::from_str(id.trim()).ok());
    last.or_else(|| {
        let before = head
            .split_once("\"params\"")
            .map_or(&*head, |(before, _)| before);
        let id = before.split_once("\"id\":")?.1;
        let end = id.find(',')?;
        serde_json::from_str(id[..end].trim()).ok()
    })
}

/// The answer to what is no message.
struct Refused(Box<ServerJsonRpcMessage>);

impl Refused {
    fn of(error: ErrorData, id: Option<RequestId>) -> Self {
        Self(Box::new(ServerJsonRpcMessage::error(error, id)))
    }
}

/// Parses a line as a message; the error is the answer to its sender.
fn read(line: &[u8]) -> Result<ClientJsonRpcMessage, Refused> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let what = format!("the message is not JSON: {error}");
        Refused::of(ErrorData::new(ErrorCode::PARSE_ERROR, what, None), None)
    })?;
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_request = value.get("id").is_some() && value.get("method").is_some();
    let message: Result<ClientJsonRpcMessage, _> = serde_json::from_value(value);
    match message {
        // What has an id that is none would be taken for a notification, and never answered.
        Ok(JsonRpcMessage::Notification(ref notification))
            if is_request && is_custom(&notification.notification) =>
        {
            let what = "the id is neither a string nor a whole number";
            Err(Refused::of(ErrorData::invalid_request(what, None), None))
        }
        Ok(message) => Ok(message),
        Err(error) => {
            let what = format!("not a message of the protocol: {error}");
            Err(Refused::of(ErrorData::invalid_request(what, None), id))
        }
    }
}

fn is_custom(notification: &ClientNotification) -> bool {
    matches!(notification, ClientNotification::CustomNotification(_))
}
