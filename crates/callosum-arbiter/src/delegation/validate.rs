//! Judges a valid answer: may it be committed, and with which remarks.
//!
//! The protocol has already checked whether an answer is valid at all (JSON, fields, checksum,
//! upper bound); this is about its content.

use callosum_citation::{Review, tokens};
use callosum_executor::protocol::{Answer, ChecksumBy, LONGEST_SUMMARY};
use callosum_ledger::{Entry, ErrorCode};
use callosum_redact::secrets;
use serde_json::{Map, Value, json};

use super::context::SHORT_SUMMARY;
use crate::fraction::Fraction;

/// Most citations of a kind that are listed one by one for an entry, or an executor.
pub(super) const MOST_LISTED: usize = 20;

/// Fields that an entry keeps of an executor's report on its answer: how tokens were counted and
/// how many were used for what, who answered, the cost, and which part of the tree was shown to a
/// model that opens no file.
const KEPT_OF_ANSWERS: [&str; 7] = [
    "token_method",
    "tokens",
    "client",
    "client_session",
    "model",
    "cost_usd",
    "shown",
];

/// Longest of these that is kept, in bytes of JSON.
const LONGEST_VALUE: usize = 200;

/// An answer that may be committed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    /// The summary, secrets masked.
    pub(super) summary: String,
    /// Tokens that the executor says it used.
    pub(super) tokens_used: u64,
    /// Tokens of the summary, estimated.
    pub(super) tokens_returned: u64,
    /// Review of its citations.
    pub(super) citations: Review,
    /// Metadata of the entry about the answer.
    pub(super) metadata: Map<String, Value>,
}

/// Reason that a valid answer may not be committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Objection {
    /// The summary is shorter than the project demands.
    #[error("`summary` has {bytes} bytes; at least {SHORT_SUMMARY} are required")]
    TooShort {
        /// Its length.
        bytes: usize,
    },
    /// The answer to a question is short, and not all that it cites holds, if it cites at all.
    #[error("`summary` has {bytes} bytes, and cites nothing or has invalid citations")]
    Uncited {
        /// Its length.
        bytes: usize,
        /// Review of its citations.
        review: Review,
    },
    /// The summary has outgrown the bound by what its secrets were replaced with.
    #[error(
        "`summary` has {bytes} bytes after its secrets are masked; at most {LONGEST_SUMMARY} are \
         allowed"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Too few of its citations hold.
    #[error(
        "{review}, but the required share is {required}{}",
        first_complaints(review)
    )]
    Ungrounded {
        /// Review of its citations.
        review: Review,
        /// Share that is demanded.
        required: Fraction,
    },
}

/// The first ones that do not hold.
fn first_complaints(review: &Review) -> String {
    let complaints = review.complaints(2);
    if complaints.is_empty() {
        return String::new();
    }
    format!(": {}", complaints.join(", "))
}

impl Objection {
    /// Returns the review of the citations, if the objection is about them.
    pub(super) fn into_review(self) -> Option<Review> {
        match self {
            Self::Ungrounded { review, .. } | Self::Uncited { review, .. } => Some(review),
            Self::TooShort { .. } | Self::TooLong { .. } => None,
        }
    }

    /// The seed's code.
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Self::TooShort { .. }
            | Self::Uncited { .. }
            | Self::TooLong { .. }
            | Self::Ungrounded { .. } => ErrorCode::MalformedAnswer,
        }
    }
}

/// Demands of a project on an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demands {
    /// Whether a short summary is refused.
    pub(super) strict_summary: bool,
    /// The share of citations that must hold.
    pub(super) citations: Option<Fraction>,
}

