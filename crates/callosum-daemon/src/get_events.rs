//! `GET /events`: the log from a cursor to its present end.
//!
//! A response is made in pieces, each after the one before was taken: a client that does not read
//! costs the same little, no matter how much it asked for. The number of responses in progress is
//! limited; later clients wait, and cost nothing until then.

use std::{rc::Rc, time::Duration};

use callosum_mesh::{
    journal::{Cursor, JournalError, Notice, Reader},
    topic::Pattern,
};
use callosum_redact::terminal_escape::in_json;
use hyper::{HeaderMap, Response, StatusCode, Uri, header};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{
    ServerState,
    broker::Hub,
    request,
    response::{self, Piece, Reply},
};

/// Default number of events.
const USUAL: usize = 100;

/// Most events of an answer.
const MOST: usize = 1000;

/// Most bytes of an answer, but for its last event.
const LONGEST: usize = 4 * 1024 * 1024;

/// Most patterns of one who listens.
pub(super) const MOST_PATTERNS: usize = 32;

/// About so many bytes of the log are read at once, and make a piece.
const PIECE_BYTES: u64 = 16 * 1024;

/// Time after which a client that reads nothing is disconnected. Also the longest wait for a place
/// among the responses in pieces.
const PATIENCE: Duration = Duration::from_mins(1);

/// The same where others wait for the place.
const PATIENCE_OF_OTHERS: Duration = Duration::from_secs(1);

/// Interval of checks whether others wait.
const LOOK: Duration = Duration::from_millis(100);

/// Time after which a client should retry when all places are taken.
const LATER: Duration = Duration::from_secs(5);

/// Parameters of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) since: Option<Cursor>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) limit: usize,
}

impl Wanted {
    /// Reads it from a query, or says what is wrong with that.
    pub(super) fn read(uri: &Uri) -> Result<Self, String> {
        let mut wanted = Self {
            since: None,
            patterns: Vec::new(),
            limit: USUAL,
        };
        for (key, value) in request::query(uri)? {
            match key.as_str() {
                "since" if wanted.since.is_some() => {
                    return Err("`since` is given twice".to_owned());
                }
                "since" => {
                    let cursor = value.parse::<Cursor>();
                    wanted.since = Some(cursor.map_err(|error| error.to_string())?);
                }
                "topic" if wanted.patterns.len() == MOST_PATTERNS => {
                    return Err(format!("too many topics (limit: {MOST_PATTERNS})"));
                }
                "topic" => {
                    let pattern = value.parse::<Pattern>();
                    wanted
                        .patterns
                        .push(pattern.map_err(|error| error.to_string())?);
                }
                "limit" => {
                    let limit = value
                        .parse()
                        .ok()
                        .filter(|limit| (1..=MOST).contains(limit));
                    wanted.limit = limit.ok_or_else(|| {
                        format!("`limit` must be a whole number from 1 to {MOST}")
                    })?;
                }
                _ => {
                    return Err(format!(
                        "unknown query key `{key}` (allowed: `since`, `topic`, `limit`)"
                    ));
                }
            }
        }
        if wanted.patterns.is_empty() {
            wanted.patterns.push(Pattern::all());
        }
        Ok(wanted)
    }
}

/// The answer to a request that reads; as JSON lines where it asks for them.
pub(super) async fn answer(
    house: &Rc<ServerState>,
    uri: &Uri,
    headers: &HeaderMap,
    ends: Rc<Notify>,
) -> Response<Reply> {
    let wanted = match Wanted::read(uri) {
        Ok(wanted) => wanted,
        Err(words) => return response::error(StatusCode::BAD_REQUEST, &words),
    };
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    let is_lines = accepts.is_some_and(|accepts| accepts.contains("ndjson"));
    let kind = if is_lines {
        "application/x-ndjson"
    } else {
        "application/json"
    };
    let unreadable = |error: JournalError| {
        house.hub.counts.refused("log");
        response::error(StatusCode::SERVICE_UNAVAILABLE, &error.to_string())
    };
    let begun = Answering::begin(house, wanted.clone(), is_lines).await;
    let (mut answering, mut first) = match begun {
        Ok(begun) => begun,
        Err(error) => return unreadable(error),
    };
    if answering.is_over {
        return response::whole(StatusCode::OK, kind, first);
    }
    let place = if let Some(place) = house.long_answers.try_begin() {
        place
    } else {
        // Nothing of it is kept until then.
        drop((answering, first));
        let Some(place) = house.long_answers.begin(PATIENCE).await else {
            house.hub.counts.refused("full");
            let words = "too many concurrent long responses (limit: 16)";
            return response::later(StatusCode::SERVICE_UNAVAILABLE, words, LATER);
        };
        (answering, first) = match Answering::begin(house, wanted, is_lines).await {
            Ok(begun) => begun,
            Err(error) => return unreadable(error),
        };
        place
    };
    let (sender, receiver) = mpsc::channel(1);
    let mut stop = house.stop.clone();
    let own = Rc::clone(house);
    house.begin(async move {
        let _place = place;
        tokio::select! {
            progress = send_pieces(&own, answering, first, &sender) => match progress {
                Ok(Progress::All) => {}
                // What waits to be sent goes with the connection: its other side takes nothing.
                Ok(Progress::Left) => ends.notify_one(),
                Err(_) => own.hub.counts.refused("log"),
            },
            () = sender.closed() => {}
            _ = stop.wait_for(|is_over| *is_over) => {}
        }
    });
    response::of(kind, Reply::Pieces(Some(receiver)))
}

