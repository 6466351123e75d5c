//! `POST /events`: publishes one event or a list, all or none.

use std::{rc::Rc, sync::Arc};

use callosum_mesh::{
    MeshError, Undecided, board,
    event::{Draft, InvalidEvent, LONGEST, UnreadValue, read_value},
    journal::{Durability, JournalError},
};
use hyper::{
    Request, Response, StatusCode,
    body::{Body as _, Incoming},
};
use serde_json::{Value, json, value::RawValue};
use tokio::time::Instant;

use super::{
    ServerState,
    broker::{Published, Unpublished},
    rate::Meter,
    request,
    response::{self, Reply},
};

/// Most events of a list.
const MOST: usize = 1000;

/// Reason for rejecting events.
#[derive(Debug)]
pub(super) enum PostError {
    /// Something is wrong with them: with which, and what.
    Faults(Vec<(usize, InvalidEvent)>),
    /// A list is longer than it may be.
    TooMany,
    /// One is longer than it may be.
    TooLong(usize),
    /// Its connection has to wait.
    Rate(std::time::Duration),
    /// The log did not take them.
    Log(Arc<Undecided>),
    /// The board did not: another has the task, or it is not there; and which of a list.
    Board(usize, board::BoardError),
    /// Another event has the id of one of them.
    Reused(Arc<Undecided>),
    /// More wait to be decided than may.
    Busy,
}

impl From<Unpublished> for PostError {
    fn from(unpublished: Unpublished) -> Self {
        match unpublished {
            Unpublished::Busy => Self::Busy,
            Unpublished::Ephemeral(at) => {
                let fault = InvalidEvent {
                    key: "durability".to_owned(),
                    found: "`ephemeral`".to_owned(),
                    wanted: "logged or synced: events that change the board are stored".to_owned(),
                };
                Self::Faults(vec![(at, fault)])
            }
            Unpublished::Mesh(undecided) => match &undecided.error {
                MeshError::Refused(refusal) => Self::Board(undecided.at, refusal.clone()),
                MeshError::Faults(faults) => {
                    let faults = faults.0.iter();
                    Self::Faults(faults.map(|fault| (undecided.at, fault.clone())).collect())
                }
                MeshError::Journal(JournalError::Reused { .. }) => Self::Reused(undecided),
                _ => Self::Log(undecided),
            },
        }
    }
}

/// Time after which a client should retry when too many wait.
const BUSY: std::time::Duration = std::time::Duration::from_secs(1);

/// The answer to a request that hands events in.
pub(super) async fn answer(
    house: &Rc<ServerState>,
    meter: &Meter,
    request: Request<Incoming>,
) -> Response<Reply> {
    let mut durability = Durability::Logged;
    let query = match request::query(request.uri()) {
        Ok(query) => query,
        Err(words) => return response::error(StatusCode::BAD_REQUEST, &words),
    };
    for (key, value) in query {
        let known = Durability::ALL
            .into_iter()
            .find(|known| known.as_str() == value);
        match (key.as_str(), known) {
            ("durability", Some(known)) => durability = known,
            ("durability", None) => {
                let words = "`durability` must be ephemeral, logged or synced";
                return response::error(StatusCode::BAD_REQUEST, words);
            }
            _ => {
                let words = format!("unknown query key `{key}` (allowed: `durability`)");
                return response::error(StatusCode::BAD_REQUEST, &words);
            }
        }
    }
    let body = request.into_body();
    // What does not say how long it is may be as long as any.
    let bytes = body.size_hint().exact();
    let bytes = bytes.map_or(usize::MAX, |bytes| bytes as usize);
    let _in_hand = house.long_bodies.begin(bytes).await;
    let body = match request::body(body).await {
        Ok(body) => body,
        Err(unread) => {
            let (label, status, words) = unread.refusal();
            house.hub.counts.refused(label);
            return response::error(status, words);
        }
    };
    let is_list = body.trim_ascii_start().first() == Some(&b'[');
    match taken(house, meter, &body, durability).await {
        Ok(published) => {
            let mut acks = published.acks(&house.hub.origin());
            let answer = if is_list {
                Value::Array(acks)
            } else {
                acks.pop().unwrap_or_default()
            };
            response::data(StatusCode::OK, &answer)
        }
        Err(refusal) => refusal.response(house),
    }
}

impl Published {
    /// Returns the acknowledgement of each event: its place and durability. `seq` is null for an
    /// event that is not stored, and for one that changed nothing, which also has no `id`.
    pub(super) fn acks(&self, origin: &str) -> Vec<Value> {
        let durability = self.durability.as_str();
        let acks = self.events.iter().map(|event| match event {
            Some(event) => json!({
                "seq": (event.seq > 0).then_some(event.seq),
                "origin": event.origin,
                "id": event.id,
                "durability": durability,
            }),
            None => json!({
                "seq": null,
                "origin": origin,
                "id": null,
                "durability": durability,
                "is_unchanged": true,
            }),
        });
        acks.collect()
    }
}

/// Reads one event or a list of them, stores them and delivers them.
pub(super) async fn taken(
    house: &Rc<ServerState>,
    meter: &Meter,
    body: &[u8],
    durability: Durability,
) -> Result<Published, PostError> {
    let drafts = read(body)?;
    meter
        .take(drafts.len(), Instant::now())
        .map_err(PostError::Rate)?;
    Ok(house.hub.publish(drafts, durability).await?)
}

