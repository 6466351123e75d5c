//! Judges a valid answer: may it be committed, and what is to be said of it.
//!
//! Whether an answer is valid at all (JSON, fields, checksum, upper bound) the protocol has said
//! before; this is about what it says.

use callosum_agents::protocol::{Answer, ChecksumBy, LONGEST_SUMMARY};
use callosum_evidence::{citation::Tally, secrets, tokens};
use callosum_ledger::ErrorCode;
use serde_json::{Map, Value, json};

use super::means::SHORT_SUMMARY;

/// An answer that may be committed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    /// The summary, secrets masked.
    pub(super) summary: String,
    /// Tokens that the executor says it used.
    pub(super) tokens_used: u64,
    /// Tokens of the summary, estimated.
    pub(super) tokens_returned: u64,
    /// How its citations stand.
    pub(super) citations: Tally,
    /// What the entry's metadata says of the answer.
    pub(super) metadata: Map<String, Value>,
}

/// Why a valid answer may not be committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Objection {
    /// The summary is shorter than the project demands.
    #[error(
        "`summary` has {bytes} bytes, at least {SHORT_SUMMARY} are demanded (`strict_summary`)"
    )]
    TooShort {
        /// Its length.
        bytes: usize,
    },
    /// The summary has outgrown the bound by what its secrets were replaced with.
    #[error(
        "`summary` has {bytes} bytes once its secrets are masked, at most {LONGEST_SUMMARY} are allowed"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

impl Objection {
    /// The seed's code.
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Self::TooShort { .. } | Self::TooLong { .. } => ErrorCode::MalformedAnswer,
        }
    }
}

/// Judges an answer whose summary, masked, has these citations.
pub(super) fn judge(
    answer: &Answer,
    masked: secrets::Masked,
    citations: Tally,
    strict_summary: bool,
) -> Result<Judged, Objection> {
    let bytes = masked.text.len();
    if bytes > LONGEST_SUMMARY {
        return Err(Objection::TooLong { bytes });
    }
    let short = bytes < SHORT_SUMMARY;
    if short && strict_summary {
        return Err(Objection::TooShort { bytes });
    }
    let mut metadata = Map::new();
    metadata.insert(
        "citations".to_owned(),
        json!({
            "total": citations.total,
            "verified": citations.verified,
            "moved": citations.moved,
            "missing": citations.missing,
        }),
    );
    if short {
        metadata.insert("short_summary".to_owned(), true.into());
    }
    if !masked.found.is_empty() {
        metadata.insert("secrets_masked".to_owned(), masked.found.len().into());
    }
    if answer.checksum_by == ChecksumBy::Us {
        metadata.insert("answer_checksum".to_owned(), "computed on arrival".into());
    }
    if let Some(method) = answer.metadata.get("token_method").and_then(Value::as_str) {
        metadata.insert("token_method".to_owned(), method.into());
    }
    Ok(Judged {
        tokens_used: answer.tokens_used,
        tokens_returned: tokens::estimate(&masked.text),
        summary: masked.text,
        citations,
        metadata,
    })
}

#[cfg(test)]
mod tests {
    use callosum_agents::{protocol::parse_answer, registry::Capabilities};

    use super::*;

    fn answer(summary: &str) -> Answer {
        let bytes = json!({"summary": summary, "tokens_used": 7, "status": "success"}).to_string();
        parse_answer(bytes.as_bytes(), Capabilities::default()).unwrap()
    }

    fn judged(summary: &str, strict: bool) -> Result<Judged, Objection> {
        judge(
            &answer(summary),
            secrets::mask(summary),
            Tally::default(),
            strict,
        )
    }

    /// CAL-SCH-3: under 2 KB is accepted and marked, unless the project is strict.
    #[test]
    fn a_short_summary_is_marked_or_refused() {
        let lenient = judged("too short", false).unwrap();
        assert_eq!(lenient.metadata["short_summary"], true);
        let refused = judged("too short", true).unwrap_err();
        assert_eq!(refused, Objection::TooShort { bytes: 9 });
        assert_eq!(refused.code(), ErrorCode::MalformedAnswer);
        let long = judged(&"x".repeat(SHORT_SUMMARY), true).unwrap();
        assert!(!long.metadata.contains_key("short_summary"));
    }

    /// CAL-COM-1: who computed the checksum is said.
    #[test]
    fn a_checksum_that_we_computed_is_said_to_be_ours() {
        let judged = judged("text", false).unwrap();
        assert_eq!(judged.metadata["answer_checksum"], "computed on arrival");
        assert_eq!(judged.tokens_used, 7);
    }
}
