//! [`begin`]: a run's first record.

use std::collections::BTreeMap;

use callosum_host::DiskError;
use callosum_json::Checksum;
use callosum_ledger::{Answers, WriteError};
use callosum_plan::{Key, Limits, Program, Value};
use callosum_redact::secrets;
use jiff::Timestamp;

use super::{
    ids::RunId,
    journal::RunJournal,
    payload_store::keep,
    record::{ConstitutionPrint, RUN_FORMAT, RunLimits, RunRecord, Started},
    state::RunState,
};
use crate::kernel::RunCaps;

/// A run that is to be begun.
#[derive(Clone, Copy)]
pub struct NewRun<'a> {
    /// Its id, which no other run has.
    pub id: &'a RunId,
    /// The source of its plan.
    pub source: &'a str,
    /// Program that the source was compiled to.
    pub program: &'a Program,
    /// Values of the plan's parameters.
    pub input: &'a BTreeMap<String, Value>,
    /// Limits of its evaluation.
    pub limits: &'a Limits,
    /// Limits on the resources that its calls use.
    pub caps: RunCaps,
    /// Constitution that governs it.
    pub constitution: &'a ConstitutionPrint,
    /// When it is begun.
    pub at: Timestamp,
}

impl NewRun<'_> {
    /// Returns the hash of its plan's source, as its record has it.
    pub fn source_sha256(&self) -> Checksum {
        Checksum::of(self.source.as_bytes())
    }

    /// Returns the hash of its input, as its record has it.
    pub fn input_sha256(&self) -> Checksum {
        Checksum::of(self.input_text().as_bytes())
    }

    fn input_text(&self) -> String {
        let entries = self.input.iter();
        let entries = entries.map(|(name, value)| (Key::Text(name.as_str().into()), value.clone()));
        Value::map(entries.collect()).to_string()
    }
}

/// Reason that a run was not begun. Nothing of it is on record.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Its record would hold a secret.
    #[error(
        "{place} contains what looks like a secret ({kinds}), and a run's records would store it"
    )]
    Secret {
        /// Place of the secret.
        place: String,
        /// Kinds of secrets that it looks like.
        kinds: String,
    },
    /// Its data outside of the journal could not be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The journal could not be written.
    #[error(transparent)]
    Journal(#[from] WriteError),
}

/// Puts a run's beginning on record, on disk. Nothing is evaluated yet.
///
/// Fails where source or input hold a secret: they are kept as they are, so that the run can be gone on
/// with, and masked they would be another plan.
pub fn begin(
    new: NewRun<'_>,
    journal: &dyn RunJournal,
    answers: &Answers,
) -> Result<RunState, BeginError> {
    refuse_secrets("the plan", new.source)?;
    for (name, value) in new.input {
        // With its name before it, which may be what tells.
        let assigned = format!("{name}={value}");
        refuse_secrets(&format!("the parameter `{name}`"), &assigned)?;
    }
    let input = new.input_text();
    let Limits {
        fuel,
        memory,
        yields,
        turns,
        value,
    } = *new.limits;
    let started = Started {
        format: RUN_FORMAT,
        plan: new.program.plan().map(str::to_owned),
        source_sha256: new.source_sha256(),
        source: keep(answers, new.source.to_owned())?,
        input_sha256: new.input_sha256(),
        input: keep(answers, input)?,
        limits: RunLimits {
            fuel,
            memory,
            yields,
            turns,
            value,
        },
        caps: new.caps,
        capabilities: new
            .program
            .capabilities()
            .map(ToString::to_string)
            .collect(),
        constitution: new.constitution.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let record = RunRecord::Started(Box::new(started.clone()));
    journal.tell(new.id, &[record])?;
    Ok(RunState::begin(new.id.clone(), started, new.at))
}

fn refuse_secrets(place: &str, text: &str) -> Result<(), BeginError> {
    let found = secrets::mask(text).found;
    if found.is_empty() {
        return Ok(());
    }
    let kinds: Vec<&str> = found.iter().map(|kind| kind.name()).collect();
    Err(BeginError::Secret {
        place: place.to_owned(),
        kinds: kinds.join(", "),
    })
}
