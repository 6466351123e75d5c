//! Responses: pages, JSON, files and refusals, with the headers that confine a page.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};

/// Nothing is loaded but files of this page, and no other page shows it in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Headers of every response.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// Returns a response of this kind.
pub(crate) fn of(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns a page.
pub(crate) fn page(status: StatusCode, html: String) -> Response {
    of(status, "text/html; charset=utf-8", html)
}

/// Returns a JSON value.
pub(crate) fn json(status: StatusCode, value: &serde_json::Value) -> Response {
    of(status, "application/json", format!("{value}\n"))
}

/// Returns a refusal in words.
pub(crate) fn refusal(status: StatusCode, words: &str) -> Response {
    of(status, "text/plain; charset=utf-8", format!("{words}\n"))
}

/// Sends the browser on, by GET. `place` is a path of this page.
pub(crate) fn see_other(place: &str) -> Response {
    let mut response = of(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    // A path of ours has only characters that a header takes; another one leads home.
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, place);
    response
}