/// Judges an answer whose summary, masked, has these citations.
pub(super) fn judge(
    answer: &Answer,
    masked: secrets::Masked,
    citations: Review,
    demands: Demands,
) -> Result<Judged, Objection> {
    let bytes = masked.text.len();
    if bytes > LONGEST_SUMMARY {
        return Err(Objection::TooLong { bytes });
    }
    let short = bytes < SHORT_SUMMARY;
    if short && demands.strict_summary {
        return Err(Objection::TooShort { bytes });
    }
    let tally = citations.tally;
    if let Some(required) = demands.citations
        && !required.is_met(tally.verified, tally.total)
    {
        return Err(Objection::Ungrounded {
            review: citations,
            required,
        });
    }
    let mut metadata = Map::new();
    metadata.insert("citations".to_owned(), stored(&citations));
    if short {
        metadata.insert("short_summary".to_owned(), true.into());
    }
    if !masked.found.is_empty() {
        metadata.insert("secrets_masked".to_owned(), masked.found.len().into());
    }
    if answer.checksum_by == ChecksumBy::Us {
        metadata.insert("answer_checksum".to_owned(), "computed on arrival".into());
    }
    for key in KEPT_OF_ANSWERS {
        if let Some(value) = answer.metadata.get(key).filter(|value| is_short(value)) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    Ok(Judged {
        tokens_used: answer.tokens_used,
        tokens_returned: tokens::estimate(&masked.text),
        summary: masked.text,
        citations,
        metadata,
    })
}

/// Bytes of what a task may look at under which a short summary says as much as there is: the ten times of
/// [`SHORT_SUMMARY`] that make a summary worth having.
const SMALL_SCOPE: u64 = 10 * SHORT_SUMMARY as u64;

/// Whether it is worth a second call that an accepted summary is short.
///
/// It is not where the task is small, `scope_bytes` being what it may look at, nor where the summary cites and
/// all of it holds: a short answer to a short question.
pub(super) fn is_worth_a_second_call(judged: &Judged, scope_bytes: impl FnOnce() -> u64) -> bool {
    let tally = judged.citations.tally;
    let holds = tally.total > 0 && tally.verified == tally.total;
    judged.summary.len() < SHORT_SUMMARY && !holds && scope_bytes() >= SMALL_SCOPE
}

/// Judges an entry that was committed before by the present demands; `None` if it does not meet
/// them.
pub(super) fn judge_again(entry: &Entry, citations: Review, demands: Demands) -> Option<Judged> {
    let tally = citations.tally;
    let is_short = entry.summary.len() < SHORT_SUMMARY;
    let is_grounded = |share: Fraction| share.is_met(tally.verified, tally.total);
    if is_short && demands.strict_summary || !demands.citations.is_none_or(is_grounded) {
        return None;
    }
    Some(Judged {
        tokens_used: entry.tokens_used,
        tokens_returned: tokens::estimate(&entry.summary),
        summary: entry.summary.clone(),
        citations,
        metadata: entry.metadata.clone(),
    })
}

/// A review as an entry keeps it: the counts, and the first that do not hold.
fn stored(review: &Review) -> Value {
    let tally = review.tally;
    let mut stored = json!({
        "total": tally.total,
        "verified": tally.verified,
        "moved": tally.moved,
        "missing": tally.missing,
    });
    let moved = review.moved.iter().take(MOST_LISTED);
    let moved: Vec<Value> = moved
        .map(|(place, line)| json!({"place": place, "line": line}))
        .collect();
    let missing = review.missing.iter().take(MOST_LISTED);
    let missing: Vec<Value> = missing
        .map(|(place, why)| json!({"place": place, "why": why.to_string()}))
        .collect();
    for (key, list) in [("moved_places", moved), ("missing_places", missing)] {
        if !list.is_empty() {
            stored[key] = list.into();
        }
    }
    stored
}

fn is_short(value: &Value) -> bool {
    !value.is_null() && value.to_string().len() <= LONGEST_VALUE
}

#[cfg(test)]
mod tests {
    use callosum_citation::{self, CitationStatus, Why};
    use callosum_executor::{protocol::parse_answer, registry::Capabilities};

    use super::*;

    fn answer(summary: &str) -> Answer {
        let bytes = json!({"summary": summary, "tokens_used": 7, "status": "success"}).to_string();
        parse_answer(bytes.as_bytes(), Capabilities::default()).unwrap()
    }

    /// Demands that any answer meets.
    const LENIENT: Demands = Demands {
        strict_summary: false,
        citations: None,
    };

    fn judged(summary: &str, strict: bool) -> Result<Judged, Objection> {
        judge(
            &answer(summary),
            secrets::mask(summary),
            Review::default(),
            Demands {
                strict_summary: strict,
                citations: None,
            },
        )
    }

    /// CAL-SCH-3: what cites and holds is not asked for twice, nor what sums up little.
    #[test]
    fn a_short_summary_is_worth_a_second_call_where_there_was_more_to_say() {
        let mut short = judged("too short", false).unwrap();
        assert!(is_worth_a_second_call(&short, || SMALL_SCOPE));
        assert!(!is_worth_a_second_call(&short, || SMALL_SCOPE - 1));
        short.citations.tally.total = 1;
        assert!(is_worth_a_second_call(&short, || SMALL_SCOPE));
        short.citations.tally.verified = 1;
        assert!(!is_worth_a_second_call(&short, || SMALL_SCOPE));
        let long = judged(&"x".repeat(SHORT_SUMMARY), false).unwrap();
        assert!(!is_worth_a_second_call(&long, || SMALL_SCOPE));
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

    /// LOA-GRD-1: too few that hold is E003; what an entry keeps of the others is bounded.
    #[test]
    fn citations_below_the_demanded_share_are_an_objection() {
        let cited = callosum_citation::find(&"`abcd` [a.rs:1] ".repeat(30));
        let mut standings = vec![CitationStatus::Missing(Why::NoSuchFile); 30];
        standings[0] = CitationStatus::Verified;
        let review = Review::of(&cited, &standings);
        let judged = |share: &str| {
            let demands = Demands {
                strict_summary: false,
                citations: Some(share.parse().unwrap()),
            };
            judge(&answer("x"), secrets::mask("x"), review.clone(), demands)
        };
        let refused = judged("0.1").unwrap_err();
        assert_eq!(refused.code(), ErrorCode::MalformedAnswer);
        assert_eq!(
            refused.to_string(),
            "1 of 30 citations valid; 29 invented, but the required share is 0.1: \
             a.rs:1 (there is no such file), a.rs:1 (there is no such file)"
        );
        let kept = &judged("0.03").unwrap().metadata["citations"];
        assert_eq!(
            kept["missing_places"].as_array().unwrap().len(),
            MOST_LISTED
        );
        assert_eq!(kept["missing_places"][0]["place"], "a.rs:1");
    }

    /// CAL-COM-1: the record names who computed the checksum.
    #[test]
    fn a_checksum_that_we_computed_is_marked_as_ours() {
        let judged = judged("text", false).unwrap();
        assert_eq!(judged.metadata["answer_checksum"], "computed on arrival");
        assert_eq!(judged.tokens_used, 7);
    }

    /// CAL-TEST-1, CAL-SUM-1: an answer beyond the bound is refused, and what is found in one is kept.
    #[test]
    fn an_answer_is_bounded_and_keeps_what_it_says_of_itself() {
        // Masking may make an answer longer than its reader allows.
        let bytes = LONGEST_SUMMARY + 1;
        let masked = secrets::mask(&"x".repeat(bytes));
        let long = judge(&answer("x"), masked, Review::default(), LENIENT).unwrap_err();
        assert_eq!(long, Objection::TooLong { bytes });
        assert_eq!(long.into_review(), None);
        let key = KEPT_OF_ANSWERS[0];
        let answer = json!({
            "summary": "x", "tokens_used": 7, "status": "success", "metadata": {key: "v", "other": "w"},
        });
        let answer = parse_answer(answer.to_string().as_bytes(), Capabilities::default()).unwrap();
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let judged = judge(&answer, secrets::mask(&secret), Review::default(), LENIENT).unwrap();
        assert_eq!(judged.metadata[key], "v");
        assert!(!judged.metadata.contains_key("other"));
        assert_eq!(judged.metadata["secrets_masked"], 1);
        assert!(!judged.summary.contains(&secret));
    }

    /// CAL-TEST-1: an entry is used again only if it meets the demands of now.
    #[test]
    fn an_entry_is_judged_by_the_present_demands() {
        let entry = json!({
            "task_id": "cal_2026_01_02_0001", "executor": "scout", "timestamp": "2026-01-02T03:04:05Z",
            "summary": "short", "checksum": "0".repeat(64), "tokens_used": 7, "linked_tasks": [],
            "metadata": {"kept": true},
        });
        let entry = Entry::read(entry.to_string().as_bytes()).unwrap();
        let again = |demands| judge_again(&entry, Review::default(), demands);
        let used = again(LENIENT).unwrap();
        assert_eq!((used.summary.as_str(), used.tokens_used), ("short", 7));
        assert_eq!(used.metadata["kept"], true);
        let strict = Demands {
            strict_summary: true,
            ..LENIENT
        };
        assert!(again(strict).is_none());
        let cited = Demands {
            citations: Some("0.5".parse().unwrap()),
            ..LENIENT
        };
        assert!(again(cited).is_none());
    }
}
