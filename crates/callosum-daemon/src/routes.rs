//! Routes of requests by port and path.

use std::rc::Rc;

use hyper::{Method, Request, Response, StatusCode, body::Incoming, header};
use tokio::sync::Notify;

use super::{
    ServerState, event_stream, get_events, memory, origin_check, post_events, post_infer,
    rate::Meter,
    response::{self, Reply},
    websocket,
};

/// Entry point of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// Events over HTTP.
    Events,
    /// The bus.
    Bus,
    /// Metrics for Prometheus.
    Metrics,
    /// Queries about past sessions.
    Memory,
    /// The page, which answers by itself.
    Page,
    /// The socket that only this user may open. All is answered there.
    Socket,
    /// Another user's program has connected to one of the ports. It gets no answers.
    Shut,
}

/// The text form of Prometheus.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The connection that a request came by.
#[derive(Clone)]
pub(super) struct Link {
    /// Ends it at once.
    pub(super) ends: Rc<Notify>,
    /// Rate limit for its events.
    pub(super) meter: Rc<Meter>,
}

/// The answer to a request.
pub(super) async fn answer(
    house: Rc<ServerState>,
    door: Door,
    mut request: Request<Incoming>,
    Link { ends, meter }: Link,
) -> Response<Reply> {
    let checked = match door {
        Door::Shut => Err(origin_check::Refused::User),
        _ => origin_check::check(request.uri(), request.headers()),
    };
    if let Err(refused) = checked {
        house.hub.counts.refused(refused.label());
        return response::error(StatusCode::FORBIDDEN, refused.as_str());
    }
    let is_upgrade = request.headers().contains_key(header::UPGRADE);
    if is_upgrade && matches!(door, Door::Bus | Door::Socket) {
        return websocket::answer(&house, meter, &mut request);
    }
    let is_one_of = |doors: &[Door]| door == Door::Socket || doors.contains(&door);
    let path = request.uri().path();
    let known: &[&str] = match path {
        "/events" if is_one_of(&[Door::Events]) => &["GET", "POST"],
        "/events/stream" if is_one_of(&[Door::Events]) => &["GET"],
        "/metrics" if is_one_of(&[Door::Metrics]) => &["GET"],
        post_infer::INFER if house.models.is_some() && is_one_of(&[Door::Events]) => &["POST"],
        post_infer::LIST if house.models.is_some() && is_one_of(&[Door::Events]) => &["GET"],
        memory::QUERY | memory::HEARTBEAT
            if house.memory.is_some() && is_one_of(&[Door::Memory]) =>
        {
            &["POST"]
        }
        "/health" => &["GET"],
        "/status" if door == Door::Socket => &["GET"],
        "/stop" if door == Door::Socket => &["POST"],
        _ if door == Door::Bus => {
            let words = "this is a WebSocket: connect to ws://HOST:PORT";
            return response::error(StatusCode::UPGRADE_REQUIRED, words);
        }
        _ => {
            let words =
                "there are /events, /events/stream, /metrics and /health, each at its own port";
            return response::error(StatusCode::NOT_FOUND, words);
        }
    };
    if !known.contains(&request.method().as_str()) {
        let allowed = known.join(", ");
        let words = format!("allowed here: {allowed}");
        let mut response = response::error(StatusCode::METHOD_NOT_ALLOWED, &words);
        if let Ok(allowed) = header::HeaderValue::from_str(&allowed) {
            response.headers_mut().insert(header::ALLOW, allowed);
        }
        return response;
    }
    if let Some(served) = &house.models {
        match path {
            post_infer::INFER => return post_infer::answer(&house, served, request).await,
            post_infer::LIST => return post_infer::list(&house, served, request.headers()),
            _ => {}
        }
    }
    if let Some(sessions) = &house.memory {
        match path {
            memory::QUERY | memory::HEARTBEAT => {
                return memory::answer(&house, sessions, request, house.clock.now()).await;
            }
            "/health" if door == Door::Memory => return sessions.health().await,
            _ => {}
        }
    }
    match (path, request.method()) {
        ("/events", &Method::POST) => post_events::answer(&house, &meter, request).await,
        ("/events", _) if wants_stream(&request) => {
            event_stream::answer(&house, request.uri(), request.headers())
        }
        ("/events", _) => get_events::answer(&house, request.uri(), request.headers(), ends).await,
        ("/events/stream", _) => event_stream::answer(&house, request.uri(), request.headers()),
        ("/metrics", _) => match house.metrics().await {
            Ok(text) => response::whole(StatusCode::OK, METRICS, text),
            Err(error) => response::data(
                StatusCode::INTERNAL_SERVER_ERROR,
                &serde_json::json!({ "error": error.to_string() }),
            ),
        },
        ("/status", _) => response::data(StatusCode::OK, &house.status()),
        ("/stop", _) => {
            house.cancel.cancel();
            response::data(StatusCode::OK, &house.status())
        }
        _ => response::data(StatusCode::OK, &serde_json::json!({ "healthy": true })),
    }
}

fn wants_stream(request: &Request<Incoming>) -> bool {
    let accepts = request.headers().get(header::ACCEPT);
    let accepts = accepts.and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("text/event-stream"))
}
