//! `GET /events/stream`: the log from a cursor on and then what happens, as server-sent events.

use std::{fmt::Write as _, rc::Rc, time::Duration};

use callosum_mesh::journal::{Cursor, Notice};
use hyper::{HeaderMap, Response, StatusCode, Uri, body::Bytes};
use tokio::sync::mpsc;

use super::{
    ServerState,
    encoded_event::STREAM_END,
    get_events::{self, Wanted},
    response::{self, Reply},
    send_queue::Item,
    subscription::Subscription,
};

/// Interval of keep-alive comments to a subscriber without events.
const BEAT: Duration = Duration::from_secs(15);

/// Time after which a subscriber that reads nothing is disconnected.
const PATIENCE: Duration = Duration::from_mins(1);

/// An event of more bytes is long.
const LONG: usize = 8 * 1024;

/// The answer to a request that listens. `Last-Event-ID` comes before `since`: a client sends it that comes back.
pub(super) fn answer(house: &Rc<ServerState>, uri: &Uri, headers: &HeaderMap) -> Response<Reply> {
    let mut wanted = match Wanted::read(uri) {
        Ok(wanted) => wanted,
        Err(words) => return response::error(StatusCode::BAD_REQUEST, &words),
    };
    if let Some(last) = headers.get("last-event-id") {
        let cursor = last
            .to_str()
            .ok()
            .and_then(|last| last.parse::<Cursor>().ok());
        let Some(cursor) = cursor else {
            return response::error(StatusCode::BAD_REQUEST, "`Last-Event-ID` is not a cursor");
        };
        wanted.since = Some(cursor);
    }
    let Some(place) = house.listen(|listeners| &listeners.streams) else {
        house.hub.counts.refused("full");
        let words = "too many subscribers";
        return response::later(StatusCode::SERVICE_UNAVAILABLE, words, PATIENCE);
    };
    let feed = Subscription::begin(&house.hub, wanted.patterns, wanted.since.as_ref());
    let (sender, receiver) = mpsc::channel(1);
    let mut stop = house.stop.clone();
    house.begin(async move {
        let _place = place;
        tokio::select! {
            () = send_events(feed, &sender) => {}
            () = sender.closed() => {}
            _ = stop.wait_for(|is_over| *is_over) => {}
        }
    });
    response::of("text/event-stream", Reply::Stream(receiver))
}

/// Tells what there is to tell, until the other side is gone or takes nothing.
async fn send_events(mut feed: Subscription, sender: &mpsc::Sender<Bytes>) {
    // Time after which a client reconnects, in milliseconds, and its position.
    let mut chunks = vec![Bytes::from(format!(
        "retry: 1000\nid: {}\n\n",
        feed.cursor()
    ))];
    loop {
        for chunk in chunks {
            let sent = sender.send_timeout(chunk, PATIENCE).await;
            if sent.is_err() {
                return;
            }
        }
        chunks = match tokio::time::timeout(BEAT, feed.next()).await {
            Ok(Ok(items)) => joined(&items),
            Ok(Err(error)) => {
                let words = serde_json::Value::from(error.to_string());
                let last = Bytes::from(format!("event: failed\ndata: {{\"error\":{words}}}\n\n"));
                // Whether it is heard or not, nothing follows.
                drop(sender.send_timeout(last, PATIENCE).await);
                return;
            }
            // An id without data moves the client's cursor past what it did not ask for.
            Err(_) => vec![Bytes::from(format!(": beat\nid: {}\n\n", feed.cursor()))],
        };
    }
}

/// Joins items into chunks. The text of a long event is shared by all subscribers, and never
/// copied.
fn joined(items: &[Item]) -> Vec<Bytes> {
    let mut chunks = Vec::new();
    let mut chunk = String::new();
    for item in items {
        match item {
            Item::Event(frame) if frame.len() > LONG => {
                frame.begin_stream(&mut chunk);
                chunks.push(std::mem::take(&mut chunk).into());
                chunks.push(frame.shared_json());
                chunk.push_str(STREAM_END);
            }
            Item::Event(frame) => frame.write_stream(&mut chunk),
            Item::Notice(notice) => {
                let kind = match notice {
                    Notice::Reset { .. } => "reset",
                    Notice::Dropped { .. } => "dropped",
                    Notice::Damaged { .. } => "damaged",
                };
                let data = get_events::notice(notice);
                let _ = write!(chunk, "event: {kind}\ndata: {data}\n\n");
            }
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk.into());
    }
    chunks
}
