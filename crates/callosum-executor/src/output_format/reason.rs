//! [`without_answer`]: reason why a client ended well without an answer, from its other output.
//!
//! Gemini CLI ends with 0 and an empty response after five requests that a rate limit refused, and
//! reports it on standard error alone, after a banner (pal-mcp-server#273). The reason decides the
//! code, and so whether another try can help.

use super::{classify_error::ErrorText, client_error::ClientError};
use crate::{
    sanitize::{fit_shortly, shows_nothing},
    stderr_summary::{self, without_everyday},
};

/// Most lines of a stream, from its end, in which a reason is looked for.
const LAST_LINES: usize = 40;

/// Returns the fault of a run that exited with success but gave no answer.
///
/// `warning` is the client's complaint in its own format, `last_words` the end of its standard
/// error, `unread` its standard output without events.
pub(super) fn without_answer(warning: Option<&str>, last_words: &str, unread: &str) -> ClientError {
    let streams = [warning.unwrap_or_default(), last_words, unread];
    if let Some(fault) = streams.iter().find_map(|words| named_in(words)) {
        return fault;
    }
    let own_words = || stderr_summary::last_line(warning?).map(str::to_owned);
    let line = own_words()
        .or_else(|| stderr_summary::telling(last_words))
        .or_else(|| stderr_summary::telling(unread));
    ClientError::NoAnswer {
        words: line.map(|line| fit_shortly(&line)).unwrap_or_default(),
    }
}

/// Returns the fault in a stream, from the last line that names one.
///
/// Lines that only healthy runs print name none.
pub(crate) fn named_in(words: &str) -> Option<ClientError> {
    let kept = without_everyday(words);
    kept.lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(LAST_LINES)
        .map(|line| ErrorText::words(line.trim()).classify())
        .find(|fault| !matches!(fault, ClientError::Other { .. }))
}

/// Longest plain text, in bytes, that is taken for a complaint if it names a fault and cites no place of the tree.
const LONGEST_COMPLAINT: usize = 600;

/// Returns the answer in the plain text that a client wrote instead of events, without banners
/// around it.
///
/// `None` if there is none, or if it only reports an error.
pub(super) fn plain_answer(unread: &str) -> Option<String> {
    let plain = anstream::adapter::strip_str(unread).to_string();
    let plain = without_everyday(&plain);
    let plain = plain.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
    });
    let is_complaint = plain.len() <= LONGEST_COMPLAINT
        && callosum_citation::find(plain).is_empty()
        && (named_in(plain).is_some() || stderr_summary::telling(plain).is_some());
    // What begins like JSON and cannot be read as such is the beginning of an answer at most.
    let is_torn = plain.starts_with('{') || plain.starts_with('[');
    (!shows_nothing(plain) && !is_complaint && !is_torn).then(|| plain.to_owned())
}

#[cfg(test)]
mod tests {
    use callosum_ledger::ErrorCode;

    use super::*;

    /// CAL-ERR-1 to 3: the reason is found on whichever stream a client left it, and decides the code.
    #[test]
    fn a_run_without_an_answer_has_the_reason_that_its_streams_name() {
        let attempts = "Loaded cached credentials.\nAttempt 1 failed with status 429. Retrying with backoff...\n\
                        Attempt 5 failed with status 429. Max attempts reached\n";
        for (warning, last_words, unread, code, says) in [
            (None, attempts, "", ErrorCode::Timeout, "status 429"),
            (
                Some("To increase your limits, request a quota increase"),
                "",
                "",
                ErrorCode::Timeout,
                "rate limit",
            ),
            (
                None,
                "",
                "You've hit your limit, resets 3pm\n",
                ErrorCode::Timeout,
                "which is lifted 3pm",
            ),
            (
                None,
                "ProviderModelNotFoundError: x\n    at f (y:1)",
                "",
                ErrorCode::ExecutorCrash,
                "does not have this model",
            ),
            (
                Some("something odd"),
                "Please run /login · Not logged in",
                "",
                ErrorCode::ExecutorCrash,
                "is not logged in",
            ),
            (
                None,
                "TypeError: x is undefined",
                "",
                ErrorCode::MalformedAnswer,
                "without an answer: TypeError: x is undefined",
            ),
        ] {
            let fault = without_answer(warning, last_words, unread);
            assert_eq!(fault.code(), code, "{fault}");
            assert!(fault.to_string().contains(says), "{fault}");
            assert_eq!(
                fault.may_pass(),
                code == ErrorCode::MalformedAnswer,
                "{fault}"
            );
        }
    }

    /// Plain text is an answer unless it only reports an error.
    #[test]
    fn plain_text_is_an_answer_unless_it_is_a_complaint() {
        let answer =
            "Loaded cached credentials.\nIt is 3: `const RETRIES: u8 = 3;` [src/net.rs:2]\n";
        assert_eq!(
            plain_answer(answer).as_deref(),
            Some("It is 3: `const RETRIES: u8 = 3;` [src/net.rs:2]")
        );
        assert_eq!(
            plain_answer("\u{1b}[1mTwo files.\u{1b}[0m\u{2028}").as_deref(),
            Some("Two files.")
        );
        for complaint in [
            "",
            "Loaded cached credentials.\n",
            "Error: quota exceeded\n",
            "Please run /login\n",
            "{\"response\": \"It is",
            "Cannot open the browser to authenticate",
        ] {
            assert_eq!(plain_answer(complaint), None, "{complaint}");
        }
    }

    /// Output that every healthy run prints is no reason.
    #[test]
    fn a_banner_is_no_reason() {
        let banner = "Loaded cached credentials.\n(node:9) Warning: a 429 is nothing\n(Use `node --trace-warnings ...`)";
        let fault = without_answer(None, banner, "");
        assert_eq!(fault.to_string(), "exited successfully without an answer");
    }
}
