//! [`RunJournal`]: destination of a run's records, and the functions that read them back.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use callosum_ledger::{
    AuditQuery, AuditReadError, AuditReader, AuditRecord, Event, Ledger, WriteError,
};

use super::{
    ids::RunId,
    record::{RecordError, RunRecord, StoredRecord},
    record_count::RunTally,
    record_mac::{ForeignRecords, MissingRecords, RunSeals, RunSecret, SealCheck},
    state::{RunState, UnfittingRecord},
};

/// Destination of a run's records.
pub trait RunJournal: Sync {
    /// Tells of what nothing depends on: it is on disk with the next [`tell`](Self::tell).
    fn note(&self, run: &RunId, record: &RunRecord) -> Result<(), WriteError>;

    /// Writes these records, in this order. They are on disk, with all earlier ones, when this
    /// returns.
    fn tell(&self, run: &RunId, records: &[RunRecord]) -> Result<(), WriteError>;
}

/// A journal of the project, in which the records of one run are sealed when they are written.
///
/// For the holder of the run's lock: no other process writes records of the run at that time.
#[derive(Debug)]
pub struct SealedJournal {
    ledger: Ledger,
    sealing: Option<(RunSecret, Option<RunTally>)>,
    /// The number of the next record.
    next: Mutex<u64>,
}

impl SealedJournal {
    /// Seals all records from the one of this number on. `tally` keeps their number once they are
    /// on disk; it is `None` in a copy of the project, whose records are not the ones that are
    /// counted.
    pub fn new(ledger: Ledger, secret: RunSecret, next: u64, tally: Option<RunTally>) -> Self {
        Self {
            ledger,
            sealing: Some((secret, tally)),
            next: Mutex::new(next),
        }
    }

    /// Seals nothing: for a run whose secret this machine does not have, and that can only be
    /// ended.
    pub fn unsealed(ledger: Ledger) -> Self {
        Self {
            ledger,
            sealing: None,
            next: Mutex::default(),
        }
    }

    /// The project's ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the number of the next record.
    fn record(&self, run: &RunId, records: &[RunRecord]) -> Result<u64, WriteError> {
        // Held while they are written, so that the journal has them in the order of their numbers.
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        for record in records {
            let mut event = record.to_event(run);
            if let Some((secret, _)) = &self.sealing {
                secret.seal(&mut event, *next);
            }
            self.ledger.record(event)?;
            *next += 1;
        }
        Ok(*next)
    }
}

impl RunJournal for SealedJournal {
    fn note(&self, run: &RunId, record: &RunRecord) -> Result<(), WriteError> {
        self.record(run, std::slice::from_ref(record)).map(drop)
    }

    fn tell(&self, run: &RunId, records: &[RunRecord]) -> Result<(), WriteError> {
        let next = self.record(run, records)?;
        self.ledger.flush()?;
        // Before anything is done that they permit.
        if let Some((_, Some(tally))) = &self.sealing {
            let kept = tally.keep(next);
            kept.map_err(|error| WriteError::Disk(Arc::new(error)))?;
        }
        Ok(())
    }
}

/// Reason that a run could not be read.
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
    /// Some that this machine wrote are not what they were.
    #[error(transparent)]
    Missing(#[from] MissingRecords),
}

/// A run as its records have it.
#[derive(Debug)]
pub struct ReadRun {
    /// State of the run.
    pub state: RunState,
    /// Records that say that they are of it, and are passed over.
    pub foreign: Option<ForeignRecords>,
    /// Whether this machine can tell which records are its own: it has seals of the run.
    pub is_sealed: bool,
    /// Number of its records that were sealed here, which is the number of the next.
    pub sealed: u64,
    /// The journal's number of the last record that counts.
    pub last: u64,
}

/// The runs of a journal.
#[derive(Debug, Default)]
pub struct Runs {
    /// Those that are readable, the one that was begun last first.
    pub runs: Vec<ReadRun>,
    /// Records that claim to be of a run, and are passed over.
    pub passed_over: Vec<PassedOver>,
}

/// Records that are passed over.
#[derive(Debug)]
pub struct PassedOver {
    /// The run that they name, as far as that is one.
    pub run: Option<RunId>,
    /// Reason for it.
    pub why: ReadRunError,
}

