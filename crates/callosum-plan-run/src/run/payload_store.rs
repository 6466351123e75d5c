//! Texts and values as records keep them: without secrets, long ones in files outside of the
//! journal.

use std::collections::BTreeSet;

use callosum_host::DiskError;
use callosum_json::Checksum;
use callosum_ledger::{Answers, answers::AnswerError};
use callosum_plan::{Failure, FailureKind, NotationError, Value};

use super::record::{Answer, KeptFailure, KeptText};
use crate::kernel::redaction::{MAX_ARGUMENT_DEPTH, MAX_ARGUMENTS, UnfitArguments, redact};

/// Bytes of a text that a record has in itself.
const LONGEST_IN_RECORD: usize = 4 << 10;

/// Reason that a kept text could not be read back.
#[derive(Debug, thiserror::Error)]
pub enum KeepingError {
    /// Its file could not be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Its file could not be read, or is not what was kept.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// It was kept outside of the journal, and its file is gone.
    #[error("the run's data under {0} is missing from `.cal_answers`")]
    Gone(Checksum),
    /// The kept data is no text.
    #[error("the run's data under {0} is not UTF-8")]
    NoText(Checksum),
    /// The record has neither a text nor a hash.
    #[error("a record of the run has neither a text nor its hash")]
    Nothing,
    /// The kept data is no value.
    #[error("the run's data is not a value")]
    NoValue(#[from] NotationError),
}

/// Keeps a text; a long one in a file outside of the journal, on disk when this returns.
pub fn keep(answers: &Answers, text: String) -> Result<KeptText, DiskError> {
    if text.len() <= LONGEST_IN_RECORD {
        return Ok(KeptText {
            text: Some(text),
            sha256: None,
        });
    }
    Ok(KeptText {
        text: None,
        sha256: Some(answers.put(text.as_bytes())?),
    })
}

/// Gives a text back.
pub fn text_of(answers: &Answers, kept: &KeptText) -> Result<String, KeepingError> {
    if let Some(text) = &kept.text {
        return Ok(text.clone());
    }
    let hash = kept.sha256.ok_or(KeepingError::Nothing)?;
    let bytes = answers.get(&hash)?.ok_or(KeepingError::Gone(hash))?;
    String::from_utf8(bytes).map_err(|_| KeepingError::NoText(hash))
}

/// Gives back what a call came to, as the machine takes it.
pub fn result_of(
    answers: &Answers,
    answer: &Answer,
) -> Result<Result<Value, Failure>, KeepingError> {
    match (&answer.value, &answer.failure) {
        (Some(value), _) => Ok(Ok(Value::read(&text_of(answers, value)?)?)),
        (None, Some(failure)) => Ok(Err(failure.to_failure())),
        (None, None) => Err(KeepingError::Nothing),
    }
}

/// Kind of data that is kept.
#[derive(Clone, Copy)]
pub(super) enum StoredPayload {
    /// A capability's answer.
    Answer,
    /// The value that the plan came to.
    Value,
}

impl StoredPayload {
    fn noun(self) -> &'static str {
        match self {
            Self::Answer => "the answer",
            Self::Value => "the program's value",
        }
    }

    /// Returns the failure of a value that can't be kept. For an answer, it blames the provider.
    fn unfit(self, why: UnfitArguments) -> Failure {
        let (kind, why) = match why {
            UnfitArguments::TooLarge(weight) => (
                FailureKind::BudgetExhausted,
                format!(
                    "would have about {weight} bytes in written form; {MAX_ARGUMENTS} are allowed"
                ),
            ),
            UnfitArguments::TooDeep => (
                FailureKind::BudgetExhausted,
                format!("is nested deeper than {MAX_ARGUMENT_DEPTH}, the limit for stored values"),
            ),
            UnfitArguments::Function => (FailureKind::TypeError, "contains a function".to_owned()),
            UnfitArguments::SecretKey => {
                let why = "has a key that contains a secret".to_owned();
                (FailureKind::SecurityViolation, why)
            }
        };
        self.failure(kind, &why)
    }

    fn failure(self, kind: FailureKind, why: &str) -> Failure {
        let kind = match self {
            Self::Answer => FailureKind::CapabilityError,
            Self::Value => kind,
        };
        Failure::new(kind, format!("{} {why}", self.noun()))
    }
}

/// Keeps what a call or a plan came to.
///
/// Its secrets are masked first, and the plan is given what was kept: so a run that is gone on with
/// is given the same, and no plan ever holds a secret that an answer had. A value that can't be kept
/// becomes a failure.
pub(super) fn keep_result(
    answers: &Answers,
    what: StoredPayload,
    result: &Result<Value, Failure>,
    most: u64,
) -> Result<Answer, DiskError> {
    let refused = |failure: Failure| Ok(Answer::of_failure(KeptFailure::of(&failure)));
    let value = match result {
        Ok(value) => value,
        Err(failure) => return Ok(Answer::of_failure(KeptFailure::of(failure))),
    };
    let weight = value.weight();
    if weight > most {
        let why = format!("has about {weight} bytes (limit: {most})");
        return refused(what.failure(FailureKind::BudgetExhausted, &why));
    }
    let redacted = match redact(std::slice::from_ref(value), &BTreeSet::new()) {
        Ok(redacted) => redacted,
        Err(why) => return refused(what.unfit(why)),
    };
    let text = redacted
        .arguments
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    match Value::read(&text) {
        Ok(_) => Ok(Answer::of_value(keep(answers, text)?)),
        Err(why) => {
            let why = format!("cannot be stored: {why}");
            refused(what.failure(FailureKind::TypeError, &why))
        }
    }
}
