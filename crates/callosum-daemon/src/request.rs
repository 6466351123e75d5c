//! Query and body of a request, both bounded.

use std::{future::poll_fn, pin::Pin, time::Duration};

use hyper::{
    StatusCode, Uri,
    body::{Body as _, Incoming},
};
use percent_encoding::percent_decode_str;

/// Most bytes of a body: a list of events.
pub(super) const LONGEST_BODY: usize = 1024 * 1024;

/// Longest time that a body may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reason for which a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLong,
    TooSlow,
    Broken,
}

impl Unread {
    /// Returns the label of the count, the status and the words of the response.
    pub(super) fn refusal(self) -> (&'static str, StatusCode, &'static str) {
        match self {
            Self::TooLong => (
                "size",
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body has more than 1,048,576 bytes",
            ),
            Self::TooSlow => (
                "slow",
                StatusCode::REQUEST_TIMEOUT,
                "the body took more than ten seconds",
            ),
            Self::Broken => ("faults", StatusCode::BAD_REQUEST, "the body ended too soon"),
        }
    }
}

/// All of a body.
pub(super) async fn body(body: Incoming) -> Result<Vec<u8>, Unread> {
    if body.size_hint().lower() > LONGEST_BODY as u64 {
        return Err(Unread::TooLong);
    }
    let read = tokio::time::timeout(PATIENCE, read(body)).await;
    read.unwrap_or(Err(Unread::TooSlow))
}

async fn read(mut body: Incoming) -> Result<Vec<u8>, Unread> {
    let whole = body.size_hint().exact();
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Unread::Broken)?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > LONGEST_BODY {
                return Err(Unread::TooLong);
            }
            bytes.extend_from_slice(&data);
        }
    }
    // Where the connection ended in the middle of it, the body ends there without a word.
    if whole.is_some_and(|whole| whole != bytes.len() as u64) {
        return Err(Unread::Broken);
    }
    Ok(bytes)
}

/// The pairs of a query, decoded; or what is wrong with one that cannot be.
pub(super) fn query(uri: &Uri) -> Result<Vec<(String, String)>, String> {
    let query = uri.query().unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let read = decoded(key).zip(decoded(value));
            read.ok_or_else(|| format!("`{pair}` in the query is not valid percent-encoded text"))
        })
        .collect()
}

/// Decodes a part of a query as forms write it, unless it is not UTF-8 or a `%` begins no escape.
fn decoded(text: &str) -> Option<String> {
    // The library leaves such a `%` as it is.
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    let text = text.replace('+', " ");
    let decoded = percent_decode_str(&text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_pair_by_pair() {
        let uri: Uri = "/events?topic=calc.%2A%2a&since=a%3A5&x&a+b=c"
            .parse()
            .unwrap();
        let found = query(&uri).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(key, value)| (&**key, &**value))
            .collect();
        assert_eq!(
            found,
            [
                ("topic", "calc.**"),
                ("since", "a:5"),
                ("x", ""),
                ("a b", "c")
            ]
        );
        assert_eq!(query(&"/events".parse().unwrap()), Ok(Vec::new()));
        // What was meant is not known, and passing it over would answer another question.
        for wrong in ["bad=%f", "utf=%ff", "topic=%zz", "%f=1", "x=%%41", "x=%+5"] {
            let uri: Uri = format!("/events?since=1&{wrong}").parse().unwrap();
            let error = query(&uri).unwrap_err();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
