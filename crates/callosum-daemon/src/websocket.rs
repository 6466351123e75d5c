//! The bus: JSON messages over a WebSocket (`docs/formats/mesh-bus.md`).

use std::{future::pending, rc::Rc, time::Duration};

use callosum_mesh::{
    event::read_value,
    journal::{Cursor, Durability, JournalError},
    topic::Pattern,
};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
    upgrade::{self, Upgraded},
};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::time::Instant;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message, Utf8Bytes,
        handshake::derive_accept_key,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

use super::{
    ServerState,
    broker::Published,
    get_events::{self, MOST_PATTERNS},
    post_events::{self, PostError},
    rate::Meter,
    request::LONGEST_BODY,
    response::{self, Reply},
    send_queue::Item,
    subscription::Subscription,
};

/// Time after which a silent client is pinged.
const BEAT: Duration = Duration::from_secs(20);

/// Time after which a client is disconnected that sends nothing, or reads nothing.
const PATIENCE: Duration = Duration::from_mins(1);

/// Time that a request waits by default.
const USUAL_WAIT: Duration = Duration::from_mins(5);

/// Longest that a request may be waited for.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Most requests of one client that wait to be acknowledged.
const MOST_REQUESTS: usize = 256;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// The answer to a request that wants to change to the bus.
pub(super) fn answer(
    house: &Rc<ServerState>,
    meter: Rc<Meter>,
    request: &mut Request<Incoming>,
) -> Response<Reply> {
    let headers = request.headers();
    let is = |name: header::HeaderName, wanted: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| {
            let mut parts = value.split(',');
            parts.any(|part| part.trim().eq_ignore_ascii_case(wanted))
        })
    };
    let is_sound = is(header::UPGRADE, "websocket")
        && is(header::CONNECTION, "upgrade")
        && is(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_sound);
    let Some(accept) = key.map(|key| derive_accept_key(key.as_bytes())) else {
        let words = "not a handshake of WebSocket version 13";
        return response::error(StatusCode::BAD_REQUEST, words);
    };
    let Some(place) = house.listen(|listeners| &listeners.bus) else {
        house.hub.counts.refused("full");
        let words = "too many subscribers";
        return response::later(StatusCode::SERVICE_UNAVAILABLE, words, PATIENCE);
    };
    let upgrade = upgrade::on(request);
    let own = Rc::clone(house);
    house.begin(async move {
        let _place = place;
        let Ok(upgraded) = upgrade.await else {
            return;
        };
        let config = WebSocketConfig::default()
            .read_buffer_size(8 * 1024)
            .write_buffer_size(16 * 1024)
            .max_message_size(Some(LONGEST_BODY))
            .max_frame_size(Some(LONGEST_BODY));
        let stream = TokioIo::new(upgraded);
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        Session::new(own, meter, socket).run().await;
    });
    let mut response = Response::new(Reply::Whole(None));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    if let Ok(accept) = HeaderValue::from_str(&accept) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

/// Message of a client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientCommand<'a> {
    op: String,
    /// Returned with the answer as it is.
    #[serde(rename = "ref")]
    reference: Option<Value>,
    topics: Option<Vec<Pattern>>,
    since: Option<String>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    events: Option<&'a RawValue>,
    durability: Option<String>,
    of: Option<String>,
    source: Option<String>,
    payload: Option<Value>,
    timeout_seconds: Option<f64>,
}

/// As much of what a client says as has to come back in any case.
#[derive(Debug, Deserialize)]
struct Referring {
    #[serde(rename = "ref")]
    reference: Option<Value>,
}

/// A client.
struct Session {
    house: Rc<ServerState>,
    meter: Rc<Meter>,
    socket: Socket,
    feed: Option<Subscription>,
    /// Hears of acknowledgements while a request of the client waits for one.
    acks: Option<Subscription>,
    requests: Vec<PendingCommand>,
    /// Time of the client's last message.
    heard: Instant,
    /// When it was last asked whether it is there.
    asked: Instant,
}

/// A request that waits to be acknowledged.
struct PendingCommand {
    id: String,
    until: Instant,
}

