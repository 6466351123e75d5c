//! A plan proposal of a model: accepted within what was allowed, or rejected, with the reasons on
//! record.
//!
//! Deliberately not here: the translation of a proposal to a plan, which is the language's, and
//! asking a model for one.

use callosum_json::Checksum;
use callosum_ledger::{AuditEvent, Event};
use callosum_plan::{
    AcceptedPlan, Allowlist, Library, Limits, ProposalRequest, Rejection, Unbounded, accept,
};
use callosum_redact::secrets;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::plan::source::Source;
use crate::{CommandError, open_ledger};

/// Most reasons that a record has.
const MOST_RECORDED: usize = 20;

/// Most of one reason that a record has, in characters.
const LONGEST_RECORDED: usize = 400;

/// The request that a refused plan answers.
pub struct Generation<'a> {
    /// The run that asked for a plan.
    pub run: &'a str,
    /// The model.
    pub model: &'a str,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Tokens of this attempt.
    pub tokens: u64,
    /// Time of this attempt.
    pub milliseconds: u64,
}

/// A reason why a model's plan is refused, as programs read it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RejectionOutput {
    /// The place in the proposal, as a JSON pointer.
    pub path: String,
    /// The rule that it breaks, as `wider-than-allowed`.
    pub rule: String,
    /// Fault.
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// The line of the source at `path` where it begins, from 1, where it is about a place in one.
    pub line: Option<usize>,
    /// The column where it begins, in characters from 1.
    pub column: Option<usize>,
}

impl RejectionOutput {
    /// Finds the places of rejections in the proposal's source.
    pub fn all(rejections: &[Rejection], handed_in: &Source) -> Vec<Self> {
        let json = parsed(handed_in);
        let of = |rejection: &Rejection| {
            let place = source_at(&json, rejection).zip(rejection.span);
            let place = place.map(|(source, span)| span.line_and_column(source));
            Self {
                path: rejection.path.clone(),
                rule: rejection.rule.to_owned(),
                message: rejection.message.clone(),
                hint: rejection.hint.clone(),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
            }
        };
        rejections.iter().map(of).collect()
    }
}

/// Parses a proposal's source; null if it is no JSON, in which nothing has a place.
pub fn parsed(handed_in: &Source) -> serde_json::Value {
    serde_json::from_str(&handed_in.text).unwrap_or_default()
}

/// The source that a rejection is about, where it is about a place in one.
pub fn source_at<'j>(json: &'j serde_json::Value, rejection: &Rejection) -> Option<&'j str> {
    rejection.span?;
    json.pointer(&rejection.path)?.as_str()
}

/// Makes a plan of it, for which no more is allowed than this.
pub fn taken(
    source: &Source,
    allowed: Option<&Allowlist>,
    max_calls: Option<u64>,
    unbounded: Unbounded,
) -> Result<AcceptedPlan, Vec<Rejection>> {
    let everything = || Allowlist::parse(&[":*"]).expect("it is a pattern");
    let request = ProposalRequest {
        allowed: allowed.cloned().unwrap_or_else(everything),
        max_yields: max_calls.unwrap_or(Limits::default().yields),
        unbounded,
        parameters: Vec::new(),
        library: Library::standard(),
    };
    let plan = accept(&source.text, &request)?;
    // A run's records keep it, and refuse it.
    let found = secrets::mask(&plan.source).found;
    if found.is_empty() {
        return Ok(plan);
    }
    let kinds: Vec<&str> = found.iter().map(|kind| kind.name()).collect();
    Err(vec![Rejection {
        path: String::new(),
        rule: "secret",
        message: format!(
            "it contains what looks like a secret ({})",
            kinds.join(", ")
        ),
        hint: Some("use the secret's name, so that the worker can look it up".to_owned()),
        span: None,
    }])
}

/// Puts on record that it was refused, and why, without secrets.
pub fn record<'r>(
    context: &Context,
    source: &Source,
    reasons: impl Iterator<Item = (&'r str, &'r str, &'r str)>,
    generation: Option<&Generation<'_>>,
) -> Result<(), CommandError> {
    let kept = |text: &str| -> String {
        let masked = secrets::mask(text).text;
        masked.chars().take(LONGEST_RECORDED).collect()
    };
    let reasons: Vec<serde_json::Value> = reasons
        .take(MOST_RECORDED)
        .map(|(path, rule, message)| json!({"path": kept(path), "rule": rule, "message": kept(message)}))
        .collect();
    let event = AuditEvent {
        status: Some("plan-refused".to_owned()),
        ..AuditEvent::new(Event::Rejected)
    };
    let mut event = event
        .with("proposal", Checksum::of(source.text.as_bytes()).to_string())
        .with("rejections", reasons);
    if let Some(generation) = generation {
        event = event
            .with("run", generation.run)
            .with("model", generation.model)
            .with("attempt", generation.attempt)
            .with("tokens", generation.tokens)
            .with("milliseconds", generation.milliseconds);
    }
    let ledger = open_ledger::open(context)?;
    open_ledger::record(&ledger, event)
}
