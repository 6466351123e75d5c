//! One machine with a world of effects, on which a plan runs over as many processes as it takes.
//!
//! The journal and the world share a count of steps. The process is killed at one of them: before
//! or after a record is on disk, or between an effect and its answer.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use callosum_host::{Clock, DiskError, disk::Operation, process::Cancel};
use callosum_ledger::{Answers, LedgerPaths, WriteError};
use callosum_plan::{
    Allowlist, CapabilityName, CompileOptions, FailureKind, Limits, Schema, Value, compile,
};
use callosum_testkit::disk::{Image, MemoryDisk};

use crate::{
    kernel::{
        self, AnsweredCost, ApprovedCall, CapabilityKind, Catalogue, Constitution, Effect, Kernel,
        KnownOutcome, Manifest, Provenance, Provider, ProviderFailure, Quotas, RunCaps,
        Sensitivity, TrustTier, Unheld,
    },
    run::*,
};

/// Number of steps left until the process is killed.
pub(super) struct Life(AtomicUsize);

impl Life {
    pub(super) fn of(steps: usize) -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(steps)))
    }

    /// Whether the process lives to take another step.
    fn step(&self) -> bool {
        let left = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        left.is_ok()
    }
}

/// A journal whose writing process may die.
pub(super) struct Book<'a> {
    pub(super) life: Arc<Life>,
    pub(super) synced: &'a Mutex<Vec<RunRecord>>,
    pub(super) waiting: Mutex<Vec<RunRecord>>,
}

impl RunJournal for Book<'_> {
    fn note(&self, _: &RunId, record: &RunRecord) -> Result<(), WriteError> {
        self.waiting.lock().unwrap().push(record.clone());
        Ok(())
    }

    fn tell(&self, _: &RunId, records: &[RunRecord]) -> Result<(), WriteError> {
        let dead = || {
            Err(WriteError::Halted(Arc::new(DiskError {
                operation: Operation::Sync,
                path: "/journal".into(),
                source: io::Error::other("killed"),
            })))
        };
        if !self.life.step() {
            return dead();
        }
        let mut synced = self.synced.lock().unwrap();
        synced.append(&mut self.waiting.lock().unwrap());
        synced.extend_from_slice(records);
        if self.life.step() { Ok(()) } else { dead() }
    }
}

/// Effects that were performed, in order, and their keys.
#[derive(Default)]
pub(super) struct World {
    effects: Vec<String>,
    by_key: BTreeMap<String, Value>,
}

struct Worker {
    manifest: Manifest,
    world: Arc<Mutex<World>>,
    life: Arc<Life>,
}

impl Provider for Worker {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn perform(
        &self,
        call: ApprovedCall,
        cancel: &Cancel,
    ) -> Result<kernel::Answer, ProviderFailure> {
        let killed = || ProviderFailure::midway(FailureKind::CapabilityError, "killed");
        if call.capability().as_str().ends_with("waits") {
            while !cancel.is_cancelled() {
                thread::sleep(Duration::from_millis(1));
            }
            return Err(killed());
        }
        if !self.life.step() {
            return Err(killed());
        }
        let is_first = call.request().steps.iter().all(|step| step.attempt == 1);
        let number = match call.arguments() {
            [Value::Integer(number)] => *number,
            other => panic!("{other:?}"),
        };
        let fails = call.capability().as_str().ends_with("fails")
            || call.capability().as_str().ends_with("flaky") && is_first;
        let mut world = self.world.lock().unwrap();
        if !(self.manifest.answers_by_key && world.by_key.contains_key(call.key())) {
            world
                .effects
                .push(format!("{} {number}", call.capability()));
            let answer = if fails {
                Value::Nil
            } else {
                Value::Integer(number % 1000 + 1)
            };
            world.by_key.insert(call.key().to_owned(), answer);
        }
        let answer = world.by_key[call.key()].clone();
        drop(world);
        if !self.life.step() {
            return Err(killed());
        }
        outcome_of(answer)
    }

