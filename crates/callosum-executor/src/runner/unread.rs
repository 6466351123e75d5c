//! [`judge_output`]: reads the answer of a program, also in the wrong wrapping, and keeps what cannot be read.
//!
//! A program may print a warning before its answer, or color it. That answer is paid for, so it is read if it can be;
//! otherwise the error carries what the program wrote.

use std::ffi::OsString;

use callosum_redact::secrets;

use super::{output::Reply, run_error::RunError};
use crate::{
    output_format::{self, ClientError, wrapping::unwrapped},
    protocol::{Answer, AnswerError, parse_answer},
    registry::{Capabilities, Executor},
};

/// Most places in an output at which an answer is looked for.
const MOST_PLACES: usize = 8;

/// Judges what a program wrote before it ended well.
pub(super) fn judge_output(executor: &Executor, reply: Reply) -> Result<Answer, RunError> {
    parse_wrapped(&reply.output, executor.capabilities).map_err(|source| {
        let is_unreadable = matches!(source, AnswerError::Unreadable(_));
        let written = String::from_utf8_lossy(&reply.output);
        let is_kept = is_unreadable && !written.trim().is_empty();
        let unread = is_kept.then(|| secrets::mask(&written).text);
        RunError::Answer {
            executor: executor.id.clone(),
            source: Box::new(source),
            complaint: reply.complaint,
            unread,
        }
    })
}

/// Parses an answer; if the bytes as a whole are none, the first object in them that is.
///
/// The error is that of the whole.
fn parse_wrapped(bytes: &[u8], capabilities: Capabilities) -> Result<Answer, AnswerError> {
    let whole = match parse_answer(bytes, capabilities) {
        Err(AnswerError::Unreadable(why)) => AnswerError::Unreadable(why),
        judged => return judged,
    };
    for inner in objects_in(bytes).take(MOST_PLACES) {
        match parse_answer(inner, capabilities) {
            Err(AnswerError::Unreadable(_)) => {}
            judged => return judged,
        }
    }
    Err(whole)
}

/// Returns the parts of an output that may be one object: from a line that begins with a brace to the last brace.
fn objects_in(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|byte| *byte == b'}');
    let end = end.map_or(0, |end| end + 1);
    let mut at = 0;
    let lines = bytes[..end].split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(move |line| {
        let begin = at;
        at += line.len();
        let bare = unwrapped(&bytes[begin..end]);
        bare.starts_with(b"{").then_some(bare)
    })
}

/// Returns the error of a program that ended well and wrote nothing, if its standard error names a known reason.
pub(super) fn without_output(
    executor: &Executor,
    environment: &[(OsString, OsString)],
    reply: &Reply,
) -> Option<RunError> {
    if !unwrapped(&reply.output).is_empty() {
        return None;
    }
    let fault = output_format::named_in(&reply.complaint)?;
    Some(refused(executor, environment, fault, &reply.complaint))
}

/// Returns the error of an unknown program, with the fault that it reports.
pub(super) fn refused(
    executor: &Executor,
    environment: &[(OsString, OsString)],
    fault: ClientError,
    complaint: &str,
) -> RunError {
    RunError::Client {
        executor: executor.id.clone(),
        advice: fault.advice(executor, None, environment),
        complaint: complaint.to_owned(),
        partial: None,
        spent: Box::default(),
        fault: Box::new(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"status": "success", "summary": "It adds.", "tokens_used": 7}"#;

    /// CAL-ERR-3: an answer is read behind warnings and between terminal sequences, and nothing else is taken for one.
    #[test]
    fn an_answer_in_the_wrong_wrapping_is_read() {
        let parsed = |text: &str| parse_wrapped(text.as_bytes(), Capabilities::default());
        for (before, behind) in [
            ("", ""),
            ("warning: the cache is cold\n", ""),
            ("\u{1b}[2K\u{1b}[32m", "\u{1b}[0m\n"),
            ("\u{feff}", "\u{2028}"),
            ("{not json}\n  ", "\nbye\n"),
        ] {
            let answer = parsed(&format!("{before}{ANSWER}{behind}")).unwrap();
            assert_eq!(answer.summary, "It adds.");
        }
        for none in ["It adds.", "{\"status\": \"success\"}", "see {\"a\": 1}"] {
            assert!(parsed(none).is_err(), "{none}");
        }
        // A checksum that does not match is no wrapping.
        let wrong = ANSWER.replace("7}", &format!("7, \"checksum\": \"{}\"}}", "0".repeat(64)));
        let error = parsed(&format!("warning\n{wrong}")).unwrap_err();
        assert!(matches!(error, AnswerError::Mismatch { .. }), "{error}");
    }
}
