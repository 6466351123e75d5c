//! [`ErrorText`]: classifies the error that a client, or the service behind it, reports when it gave
//! no answer: a rate limit (429), a missing login, a refusal.
//!
//! Messages of clients are for people and change with every version. So a status and a kind decide
//! if there are any, and words only if there are none. The result is a [`ClientError`].

use std::time::Duration;

use jiff::Timestamp;

use super::client_error::ClientError;
use crate::sanitize::fit_shortly;

/// Longest phrase about the end of a limit, in bytes.
const LONGEST_RESET: usize = 60;

/// A client's complaint, before it is classified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorText {
    /// Its words, as they came.
    pub(crate) words: String,
    /// The status of the HTTP answer, if there is one.
    pub(crate) status: Option<u64>,
    /// Its own or its provider's name for the kind of error.
    pub(crate) kind: Option<String>,
    /// The time of the next try, if it is reported apart from the words.
    pub(crate) resets: Option<Reset>,
}

/// When a service that refused takes questions again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reset {
    /// The time, in words that go after a verb: `in 20 s`.
    pub(crate) words: String,
    /// The time after the refusal, if known.
    pub(crate) after: Option<Duration>,
}

impl ErrorText {
    /// A complaint that is words alone.
    pub(crate) fn words(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            ..Self::default()
        }
    }

    /// Creates a complaint about the entry or the tree: nothing was sent.
    pub(crate) fn of_ours(words: &str) -> Self {
        Self {
            words: format!("nothing was sent: {words}"),
            ..Self::default()
        }
    }

    /// A complaint whose kind is known.
    pub(crate) fn of_kind(kind: &str, words: &str) -> Self {
        Self {
            kind: Some(kind.to_owned()),
            ..Self::words(words)
        }
    }

    /// Whether it is no more than that what came was not all.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.kind.as_deref() == Some(CUT_OFF)
    }

    /// Classifies the error: by its status and kind, and by its words if there are none.
    pub(crate) fn classify(&self) -> ClientError {
        let lower = self.words.to_lowercase();
        let kind = self.kind.as_deref().unwrap_or_default();
        let words = fit_shortly(&self.words);
        let status = self.status.or_else(|| status_in(&lower));
        match kind {
            UNREACHABLE => return ClientError::Unreachable { words },
            UNREADABLE => return ClientError::Unreadable { words },
            NOT_SPOKEN => return ClientError::NotSpoken { words },
            WRITES_UNASKED => return ClientError::WritesUnasked { words },
            TOOL_REFUSED => return ClientError::ToolRefused { tool: words },
            CUT_OFF => return ClientError::CutStream { words },
            // The message is then about the question, in any words.
            "refusal" if self.status.is_none() => return ClientError::Refused { words },
            _ => {}
        }
        if says(&lower, &NOT_IN_FORM) {
            return ClientError::NotInForm { words };
        }
        if kind == PROMPT_TOO_LONG || says(&lower, &TOO_LONG) {
            return ClientError::PromptTooLong { words };
        }
        if lacks_model(&lower, kind, status) {
            return ClientError::ModelNotFound { words };
        }
        let names_kind = |kinds: &[&str]| {
            let inside = |name: &&str| lower.contains(*name);
            kinds.contains(&kind) || kinds.iter().any(inside)
        };
        let apart = || self.resets.as_ref().map(|reset| fit_shortly(&reset.words));
        let limited = |words| ClientError::RateLimited {
            words,
            resets: apart().or_else(|| reset_in(&self.words)),
        };
        let overloaded = |words| ClientError::Overloaded {
            words,
            resets: apart(),
        };
        // Our own proxy's response if the host is not there, and what clients make of it.
        if says(&lower, &NOT_REACHED) {
            return ClientError::Unreachable { words };
        }
        match status {
            Some(401 | 403) => return ClientError::NotLoggedIn { words },
            Some(402 | 429) => return limited(words),
            Some(500 | 502..=504 | 529) => return overloaded(words),
            _ => {}
        }
        if names_kind(&[
            "authentication_error",
            "permission_error",
            "permission_denied",
            "unauthenticated",
        ]) || says(&lower, &LOGGED_OUT)
        {
            ClientError::NotLoggedIn { words }
        } else if names_kind(&[
            "rate_limit",
            "ratelimit",
            "resource_exhausted",
            "RESOURCE_EXHAUSTED",
        ]) || says(&lower, &LIMITED)
            || hits_a_limit(&lower)
        {
            limited(words)
        } else if names_kind(&["overloaded_error"]) || says(&lower, &OVERLOADED) {
            overloaded(words)
        } else if matches!(kind, "hook_stopped" | "refusal") || says(&lower, &REFUSED) {
            ClientError::Refused { words }
        } else if says(&lower, &CUT) {
            ClientError::CutStream { words }
        } else {
            ClientError::Other { words }
        }
    }
}