    fn outcome(&self, key: &str, _: &Cancel) -> Result<KnownOutcome, ProviderFailure> {
        let world = self.world.lock().unwrap();
        Ok(match world.by_key.get(key).cloned().map(outcome_of) {
            None => KnownOutcome::NotBegun,
            Some(Ok(answer)) => KnownOutcome::Answered(answer),
            Some(Err(failure)) => KnownOutcome::Failed(failure),
        })
    }
}

fn outcome_of(answer: Value) -> Result<kernel::Answer, ProviderFailure> {
    if answer == Value::Nil {
        let kind = FailureKind::CapabilityError;
        return Err(ProviderFailure::before(kind, "it never works"));
    }
    Ok(kernel::Answer {
        value: answer,
        cost: AnsweredCost {
            tokens: 10,
            ..AnsweredCost::default()
        },
        sensitivity: None,
    })
}

struct NoWatch;

impl RunWatch for NoWatch {
    fn notice(&self, _: RunNotice<'_>) {}
}

fn name(text: &str) -> CapabilityName {
    CapabilityName::parse(text).unwrap()
}

const NAMES: [&str; 4] = ["work.adds", "work.fails", "work.flaky", "work.waits"];

fn manifest(id: &str, answers_by_key: bool) -> Manifest {
    Manifest {
        id: name(id),
        name: id.to_owned(),
        description: "Does something.".to_owned(),
        version: "1.0.0".to_owned(),
        kind: CapabilityKind::Primitive,
        skills: BTreeSet::new(),
        input: Schema::read("Any").unwrap(),
        output: Schema::read("Any").unwrap(),
        effects: std::iter::once(Effect::AsksModel).collect(),
        trust_tier: TrustTier::OWN,
        sensitivity: Sensitivity::Public,
        sensitive_fields: BTreeSet::new(),
        quotas: Quotas {
            calls_per_run: None,
            milliseconds: 60_000,
            answer_bytes: 1 << 16,
        },
        provenance: Provenance::BuiltIn,
        answers_by_key,
        unheld: Unheld::default(),
        unheld_output: Unheld::default(),
    }
}

/// One machine on which a plan runs, over as many processes as it takes.
pub(super) struct Machine {
    pub(super) source: String,
    pub(super) by_key: bool,
    pub(super) at_once: usize,
    pub(super) world: Arc<Mutex<World>>,
    pub(super) records: Mutex<Vec<RunRecord>>,
    pub(super) answers: Answers,
    pub(super) clock: Clock,
    pub(super) caps: RunCaps,
    /// After how many effects everything is revoked.
    pub(super) revoked_after: usize,
}

impl Machine {
    pub(super) fn new(source: &str, by_key: bool, at_once: usize) -> Self {
        let disk = MemoryDisk::with(&Image::with_folder("/project")).disk();
        let paths = LedgerPaths::in_root(std::path::Path::new("/project"));
        Self {
            source: source.to_owned(),
            by_key,
            at_once,
            world: Arc::default(),
            records: Mutex::default(),
            answers: Answers::new(disk, &paths),
            clock: Clock::fixed(
                "2026-01-02T03:04:05Z".parse().unwrap(),
                std::time::Duration::ZERO,
            ),
            caps: RunCaps::default(),
            revoked_after: ENDLESS,
        }
    }

    pub(super) fn id() -> RunId {
        "00000000-0000-4000-8000-000000000001".parse().unwrap()
    }

    pub(super) fn state(&self) -> Option<RunState> {
        let records = self.records.lock().unwrap();
        let kept = (1..).zip(records.iter()).map(|(seq, record)| {
            // What is written is what is read.
            let event = record.to_event(&Self::id());
            let record = callosum_ledger::AuditRecord {
                timestamp: self.clock.now(),
                task_id: None,
                executor: None,
                hash: None,
                status: event.status,
                seq,
                event: event.event.as_str().to_owned(),
                synced: 0,
                details: event.details,
                entry: None,
                prev: callosum_json::Checksum::ZERO,
                record: callosum_json::Checksum::ZERO,
            };
            RunRecord::of_record(record).unwrap().unwrap()
        });
        RunState::of_records(kept.collect()).unwrap()
    }

