//! [`RunRecord`]: an event of a run, as the audit journal keeps it.
//!
//! Each is one record of the kind `plan`; its status names the event, its details are the fields
//! here and the run's id. The format: `docs/formats/plan-run.md`. No record holds a secret, and
//! none is without end: a long text is kept outside of the journal, by its hash.

use callosum_json::Checksum;
use callosum_ledger::{AuditEvent, AuditRecord, Event};
use callosum_plan::{Failure, FailureKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};

use super::ids::{CallKey, RunId};
use crate::kernel::{RunCaps, Sensitivity};
use callosum_arbiter::budget::Money;

/// The format of these records.
pub const RUN_FORMAT: u32 = 1;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunRecord {
    /// It was begun.
    Started(Box<Started>),
    /// A process went on with it.
    Resumed(Resumed),
    /// It is about to make a call.
    Intended(Box<Intended>),
    /// The kernel ruled on it; once that is on disk, the call may have been made.
    Ruled(Ruled),
    /// A call has its answer.
    Answered(Answered),
    /// A person decided about a call.
    Decided(Decided),
    /// Something happened to a step.
    Step(StepRecord),
    /// It waits for a person.
    Paused(Paused),
    /// A user asked for its end.
    CancelAsked,
    /// It came to its end.
    Ended(Ended),
}

/// A text that is in the record, or outside of the journal if it is long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptText {
    /// The text itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The hash of a text that is stored elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Checksum>,
}

/// Beginning of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// [`RUN_FORMAT`].
    pub format: u32,
    /// The plan's name, where it has one.
    pub plan: Option<String>,
    /// Its source.
    pub source: KeptText,
    /// The hash of the source.
    pub source_sha256: Checksum,
    /// Values of its parameters, as a map in the language's notation.
    pub input: KeptText,
    /// The hash of that map.
    pub input_sha256: Checksum,
    /// Limits of its evaluation.
    pub limits: RunLimits,
    /// Limits on the resources that its calls use, for each process that goes on with it.
    #[serde(default, skip_serializing_if = "RunCaps::is_empty")]
    pub caps: RunCaps,
    /// The capabilities that it may call, in their normal form, as its source has them.
    pub capabilities: Vec<String>,
    /// Constitution that governs it.
    pub constitution: ConstitutionPrint,
    /// The program that began it.
    pub version: String,
}

/// Constitution under which a process ran a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstitutionPrint {
    /// The version that it says it has.
    pub version: String,
    /// Its hash.
    pub hash: String,
}

/// The counts that bound an evaluation; see [`callosum_plan::Limits`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLimits {
    /// Units of work.
    pub fuel: u64,
    /// Bytes asked for.
    pub memory: u64,
    /// Calls.
    pub yields: u64,
    /// Turns of one loop.
    pub turns: u64,
    /// Bytes of one call's arguments and of the value.
    pub value: u64,
}

/// A process went on with a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// Constitution that governs it from here on.
    pub constitution: ConstitutionPrint,
    /// Number of calls that had an answer by then.
    pub answered: u64,
}

/// A call that is about to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intended {
    /// Position in the run; see [`callosum_plan::Position`].
    pub position: String,
    /// Number of calls that were intended before it.
    pub ordinal: u64,
    /// Capability that is called, in its normal form.
    pub capability: String,
    /// With what, as a vector in the language's notation, secrets masked.
    pub arguments: KeptText,
    /// The hash of the arguments as they are.
    pub arguments_sha256: Checksum,
    /// Under which key.
    pub key: CallKey,
    /// Number of the try of this call, from 1; above that if a person stated that it was not done.
    pub attempt: u32,
    /// The steps around it, the outermost first, each with its try: `review`, `review#2`.
    pub steps: Vec<String>,
    /// The line and column of the call in the source, from 1.
    pub line: u64,
    /// See `line`.
    pub column: u64,
}

