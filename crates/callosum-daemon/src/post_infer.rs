//! `POST /v1/infer` and `GET /v1/models`: requests to the served models.
//!
//! A request must have the token, and pass every check that other requests pass. A model works on a
//! thread that the runtime lends; it is canceled when the client is gone.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use callosum_host::process::Cancel;
use hyper::{HeaderMap, Request, Response, StatusCode, body::Incoming, header};
use serde_json::{Value, json};

use super::{
    ServerState,
    models::{InferError, InferRequest, MOST_AT_ONCE, Models},
    request,
    response::{self, Reply},
};

/// Path of a request to a model.
pub(super) const INFER: &str = "/v1/infer";

/// Path of the list of models.
pub(super) const LIST: &str = "/v1/models";

/// Longest time that a model gets, and its time unless the request has a deadline.
const LONGEST: Duration = Duration::from_hours(1);
const USUAL: Duration = Duration::from_mins(10);

/// Seconds after which a client that was refused may try again.
const BUSY: Duration = Duration::from_secs(2);

impl InferError {
    fn code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::OverBudget(_) => (StatusCode::UNPROCESSABLE_ENTITY, "over_budget"),
            Self::TooLong(_) => (StatusCode::BAD_GATEWAY, "too_long"),
            Self::Canceled(_) => (StatusCode::BAD_GATEWAY, "canceled"),
            Self::Deadline(_) => (StatusCode::GATEWAY_TIMEOUT, "deadline"),
            Self::CutOff(_) => (StatusCode::BAD_GATEWAY, "cut_off"),
            Self::Failed(_) => (StatusCode::BAD_GATEWAY, "failed"),
        }
    }
}

/// Cancels a model whose reply no one waits for any more.
struct Waiting(Cancel);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Lists the models.
pub(super) fn list(house: &ServerState, models: &Models, headers: &HeaderMap) -> Response<Reply> {
    if !models.admits(headers) {
        return unauthorized(house);
    }
    let names = models.serving.names.iter();
    let data: Vec<Value> = names
        .map(|name| json!({"id": name, "object": "model"}))
        .collect();
    response::data(StatusCode::OK, &json!({"object": "list", "data": data}))
}

/// Answers a request to a model.
pub(super) async fn answer(
    house: &ServerState,
    models: &Models,
    request: Request<Incoming>,
) -> Response<Reply> {
    // Before the body: without the token nothing is read.
    if !models.admits(request.headers()) {
        return unauthorized(house);
    }
    let body = match request::body(request.into_body()).await {
        Ok(body) => body,
        Err(unread) => {
            let (label, status, words) = unread.refusal();
            house.hub.counts.refused(label);
            return refusal(status, "invalid_request", words);
        }
    };
    let asked = match read(&body) {
        Ok(asked) => asked,
        Err(words) => {
            house.hub.counts.refused("faults");
            return refusal(StatusCode::BAD_REQUEST, "invalid_request", &words);
        }
    };
    if !models.serving.names.contains(&asked.model) {
        let name: String = asked.model.chars().take(64).collect();
        let words = format!(
            "`{}` is not served here (served: {})",
            name.escape_debug(),
            models.serving.names.join(", ")
        );
        return refusal(StatusCode::NOT_FOUND, "unknown_model", &words);
    }
    let Ok(place) = Arc::clone(&models.places).try_acquire_owned() else {
        house.hub.counts.refused("busy");
        let words = format!("{MOST_AT_ONCE} requests are being answered; no more are taken");
        let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, "busy", &words);
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, BUSY.as_secs().into());
        return response;
    };
    let Ok(cancel) = Cancel::new() else {
        let words = "there are no more file descriptors";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "failed", words);
    };
    let waiting = Waiting(cancel.clone());
    let deadline = asked.deadline_ms.map_or(USUAL, Duration::from_millis);
    let asked = InferRequest {
        deadline_ms: u64::try_from(deadline.as_millis()).ok(),
        ..asked
    };
    let (infer, model) = (Arc::clone(&models.serving.infer), asked.model.clone());
    let began = Instant::now();
    let work = tokio::task::spawn_blocking(move || {
        let _place = place;
        infer(asked, &cancel)
    });
    let done = tokio::time::timeout(deadline, work).await;
    drop(waiting);
    let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match done {
        Ok(Ok(Ok(answer))) => response::data(
            StatusCode::OK,
            &json!({
                "model": model,
                "text": answer.text,
                "usage": {"tokens": answer.tokens},
                "cost_usd": answer.cost_usd,
                "latency_ms": latency_ms,
            }),
        ),
        Ok(Ok(Err(error))) => {
            let (status, code) = error.code();
            refusal(status, code, &error.to_string())
        }
        Ok(Err(_)) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "failed",
            "the model's thread failed",
        ),
        Err(_) => {
            let words = format!("no reply within {} ms", deadline.as_millis());
            refusal(StatusCode::GATEWAY_TIMEOUT, "deadline", &words)
        }
    }
}

/// Reads a request, and holds its values to their bounds.
fn read(body: &[u8]) -> Result<InferRequest, String> {
    let asked: InferRequest =
        serde_json::from_slice(body).map_err(|error| format!("invalid request: {error}"))?;
    if asked.prompt.trim().is_empty() {
        return Err("`prompt` is empty".to_owned());
    }
    if asked
        .schema
        .as_ref()
        .is_some_and(|schema| !schema.is_object())
    {
        return Err("`schema` is not an object".to_owned());
    }
    if asked.max_tokens == Some(0) {
        return Err("`max_tokens` is 0 (allowed: at least 1)".to_owned());
    }
    let longest = LONGEST.as_millis() as u64;
    if let Some(deadline) = asked
        .deadline_ms
        .filter(|deadline| !(1..=longest).contains(deadline))
    {
        return Err(format!(
            "`deadline_ms` is {deadline} (allowed: 1 to {longest})"
        ));
    }
    Ok(asked)
}

fn unauthorized(house: &ServerState) -> Response<Reply> {
    house.hub.counts.refused("token");
    let words = "the token is missing or not the right one";
    let mut response = refusal(StatusCode::UNAUTHORIZED, "authentication_error", words);
    let scheme = header::HeaderValue::from_static("Bearer");
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, scheme);
    response
}

fn refusal(status: StatusCode, code: &str, words: &str) -> Response<Reply> {
    response::data(status, &json!({"error": {"code": code, "message": words}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-MOD-1: a request that says more, less or other than it may is refused.
    #[test]
    fn a_request_is_held_to_its_bounds() {
        assert!(
            read(br#"{"model": "m", "prompt": "p", "schema": null, "deadline_ms": 5}"#).is_ok()
        );
        for body in [
            "",
            "ask the model",
            r#"{"model": "m"}"#,
            r#"{"model": "m", "prompt": " "}"#,
            r#"{"model": "m", "prompt": "p", "tools": []}"#,
            r#"{"model": "m", "prompt": "p", "schema": "x"}"#,
            r#"{"model": "m", "prompt": "p", "max_tokens": 0}"#,
            r#"{"model": "m", "prompt": "p", "deadline_ms": 99999999999}"#,
        ] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
    }
}