    pub(super) fn begin(&self, book: &Book<'_>) -> Result<RunState, BeginError> {
        let program = compile(&self.source, &CompileOptions::default()).unwrap();
        let new = NewRun {
            id: &Self::id(),
            source: &self.source,
            program: &program,
            input: &BTreeMap::new(),
            limits: &Limits::default(),
            caps: self.caps,
            constitution: &ConstitutionPrint::default(),
            at: self.clock.now(),
        };
        begin(new, book, &self.answers)
    }

    /// One process, killed after so many steps.
    pub(super) fn process(&self, steps: usize) -> Result<RunEnd, RunError> {
        let life = Life::of(steps);
        let book = Book {
            life: Arc::clone(&life),
            synced: &self.records,
            waiting: Mutex::default(),
        };
        let program = Arc::new(compile(&self.source, &CompileOptions::default()).unwrap());
        let state = match self.state() {
            Some(state) => state,
            None => match self.begin(&book) {
                Ok(state) => state,
                Err(BeginError::Journal(error)) => return Err(error.into()),
                Err(other) => panic!("{other}"),
            },
        };
        let manifests = NAMES.map(|id| manifest(id, self.by_key));
        let catalogue = Catalogue::new(manifests.clone()).unwrap();
        let kernel = Kernel::new(Arc::new(catalogue), Constitution::built_in());
        let providers: Providers = manifests
            .into_iter()
            .map(|manifest| {
                let worker = Worker {
                    manifest: manifest.clone(),
                    world: Arc::clone(&self.world),
                    life: Arc::clone(&life),
                };
                (manifest.id, Arc::new(worker) as Arc<dyn Provider>)
            })
            .collect();
        let grant = Grant {
            tier: TrustTier::OWN,
            allowed: Allowlist::parse(&[":*"]).unwrap(),
            ..Grant::default()
        };
        let means = RunMeans {
            journal: &book,
            answers: &self.answers,
            kernel: &kernel,
            providers: &providers,
            rules: self,
            rules_seen: RulesStamp::new(),
            grant: &grant,
            clock: &self.clock,
            stop: &Cancel::new().unwrap(),
            end: &Cancel::new().unwrap(),
            at_once: self.at_once,
            watch: &NoWatch,
        };
        drive(state, &program, &self.source, &means)
    }

    /// A person looks into the world and says of a call what became of it.
    pub(super) fn settle(&self, key: CallKey) {
        let world = self.world.lock().unwrap();
        let decided = match world.by_key.get(&key.to_string()) {
            Some(Value::Nil) | None => Decided {
                key,
                decision: DecisionWord::NotDone,
                value: None,
            },
            Some(value) => Decided {
                key,
                decision: DecisionWord::Done,
                value: Some(KeptText {
                    text: Some(value.to_string()),
                    sha256: None,
                }),
            },
        };
        self.records
            .lock()
            .unwrap()
            .push(RunRecord::Decided(decided));
    }

    pub(super) fn effects(&self) -> Vec<String> {
        self.world.lock().unwrap().effects.clone()
    }
}

impl RunRules for Machine {
    fn stamp(&self) -> RulesStamp {
        RulesStamp::new()
    }

    fn revoked(&self) -> Result<BTreeSet<CapabilityName>, String> {
        let done = self.world.lock().unwrap().effects.len();
        let revoked = NAMES.iter().filter(|_| done >= self.revoked_after);
        Ok(revoked.map(|id| name(id)).collect())
    }

    fn constitution(&self) -> Option<Constitution> {
        None
    }
}

pub(super) const ENDLESS: usize = usize::MAX;
