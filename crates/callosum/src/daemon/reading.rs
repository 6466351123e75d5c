//! `GET /events`: the log from a cursor on, as far as it goes.

use std::rc::Rc;

use callosum_mesh::{
    journal::{Cursor, JournalError, Notice},
    topic::Pattern,
};
use hyper::{HeaderMap, Response, StatusCode, Uri, header};
use serde_json::{Value, json};

use super::{
    House,
    reply::{self, Reply},
    request,
};

/// So many events where nobody says how many.
const USUAL: usize = 100;

/// Most events of an answer.
const MOST: usize = 1000;

/// Most bytes of an answer, but for its last event.
const LONGEST: usize = 4 * 1024 * 1024;

/// Most patterns of one who listens.
pub(super) const MOST_PATTERNS: usize = 32;

/// So many events are looked at before others have their turn.
const BATCH: usize = 64;

/// What is wanted of the log.
#[derive(Debug, PartialEq)]
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
        for (key, value) in request::query(uri) {
            match key.as_str() {
                "since" => {
                    let cursor = value.parse::<Cursor>();
                    wanted.since = Some(cursor.map_err(|error| error.to_string())?);
                }
                "topic" if wanted.patterns.len() == MOST_PATTERNS => {
                    return Err(format!("there are at most {MOST_PATTERNS} topics"));
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
                        "`{key}` is no key of this query: there are `since`, `topic` and `limit`"
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
pub(super) async fn answer(house: &Rc<House>, uri: &Uri, headers: &HeaderMap) -> Response<Reply> {
    let wanted = match Wanted::read(uri) {
        Ok(wanted) => wanted,
        Err(words) => return reply::error(StatusCode::BAD_REQUEST, &words),
    };
    let found = match find(house, &wanted).await {
        Ok(found) => found,
        Err(error) => {
            house.hub.counts.refused("log");
            return reply::error(StatusCode::SERVICE_UNAVAILABLE, &error.to_string());
        }
    };
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    if accepts.is_some_and(|accepts| accepts.contains("ndjson")) {
        let notices = found
            .notices
            .iter()
            .map(|notice| json!({ "notice": notice }));
        let mut lines = String::new();
        for line in notices.chain(found.events) {
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        return reply::whole(StatusCode::OK, "application/x-ndjson", lines);
    }
    let value = json!({
        "events": found.events,
        "notices": found.notices,
        "cursor": found.cursor,
        "is_end": found.is_end,
    });
    reply::data(StatusCode::OK, &value)
}

struct Found {
    events: Vec<Value>,
    notices: Vec<Value>,
    cursor: String,
    is_end: bool,
}

async fn find(house: &Rc<House>, wanted: &Wanted) -> Result<Found, JournalError> {
    let since = wanted.since.clone().unwrap_or(Cursor::START);
    let mut reader = house.hub.read_after(&since);
    let mut found = Found {
        events: Vec::new(),
        notices: Vec::new(),
        cursor: String::new(),
        is_end: false,
    };
    let mut bytes = 0;
    loop {
        let batch = reader.next_batch(BATCH)?;
        let is_end = batch.is_end;
        found.notices.extend(batch.notices.iter().map(notice));
        let mut events = batch.events.into_iter();
        while let Some(event) = events.next() {
            if !wanted
                .patterns
                .iter()
                .any(|pattern| pattern.matches(&event.topic))
            {
                continue;
            }
            let cursor = Cursor {
                origin: Some(event.origin.clone()),
                seq: event.seq,
            };
            let value = serde_json::to_value(event).expect("an event can be written as JSON");
            bytes += value.to_string().len();
            found.events.push(value);
            if found.events.len() == wanted.limit || bytes >= LONGEST {
                found.is_end = is_end && events.len() == 0;
                found.cursor = cursor.to_string();
                return Ok(found);
            }
        }
        if is_end {
            found.is_end = true;
            found.cursor = reader.cursor().to_string();
            return Ok(found);
        }
        tokio::task::yield_now().await;
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
        for query in ["since=x", "topic=..", "limit=0", "limit=1001", "sinse=1"] {
            assert!(read(query).is_err(), "{query}");
        }
        assert!(read(&"topic=a&".repeat(MOST_PATTERNS + 1)).is_err());
    }
}