fn read(body: &[u8]) -> Result<Vec<Draft>, PostError> {
    let whole = |words: String| {
        let fault = InvalidEvent {
            key: String::new(),
            found: words,
            wanted: "an event, or a list of events, in JSON".to_owned(),
        };
        PostError::Faults(vec![(0, fault)])
    };
    let unread = |error: serde_json::Error| whole(format!("invalid JSON ({error})"));
    let is_list = body.trim_ascii_start().first() == Some(&b'[');
    let items: Vec<&RawValue> = if is_list {
        serde_json::from_slice(body).map_err(unread)?
    } else {
        vec![serde_json::from_slice(body).map_err(unread)?]
    };
    if items.is_empty() {
        return Err(whole("an empty list".to_owned()));
    }
    if items.len() > MOST {
        return Err(PostError::TooMany);
    }
    let mut drafts = Vec::with_capacity(items.len());
    let mut faults = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        if item.get().len() > LONGEST {
            return Err(PostError::TooLong(index));
        }
        let value = match read_value(item.get()) {
            Ok(value) => value,
            Err(UnreadValue::NoJson(error)) => return Err(unread(error)),
            Err(UnreadValue::TooLarge { found }) => {
                let fault = InvalidEvent {
                    key: String::new(),
                    found: format!("with `{found}` in it"),
                    wanted: "without whole numbers beyond -2^63 and 2^64-1: write them as strings"
                        .to_owned(),
                };
                faults.push((index, fault));
                continue;
            }
        };
        match Draft::read(&value) {
            Ok(draft) => drafts.push(draft),
            Err(found) => faults.extend(found.0.into_iter().map(|fault| (index, fault))),
        }
    }
    if faults.is_empty() {
        Ok(drafts)
    } else {
        Err(PostError::Faults(faults))
    }
}

impl PostError {
    /// As a label of a metric.
    fn label(&self) -> &'static str {
        match self {
            Self::Faults(_) => "faults",
            Self::TooMany | Self::TooLong(_) => "size",
            Self::Rate(_) => "rate",
            Self::Log(_) => "log",
            Self::Board(..) => "board",
            Self::Reused(_) => "reused",
            Self::Busy => "busy",
        }
    }

    /// Returns an object with a member `error`, and more members with details.
    pub(super) fn to_json(&self, house: &ServerState) -> Value {
        house.hub.counts.refused(self.label());
        match self {
            Self::Faults(faults) => {
                let faults: Vec<Value> = faults
                    .iter()
                    .map(|(index, fault)| {
                        json!({
                            "index": index,
                            "key": fault.key,
                            "found": fault.found,
                            "wanted": fault.wanted,
                        })
                    })
                    .collect();
                json!({ "error": "nothing was stored: the request is invalid", "faults": faults })
            }
            Self::TooMany => {
                json!({ "error": format!("a list has at most {MOST} events") })
            }
            Self::TooLong(index) => {
                let words = format!("an event has at most {LONGEST} bytes");
                json!({ "error": words, "index": index })
            }
            Self::Rate(wait) => json!({
                "error": "this connection sends too many events per second",
                "retry_after_seconds": wait.as_secs_f64(),
            }),
            Self::Board(index, refusal) => json!({ "error": refusal.to_string(), "index": index }),
            Self::Reused(undecided) => json!({ "error": undecided.error.to_string() }),
            Self::Busy => json!({
                "error": "too many pending board events (limit: 256)",
                "retry_after_seconds": BUSY.as_secs_f64(),
            }),
            Self::Log(undecided) => {
                let error = &undecided.error;
                let mut words = error.to_string();
                let mut cause = std::error::Error::source(error);
                while let Some(error) = cause {
                    words.push_str(": ");
                    words.push_str(&error.to_string());
                    cause = error.source();
                }
                json!({ "error": words })
            }
        }
    }

    fn response(&self, house: &ServerState) -> Response<Reply> {
        let body = self.to_json(house);
        let status = match self {
            Self::Faults(_) => StatusCode::BAD_REQUEST,
            Self::TooMany | Self::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Rate(wait) => {
                let words = body["error"].as_str().unwrap_or_default();
                return response::later(StatusCode::TOO_MANY_REQUESTS, words, *wait);
            }
            Self::Board(
                _,
                board::BoardError::Full { .. } | board::BoardError::TooManyFields { .. },
            ) => StatusCode::INSUFFICIENT_STORAGE,
            Self::Board(..) | Self::Reused(_) => StatusCode::CONFLICT,
            Self::Busy => {
                let words = body["error"].as_str().unwrap_or_default();
                return response::later(StatusCode::SERVICE_UNAVAILABLE, words, BUSY);
            }
            Self::Log(undecided) => match &undecided.error {
                MeshError::Disk(error)
                | MeshError::Journal(JournalError::Disk(error) | JournalError::Unsynced(error))
                    if error.is_full() =>
                {
                    StatusCode::INSUFFICIENT_STORAGE
                }
                MeshError::Journal(JournalError::TooLong { .. }) => StatusCode::PAYLOAD_TOO_LARGE,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            },
        };
        response::data(status, &body)
    }
}
