//! [`ReadOutput`]: bounded output of the other side, in which every byte is a sign of life.
//!
//! Both protocols that are spoken over pipes have a JSON message on each line. Other output of a
//! program, such as warnings, is reported once, and left to the reader of the messages to skip.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use serde::de::IgnoredAny;
use tokio::{
    io::{AsyncRead, ReadBuf},
    sync::mpsc::UnboundedSender,
};

use super::event::Event;
use crate::output_format::LARGEST_STREAM;

/// Longest message, in bytes: an answer may have 4 MiB, and escapes.
pub(crate) const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// Bytes that are kept of a line that is no message.
const LONGEST_ODD: usize = 400;

/// Reader of a program's output that reports signs of life, and the first output that is no
/// message.
pub(crate) struct ReadOutput<R> {
    from: R,
    tell: UnboundedSender<Event>,
    total: usize,
    line: usize,
    /// The beginning of the line that is coming; nothing once one was no message.
    begun: Option<Vec<u8>>,
}

impl<R> ReadOutput<R> {
    pub(crate) fn new(from: R, tell: UnboundedSender<Event>) -> Self {
        Self {
            from,
            tell,
            total: 0,
            line: 0,
            begun: Some(Vec::new()),
        }
    }

    /// The first line that is no message, once it is whole or longer than is kept.
    fn odd(&mut self, bytes: &[u8]) -> Option<String> {
        let begun = self.begun.as_mut()?;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_ODD.saturating_sub(begun.len());
            begun.extend_from_slice(&piece[..piece.len().min(room)]);
            let is_over = piece.ends_with(b"\n") || begun.len() == LONGEST_ODD;
            let line = begun.trim_ascii();
            if is_over && !line.is_empty() && !may_be_message(line) {
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

/// Whether a line may be a JSON message, as far as it has come.
fn may_be_message(line: &[u8]) -> bool {
    (line.starts_with(b"{") || line.starts_with(b"["))
        // What is cut off may end within a character.
        && std::str::from_utf8(line).map_or_else(|error| error.error_len().is_none(), |_| true)
        && match serde_json::from_slice::<IgnoredAny>(line) {
            Ok(_) => true,
            Err(error) => error.is_eof() && line.len() == LONGEST_ODD,
        }
}

impl<R: AsyncRead + Unpin> AsyncRead for ReadOutput<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.from).poll_read(context, buffer))?;
        let bytes = &buffer.filled()[before..];
        if bytes.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let event = if this.count(bytes) {
            Event::Life
        } else {
            Event::TooMuch
        };
        // No one listens any more once the job is done.
        drop(this.tell.send(event));
        if let Some(line) = this.odd(&buffer.filled()[before..]) {
            drop(this.tell.send(Event::Odd { line }));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-COM-1: a line of any length is reported as no message only if it cannot be one.
    #[test]
    fn only_what_is_no_message_is_odd() {
        let long = |first: &str| format!("{first}{}", "x".repeat(2 * LONGEST_ODD));
        for (line, is_odd) in [
            ("Welcome!".to_owned(), true),
            ("[INFO] ready".to_owned(), true),
            ("{ level: 'info' }".to_owned(), true),
            (long("warning "), true),
            (String::new(), false),
            (r#"{"jsonrpc":"2.0"}"#.to_owned(), false),
            (long(r#"{"jsonrpc":""#), false),
        ] {
            let (tell, _reported) = tokio::sync::mpsc::unbounded_channel();
            let mut heard = ReadOutput::new(tokio::io::empty(), tell);
            let odd = heard.odd(format!("{line}\n").as_bytes());
            let begun = &line[..line.len().min(LONGEST_ODD)];
            assert_eq!(odd.as_deref(), is_odd.then_some(begun), "{line}");
        }
    }
}
