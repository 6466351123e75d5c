//! [`Answer`]: an executor's output, checked.

use callosum_json::{
    Checksum,
    canonical::{DuplicateKeys, checksum_without},
};
use callosum_ledger::ErrorCode;
use serde_json::{Map, Value};

use super::parse::{Unreadable, field, read_object};
use crate::{
    registry::Capabilities,
    sanitize::{fit_shortly, shows_nothing},
};

/// Longest summary, in bytes of UTF-8 (seed CAL §3.2: 10 KB).
pub const LONGEST_SUMMARY: usize = 10 * 1024;

/// The key of an answer's metadata for its cost, in US dollars.
const COST_KEY: &str = "cost_usd";

/// A valid answer (seed CAL §6.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The result in words.
    pub summary: String,
    /// Tokens that it cost, as the executor counts.
    pub tokens_used: u64,
    /// Over the answer without its `checksum`, in canonical form.
    pub checksum: Checksum,
    /// The side that computed it.
    pub checksum_by: ChecksumBy,
    /// More data from the executor about its answer; ours has `token_method`.
    pub metadata: Map<String, Value>,
}

/// Usage of a run, as the executor reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub cost_usd: f64,
}

impl Answer {
    /// Returns the usage that the executor reports.
    pub fn spent(&self) -> Spent {
        let cost = self.metadata.get(COST_KEY).and_then(Value::as_f64);
        Spent {
            tokens: self.tokens_used,
            cost_usd: cost.unwrap_or(0.0),
        }
    }
}

/// The side that computed an answer's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumBy {
    /// The executor: the answer came as it was sent.
    Executor,
    /// We, on arrival: the executor is not able to.
    Us,
}

/// Reason why an answer is not accepted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// It is not an object with the fields that are asked for.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// `status` is neither of the two that there are.
    #[error("`status` is `{found}` (allowed: `success`, `error`)")]
    UnknownStatus {
        /// The actual value.
        found: String,
    },
    /// The executor reports a failure (seed CAL §6.4). Its words are masked and cut short.
    #[error("the executor reports: {words}")]
    Failed {
        /// Its words.
        words: String,
        /// Its `details`, if any.
        details: Option<String>,
    },
    /// There is a summary with nothing in it that can be seen.
    #[error("`summary` is empty")]
    EmptySummary,
    /// The summary is longer than [`LONGEST_SUMMARY`]; asking once for a shorter one may help.
    #[error("`summary` has {bytes} bytes; at most {LONGEST_SUMMARY} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The answer, valid except for its length, so that nothing of it is lost.
        answer: Box<Answer>,
    },
    /// `checksum` is not 64 hexadecimal digits.
    #[error("`checksum` is `{found}`, not 64 hexadecimal digits")]
    MalformedChecksum {
        /// The actual value.
        found: String,
    },
    /// `checksum` is not that of the answer.
    #[error("`checksum` is {stated}, but the answer's checksum is {computed}")]
    Mismatch {
        /// The checksum in the answer.
        stated: Checksum,
        /// The actual checksum.
        computed: Checksum,
    },
}

impl AnswerError {
    /// The seed's code: E004 for a checksum that does not match, else E003.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Mismatch { .. } => ErrorCode::ChecksumMismatch,
            _ => ErrorCode::MalformedAnswer,
        }
    }
}

/// Checks the bytes of an executor's answer.
///
/// A checksum may be absent only if the executor has no `checksum_support`; one that is there must
/// match in any case.
pub fn parse_answer(bytes: &[u8], capabilities: Capabilities) -> Result<Answer, AnswerError> {
    let object = read_object(bytes)?;
    match field(&object, "status", "a string", Value::as_str)? {
        "success" => {}
        "error" => return Err(failure(&object)),
        other => {
            return Err(AnswerError::UnknownStatus {
                found: fit_shortly(other),
            });
        }
    }
    let summary = field(&object, "summary", "a string", Value::as_str)?;
    let tokens_used = field(
        &object,
        "tokens_used",
        "a whole number of 0 or more",
        Value::as_u64,
    )?;
    let metadata = if is_absent(&object, "metadata") {
        Map::new()
    } else {
        field(&object, "metadata", "an object", Value::as_object)?.clone()
    };
    let (checksum, checksum_by) = judge_checksum(bytes, &object, capabilities)?;
    if shows_nothing(summary) {
        return Err(AnswerError::EmptySummary);
    }
    let answer = Answer {
        summary: summary.to_owned(),
        tokens_used,
        checksum,
        checksum_by,
        metadata,
    };
    if summary.len() > LONGEST_SUMMARY {
        return Err(AnswerError::TooLong {
            bytes: summary.len(),
            answer: Box::new(answer),
        });
    }
    Ok(answer)
}

