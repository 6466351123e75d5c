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

/// Reads how a run stands; `None` where the journal has none of that id.
///
/// Costs one pass over the journal.
pub fn read_run(reader: &AuditReader, run: &RunId) -> Result<Option<RunState>, ReadRunError> {
    let mut records = Vec::new();
    each_record(reader, |kept| {
        if kept.run == *run {
            records.push(kept);
        }
    })?;
    Ok(RunState::of_records(records)?)
}

/// Reads how every run of the journal stands, the one that was begun last first.
///
/// A run whose records don't add up is passed over here, and told of by [`read_run`]. Costs one pass
/// over the journal, and holds what it has of runs.
pub fn read_runs(reader: &AuditReader) -> Result<Vec<RunState>, ReadRunError> {
    let mut runs: BTreeMap<RunId, Vec<Kept>> = BTreeMap::new();
    each_record(reader, |kept| {
        runs.entry(kept.run.clone()).or_default().push(kept);
    })?;
    let mut states: Vec<RunState> = runs
        .into_values()
        .filter_map(|records| RunState::of_records(records).ok().flatten())
        .collect();
    states.sort_by(|one, other| {
        let newest_first = other.begun().cmp(&one.begun());
        newest_first.then_with(|| one.run().cmp(other.run()))
    });
    Ok(states)
}

fn each_record(reader: &AuditReader, mut take: impl FnMut(Kept)) -> Result<(), ReadRunError> {
    let query = AuditQuery {
        event: Some(Event::Plan),
        ..AuditQuery::default()
    };
    let mut broken = None;
    reader.query(&query, |record| match RunRecord::of_record(record) {
        Ok(kept) => {
            kept.into_iter().for_each(&mut take);
            ControlFlow::Continue(())
        }
        Err(error) => {
            broken = Some(error);
            ControlFlow::Break(())
        }
    })?;
    match broken {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}