/// Reason for the end of a session.
enum Over {
    /// The client is gone, or takes nothing.
    Gone,
    /// The close frame has this code and reason.
    Close(CloseCode, &'static str),
}

impl From<Error> for Over {
    fn from(error: Error) -> Self {
        match error {
            Error::Capacity(_) => Self::Close(
                CloseCode::Size,
                "the message is too large (limit: 1,048,576 bytes)",
            ),
            Error::Protocol(_) => Self::Close(CloseCode::Protocol, "not the WebSocket protocol"),
            Error::Utf8(_) => Self::Close(CloseCode::Invalid, "not UTF-8 text"),
            _ => Self::Gone,
        }
    }
}

impl Session {
    fn new(house: Rc<ServerState>, meter: Rc<Meter>, socket: Socket) -> Self {
        Self {
            house,
            meter,
            socket,
            feed: None,
            acks: None,
            requests: Vec::new(),
            heard: Instant::now(),
            asked: Instant::now(),
        }
    }

    async fn run(mut self) {
        let over = loop {
            if let Err(over) = self.step().await {
                break over;
            }
        };
        if let Over::Close(code, reason) = over {
            let frame = CloseFrame {
                code,
                reason: reason.into(),
            };
            // Whether it is heard or not, the connection ends.
            drop(
                tokio::time::timeout(Duration::from_secs(1), self.socket.close(Some(frame))).await,
            );
        }
    }

    /// Does the next that there is to do.
    async fn step(&mut self) -> Result<(), Over> {
        let mut stop = self.house.stop.clone();
        let until = self.requests.iter().map(|waiting| waiting.until).min();
        let beat = self.heard.max(self.asked) + BEAT;
        let until = until.map_or(beat, |until| until.min(beat));
        tokio::select! {
            message = self.socket.next() => match message {
                Some(message) => self.hear(message?).await,
                None => Err(Over::Gone),
            },
            items = next(&mut self.feed) => self.deliver(items).await,
            items = next(&mut self.acks) => self.match_acks(items).await,
            () = tokio::time::sleep_until(until) => self.beat().await,
            _ = stop.wait_for(|is_over| *is_over) => {
                Err(Over::Close(CloseCode::Away, "the daemon is stopping"))
            }
        }
    }

    async fn hear(&mut self, message: Message) -> Result<(), Over> {
        self.heard = Instant::now();
        let text = match message {
            Message::Text(text) => text,
            Message::Close(_) => return Err(Over::Gone),
            Message::Binary(_) => {
                return Err(Over::Close(CloseCode::Unsupported, "messages must be text"));
            }
            _ => return Ok(()),
        };
        let ask = match serde_json::from_str::<ClientCommand<'_>>(&text) {
            Ok(ask) => ask,
            Err(error) => {
                self.house.hub.counts.refused("faults");
                let words = format!("invalid message: {error}");
                let reference = serde_json::from_str::<Referring>(&text).ok();
                let reference = reference.and_then(|it| it.reference);
                return self
                    .say(&json!({ "op": "error", "ref": reference, "error": words }))
                    .await;
            }
        };
        let reference = ask.reference.clone();
        match self.answer(ask).await {
            Ok(mut answer) => {
                answer["ref"] = reference.into();
                self.say(&answer).await
            }
            Err(mut error) => {
                error["op"] = "error".into();
                error["ref"] = reference.into();
                self.say(&error).await
            }
        }
    }