fn judge_checksum(
    bytes: &[u8],
    object: &Map<String, Value>,
    capabilities: Capabilities,
) -> Result<(Checksum, ChecksumBy), AnswerError> {
    let computed = checksum_without(bytes, "checksum", DuplicateKeys::Refused)
        .map_err(|fault| Unreadable::NotJson { fault })?;
    if is_absent(object, "checksum") && !capabilities.checksum_support {
        return Ok((computed, ChecksumBy::Us));
    }
    let stated = field(object, "checksum", "a string", Value::as_str)?;
    let stated: Checksum = stated.parse().map_err(|_| AnswerError::MalformedChecksum {
        found: fit_shortly(stated),
    })?;
    if stated == computed {
        Ok((computed, ChecksumBy::Executor))
    } else {
        Err(AnswerError::Mismatch { stated, computed })
    }
}

/// Whether there is no such field, or `null`, which is how many programs write that.
fn is_absent(object: &Map<String, Value>, field: &str) -> bool {
    object.get(field).is_none_or(Value::is_null)
}

fn failure(object: &Map<String, Value>) -> AnswerError {
    let text = |field: &str| object.get(field).and_then(Value::as_str).map(fit_shortly);
    AnswerError::Failed {
        words: text("error")
            .or_else(|| text("summary"))
            .unwrap_or_else(|| "(nothing more)".to_owned()),
        details: text("details"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NONE: Capabilities = Capabilities {
        prompt_input: true,
        json_output: true,
        filesystem_access: true,
        checksum_support: false,
    };
    const CHECKSUM: Capabilities = Capabilities {
        checksum_support: true,
        ..NONE
    };

    fn signed(mut answer: Value) -> Vec<u8> {
        let bytes = serde_json::to_vec(&answer).unwrap();
        let checksum = checksum_without(&bytes, "checksum", DuplicateKeys::Refused).unwrap();
        answer["checksum"] = json!(checksum.to_string());
        serde_json::to_vec_pretty(&answer).unwrap()
    }

    fn check(bytes: &[u8], expected: &str) {
        let error = parse_answer(bytes, CHECKSUM).unwrap_err();
        assert_eq!(format!("{}: {error}", error.code()), expected);
    }

    /// CAL-COM-1: the seed's own answer is accepted, with any blanks around it.
    #[test]
    fn a_valid_answer_is_taken_with_blanks_around_it() {
        let mut bytes = b" \n".to_vec();
        bytes.extend(signed(json!({
            "summary": "r\u{e9}sum\u{e9}", "tokens_used": 7, "status": "success",
            "metadata": {"token_method": "x", "share": 0.1}
        })));
        bytes.extend(b"\r\n\t");
        let answer = parse_answer(&bytes, CHECKSUM).unwrap();
        assert_eq!(answer.summary, "r\u{e9}sum\u{e9}");
        assert_eq!(answer.tokens_used, 7);
        assert_eq!(answer.checksum_by, ChecksumBy::Executor);
        assert_eq!(answer.metadata["token_method"], "x");
    }

    /// CAL-COM-1: a checksum may be absent where it is not supported; we compute it and say so.
    #[test]
    fn a_missing_checksum_is_ours_to_compute_where_it_is_not_supported() {
        let bytes = br#"{"summary":"a","tokens_used":0,"status":"success"}"#;
        let answer = parse_answer(bytes, NONE).unwrap();
        assert_eq!(answer.checksum_by, ChecksumBy::Us);
        // printf '{"status":"success","summary":"a","tokens_used":0}' | sha256sum
        assert_eq!(
            answer.checksum,
            Checksum::of(br#"{"status":"success","summary":"a","tokens_used":0}"#)
        );
        check(bytes, "E003: the answer has no `checksum`");
    }

    /// CAL-ERR-4: a wrong checksum is E004 even where none was asked for.
    #[test]
    fn a_flipped_byte_is_a_mismatch() {
        let mut bytes = signed(json!({"summary": "abc", "tokens_used": 0, "status": "success"}));
        let at = bytes.windows(3).position(|three| three == b"abc").unwrap();
        bytes[at] = b'x';
        let error = parse_answer(&bytes, NONE).unwrap_err();
        assert!(matches!(error, AnswerError::Mismatch { .. }));
        assert_eq!(error.code().as_str(), "E004");
    }

    /// REQ-COM-004, CAL-ERR-3: each malformed answer is E003, and says what is wrong.
    #[test]
    fn malformed_answers_say_what_is_wrong() {
        check(b" \n", "E003: the answer is empty");
        check(
            b"{\"a\": \xff}",
            "E003: the answer is not UTF-8 (at byte 6)",
        );
        check(b"[1]", "E003: the answer is an array, not an object");
        check(b"{}", "E003: the answer has no `status`");
        check(
            br#"{"status": true}"#,
            "E003: `status` is a boolean, not a string",
        );
        check(
            br#"{"status": "done"}"#,
            "E003: `status` is `done` (allowed: `success`, `error`)",
        );
        check(
            br#"{"status": "success"}"#,
            "E003: the answer has no `summary`",
        );
        for number in ["-1", "1.5", "\"3\"", "1e99", "99999999999999999999999"] {
            let text = format!(r#"{{"status":"success","summary":"s","tokens_used":{number}}}"#);
            let error = parse_answer(text.as_bytes(), NONE).unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with("not a whole number of 0 or more"),
                "{number}: {error}"
            );
        }
        let huge = format!("{{\"status\": \"success\",\n\"a\": {}}}", "9".repeat(400));
        let error = parse_answer(huge.as_bytes(), NONE).unwrap_err();
        assert_eq!(error.code().as_str(), "E003");
        assert!(
            error
                .to_string()
                .contains("too large for a float at line 2")
        );
        check(
            br#"{"status":"success","summary":"s","tokens_used":1,"checksum":"abc"}"#,
            "E003: `checksum` is `abc`, not 64 hexadecimal digits",
        );
        check(
            br#"{"status":"success","summary":"s","tokens_used":1,"metadata":[]}"#,
            "E003: `metadata` is an array, not an object",
        );
        check(
            &signed(json!({"status": "success", "summary": " ", "tokens_used": 1})),
            "E003: `summary` is empty",
        );
    }

    /// CAL-COM-1: many programs write `null` for what they have not.
    #[test]
    fn null_means_a_missing_field() {
        let bytes = br#"{"summary":"a","tokens_used":0,"status":"success","metadata":null,
            "checksum":null,"error":null}"#;
        let answer = parse_answer(bytes, NONE).unwrap();
        assert_eq!(answer.metadata, Map::new());
        assert_eq!(answer.checksum_by, ChecksumBy::Us);
        check(bytes, "E003: `checksum` is null, not a string");
        check(
            br#"{"status": "error", "error": null, "summary": "no model", "details": null}"#,
            "E003: the executor reports: no model",
        );
    }

    #[test]
    fn what_is_not_json_is_placed_by_line_and_column() {
        let error = parse_answer(b"Sure! Here is\nyour answer", NONE).unwrap_err();
        assert_eq!(error.code().as_str(), "E003");
        assert!(error.to_string().contains("line 1"), "{error}");
        let error = parse_answer(b"{\"status\": \"error\",\n \"status\": \"success\"}", NONE);
        assert!(error.unwrap_err().to_string().contains("line 2"));
    }

    /// CAL-COM-1, §6.4: an error answer is reported in the executor's own words.
    #[test]
    fn an_error_answer_keeps_the_executors_words() {
        check(
            br#"{"error": "E002 model is away", "status": "error", "details": "try later"}"#,
            "E003: the executor reports: E002 model is away",
        );
        check(
            br#"{"status": "error"}"#,
            "E003: the executor reports: (nothing more)",
        );
    }

    /// CAL-SCH-3: over 10 KB is E003, and nothing of the answer is lost.
    #[test]
    fn a_summary_that_is_too_long_is_kept_whole() {
        let long = "x".repeat(LONGEST_SUMMARY + 1);
        let bytes = signed(json!({"summary": long, "tokens_used": 1, "status": "success"}));
        match parse_answer(&bytes, CHECKSUM).unwrap_err() {
            AnswerError::TooLong {
                bytes: 10_241,
                answer,
            } => assert_eq!(answer.summary, long),
            other => panic!("{other}"),
        }
        let fits = "x".repeat(LONGEST_SUMMARY);
        let bytes = signed(json!({"summary": fits, "tokens_used": 1, "status": "success"}));
        assert!(parse_answer(&bytes, CHECKSUM).is_ok());
    }
}
