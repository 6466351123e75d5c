//! [`Reply`]: body of a response, complete or in pieces.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::{
    Response, StatusCode,
    body::{Body, Bytes, Frame, SizeHint},
    header,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The body of an answer.
#[derive(Debug)]
pub(super) enum Reply {
    /// All of it; `None` once it went out.
    Whole(Option<Bytes>),
    /// In pieces, each made when the one before was taken; `None` once the last went out.
    Pieces(Option<mpsc::Receiver<Piece>>),
    /// As it comes, without end.
    Stream(mpsc::Receiver<Bytes>),
}

/// A piece of an answer.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Whether the answer ends with it.
    pub(super) is_last: bool,
}

/// The rest of a response is missing: its connection ends, so that no client takes it for complete.
#[derive(Debug, thiserror::Error)]
#[error("the response is incomplete")]
pub(super) struct Cut;

impl Body for Reply {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let reply = &mut *self;
        let next = match reply {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Stream(chunks) => chunks.poll_recv(context),
            Self::Pieces(None) => Poll::Ready(None),
            Self::Pieces(Some(pieces)) => match ready!(pieces.poll_recv(context)) {
                Some(Piece { text, is_last }) => {
                    if is_last {
                        *reply = Self::Pieces(None);
                    }
                    Poll::Ready(Some(text.into()))
                }
                None => return Poll::Ready(Some(Err(Cut))),
            },
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None) | Self::Pieces(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Pieces(_) | Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// An answer of one piece.
pub(super) fn whole(
    status: StatusCode,
    kind: &'static str,
    body: impl Into<Bytes>,
) -> Response<Reply> {
    let mut response = of(kind, Reply::Whole(Some(body.into())));
    *response.status_mut() = status;
    response
}

/// Returns a successful response with a body.
pub(super) fn of(kind: &'static str, body: Reply) -> Response<Reply> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    response
}

/// An answer in JSON.
pub(super) fn data(status: StatusCode, value: &Value) -> Response<Reply> {
    whole(status, "application/json", format!("{value}\n"))
}

/// A refusal in words.
pub(super) fn error(status: StatusCode, words: &str) -> Response<Reply> {
    data(status, &json!({ "error": words }))
}

/// A refusal for now.
pub(super) fn later(status: StatusCode, words: &str, wait: Duration) -> Response<Reply> {
    let mut response = error(status, words);
    // Whole seconds, rounded up: HTTP knows no others.
    let seconds = wait.as_millis().div_ceil(1000).max(1) as u64;
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, seconds.into());
    response
}