/// The kernel's ruling on a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruled {
    /// The call.
    pub key: CallKey,
    /// The ruling.
    pub ruling: RulingWord,
    /// The policies that decided.
    pub policies: Vec<String>,
    /// Reason for a person to read.
    pub reason: String,
    /// Sensitivity of the run's data from then on; of approved calls only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
}

/// Ruling of the kernel on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RulingWord {
    /// It may be made.
    Approved,
    /// A person is asked first.
    Asked,
    /// It may not be made.
    Denied,
    /// It was approved, and surely not made: its process was stopped before.
    Withdrawn,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The call.
    pub key: CallKey,
    /// Answer of the call.
    #[serde(flatten)]
    pub answer: Answer,
    /// Resources that it used.
    #[serde(default)]
    pub spent: Spent,
    /// Whether it was found by its key after an interruption, and not made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found: bool,
    /// Sensitivity of the run's data from then on, if the answer is more sensitive than the ruling
    /// has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
}

/// Result of a call: one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// A value in the language's notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<KeptText>,
    /// A failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<KeptFailure>,
}

/// A failure as records have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFailure {
    /// Its kind, as programs name it.
    pub kind: String,
    /// Description of the failure, secrets masked.
    pub message: String,
    /// Suggested fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Resources that calls have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Milliseconds.
    #[serde(default)]
    pub elapsed_ms: u64,
    /// Tokens of models.
    #[serde(default)]
    pub tokens: u64,
    /// Money, in ten-thousandths of a US dollar.
    #[serde(default)]
    pub cost: Money,
}

/// A person's decision on a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The call.
    pub key: CallKey,
    /// The decision.
    pub decision: DecisionWord,
    /// Its answer, where it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<KeptText>,
}

/// Possible decision of a person on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionWord {
    /// It may be made.
    Approved,
    /// It may not be made: it fails.
    Refused,
    /// It was done, with this value.
    Done,
    /// It was not done: it may be made again.
    NotDone,
}

/// Something that happened to a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The names of the steps around it and its own, the outermost first.
    pub path: Vec<String>,
    /// `started`, `completed`, `retrying`, `failed` or `checkpoint`.
    pub change: String,
    /// Number of the try that begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The kind of failure, or the checkpoint's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// A run waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// The calls that it waits for.
    pub waits_for: Vec<CallKey>,
}

/// A run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Outcome of the run.
    pub outcome: OutcomeWord,
    /// Its value or failure; neither where it was cancelled.
    #[serde(flatten)]
    pub answer: Answer,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeWord {
    /// With a value.
    Completed,
    /// With a failure.
    Failed,
    /// At a user's request.
    Cancelled,
}

