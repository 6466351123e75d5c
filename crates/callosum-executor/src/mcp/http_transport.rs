//! [`Remote`]: a server that is reached over HTTP (MCP's streamable transport), asked with the same
//! care as a model's.
//!
//! `rmcp` speaks the protocol and keeps its sessions; what it wants sent is sent here, by the one
//! client that knows where a key may go. A request blocks a thread of its own, which ends with the
//! process. What is deliberately not here: a stream for what a server says unasked, and `OAuth`.

use std::{
    collections::HashMap,
    io::Read,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::Sse;
use tokio::sync::{
    mpsc::{UnboundedSender, unbounded_channel},
    oneshot,
};
use tokio_stream::{Stream, wrappers::UnboundedReceiverStream};
use ureq::http::{HeaderName, HeaderValue, Method};

use crate::{
    http::{Broken, Caller, read_lines},
    output_format::ErrorText,
    transport::{Event, LONGEST_MESSAGE},
};

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// Events of a stream, as `rmcp` takes them.
type Events = std::pin::Pin<Box<dyn Stream<Item = Result<Sse, SseError>> + Send>>;

type Answered = Result<StreamableHttpPostResponse, StreamableHttpError<Refused>>;

/// A server somewhere else. Clones are the same one.
#[derive(Clone)]
pub(super) struct Remote(Arc<Shared>);

struct Shared {
    caller: Caller,
    tell: UnboundedSender<Event>,
    /// Reason for the last refusal.
    refusal: Mutex<Option<ErrorText>>,
}

/// A request that was not answered; the reason is in [`Remote::refusal`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refused(String);

impl Remote {
    /// Creates a server that is asked through `caller`, each of whose signs of life is reported.
    pub(super) fn new(caller: Caller, tell: UnboundedSender<Event>) -> Self {
        let refusal = Mutex::default();
        Self(Arc::new(Shared {
            caller,
            tell,
            refusal,
        }))
    }

    /// Takes the reason for the last refusal, if there is one.
    pub(super) fn refusal(&self) -> Option<ErrorText> {
        let refusal = self.0.refusal.lock();
        refusal.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Has something done by a thread of its own.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, StreamableHttpError<Refused>> + Send + 'static,
    ) -> Result<T, StreamableHttpError<Refused>> {
        let (done, result) = oneshot::channel();
        let shared = Arc::clone(&self.0);
        // Without a thread nothing is sent, and the receiver says that the channel is gone.
        drop(thread::Builder::new().spawn(move || drop(done.send(work(&shared)))));
        let gone = StreamableHttpError::TransportChannelClosed;
        result.await.unwrap_or(Err(gone))
    }
}

impl StreamableHttpClient for Remote {
    type Error = Refused;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answered {
        self.apart(move |shared| shared.post(&message, session.as_deref(), headers))
            .await
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Self::Error>> {
        self.apart(move |shared| {
            let headers = with_session(headers, Some(&session));
            let sent = shared.caller.send(&Method::DELETE, &headers, &[]);
            sent.map(drop)
                .map_err(|complaint| shared.refused(complaint))
        })
        .await
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session: Option<Arc<str>>,
        _last: Option<String>,
        _auth: Option<String>,
        _headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, StreamableHttpError<Self::Error>> {
        // What belongs to an answer comes with it; nothing else is listened to.
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

impl Shared {
    fn post(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answered {
        let body = serde_json::to_vec(message)?;
        let mut headers = with_session(headers, session);
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        let both = "application/json, text/event-stream".to_owned();
        headers.push(("accept".to_owned(), both));
        let response = self
            .caller
            .send(&Method::POST, &headers, &body)
            .map_err(|complaint| self.refused(complaint))?;
        self.alive();
        let status = response.status().as_u16();
        if matches!(status, 202 | 204) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == 404 && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let (begun, kind) = (header(SESSION), header("content-type"));
        if !(200..300).contains(&status) {
            let complaint = self.caller.judged(&self.caller.own_address(), response);
            let complaint = complaint.err().unwrap_or_default();
            return match legacy(message, session, status, &complaint.words) {
                Some(response) => Ok(response),
                None => Err(self.refused(complaint)),
            };
        }
        let body = response.into_body().into_reader();
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(body), begun));
        }
        let mut whole = Vec::new();
        body.take(LONGEST_MESSAGE as u64).read_to_end(&mut whole)?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&whole) {
            Ok(message) => Ok(StreamableHttpPostResponse::Json(message, begun)),
            // A message that is no request needs no answer.
            Err(_) if !matches!(message, ClientJsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Err(error) => Err(self.refused(ErrorText::unreadable(&error.to_string()))),
        }
    }

    /// The events of a body, read as they come by a thread of its own.
    fn events(&self, body: impl Read + Send + 'static) -> Events {
        let (sender, receiver) = unbounded_channel();
        let tell = self.tell.clone();
        let reading = thread::Builder::new().spawn(move || {
            let mut event = Sse::default();
            let read = read_lines(body, &mut |line| {
                drop(tell.send(Event::Life));
                let Some(line) = line else {
                    return Ok(ControlFlow::Continue(()));
                };
                if !line.is_empty() {
                    take(&mut event, line);
                    return Ok(ControlFlow::Continue(()));
                }
                let whole = std::mem::take(&mut event);
                let is_heard = whole.data.is_none() || sender.send(Ok(whole)).is_ok();
                Ok(if is_heard {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            });
            if let Err(Broken::TooMuch) = read {
                drop(tell.send(Event::TooMuch));
            }
        });
        // Without a thread the events end before the first one.
        drop(reading);
        Box::pin(UnboundedReceiverStream::new(receiver))
    }

    fn refused(&self, complaint: ErrorText) -> StreamableHttpError<Refused> {
        let words = complaint.words.clone();
        let refusal = self.refusal.lock();
        *refusal.unwrap_or_else(PoisonError::into_inner) = Some(complaint);
        StreamableHttpError::Client(Refused(words))
    }

    fn alive(&self) {
        // No one listens any more once the job is done.
        drop(self.tell.send(Event::Life));
    }
}

/// Returns the standard error of a server that does not know `server/discover`, so that the older
/// handshake begins: some servers refuse before they read the request.
fn legacy(
    message: &ClientJsonRpcMessage,
    session: Option<&str>,
    status: u16,
    words: &str,
) -> Option<StreamableHttpPostResponse> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return None;
    };
    let is_first =
        session.is_none() && matches!(request.request, ClientRequest::DiscoverRequest(_));
    if !is_first || !(400..500).contains(&status) || matches!(status, 401 | 403 | 429) {
        return None;
    }
    let error = ErrorData::invalid_request(words.to_owned(), None);
    let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
    Some(StreamableHttpPostResponse::Json(error, None))
}

/// Processes a field of an event.
fn take(event: &mut Sse, line: &str) {
    let (field, value) = line.split_once(':').unwrap_or((line, ""));
    let value = value.strip_prefix(' ').unwrap_or(value);
    match field {
        "data" => match &mut event.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => event.data = Some(value.to_owned()),
        },
        "event" => event.event = Some(value.to_owned()),
        "id" => event.id = Some(value.to_owned()),
        // A comment, or a reconnection delay, which is not used here.
        _ => {}
    }
}

fn with_session(
    headers: HashMap<HeaderName, HeaderValue>,
    session: Option<&str>,
) -> Vec<(String, String)> {
    let own = session.map(|session| (SESSION.to_owned(), session.to_owned()));
    let all = headers.into_iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?.to_owned();
        Some((name.as_str().to_owned(), value))
    });
    all.chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_field_by_field() {
        let mut event = Sse::default();
        for line in [
            ": a comment",
            "event: message",
            "data: {\"a\":",
            "data:1}",
            "id: 7",
            "retry: 5",
            "strange",
        ] {
            take(&mut event, line);
        }
        assert_eq!(event.data.as_deref(), Some("{\"a\":\n1}"));
        assert_eq!(event.event.as_deref(), Some("message"));
        assert_eq!(event.id.as_deref(), Some("7"));
        assert_eq!(event.retry, None);
    }
}
