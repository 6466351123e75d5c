//! [`RunJournal`]: where a run's records go, and how they are read back.

use std::{collections::BTreeMap, ops::ControlFlow};

use callosum_ledger::{AuditQuery, AuditReadError, AuditReader, Event, Ledger, WriteError};

use super::{
    key::RunId,
    record::{Kept, RecordError, RunRecord},
    state::{RunState, UnfittingRecord},
};

/// Where a run's records go.
pub trait RunJournal: Sync {
    /// Tells of what nothing depends on: it is on disk with the next [`tell`](Self::tell).
    fn note(&self, run: &RunId, record: &RunRecord) -> Result<(), WriteError>;

    /// Tells of these, in this order. They are on disk, with all that was told before, when this
    /// returns.
    fn tell(&self, run: &RunId, records: &[RunRecord]) -> Result<(), WriteError>;
}

impl RunJournal for Ledger {
    fn note(&self, run: &RunId, record: &RunRecord) -> Result<(), WriteError> {
        self.record(record.to_event(run))
    }

    fn tell(&self, run: &RunId, records: &[RunRecord]) -> Result<(), WriteError> {
        for record in records {
            self.record(record.to_event(run))?;
        }
        self.flush()
    }
}

/// Why a run could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadRunError {
    /// The journal could not be read.
    #[error(transparent)]
    Audit(#[from] AuditReadError),
    /// A record is not readable.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The records don't add up.
    #[error(transparent)]
    Unfitting(#[from] UnfittingRecord),
}

/// The runs of a journal.
#[derive(Debug, Default)]
pub struct Runs {
    /// How each stands, the one that was begun last first.
    pub states: Vec<RunState>,
    /// What of it says that it is of a run, and is passed over.
    pub passed_over: Vec<PassedOver>,
}

/// Records that are passed over.
#[derive(Debug)]
pub struct PassedOver {
    /// The run that they name, as far as that is one.
    pub run: Option<RunId>,
    /// Why.
    pub why: ReadRunError,
}

/// Reads how a run stands; `None` where the journal has none of that id.
///
/// What is not readable fails where it names this run, and is no matter of its otherwise. Costs one pass over the
/// journal.
pub fn read_run(reader: &AuditReader, run: &RunId) -> Result<Option<RunState>, ReadRunError> {
    let mut records = Vec::new();
    let broken = each_record(reader, |kept| {
        if kept.run == *run {
            records.push(kept);
        }
    })?;
    let mut broken = broken.into_iter();
    if let Some(own) = broken.find(|error| error.run.as_ref() == Some(run)) {
        return Err(own.into());
    }
    Ok(RunState::of_records(records)?)
}

/// Reads how every run of the journal stands.
///
/// A run of which a record is not readable, or whose records don't add up, is passed over, and keeps no other from
/// being read. Costs one pass over the journal, and holds what it has of runs.
pub fn read_runs(reader: &AuditReader) -> Result<Runs, AuditReadError> {
    let mut runs: BTreeMap<RunId, Vec<Kept>> = BTreeMap::new();
    let broken = each_record(reader, |kept| {
        runs.entry(kept.run.clone()).or_default().push(kept);
    })?;
    let mut read = Runs::default();
    for error in broken {
        let run = error.run.clone();
        if let Some(run) = &run {
            runs.remove(run);
        }
        read.passed_over.push(PassedOver {
            run,
            why: error.into(),
        });
    }
    for (run, records) in runs {
        match RunState::of_records(records) {
            Ok(state) => read.states.extend(state),
            Err(error) => read.passed_over.push(PassedOver {
                run: Some(run),
                why: error.into(),
            }),
        }
    }
    read.states.sort_by(|one, other| {
        let newest_first = other.begun().cmp(&one.begun());
        newest_first.then_with(|| one.run().cmp(other.run()))
    });
    Ok(read)
}

/// Hands over each record of a run; gives those that are not readable as one.
fn each_record(
    reader: &AuditReader,
    mut take: impl FnMut(Kept),
) -> Result<Vec<RecordError>, AuditReadError> {
    let query = AuditQuery {
        event: Some(Event::Plan),
        ..AuditQuery::default()
    };
    let mut broken = Vec::new();
    reader.query(&query, |record| {
        match RunRecord::of_record(record) {
            Ok(kept) => kept.into_iter().for_each(&mut take),
            Err(error) => broken.push(error),
        }
        ControlFlow::Continue(())
    })?;
    Ok(broken)
}