impl OutcomeWord {
    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl RunRecord {
    /// Returns the word that the journal has as the record's status.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Started(_) => "started",
            Self::Resumed(_) => "resumed",
            Self::Intended(_) => "intended",
            Self::Ruled(_) => "ruled",
            Self::Answered(_) => "answered",
            Self::Decided(_) => "decided",
            Self::Step(_) => "step",
            Self::Paused(_) => "paused",
            Self::CancelAsked => "cancel_asked",
            Self::Ended(_) => "ended",
        }
    }

    /// Makes the journal's event of it.
    pub fn to_event(&self, run: &RunId) -> AuditEvent {
        let mut details = match self {
            Self::Started(record) => fields(record),
            Self::Resumed(record) => fields(record),
            Self::Intended(record) => fields(record),
            Self::Ruled(record) => fields(record),
            Self::Answered(record) => fields(record),
            Self::Decided(record) => fields(record),
            Self::Step(record) => fields(record),
            Self::Paused(record) => fields(record),
            Self::CancelAsked => Map::new(),
            Self::Ended(record) => fields(record),
        };
        details.insert("run".to_owned(), run.as_str().into());
        AuditEvent {
            status: Some(self.status().to_owned()),
            details,
            ..AuditEvent::new(Event::Plan)
        }
    }

    /// Reads one back; `None` where the record is about no run, or of a kind that a later version
    /// may add.
    pub fn of_record(record: AuditRecord) -> Result<Option<StoredRecord>, RecordError> {
        if record.event != Event::Plan.as_str() {
            return Ok(None);
        }
        let AuditRecord {
            seq,
            timestamp,
            mut details,
            status,
            ..
        } = record;
        // Events that had to wait for the journal carry the id that they waited under.
        let run = details.remove("run").unwrap_or_default();
        let broken = |source| RecordError { seq, source };
        let run: RunId = serde_json::from_value(run).map_err(broken)?;
        let details = Json::Object(details);
        let record = match status.as_deref() {
            Some("started") => Self::Started(Box::new(parse(details).map_err(broken)?)),
            Some("resumed") => Self::Resumed(parse(details).map_err(broken)?),
            Some("intended") => Self::Intended(Box::new(parse(details).map_err(broken)?)),
            Some("ruled") => Self::Ruled(parse(details).map_err(broken)?),
            Some("answered") => Self::Answered(parse(details).map_err(broken)?),
            Some("decided") => Self::Decided(parse(details).map_err(broken)?),
            Some("step") => Self::Step(parse(details).map_err(broken)?),
            Some("paused") => Self::Paused(parse(details).map_err(broken)?),
            Some("cancel_asked") => Self::CancelAsked,
            Some("ended") => Self::Ended(parse(details).map_err(broken)?),
            _ => return Ok(None),
        };
        Ok(Some(StoredRecord {
            seq,
            timestamp,
            run,
            record,
        }))
    }
}

/// A record as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The journal's number for it.
    pub seq: u64,
    /// Time at which it was written.
    pub timestamp: Timestamp,
    /// The run that it belongs to.
    pub run: RunId,
    /// The event.
    pub record: RunRecord,
}

/// A record of the journal that says it is of a run, and isn't readable as one.
#[derive(Debug, thiserror::Error)]
#[error("cannot read audit record {seq} as a plan record")]
pub struct RecordError {
    /// The journal's number for it.
    pub seq: u64,
    /// The parse error.
    pub source: serde_json::Error,
}

impl Answer {
    /// An answer that is a value.
    pub fn of_value(text: KeptText) -> Self {
        Self {
            value: Some(text),
            failure: None,
        }
    }

    /// An answer that is a failure.
    pub fn of_failure(failure: KeptFailure) -> Self {
        Self {
            value: None,
            failure: Some(failure),
        }
    }

    /// Neither.
    pub fn nothing() -> Self {
        Self {
            value: None,
            failure: None,
        }
    }
}

impl KeptFailure {
    /// Keeps a failure; where it happened follows from the run.
    pub fn of(failure: &Failure) -> Self {
        let masked = |text: &str| callosum_redact::secrets::mask(text).text;
        Self {
            kind: failure.kind.to_string(),
            message: masked(&failure.message),
            hint: failure.hint.as_deref().map(masked),
        }
    }

    /// Returns the failure as the machine takes it. A kind that this version does not know is a
    /// `CapabilityError`.
    pub fn to_failure(&self) -> Failure {
        let kind = FailureKind::named(&self.kind).unwrap_or(FailureKind::CapabilityError);
        let failure = Failure::new(kind, self.message.as_str());
        match &self.hint {
            Some(hint) => failure.with_hint(hint.as_str()),
            None => failure,
        }
    }
}

impl Spent {
    /// Returns both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            elapsed_ms: self.elapsed_ms.saturating_add(other.elapsed_ms),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: Money(self.cost.0.saturating_add(other.cost.0)),
        }
    }
}

fn fields(record: &impl Serialize) -> Map<String, Json> {
    match serde_json::to_value(record) {
        Ok(Json::Object(fields)) => fields,
        // Records are structs of texts and numbers, which have a JSON object.
        _ => unreachable!("a record is a JSON object"),
    }
}

fn parse<T: DeserializeOwned>(details: Json) -> Result<T, serde_json::Error> {
    serde_json::from_value(details)
}
