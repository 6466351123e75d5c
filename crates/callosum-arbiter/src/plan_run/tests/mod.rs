//! Runs that are killed anywhere and gone on with come to what they come to undisturbed.
//!
//! The world is a list of effects; the journal and the world share a count of steps, at one of which
//! the process is killed: before or after a record is on disk, or between an effect and its answer.

mod caps;
mod persons;
mod seals;

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
use proptest::prelude::*;

use super::*;
use crate::kernel::{
    self, AnsweredCost, ApprovedCall, CapabilityKind, Catalogue, Constitution, Effect, Kernel,
    KnownOutcome, Manifest, Provenance, Provider, ProviderFailure, Quotas, RunCaps, Sensitivity,
    TrustTier,
};

/// How many steps are left until the process is killed.
struct Life(AtomicUsize);

impl Life {
    fn of(steps: usize) -> Arc<Self> {
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

/// A journal of which the process that wrote it may die.
struct Book<'a> {
    life: Arc<Life>,
    synced: &'a Mutex<Vec<RunRecord>>,
    waiting: Mutex<Vec<RunRecord>>,
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

/// What was done, in order, and under which keys.
#[derive(Default)]
struct World {
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
        told(answer)
    }

    fn outcome(&self, key: &str, _: &Cancel) -> Result<KnownOutcome, ProviderFailure> {
        let world = self.world.lock().unwrap();
        Ok(match world.by_key.get(key).cloned().map(told) {
            None => KnownOutcome::NotBegun,
            Some(Ok(answer)) => KnownOutcome::Answered(answer),
            Some(Err(failure)) => KnownOutcome::Failed(failure),
        })
    }
}

fn told(answer: Value) -> Result<kernel::Answer, ProviderFailure> {
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
    })
}

struct Nobody;

impl RunWatch for Nobody {
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
        skills: std::collections::BTreeSet::new(),
        input: Schema::read("Any").unwrap(),
        output: Schema::read("Any").unwrap(),
        effects: std::iter::once(Effect::AsksModel).collect(),
        trust_tier: TrustTier::OWN,
        sensitivity: Sensitivity::Public,
        sensitive_fields: std::collections::BTreeSet::new(),
        quotas: Quotas {
            calls_per_run: None,
            milliseconds: 60_000,
            answer_bytes: 1 << 16,
        },
        provenance: Provenance::BuiltIn,
        answers_by_key,
        unheld: BTreeSet::new(),
    }
}

/// One machine on which a plan runs, over as many processes as it takes.
struct Machine {
    source: String,
    by_key: bool,
    at_once: usize,
    world: Arc<Mutex<World>>,
    records: Mutex<Vec<RunRecord>>,
    answers: Answers,
    clock: Clock,
    caps: RunCaps,
    /// After how many effects everything is revoked.
    revoked_after: usize,
}

impl Machine {
    fn new(source: &str, by_key: bool, at_once: usize) -> Self {
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

    fn id() -> RunId {
        "00000000-0000-4000-8000-000000000001".parse().unwrap()
    }

    fn state(&self) -> Option<RunState> {
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
                prev: callosum_ledger::Checksum::ZERO,
                record: callosum_ledger::Checksum::ZERO,
            };
            RunRecord::of_record(record).unwrap().unwrap()
        });
        RunState::of_records(kept.collect()).unwrap()
    }

    fn begin(&self, book: &Book<'_>) -> Result<RunState, BeginError> {
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
    fn process(&self, steps: usize) -> Result<RunEnd, RunError> {
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
            revoked: &|| {
                let done = self.world.lock().unwrap().effects.len();
                Ok(NAMES
                    .iter()
                    .filter(|_| done >= self.revoked_after)
                    .map(|id| name(id))
                    .collect())
            },
            grant: &grant,
            clock: &self.clock,
            stop: &Cancel::new().unwrap(),
            end: &Cancel::new().unwrap(),
            at_once: self.at_once,
            watch: &Nobody,
        };
        drive(state, &program, &self.source, &means)
    }

    /// A person looks into the world and says of a call what became of it.
    fn settle(&self, key: CallKey) {
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

    fn effects(&self) -> Vec<String> {
        self.world.lock().unwrap().effects.clone()
    }
}

const ENDLESS: usize = usize::MAX;