    /// Returns the answer to a client's message, or the error.
    async fn answer(&mut self, ask: ClientCommand<'_>) -> Result<Value, Value> {
        let wrong = |words: &str| json!({ "error": words });
        match ask.op.as_str() {
            "subscribe" => {
                let topics = ask.topics.unwrap_or_else(|| vec![Pattern::all()]);
                if topics.is_empty() || topics.len() > MOST_PATTERNS {
                    return Err(wrong(&format!(
                        "`topics` must have 1 to {MOST_PATTERNS} patterns"
                    )));
                }
                let since = ask.since.map(|since| since.parse::<Cursor>()).transpose();
                let since = since.map_err(|error| wrong(&error.to_string()))?;
                let patterns = json!(topics);
                let feed = Subscription::begin(&self.house.hub, topics, since.as_ref());
                let cursor = feed.cursor().to_string();
                self.feed = Some(feed);
                Ok(json!({ "op": "subscribed", "topics": patterns, "cursor": cursor }))
            }
            "unsubscribe" => {
                self.feed = None;
                Ok(json!({ "op": "unsubscribed" }))
            }
            "publish" => {
                let ((Some(what), None) | (None, Some(what))) = (ask.event, ask.events) else {
                    return Err(wrong(
                        "`publish` must have an `event` or a list of `events`",
                    ));
                };
                let durability = durability(ask.durability.as_deref())?;
                let published = self.publish(what.get(), durability).await?;
                Ok(self.acknowledged(&published))
            }
            "request" => {
                let Some(what) = ask.event else {
                    return Err(wrong(
                        "`request` must have an `event` whose type is `calc.request`",
                    ));
                };
                let durability = durability(ask.durability.as_deref())?;
                self.request(what, ask.timeout_seconds, durability).await
            }
            "ack" => {
                let (Some(of), Some(source)) = (ask.of, ask.source) else {
                    return Err(wrong(
                        "`ack` must have `of`, the id of a request, and `source`",
                    ));
                };
                let mut payload = match ask.payload {
                    None => serde_json::Map::new(),
                    Some(Value::Object(payload)) => payload,
                    Some(_) => return Err(wrong("`payload` must be an object")),
                };
                payload.insert("of".to_owned(), of.into());
                let event = json!({ "type": "calc.ack", "source": source, "payload": payload });
                let durability = durability(ask.durability.as_deref())?;
                let published = self.publish(&event.to_string(), durability).await?;
                Ok(self.acknowledged(&published))
            }
            "ping" => Ok(json!({ "op": "pong" })),
            _ => Err(wrong(
                "`op` must be subscribe, unsubscribe, publish, request, ack or ping",
            )),
        }
    }

    fn acknowledged(&self, published: &Published) -> Value {
        let acks = published.acks(&self.house.hub.origin());
        json!({ "op": "ack", "acks": acks })
    }

    async fn publish(&self, what: &str, durability: Durability) -> Result<Published, Value> {
        let _in_hand = self.house.long_bodies.begin(what.len()).await;
        let taken = post_events::taken(&self.house, &self.meter, what.as_bytes(), durability).await;
        taken.map_err(|refusal: PostError| refusal.to_json(&self.house))
    }

    /// Hands a request in, and waits for who acknowledges it without keeping the client waiting.
    async fn request(
        &mut self,
        what: &RawValue,
        seconds: Option<f64>,
        durability: Durability,
    ) -> Result<Value, Value> {
        let wrong = |words: &str| json!({ "error": words });
        if self.requests.len() >= MOST_REQUESTS {
            return Err(wrong("too many unacknowledged requests (limit: 256)"));
        }
        let wait = match seconds {
            None => USUAL_WAIT,
            Some(seconds) => match Duration::try_from_secs_f64(seconds) {
                Ok(wait) if wait <= LONGEST_WAIT => wait,
                _ => return Err(wrong("`timeout_seconds` must be from 0 to 86,400")),
            },
        };
        let mut value = read_value(what.get()).map_err(|error| wrong(&error.to_string()))?;
        let Some(event) = value.as_object_mut() else {
            return Err(wrong("`event` must be an object"));
        };
        event.entry("type").or_insert_with(|| "calc.request".into());
        if event["type"] != "calc.request" {
            return Err(wrong("the `type` of a request must be `calc.request`"));
        }
        if durability == Durability::Ephemeral {
            return Err(wrong(
                "requests are stored: `durability` must be logged or synced",
            ));
        }
        // Before the request is published: no acknowledgement can be missed.
        let before = self.house.hub.seen();
        let listen = |since: Option<&Cursor>| {
            let acks = "calc.ack".parse().expect("it is a pattern");
            Subscription::begin(&self.house.hub, vec![acks], since)
        };
        if self.acks.is_none() {
            self.acks = Some(listen(None));
        }
        let published = self.publish(&value.to_string(), durability).await?;
        // A request that was published before, under the same id, may have been acknowledged
        // without a listener here. Acknowledgements of the others that wait, and that were not
        // delivered yet, are read again as well.
        let stood = published.events.iter().flatten();
        let stood = stood.filter(|event| event.seq <= before);
        if let Some(event) = stood.min_by_key(|event| event.seq) {
            let listening = self.acks.as_ref().map(Subscription::cursor);
            let listening = listening.filter(|at| at.origin.as_deref() == Some(&*event.origin));
            let delivered = listening.map_or(event.seq, |at| at.seq);
            self.acks = Some(listen(Some(&Cursor {
                origin: Some(event.origin.clone()),
                seq: event.seq.min(delivered),
            })));
        }
        let until = Instant::now() + wait;
        for event in published.events.iter().flatten() {
            // If it is sent again while it waits, it is one request with one result.
            let standing = self.requests.iter_mut();
            match standing.into_iter().find(|one| one.id == event.id) {
                Some(standing) => standing.until = standing.until.max(until),
                None => self.requests.push(PendingCommand {
                    id: event.id.clone(),
                    until,
                }),
            }
        }
        Ok(self.acknowledged(&published))
    }

