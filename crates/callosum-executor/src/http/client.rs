//! [`Caller`]: makes requests of one server, and says in words why one failed.

use std::{ffi::OsString, io::Read, sync::Arc, time::Duration};

use serde_json::Value;
use ureq::{
    Agent, Body,
    http::{HeaderMap, Method, Request, Response},
    tls::{Certificate, RootCerts, TlsConfig, TlsProvider},
};

use super::{endpoint::Endpoint, rate_limit};
use crate::{
    output_format::{ErrorText, UNREACHABLE, UNREADABLE},
    sanitize::with_causes,
    transport::Job,
};

/// Longest time to establish a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(30);

/// Bytes of an error's body that are read.
const LONGEST_ERROR: u64 = 64 * 1024;

/// Longest words of an error that are passed on, in bytes.
const LONGEST_WORDS: usize = 2_000;

/// Longest header that is reported, in bytes.
const LONGEST_HEADER: usize = 60;

/// Largest list of models, in bytes.
const LARGEST_LIST: u64 = 4 * 1024 * 1024;

/// One server, and the key for it.
pub(crate) struct Caller {
    agent: Agent,
    endpoint: Endpoint,
    key: Option<String>,
}

impl Caller {
    /// Prepares to ask the server that a job names, with the key from the variable that it names.
    pub(crate) fn new(job: &Job, environment: &[(OsString, OsString)]) -> Result<Self, ErrorText> {
        let key = match &job.api_key_env {
            Some(variable) => Some(key(variable, environment)?),
            None => None,
        };
        let endpoint = job.endpoint.as_deref().unwrap_or_default();
        let endpoint = Endpoint::parse(endpoint, key.is_some())
            .map_err(|error| ErrorText::of_ours(&error.to_string()))?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_connect(Some(CONNECT_WITHIN))
            .user_agent(concat!("callosum/", env!("CARGO_PKG_VERSION")));
        if endpoint.is_secure() {
            config = config.tls_config(believing_what_the_machine_believes());
        }
        Ok(Self {
            agent: config.build().new_agent(),
            endpoint,
            key,
        })
    }

    /// Gets a JSON document.
    pub(super) fn get(&self, usual: &str, request: &str) -> Result<Value, ErrorText> {
        let address = self.endpoint.address(usual, request);
        let mut get = self
            .agent
            .get(&address)
            .header("accept", "application/json");
        if let Some(key) = &self.key {
            get = get.header("authorization", format!("Bearer {key}"));
        }
        let response = get
            .call()
            .map_err(|error| self.unreachable(&address, &error))?;
        let body = self.judged(&address, response)?;
        let mut text = Vec::new();
        body.take(LARGEST_LIST)
            .read_to_end(&mut text)
            .map_err(|error| self.hidden(ErrorText::words(&format!("{address}: {error}"))))?;
        serde_json::from_slice(&text).map_err(|_| {
            self.hidden(ErrorText::unreadable(&format!(
                "{address} says {}",
                start_of(&String::from_utf8_lossy(&text))
            )))
        })
    }

    /// Posts a JSON document, and gives back the body of the answer to be read as it comes.
    pub(super) fn post(
        &self,
        usual: &str,
        request: &str,
        document: &Value,
    ) -> Result<impl Read + use<>, ErrorText> {
        let address = self.endpoint.address(usual, request);
        let mut post = self
            .agent
            .post(&address)
            .header("content-type", "application/json")
            .header(
                "accept",
                "text/event-stream, application/x-ndjson, application/json",
            );
        if let Some(key) = &self.key {
            post = post.header("authorization", format!("Bearer {key}"));
        }
        let response = post
            .send(document.to_string().as_bytes())
            .map_err(|error| self.unreachable(&address, &error))?;
        self.judged(&address, response)
    }