/// Sends piece after piece, until the last, or until the client stops reading.
async fn send_pieces(
    house: &ServerState,
    mut answering: Answering,
    first: String,
    sender: &mpsc::Sender<Piece>,
) -> Result<Progress, JournalError> {
    let mut first = Some(first);
    while let Some(room) = room(house, sender).await {
        let text = match first.take() {
            Some(first) => first,
            None => answering.piece().await?,
        };
        let is_last = answering.is_over;
        room.send(Piece { text, is_last });
        if is_last {
            return Ok(Progress::All);
        }
    }
    Ok(Progress::Left)
}

/// Progress of a response.
enum Progress {
    All,
    /// The client does not take the rest.
    Left,
}

/// Waits until the piece before was taken. Returns `None` if the client does not take it.
async fn room<'a>(
    house: &ServerState,
    sender: &'a mpsc::Sender<Piece>,
) -> Option<mpsc::Permit<'a, Piece>> {
    let began = Instant::now();
    loop {
        if let Ok(room) = tokio::time::timeout(LOOK, sender.reserve()).await {
            return room.ok();
        }
        let patience = if house.long_answers.is_waited_for() {
            PATIENCE_OF_OTHERS
        } else {
            PATIENCE
        };
        if began.elapsed() >= patience {
            return None;
        }
    }
}

/// An answer that is being made.
struct Answering {
    hub: Rc<Hub>,
    reader: Reader,
    wanted: Wanted,
    is_lines: bool,
    /// Events and bytes of them so far.
    events: usize,
    bytes: usize,
    /// Notices for the end of the response, if they are not among the events.
    notices: Vec<Value>,
    /// Whether nothing follows.
    is_over: bool,
}

impl Answering {
    /// Begins an answer, and makes its first piece.
    async fn begin(
        house: &ServerState,
        wanted: Wanted,
        is_lines: bool,
    ) -> Result<(Self, String), JournalError> {
        let since = wanted.since.clone().unwrap_or(Cursor::START);
        let mut answering = Self {
            hub: Rc::clone(&house.hub),
            reader: house.hub.read_after(&since),
            wanted,
            is_lines,
            events: 0,
            bytes: 0,
            notices: Vec::new(),
            is_over: false,
        };
        let first = answering.piece().await?;
        Ok((answering, first))
    }

    /// The next piece: what is wanted of so much of the log, with some of it, or the end.
    async fn piece(&mut self) -> Result<String, JournalError> {
        let mut text = String::new();
        if !self.is_lines && self.events == 0 {
            text.push_str("{\"events\":[");
        }
        let before = self.events;
        while self.events == before && !self.is_over {
            let hub = Rc::clone(&self.hub);
            let _piece = hub.piece().await;
            self.read(&mut text)?;
        }
        Ok(text)
    }

    fn read(&mut self, text: &mut String) -> Result<(), JournalError> {
        let left = self.wanted.limit - self.events;
        // One more than are wanted, so that it is known whether the last of them is the end.
        let batch = self.reader.next_batch_within(left + 1, PIECE_BYTES)?;
        for notice in &batch.notices {
            if self.is_lines {
                text.push_str(&json!({ "notice": self::notice(notice) }).to_string());
                text.push('\n');
            } else {
                self.notices.push(self::notice(notice));
            }
        }
        let mut events = batch.events.into_iter();
        while let Some(event) = events.next() {
            let mut patterns = self.wanted.patterns.iter();
            if !patterns.any(|pattern| pattern.matches(&event.topic)) {
                continue;
            }
            let line = serde_json::to_string(&event).expect("an event can be written as JSON");
            if !self.is_lines && self.events > 0 {
                text.push(',');
            }
            text.push_str(&in_json(&line));
            if self.is_lines {
                text.push('\n');
            }
            self.events += 1;
            self.bytes += line.len();
            if self.events == self.wanted.limit || self.bytes >= LONGEST {
                let cursor = Cursor {
                    origin: Some(event.origin),
                    seq: event.seq,
                };
                let is_end = batch.is_end && events.len() == 0;
                self.end(text, &cursor, is_end);
                return Ok(());
            }
        }
        if batch.is_end {
            self.end(text, &self.reader.cursor(), true);
        }
        Ok(())
    }

    fn end(&mut self, text: &mut String, cursor: &Cursor, is_end: bool) {
        self.is_over = true;
        if !self.is_lines {
            let notices = json!(self.notices);
            let cursor = json!(cursor.to_string());
            text.push_str("],\"notices\":");
            text.push_str(&notices.to_string());
            text.push_str(",\"cursor\":");
            text.push_str(&cursor.to_string());
            text.push_str(if is_end {
                ",\"is_end\":true}\n"
            } else {
                ",\"is_end\":false}\n"
            });
        }
    }
}

/// A notice in JSON.
pub(super) fn notice(notice: &Notice) -> Value {
    match notice {
        Notice::Reset { origin } => json!({ "kind": "reset", "origin": origin }),
        Notice::Dropped { count } => json!({ "kind": "dropped", "count": count }),
        Notice::Damaged { count, path } => {
            json!({ "kind": "damaged", "count": count, "path": path })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Wanted, String> {
        Wanted::read(&format!("/events?{query}").parse().unwrap())
    }

    #[test]
    fn what_is_wanted_is_read_and_nothing_is_guessed() {
        let wanted = read("since=7&topic=calc.*&topic=a&limit=5").unwrap();
        assert_eq!(wanted.since.unwrap().seq, 7);
        assert_eq!(wanted.patterns.len(), 2);
        assert_eq!(wanted.limit, 5);
        for query in [
            "since=x",
            "topic=..",
            "limit=0",
            "limit=1001",
            "sinse=1",
            "since=1&since=2",
            "topic=%zz",
        ] {
            assert!(read(query).is_err(), "{query}");
        }
        assert!(read(&"topic=a&".repeat(MOST_PATTERNS + 1)).is_err());
    }
}