    /// Passes on what belongs to a request of the client.
    async fn match_acks(&mut self, items: Result<Vec<Item>, JournalError>) -> Result<(), Over> {
        for item in items.map_err(|_| unreadable())? {
            let Item::Event(frame) = item else {
                continue;
            };
            let of = frame.event.payload.get("of").and_then(Value::as_str);
            let found = self
                .requests
                .iter()
                .position(|waiting| Some(&*waiting.id) == of);
            let Some(found) = found else {
                continue;
            };
            let waiting = self.requests.swap_remove(found);
            self.say(&json!({ "op": "acked", "of": waiting.id, "event": frame.event }))
                .await?;
        }
        self.listen_for_acks_no_longer();
        Ok(())
    }

    fn listen_for_acks_no_longer(&mut self) {
        if self.requests.is_empty() {
            self.acks = None;
        }
    }

    async fn deliver(&mut self, items: Result<Vec<Item>, JournalError>) -> Result<(), Over> {
        for item in items.map_err(|_| unreadable())? {
            let text = match item {
                Item::Event(frame) => frame.bus(),
                Item::Notice(notice) => {
                    let mut message = get_events::notice(&notice);
                    message["op"] = "notice".into();
                    Utf8Bytes::from(message.to_string())
                }
            };
            self.feed_socket(Message::Text(text)).await?;
        }
        self.flush().await
    }

    /// Reports requests that have timed out, pings the client, and disconnects it if it does not
    /// answer.
    async fn beat(&mut self) -> Result<(), Over> {
        let now = Instant::now();
        let (late, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.requests)
            .into_iter()
            .partition(|waiting| waiting.until <= now);
        self.requests = waiting;
        self.listen_for_acks_no_longer();
        for waiting in late {
            self.say(&json!({ "op": "unacked", "of": waiting.id }))
                .await?;
        }
        if now >= self.heard + PATIENCE {
            return Err(Over::Close(
                CloseCode::Away,
                "received nothing for a minute",
            ));
        }
        if now >= self.heard.max(self.asked) + BEAT {
            self.asked = now;
            self.feed_socket(Message::Ping(tokio_tungstenite::tungstenite::Bytes::new()))
                .await?;
            self.flush().await?;
        }
        Ok(())
    }

    async fn say(&mut self, value: &Value) -> Result<(), Over> {
        self.feed_socket(Message::Text(value.to_string().into()))
            .await?;
        self.flush().await
    }

    async fn feed_socket(&mut self, message: Message) -> Result<(), Over> {
        let fed = tokio::time::timeout(PATIENCE, self.socket.feed(message)).await;
        Ok(fed.map_err(|_| Over::Gone)??)
    }

    async fn flush(&mut self) -> Result<(), Over> {
        let flushed = tokio::time::timeout(PATIENCE, self.socket.flush()).await;
        Ok(flushed.map_err(|_| Over::Gone)??)
    }
}

fn unreadable() -> Over {
    Over::Close(CloseCode::Error, "cannot read the log")
}

/// Returns the next items of a feed, or waits forever if there is none.
async fn next(feed: &mut Option<Subscription>) -> Result<Vec<Item>, JournalError> {
    match feed {
        Some(feed) => feed.next().await,
        None => pending().await,
    }
}

fn durability(name: Option<&str>) -> Result<Durability, Value> {
    let Some(name) = name else {
        return Ok(Durability::Logged);
    };
    let known = Durability::ALL
        .into_iter()
        .find(|known| known.as_str() == name);
    known.ok_or_else(|| json!({ "error": "`durability` must be ephemeral, logged or synced" }))
}
