//! [`RunJournal`]: where a run's records go, and how they are read back.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use callosum_ledger::{
    AuditQuery, AuditReadError, AuditReader, AuditRecord, Event, Ledger, WriteError,
};

use super::{
    key::RunId,
    record::{Kept, RecordError, RunRecord},
    seal::{ForeignRecords, MissingRecords, RunSeals, RunSecret, SealCheck},
    state::{RunState, UnfittingRecord},
    tally::RunTally,
};

/// Where a run's records go.
pub trait RunJournal: Sync {
    /// Tells of what nothing depends on: it is on disk with the next [`tell`](Self::tell).
    fn note(&self, run: &RunId, record: &RunRecord) -> Result<(), WriteError>;

    /// Tells of these, in this order. They are on disk, with all that was told before, when this
    /// returns.
    fn tell(&self, run: &RunId, records: &[RunRecord]) -> Result<(), WriteError>;
}

/// A journal of the project, in which the records of one run are sealed as they are told.
///
/// For whoever holds the run's lock: nobody else tells of it meanwhile.
#[derive(Debug)]
pub struct SealedJournal {
    ledger: Ledger,
    sealing: Option<(RunSecret, Option<RunTally>)>,
    /// The number of the next record.
    next: Mutex<u64>,
}

impl SealedJournal {
    /// Seals what is told, from the record of this number on, and keeps in `tally` how many there are once they are on disk;
    /// `None` in a copy of the project, whose records are not the ones that are counted.
    pub fn new(ledger: Ledger, secret: RunSecret, next: u64, tally: Option<RunTally>) -> Self {
        Self {
            ledger,
            sealing: Some((secret, tally)),
            next: Mutex::new(next),
        }
    }

    /// Seals nothing: for a run of which this machine has no secret, and that can only be ended.
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
        // Held while they are told, so that they stand in the journal in the order of their numbers.
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
    /// Some that this machine wrote are not what they were.
    #[error(transparent)]
    Missing(#[from] MissingRecords),
}

/// A run as its records have it.
#[derive(Debug)]
pub struct ReadRun {
    /// How it stands.
    pub state: RunState,
    /// Records that say that they are of it, and are passed over.
    pub foreign: Option<ForeignRecords>,
    /// Whether this machine can tell which records are its own: it has seals of the run.
    pub is_sealed: bool,
    /// How many of its records were sealed here: the number of the next.
    pub sealed: u64,
    /// The journal's number of the last record that counts.
    pub last: u64,
}

/// The runs of a journal.
#[derive(Debug, Default)]
pub struct Runs {
    /// Those that are readable, the one that was begun last first.
    pub runs: Vec<ReadRun>,
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
/// Where this machine has seals of it, what carries none counts for nothing; where it has none, what does not fit the
/// records before it, as all behind the run's end. What is not readable and counts fails where it names this run, and is
/// no matter of its otherwise. Costs one pass over the journal.
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

/// Reads how every run of the journal stands; `seals_of` says which seals this machine has of one.
///
/// A run of which a record is not readable, or whose records don't add up, is passed over, and keeps no other from
/// being read. Costs one pass over the journal, and holds what it has of runs.
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
            // Its process may have told of more since its last record was read here.
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
    records: Vec<Kept>,
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

/// Hands over each record that says it is of a run.
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