/// The kind of a complaint about the length of a prompt.
pub(crate) const PROMPT_TOO_LONG: &str = "prompt_too_long";

/// The kind of our own complaint that no one is there.
pub(crate) const UNREACHABLE: &str = "callosum_unreachable";

/// The kind of a complaint of ours: what came is no answer.
pub(crate) const UNREADABLE: &str = "callosum_unreadable";

/// The kind of a complaint of ours: what came was not all.
pub(crate) const CUT_OFF: &str = "callosum_cut_off";

/// The kind of our own complaint that the agent wrote no message of its protocol.
pub(crate) const NOT_SPOKEN: &str = "callosum_not_spoken";

/// The kind of a complaint of ours: an agent that nothing confines would not ask before it changes something.
pub(crate) const WRITES_UNASKED: &str = "callosum_writes_unasked";

/// The kind of a complaint of ours: we refused what an answer was to come of.
pub(crate) const TOOL_REFUSED: &str = "callosum_tool_refused";

const TOO_LONG: [&str; 12] = [
    "context_window_exceeded",
    "context window exceeded",
    "reduce the length of the messages",
    "exceeds the available context size",
    "provide a shorter input",
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "exceeds the context window",
    "input token count exceeds",
    "exceeds the maximum number of tokens",
    "ran out of room in the model's context window",
];
const NOT_REACHED: [&str; 5] = [
    "connect failed with status",
    "waiting for network",
    "bad gateway: callosum: ",
    "err_proxy_tunnel",
    "failed to lookup address information",
];

/// Qwen Code quotes its model, which may use any words.
const NOT_IN_FORM: [&str; 1] = ["instead of calling the structured_output tool"];

const LOGGED_OUT: [&str; 20] = [
    "api key is missing",
    "could not be refreshed",
    "credentials expired",
    "environment variable not found",
    "incorrect api key",
    "invalid api key",
    "api key not valid",
    "not logged in",
    "please run /login",
    "failed to authenticate",
    "invalid x-api-key",
    "set an auth method",
    "invalid auth method",
    "manual authorization is required",
    "missing api key",
    "missing environment variable",
    "must specify the gemini_api_key",
    "no api key found",
    "no auth type is selected",
    "when using vertex ai, you must specify",
];
const LIMITED: [&str; 20] = [
    "daily limit",
    "insufficient balance",
    "insufficient credit",
    "out of credits",
    "out of quota",
    "quota increase",
    "quota limit",
    "rate-limit",
    "requests per minute",
    "throttled",
    "credit balance is too low",
    "exhausted your daily quota",
    "exhausted your capacity",
    "insufficient_quota",
    "exceeded your current quota",
    "resource has been exhausted",
    "rate limit",
    "usage limit",
    "quota exceeded",
    "too many requests",
];
const OVERLOADED: [&str; 5] = [
    "overloaded",
    "high demand",
    "service unavailable",
    "service is unavailable",
    "service is currently unavailable",
];
const CUT: [&str; 11] = [
    "output token maximum",
    "econnreset",
    "closed unexpectedly",
    "error: terminated",
    "incomplete response returned",
    "stream disconnected",
    "stream closed",
    "stream ended without",
    "connection closed",
    "connection reset",
    "socket hang up",
];
const REFUSED: [&str; 7] = [
    "provider's content filter",
    "reason: content_filter",
    "blocked by hook",
    "execution blocked",
    "blocked by policy",
    "usage policy",
    "content policy",
];

