//! Cost of a plan's call by itself, and of going on with a run of a thousand.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use callosum_host::{Clock, process::Cancel};
use callosum_ledger::{Answers, LedgerPaths, WriteError};
use callosum_plan::{
    Allowlist, CapabilityName, CompileOptions, Limits, Machine, Outcome, Program, Schema, Value,
    compile,
};
use callosum_plan_run::{
    kernel::{
        Answer, AnsweredCost, ApprovedCall, CapabilityKind, Catalogue, Constitution, Effect,
        Kernel, KnownOutcome, Manifest, Provenance, Provider, ProviderFailure, Quotas, RunCaps,
        Sensitivity, TrustTier, Unheld,
    },
    run::{
        ConstitutionPrint, Grant, NewRun, Providers, RulesStamp, RunEnd, RunId, RunJournal,
        RunMeans, RunNotice, RunRecord, RunRules, RunState, RunWatch, StoredRecord, begin, drive,
    },
};
use callosum_testkit::disk::{Image, MemoryDisk};

/// Rules that never change.
struct Unchanged;

impl RunRules for Unchanged {
    fn stamp(&self) -> RulesStamp {
        RulesStamp::new()
    }

    fn revoked(&self) -> Result<BTreeSet<CapabilityName>, String> {
        Ok(BTreeSet::new())
    }

    fn constitution(&self) -> Option<Constitution> {
        None
    }
}

fn main() {
    divan::main();
}

/// A thousand calls, each taking what the one before gave.
const PLAN: &str = "(reduce (fn [sum n] (call :work.adds (+ sum n))) 0 (range 1000))";

fn program() -> Arc<Program> {
    Arc::new(compile(PLAN, &CompileOptions::default()).expect("it compiles"))
}

/// Aim: less than 5 µs a call, so 5 ms for these.
#[divan::bench]
fn a_thousand_yields_and_answers(bencher: divan::Bencher<'_, '_>) {
    let program = program();
    bencher.bench(|| {
        let input = BTreeMap::new();
        let started = Machine::start(Arc::clone(&program), &input, Limits::default());
        let mut machine = started.expect("it starts");
        loop {
            let Outcome::Yield(waiting) = machine.run() else {
                break;
            };
            for call in waiting {
                let answer = Ok(Value::Integer(1));
                machine.answer(&call.position, answer).expect("it waits");
            }
        }
    });
}

/// Aim: less than 50 ms.
#[divan::bench]
fn going_on_with_a_run_of_a_thousand_answers(bencher: divan::Bencher<'_, '_>) {
    let desk = Desk::new();
    let journal = Book::default();
    assert!(matches!(desk.run(&journal, None), RunEnd::Completed(_)));
    let mut records = journal.0.into_inner().expect("no thread panicked");
    records.pop();
    let kept = || {
        let kept = (1..).zip(&records).map(|(seq, record)| StoredRecord {
            seq,
            timestamp: desk.clock.now(),
            run: Desk::id(),
            record: record.clone(),
        });
        kept.collect::<Vec<_>>()
    };
    bencher.with_inputs(kept).bench_values(|records| {
        let state = RunState::of_records(records).expect("they add up");
        desk.run(&Book::default(), state)
    });
}

#[derive(Default)]
struct Book(Mutex<Vec<RunRecord>>);

impl RunJournal for Book {
    fn note(&self, run: &RunId, record: &RunRecord) -> Result<(), WriteError> {
        self.tell(run, std::slice::from_ref(record))
    }

    fn tell(&self, _: &RunId, records: &[RunRecord]) -> Result<(), WriteError> {
        self.0
            .lock()
            .expect("no thread panicked")
            .extend_from_slice(records);
        Ok(())
    }
}

struct NoWatch;

impl RunWatch for NoWatch {
    fn notice(&self, _: RunNotice<'_>) {}
}

struct Adds(Manifest);

impl Provider for Adds {
    fn manifest(&self) -> &Manifest {
        &self.0
    }

    fn perform(&self, _: ApprovedCall, _: &Cancel) -> Result<Answer, ProviderFailure> {
        Ok(Answer {
            value: Value::Integer(1),
            cost: AnsweredCost::default(),
            sensitivity: None,
        })
    }

    fn outcome(&self, _: &str, _: &Cancel) -> Result<KnownOutcome, ProviderFailure> {
        Ok(KnownOutcome::Repeatable)
    }
}

fn manifest() -> Manifest {
    Manifest {
        id: CapabilityName::parse("work.adds").expect("it is a name"),
        name: "adds".to_owned(),
        description: "Adds.".to_owned(),
        version: "1.0.0".to_owned(),
        kind: CapabilityKind::Primitive,
        skills: BTreeSet::new(),
        input: Schema::read("Any").expect("it is a type"),
        output: Schema::read("Any").expect("it is a type"),
        effects: std::iter::once(Effect::ReadsFiles).collect(),
        trust_tier: TrustTier::OWN,
        sensitivity: Sensitivity::Public,
        sensitive_fields: BTreeSet::new(),
        quotas: Quotas::default(),
        provenance: Provenance::BuiltIn,
        answers_by_key: true,
        unheld: Unheld::default(),
        unheld_output: Unheld::default(),
    }
}

/// Context in which runs are carried on, in memory.
struct Desk {
    answers: Answers,
    clock: Clock,
    program: Arc<Program>,
    kernel: Kernel,
    providers: Providers<'static>,
    grant: Grant,
    cancel: Cancel,
}

impl Desk {
    fn new() -> Self {
        let disk = MemoryDisk::with(&Image::with_folder("/project")).disk();
        let catalogue = Catalogue::new([manifest()]).expect("it is one");
        let adds: Arc<dyn Provider> = Arc::new(Adds(manifest()));
        Self {
            answers: Answers::new(disk, &LedgerPaths::in_root(Path::new("/project"))),
            clock: Clock::fixed(
                "2026-01-02T03:04:05Z".parse().expect("a time"),
                Duration::ZERO,
            ),
            program: program(),
            kernel: Kernel::new(Arc::new(catalogue), Constitution::built_in()),
            providers: BTreeMap::from([(manifest().id, adds)]),
            grant: Grant {
                tier: TrustTier::OWN,
                allowed: Allowlist::parse(&[":*"]).expect("it is a list"),
                ..Grant::default()
            },
            cancel: Cancel::new().expect("a pipe can be made"),
        }
    }

    fn id() -> RunId {
        let id = "00000000-0000-4000-8000-000000000001".parse();
        id.expect("it is an id")
    }

    fn run(&self, journal: &Book, state: Option<RunState>) -> RunEnd {
        let state = state.unwrap_or_else(|| {
            let new = NewRun {
                id: &Self::id(),
                source: PLAN,
                program: &self.program,
                input: &BTreeMap::new(),
                limits: &Limits::default(),
                caps: RunCaps::default(),
                constitution: &ConstitutionPrint::default(),
                at: self.clock.now(),
            };
            begin(new, journal, &self.answers).expect("it begins")
        });
        let means = RunMeans {
            journal,
            answers: &self.answers,
            kernel: &self.kernel,
            providers: &self.providers,
            rules: &Unchanged,
            rules_seen: RulesStamp::new(),
            grant: &self.grant,
            clock: &self.clock,
            stop: &self.cancel,
            end: &self.cancel,
            at_once: 1,
            watch: &NoWatch,
        };
        drive(state, &self.program, PLAN, &means).expect("it goes on")
    }
}