/// Reads the state of a run; `None` if the journal has none of that id.
///
/// If this machine has seals of it, records without one count for nothing. If it has none, records
/// that do not fit those before them count for nothing, as do all behind the run's end. An
/// unreadable record that counts is an error if it names this run, and does not concern it
/// otherwise. Costs one pass over the journal.
pub fn read_run(
    reader: &AuditReader,
    run: &RunId,
    seals: Option<RunSeals>,
) -> Result<Option<ReadRun>, ReadRunError> {
    let mut book = Book::with(seals);
    each_record(reader, |record| {
        if named(&record) == Some(run.as_str()) {
            book.take(record);
        }
    })?;
    book.read()
}

/// Reads the state of every run of the journal; `seals_of` returns the seals that this machine has
/// of one.
///
/// A run with an unreadable record, or whose records don't add up, is passed over, and keeps no
/// other from being read. Costs one pass over the journal, and holds what it has of runs.
pub fn read_runs(
    reader: &AuditReader,
    seals_of: impl Fn(&RunId) -> Option<RunSeals>,
) -> Result<Runs, AuditReadError> {
    let mut books: BTreeMap<RunId, Book> = BTreeMap::new();
    let mut read = Runs::default();
    each_record(reader, |record| {
        let run = named(&record).and_then(|run| run.parse::<RunId>().ok());
        let Some(run) = run else {
            if let Err(error) = RunRecord::of_record(record) {
                read.passed_over.push(PassedOver {
                    run: None,
                    why: error.into(),
                });
            }
            return;
        };
        let book = books.entry(run);
        let book = book.or_insert_with_key(|run| Book::with(seals_of(run)));
        book.take(record);
    })?;
    for (run, book) in books {
        let one = match book.read() {
            // Its process may have written more since its last record was read here.
            Err(ReadRunError::Missing(MissingRecords::Last { .. })) => {
                read_run(reader, &run, seals_of(&run))
            }
            one => one,
        };
        match one {
            Ok(one) => read.runs.extend(one),
            Err(why) => read.passed_over.push(PassedOver {
                run: Some(run),
                why,
            }),
        }
    }
    read.runs.sort_by(|one, other| {
        let (one, other) = (&one.state, &other.state);
        let newest_first = other.begun().cmp(&one.begun());
        newest_first.then_with(|| one.run().cmp(other.run()))
    });
    Ok(read)
}

/// The records of one run, as they are read.
#[derive(Default)]
struct Book {
    check: SealCheck,
    records: Vec<StoredRecord>,
    last: u64,
    broken: Option<RecordError>,
}

impl Book {
    fn with(seals: Option<RunSeals>) -> Self {
        Self {
            check: SealCheck::with(seals),
            ..Self::default()
        }
    }

    fn take(&mut self, record: AuditRecord) {
        if !self.check.admits(&record) {
            return;
        }
        let seq = record.seq;
        let status = record.status.clone().unwrap_or_default();
        match RunRecord::of_record(record) {
            Ok(kept) => {
                self.last = seq;
                self.records.extend(kept);
            }
            Err(_) if !self.check.can_tell() && !self.records.is_empty() => {
                self.check.pass_over(seq, &status);
            }
            Err(error) => drop(self.broken.get_or_insert(error)),
        }
    }

    fn read(self) -> Result<Option<ReadRun>, ReadRunError> {
        let Self {
            mut check,
            records,
            last,
            broken,
        } = self;
        if let Some(missing) = check.missing() {
            return Err(missing.into());
        }
        if let Some(broken) = broken {
            return Err(broken.into());
        }
        let is_sealed = check.can_tell();
        let state = if is_sealed {
            RunState::of_records(records)?
        } else {
            RunState::of_fitting(records, |unfitting, status| {
                check.pass_over(unfitting.seq, status);
            })?
        };
        Ok(state.map(|state| ReadRun {
            state,
            foreign: check.foreign,
            is_sealed,
            sealed: check.next,
            last,
        }))
    }
}

/// The run that a record says it is of.
fn named(record: &AuditRecord) -> Option<&str> {
    record.details.get("run")?.as_str()
}

/// Passes each record that claims to be of a run to the visitor.
fn each_record(
    reader: &AuditReader,
    mut take: impl FnMut(AuditRecord),
) -> Result<(), AuditReadError> {
    let query = AuditQuery {
        event: Some(Event::Plan),
        ..AuditQuery::default()
    };
    reader.query(&query, |record| {
        take(record);
        ControlFlow::Continue(())
    })
}