    /// Sends a request to the endpoint itself, and returns the response with any status.
    pub(crate) fn send(
        &self,
        method: &Method,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Response<Body>, ErrorText> {
        let address = self.own_address();
        let mut request = Request::builder().method(method).uri(&address);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let request = request
            .body(body)
            .map_err(|error| ErrorText::of_ours(&error.to_string()))?;
        self.agent
            .run(request)
            .map_err(|error| self.unreachable(&address, &error))
    }

    /// The address to which [`Caller::send`] sends.
    pub(crate) fn own_address(&self) -> String {
        self.endpoint.address("", "")
    }

    /// Removes the key from a complaint, if the server repeated it.
    pub(super) fn hidden(&self, complaint: ErrorText) -> ErrorText {
        hidden(self.key.as_deref(), complaint)
    }

    fn unreachable(&self, address: &str, error: &ureq::Error) -> ErrorText {
        self.hidden(ErrorText::of_kind(
            UNREACHABLE,
            &format!("{address}: {}", with_causes(error)),
        ))
    }

    /// Returns the body of a good response, or the error of a bad one.
    pub(crate) fn judged(
        &self,
        address: &str,
        response: Response<Body>,
    ) -> Result<impl Read + use<>, ErrorText> {
        let status = response.status().as_u16();
        let resets = rate_limit::reset(response.headers());
        let leads_to = header(response.headers(), "location");
        let body = response.into_body().into_reader();
        if (200..300).contains(&status) {
            return Ok(body);
        }
        if (300..400).contains(&status) {
            let to = leads_to.unwrap_or_default();
            return Err(self.hidden(ErrorText::unreadable(&format!(
                "{address} answers with status {status} and redirects to `{to}`, which is not \
                 followed"
            ))));
        }
        let mut bytes = Vec::new();
        // What can be read of it is what there is to tell.
        drop(body.take(LONGEST_ERROR).read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let mut complaint = match serde_json::from_str::<Value>(&text) {
            Ok(value) => complaint_in(&value).unwrap_or_else(|| ErrorText::words(start_of(&text))),
            Err(_) => ErrorText::words(start_of(&text)),
        };
        complaint.words = format!("status {status} from {address}: {}", complaint.words);
        complaint.resets = resets;
        complaint.status = Some(u64::from(status));
        Err(self.hidden(complaint))
    }
}

impl ErrorText {
    /// A complaint about an answer that cannot be understood.
    pub(crate) fn unreadable(words: &str) -> Self {
        Self::of_kind(UNREADABLE, words)
    }
}

/// A complaint in which a key does not stand.
pub(super) fn hidden(key: Option<&str>, mut complaint: ErrorText) -> ErrorText {
    if let Some(key) = key {
        complaint.words = complaint.words.replace(key, "[key]");
    }
    complaint
}

/// Finds a service's error message in each place where services put one.
pub(super) fn complaint_in(value: &Value) -> Option<ErrorText> {
    // Gemini's compatible interface wraps the object in a list.
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").unwrap_or(value);
    let words = [
        error.get("message"),
        Some(error),
        value.get("message"),
        value.get("detail"),
    ]
    .into_iter()
    .flatten()
    .find_map(Value::as_str)?;
    let kind = ["code", "type", "status"]
        .into_iter()
        .find_map(|key| error.get(key)?.as_str());
    let status = [error.get("code"), error.get("status")]
        .into_iter()
        .flatten()
        .find_map(Value::as_u64);
    Some(ErrorText {
        words: start_of(words).to_owned(),
        status,
        kind: kind.map(str::to_lowercase),
        resets: None,
    })
}

/// The key that a variable holds.
pub(super) fn key(
    variable: &str,
    environment: &[(OsString, OsString)],
) -> Result<String, ErrorText> {
    let value = environment.iter().find(|(name, _)| name == variable);
    let value = value.and_then(|(_, value)| value.to_str()).map(str::trim);
    match value {
        Some(key) if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(key.to_owned())
        }
        Some(key) if !key.is_empty() => Err(ErrorText::of_kind(
            "authentication_error",
            &format!("the environment variable {variable} does not hold a valid key"),
        )),
        _ => Err(ErrorText::of_kind(
            "authentication_error",
            &format!("missing environment variable {variable}, which the entry names"),
        )),
    }
}

/// The certificates that this machine believes, and `ring`.
pub(super) fn believing_what_the_machine_believes() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<Certificate<'static>> = found
        .certs
        .iter()
        .map(|certificate| Certificate::from_der(certificate).to_owned())
        .collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

/// A header that is text, cut short.
pub(super) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    let short = &value[..value.floor_char_boundary(LONGEST_HEADER)];
    (!short.is_empty()).then(|| short.to_owned())
}

/// As much of words as is passed on.
pub(super) fn start_of(words: &str) -> &str {
    let words = words.trim();
    &words[..words.floor_char_boundary(LONGEST_WORDS)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(body: &Value) -> Option<(String, Option<u64>, Option<String>)> {
        complaint_in(body).map(|complaint| (complaint.words, complaint.status, complaint.kind))
    }

    /// CAL-ERR-1: errors are found where servers put them.
    #[test]
    fn an_error_is_found_wherever_a_server_says_it() {
        let complaint = |words: &str, status, kind: Option<&str>| {
            Some((words.to_owned(), status, kind.map(str::to_owned)))
        };
        for (body, expected) in [
            (
                json!({"error": {"message": "no", "type": "invalid_request_error",
                    "code": "context_length_exceeded"}}),
                complaint("no", None, Some("context_length_exceeded")),
            ),
            (
                json!({"error": "model 'x' not found"}),
                complaint("model 'x' not found", None, None),
            ),
            (
                json!({"error": {"message": "slow", "code": 429}}),
                complaint("slow", Some(429), None),
            ),
            (
                json!([{"error": {"code": 503, "message": "away", "status": "UNAVAILABLE"}}]),
                complaint("away", Some(503), Some("unavailable")),
            ),
            (
                json!({"detail": "Not Found"}),
                complaint("Not Found", None, None),
            ),
            (json!({"message": "no"}), complaint("no", None, None)),
            (json!({"choices": []}), None),
            (json!(null), None),
            (json!([]), None),
        ] {
            assert_eq!(named(&body), expected, "{body}");
        }
    }

    /// LOA-SEC-1: a key is what its variable holds, and nothing that could break a header.
    #[test]
    fn a_key_is_one_word_from_its_variable() {
        let with = |value: &str| {
            key(
                "K",
                &[("J".into(), "other".into()), ("K".into(), value.into())],
            )
        };
        assert_eq!(with(" abc\n").unwrap(), "abc");
        for wrong in ["", "  ", "a b", "a\r\nx-header: 1", "schlüssel"] {
            let complaint = with(wrong).unwrap_err();
            assert!(!complaint.words.contains("x-header"), "{}", complaint.words);
            assert!(complaint.words.contains('K'));
        }
        assert!(key("L", &[]).is_err());
    }
}