fn says(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// Whether it is `You've hit your session limit`, or that of a week, of a model, or any other.
fn hits_a_limit(lower: &str) -> bool {
    lower.match_indices("hit your ").any(|(at, hit)| {
        let mut words = lower[at + hit.len()..].split_whitespace();
        words
            .by_ref()
            .take(MOST_BEFORE_LIMIT)
            .any(|word| word.trim_matches(|c: char| !c.is_alphanumeric()) == "limit")
    })
}

/// Most words between a person and their limit, including the last, which is the limit.
const MOST_BEFORE_LIMIT: usize = 4;

/// Beginnings of a line with which programs report a failure.
const ERRORS: [&str; 5] = [
    "api error:",
    "claude ai usage limit reached",
    "error:",
    "fatal error:",
    "you've hit your ",
];

/// Longest line with nothing but a failure, in bytes.
const LONGEST_ERROR: usize = 500;

/// Whether a text in place of an answer is only one line about an error, as some programs write it
/// before they end well. A text that cites a place of the tree is about the tree.
pub(super) fn is_only_an_error(text: &str) -> bool {
    let text = text.trim();
    let line = text.trim_start_matches('[').to_lowercase();
    text.len() <= LONGEST_ERROR
        && !text.contains('\n')
        && ERRORS.iter().any(|error| line.starts_with(error))
        && callosum_citation::find(text).is_empty()
}

/// Finds a status in words: `status 401`, `last status: 429`, `error: 529`, `"code":400`, `(429)`.
fn status_in(lower: &str) -> Option<u64> {
    let places = [
        "status code ",
        "status code: ",
        "statuscode: ",
        "\"statuscode\":",
        "\"status\":",
        "error code: ",
        "code: ",
        "http ",
        "http/1.1 ",
        "http/2 ",
        "[",
        "status ",
        "status: ",
        "error: ",
        "\"code\":",
        "\"code\": ",
        "(",
    ];
    let first = lower.split_at_checked(3).and_then(|(digits, rest)| {
        let status: u64 = digits.parse().ok()?;
        let is_named = REASONS.iter().any(|reason| rest.starts_with(reason));
        is_named.then_some(status)
    });
    first.or_else(|| {
        places.into_iter().find_map(|place| {
            lower.match_indices(place).find_map(|(at, _)| {
                let rest = &lower[at + place.len()..];
                let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
                let status: u64 = digits.parse().ok()?;
                (digits.len() == 3 && (400..600).contains(&status)).then_some(status)
            })
        })
    })
}

/// Texts after a status at the start of an error message.
const REASONS: [&str; 7] = [
    " status code",
    " unauthorized",
    " forbidden",
    " too many requests",
    " internal server error",
    " bad gateway",
    " service unavailable",
];

/// When a limit is lifted: `limit reached|1735689600`, `resets 3pm (UTC)`, `try again in 20s`.
fn reset_in(words: &str) -> Option<String> {
    if let Some((_, after)) = words.rsplit_once('|')
        && let Ok(seconds) = after.trim().parse::<i64>()
        && let Ok(time) = Timestamp::from_second(seconds)
    {
        return Some(time.to_string());
    }
    let lower = words.to_ascii_lowercase();
    let phrase = [
        "resets ",
        "available again at ",
        "available again in ",
        "try again in ",
        "try again at ",
        "retry in ",
        "retry after ",
        "reset after ",
    ]
    .into_iter()
    .find_map(|phrase| Some(lower.find(phrase)? + phrase.len() - phrase_tail(phrase)));
    let Some(phrase) = phrase else {
        return retry_field(&lower);
    };
    let rest = words[phrase..].lines().next().unwrap_or_default();
    let end = rest
        .find(". ")
        .unwrap_or(rest.len())
        .min(rest.floor_char_boundary(LONGEST_RESET));
    let phrase = rest[..end].trim_end_matches(['.', ']', '"']).trim();
    (!phrase.is_empty()).then(|| fit_shortly(phrase))
}

/// Phrases of a provider that does not know a model, or does not open it to this login.
const NO_MODEL: [&str; 11] = [
    "model not found",
    "model_not_found",
    "modelnotfound",
    "no such model",
    "unknown model",
    "invalid model",
    "is not found for api version",
    "issue with the selected model",
    "model is not supported",
    "you do not have access to the model",
    "not_found_error: model",
];

/// Whether a provider does not know the model: by its words, by the name of the error, or as a 404 about a model.
fn lacks_model(lower: &str, kind: &str, status: Option<u64>) -> bool {
    let names_model = lower.contains("model");
    let is_absent = lower.contains("does not exist") || lower.contains("not found");
    says(lower, &NO_MODEL)
        || says(&kind.to_lowercase(), &NO_MODEL)
        || (names_model && is_absent && (status == Some(404) || lower.contains("the model `")))
        // Ollama: `model 'x' not found, try pulling it first`.
        || (lower.contains("try pulling it first") && names_model)
}

/// The wait in a header or a field of JSON that a client prints: `retry-after: 30`, `"retryDelay": "34s"`.
fn retry_field(lower: &str) -> Option<String> {
    let at = ["retry-after", "retrydelay"]
        .into_iter()
        .find_map(|name| Some(lower.find(name)? + name.len()))?;
    let value = lower[at..].trim_start_matches(['"', '\'', ':', '=', ' ']);
    let end = value
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
        .unwrap_or(value.len());
    let value = value[..end].trim_end_matches('.');
    if value.parse::<f64>().is_ok() {
        return Some(format!("in {value} s"));
    }
    let is_length = value.starts_with(|c: char| c.is_ascii_digit()) && value.ends_with('s');
    is_length.then(|| format!("in {value}"))
}

/// Length of the end of a phrase that belongs to the time: `in 20s`, `at 3pm`.
fn phrase_tail(phrase: &str) -> usize {
    let words = phrase.trim_end();
    let last = words.rsplit(' ').next().unwrap_or_default();
    if matches!(last, "in" | "at" | "after") {
        last.len() + 1
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &str) -> String {
        ErrorText::words(words).classify().to_string()
    }

    /// LOA-SEC-1: a client's message is masked before anyone sees it.
    #[test]
    fn a_key_in_a_complaint_is_masked() {
        let shown = shown("Incorrect API key provided: AKIAQWERTYUIOPASDFGH\u{1b}[0m\u{7}");
        assert!(shown.contains("[secret: aws access key]"), "{shown}");
    }

    /// CAL-ERR-2: the time at which a limit ends is reported, in each way that clients write it.
    #[test]
    fn a_limit_is_reported_with_its_reset() {
        for (words, reset) in [
            (
                "Claude AI usage limit reached|1735689600",
                Some("2025-01-01T00:00:00Z"),
            ),
            (
                "You've hit your limit · resets 3pm (Europe/Berlin)",
                Some("3pm (Europe/Berlin)"),
            ),
            (
                "Rate limit reached. Please try again in 20s.",
                Some("in 20s"),
            ),
            (
                "usage limit reached, try again at Nov 3rd, 2026 1:00 PM.",
                Some("at Nov 3rd, 2026 1:00 PM"),
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                None,
            ),
            (
                "You exceeded your current quota, please check your plan and billing details. \
                 Please retry in 17.7s.",
                Some("in 17.7s"),
            ),
            ("Resource has been exhausted (e.g. check quota).", None),
            ("You've hit your session limit · resets 3pm", Some("3pm")),
            (
                "You've hit your Opus weekly limit · resets Nov 3, 2pm (UTC)",
                Some("Nov 3, 2pm (UTC)"),
            ),
            ("You've hit your limit", None),
            // Google's words when the server says nothing else.
            (
                "To increase your limits, request a quota increase through AI Studio, or switch to another model.",
                None,
            ),
            ("HTTP 429", None),
            ("Request failed with status code 429", None),
            ("error: [429] slow down, retry-after: 30", Some("in 30 s")),
            (
                "{\"error\":{\"code\":429,\"details\":[{\"retryDelay\": \"34s\"}]}}",
                Some("in 34s"),
            ),
            ("Credit balance is too low", None),
            (
                "[API Error: You have exhausted your daily quota on this model.]",
                None,
            ),
            (
                "You have exhausted your capacity on this model. Your quota will reset after \
                 14h33m35s.",
                Some("after 14h33m35s"),
            ),
        ] {
            let ClientError::RateLimited { resets, .. } = ErrorText::words(words).classify() else {
                panic!("{words}");
            };
            assert_eq!(resets.as_deref(), reset, "{words}");
        }
    }

    #[test]
    fn words_alone_are_named_where_they_can_be() {
        for (words, expected) in [
            ("Not logged in · Please run /login", "is not logged in: "),
            (
                "Please set an Auth method in your settings.json",
                "is not logged in: ",
            ),
            ("Invalid auth method selected.", "is not logged in: "),
            (
                "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n\
                 Update your environment and try again (no reload needed if using .env)!",
                "is not logged in: ",
            ),
            (
                "When using Vertex AI, you must specify either:\n• GOOGLE_CLOUD_PROJECT and \
                 GOOGLE_CLOUD_LOCATION environment variables.",
                "is not logged in: ",
            ),
            (
                "Manual authorization is required but the current session is non-interactive.",
                "is not logged in: ",
            ),
            (
                "Missing API key for OpenAI-compatible auth. Set settings.security.auth.apiKey, or set the \
                 'OPENAI_API_KEY' environment variable.",
                "is not logged in: ",
            ),
            (
                "Qwen OAuth credentials expired. Please use /auth to re-authenticate with qwen-oauth.",
                "is not logged in: ",
            ),
            (
                "Your access token could not be refreshed because your refresh token was already used. \
                 Please log out and sign in again.",
                "is not logged in: ",
            ),
            (
                "Bad Gateway: callosum: failed to lookup address information: Name or service not known",
                "cannot reach its server: ",
            ),
            (
                "Couldn't connect through your proxy (ERR_PROXY_TUNNEL)",
                "cannot reach its server: ",
            ),
            (
                "API Error (503): upstream away",
                "reached an overloaded server: ",
            ),
            (
                "UserPromptSubmit operation blocked by hook: no",
                "refused: ",
            ),
            ("Agent execution blocked: no", "refused: "),
            (
                "This service is unavailable.",
                "reached an overloaded server: ",
            ),
            (
                "Internal error: 401 Incorrect API key provided: none",
                "is not logged in: ",
            ),
            ("Incorrect API key", "is not logged in: "),
            ("403 Forbidden", "is not logged in: "),
            ("403 status code (no body)", "is not logged in: "),
            ("401 files changed", "failed: "),
            (
                "stream disconnected before completion",
                "was cut off in the middle",
            ),
            (
                "Incomplete response returned, reason: max_output_tokens",
                "was cut off in the middle",
            ),
            (
                "stream disconnected: Incomplete response returned, reason: content_filter",
                "refused: ",
            ),
            (
                "API Error: Claude's response exceeded the 128000 output token maximum. To configure this behavior, set",
                "was cut off in the middle",
            ),
            (
                "The response was blocked by the provider's content filter",
                "refused: ",
            ),
            (
                "Model produced plain text instead of calling the structured_output tool as required by --json-schema after \
                 2 turn(s). Output preview (9 chars): \"I cannot.\".",
                "did not answer in the requested form",
            ),
            (
                "it hit your wall of text and then the limit",
                "failed: it hit your",
            ),
            (
                "There's an issue with the selected model (opus-9). It may not exist or you may not have access to it.",
                "does not have this model: ",
            ),
            (
                "[API Error: models/gemini-9 is not found for API version v1beta]",
                "does not have this model: ",
            ),
            (
                "404 The model `gpt-9` does not exist or you do not have access to it.",
                "does not have this model: ",
            ),
            (
                "the model cannot say where the file is: not found",
                "failed: ",
            ),
            ("it is what it is", "failed: it is what it is"),
        ] {
            assert!(
                shown(words).starts_with(expected),
                "{words}: {}",
                shown(words)
            );
        }
    }

    /// CAL-ERR-1: one line that says what went wrong is no answer, and what speaks of errors is one.
    #[test]
    fn a_line_with_only_an_error_is_distinguished_from_an_answer() {
        for error in [
            "Error: model requires more system memory (5.6 GiB) than is available",
            "[API Error: Connection error.]",
            "You've hit your session limit \u{b7} resets 3pm\n",
            "Claude AI usage limit reached|1735689600",
        ] {
            assert!(is_only_an_error(error), "{error}");
        }
        for answer in [
            "Error: is printed `eprintln!(\"Error: {e}\")` [src/main.rs:7]",
            "Error: handling is in two files.\nThe first is src/a.rs.",
            "Errors are of one type.",
            "It prints `Error: no such file`.",
        ] {
            assert!(!is_only_an_error(answer), "{answer}");
        }
    }

    /// Lasting errors are not retried.
    #[test]
    fn only_what_may_pass_is_tried_again() {
        for (words, passes) in [
            ("401 Unauthorized: not logged in", false),
            ("prompt is too long", false),
            ("usage limit reached|1735689600", false),
            ("Overloaded", true),
            ("Too Many Requests", false),
            (
                "[API Error: 429]\nPlease wait and try again later. To increase your limits, request a quota increase",
                true,
            ),
        ] {
            assert_eq!(
                ErrorText::words(words).classify().may_pass(),
                passes,
                "{words}"
            );
        }
    }
}