/// Expressions that come to integers, and call on the way.
fn expressions(with_failures: bool) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0..50_i64).prop_map(|number| number.to_string()),
        (0..50_i64).prop_map(|number| format!("(call :work.adds {number})")),
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let pair = (inner.clone(), inner.clone());
        let caught = if with_failures {
            "work.fails"
        } else {
            "work.adds"
        };
        let flaky = if with_failures {
            "work.flaky"
        } else {
            "work.adds"
        };
        prop_oneof![
            inner
                .clone()
                .prop_map(|one| format!("(call :work.adds {one})")),
            pair.clone()
                .prop_map(|(one, other)| format!("(+ {one} {other})")),
            pair.clone()
                .prop_map(|(one, other)| format!("(let [x {one}] (+ x {other}))")),
            pair.clone()
                .prop_map(|(one, other)| format!("(reduce + 0 (step-parallel {one} {other}))")),
            inner.clone().prop_map(|one| format!(
                "(reduce + 0 (map (fn [x] (call :work.adds (+ x {one}))) [1 2]))"
            )),
            pair.clone().prop_map(move |(one, other)| format!(
                "(try (call :{caught} {one}) (catch e {other}))"
            )),
            inner.clone().prop_map(move |one| format!(
                "(step :again {{:retries {{:max 1}}}} (+ 0 (call :{flaky} {one})))"
            )),
            pair.prop_map(|(one, other)| format!("(if (even? {one}) {other} (call :work.adds 1))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// CCOS-RTFS-2: for capabilities that answer by key, a run that is killed anywhere, and its
    /// continuation killed too, comes to the same value, with the same effects in the same order, each
    /// once.
    #[test]
    fn a_killed_run_comes_to_the_same(
        source in expressions(true),
        kills in prop::collection::vec(0..60_usize, 1..4),
    ) {
        let undisturbed = Machine::new(&source, true, 1);
        let expected = undisturbed.process(ENDLESS).unwrap();
        let machine = Machine::new(&source, true, 1);
        for steps in kills {
            drop(machine.process(steps));
        }
        let end = machine.process(ENDLESS).unwrap();
        prop_assert_eq!(plain(&end), plain(&expected));
        prop_assert_eq!(machine.effects(), undisturbed.effects());
    }

    /// CCOS-RTFS-2: the same where branches run at once, but for the order among them.
    #[test]
    fn a_killed_run_with_branches_at_once_comes_to_the_same(
        source in expressions(true),
        kill in 0..60_usize,
    ) {
        let undisturbed = Machine::new(&source, true, 3);
        let expected = undisturbed.process(ENDLESS).unwrap();
        let machine = Machine::new(&source, true, 3);
        drop(machine.process(kill));
        let end = machine.process(ENDLESS).unwrap();
        prop_assert_eq!(plain(&end), plain(&expected));
        prop_assert_eq!(sorted(machine.effects()), sorted(undisturbed.effects()));
    }

    /// CCOS-RTFS-2: where capabilities do not answer by key, a call whose outcome is not known stops
    /// the run at a person, and nothing is done twice.
    #[test]
    fn a_call_of_unknown_outcome_is_a_persons(
        source in expressions(false),
        kill in 0..60_usize,
    ) {
        let undisturbed = Machine::new(&source, false, 1);
        let expected = undisturbed.process(ENDLESS).unwrap();
        let machine = Machine::new(&source, false, 1);
        drop(machine.process(kill));
        let mut end = machine.process(ENDLESS).unwrap();
        if let RunEnd::Paused(keys) = &end {
            prop_assert_eq!(keys.len(), 1);
            machine.settle(keys[0]);
            end = machine.process(ENDLESS).unwrap();
        }
        prop_assert_eq!(plain(&end), plain(&expected));
        // Branches beside the one that waits go on meanwhile.
        prop_assert_eq!(sorted(machine.effects()), sorted(undisturbed.effects()));
    }
}

/// CCOS-GOV-1: what is revoked while a run is under way is not called from then on.
#[test]
fn a_revocation_reaches_a_run_that_is_under_way() {
    let source = "(map (fn [n] (call :work.adds n)) [1 2 3])";
    let machine = Machine {
        revoked_after: 2,
        ..Machine::new(source, true, 1)
    };
    let RunEnd::Failed(failure) = machine.process(ENDLESS).unwrap() else {
        panic!("it went on");
    };
    assert_eq!(failure.kind, FailureKind::SecurityViolation);
    assert_eq!(machine.effects(), ["work.adds 1", "work.adds 2"]);
}

/// CCOS-RTFS-2: a value that is nested deeper than is kept ends a run as one that is too large does.
#[test]
fn a_value_that_can_not_be_kept_is_the_plans_own_failure() {
    let deep = Machine::new("(reduce (fn [a _] [a]) [] (range 200))", true, 1);
    let RunEnd::Failed(failure) = deep.process(ENDLESS).unwrap() else {
        panic!("it was kept");
    };
    assert_eq!(failure.kind, FailureKind::BudgetExhausted);
    let said = "the program's value is nested deeper than 128";
    assert!(failure.message.starts_with(said), "{}", failure.message);
}

fn sorted(mut effects: Vec<String>) -> Vec<String> {
    effects.sort();
    effects
}

/// An end without the places of failures, which a run that is over does not keep.
fn plain(end: &RunEnd) -> String {
    match end {
        RunEnd::Completed(value) => value.to_string(),
        RunEnd::Failed(failure) => failure.to_string(),
        other => format!("{other:?}"),
    }
}

/// CCOS-RTFS-2: what a plan does now and did not when its answers were recorded is told, both sides.
#[test]
fn a_plan_that_changed_is_a_divergence_with_both_sides() {
    let machine = Machine::new("(+ (call :work.adds 1) (call :work.adds 2))", true, 1);
    machine.process(ENDLESS).unwrap();
    machine
        .records
        .lock()
        .unwrap()
        .retain(|record| !matches!(record, RunRecord::Ended(_)));
    let changed = Machine {
        source: "(+ (call :work.adds 1) (call :work.adds 3))".to_owned(),
        records: Mutex::new(machine.records.lock().unwrap().clone()),
        ..Machine::new("1", true, 1)
    };
    let error = changed.process(ENDLESS).unwrap_err().to_string();
    assert!(
        error.contains("call 1") && error.contains("[2]") && error.contains("[3]"),
        "{error}"
    );
    assert!(changed.effects().is_empty());
}

/// CCOS-RTFS-2: no record of a run holds a secret: a plan that has one is refused before there is any.
#[test]
fn a_source_with_a_secret_is_refused_before_anything_is_recorded() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let machine = Machine::new(&format!("\"{secret}\""), true, 1);
    let book = Book {
        life: Life::of(ENDLESS),
        synced: &machine.records,
        waiting: Mutex::default(),
    };
    let refused = machine.begin(&book).unwrap_err().to_string();
    assert!(
        refused.contains("the plan") && !refused.contains(&secret),
        "{refused}"
    );
    assert!(machine.records.lock().unwrap().is_empty());
}
