//! [`Heard`]: a server's output, whose every byte is a sign of life, within bounds.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, ReadBuf},
    net::unix::pipe,
    sync::mpsc::UnboundedSender,
};

use crate::{dialect::LARGEST_STREAM, transport::Event};

/// Longest message of a server, in bytes: an answer may have 4 MiB, and escapes.
pub(super) const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// How much of a line that is no message is kept, in bytes.
const LONGEST_ODD: usize = 400;

/// Reads from a server and tells that it lives, and what it wrote first that is no message.
pub(super) struct Heard {
    pipe: pipe::Receiver,
    tell: UnboundedSender<Event>,
    total: usize,
    line: usize,
    /// The beginning of the line that is coming; nothing once one was no message.
    begun: Option<Vec<u8>>,
}

impl Heard {
    pub(super) fn new(pipe: pipe::Receiver, tell: UnboundedSender<Event>) -> Self {
        Self {
            pipe,
            tell,
            total: 0,
            line: 0,
            begun: Some(Vec::new()),
        }
    }

    /// The first line that is no JSON object, once it is whole or longer than is kept.
    fn odd(&mut self, bytes: &[u8]) -> Option<String> {
        let begun = self.begun.as_mut()?;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_ODD.saturating_sub(begun.len());
            begun.extend_from_slice(&piece[..piece.len().min(room)]);
            let is_over = piece.ends_with(b"\n") || begun.len() == LONGEST_ODD;
            let line = begun.trim_ascii();
            if is_over && !line.is_empty() && !line.starts_with(b"{") && !line.starts_with(b"[") {
                let odd = String::from_utf8_lossy(line).into_owned();
                self.begun = None;
                return Some(odd);
            }
            if piece.ends_with(b"\n") {
                begun.clear();
            }
        }
        None
    }

    /// Whether what came until now is within bounds.
    fn count(&mut self, bytes: &[u8]) -> bool {
        self.total += bytes.len();
        self.line = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => bytes.len() - at,
            None => self.line + bytes.len(),
        };
        self.total <= LARGEST_STREAM && self.line <= LONGEST_MESSAGE
    }
}

impl AsyncRead for Heard {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.pipe).poll_read(context, buffer))?;
        let bytes = &buffer.filled()[before..];
        if bytes.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let event = if this.count(bytes) {
            Event::Life
        } else {
            Event::TooMuch
        };
        // Nobody listens any more once the job is done.
        drop(this.tell.send(event));
        if let Some(line) = this.odd(&buffer.filled()[before..]) {
            drop(this.tell.send(Event::Odd { line }));
        }
        Poll::Ready(Ok(()))
    }
}
