//! Throughput of tasks that do nothing, per second, with a ledger entry and every audit record
//! each (CAL-PERF-1, REQ-PERF-005).
//!
//! `cargo build --release -p callosum -p callosum-testkit --bins && cargo bench -p callosum-arbiter --bench dispatch`
//!
//! Each task starts a real process of the `noop` executor, as the program does it if its entry says
//! `confinement: off`. After `--`: `--confined` has each confined; `--unguarded` has them started
//! without a process that ends what they leave; `--parent-mb 1024` has this process hold that much
//! memory during the run, since a process that is forked pays for it. For a scale, the same
//! processes are started unguarded in the same run by as many threads, without arbiter, ledger and
//! journal.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench says what it found, or stops"
)]

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use callosum_arbiter::{
    Limits, Mode, Submission, Task,
    budget::{Bounds, Budget},
    circuit::{self, Circuits},
    delegation::{DelegationContext, Provenance, Rules, run},
};
use callosum_executor::{
    protocol::Request,
    registry::{Capabilities, Executor, Registry, Status},
    runner::{self, ExecutionEnvironment, Timeouts},
    runner::{Confiner, LastTranscript},
};
use callosum_host::{Clock, Disk, Ids, process::Cancel};
use callosum_ledger::{Answers, Ledger, LedgerPaths};
use callosum_sandbox::{Connections, ForkServer, Names, Policy, Protected, System};
use callosum_testkit::fakes;

/// Number of tasks.
const TASKS: usize = 1000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::real();
    let paths = LedgerPaths::in_root(folder.path());
    let clock = Clock::system();
    Ledger::create(&disk, &paths, &clock).unwrap();
    let ledger = Ledger::open(disk.clone(), paths.clone(), clock.clone(), Ids::random()).unwrap();
    let arguments: Vec<String> = std::env::args().collect();
    let asked = |option: &str| arguments.iter().any(|argument| argument == option);
    let how = if asked("--confined") {
        "confined"
    } else if asked("--unguarded") {
        "unguarded"
    } else {
        "not confined"
    };
    let noop = Executor {
        status: Status::Active,
        capabilities: Capabilities {
            prompt_input: true,
            json_output: true,
            ..Capabilities::default()
        },
        confinement: (how != "confined").then_some(Policy::Off),
        ..Executor::cli("noop", &fakes::noop())
    };
    let mut registry = Registry::initial();
    registry.put(&noop);
    let cancel = Cancel::new().unwrap();
    let ballast = ballast(&arguments);
    let mut surroundings = ExecutionEnvironment {
        root: folder.path().to_owned(),
        self_program: "/bin/false".into(),
        environment: Vec::new(),
        temporary: folder.path().to_owned(),
        confiner: None,
        connections: Connections::default(),
        transcript: LastTranscript::default(),
        cancel: cancel.clone(),
        patience: Timeouts::default(),
        slowest_handshake: Duration::ZERO,
        client_wait: callosum_executor::output_format::LONGEST_CLIENT_WAIT,
        waits: 0,
        disk: disk.clone(),
        clock: Clock::system(),
    };
    let limits = Limits::default();
    let threads = limits.concurrency.get();

    let alone = bare(&noop, &surroundings, threads);
    if how != "unguarded" {
        surroundings.self_program = fakes::program("callosum");
        surroundings.confiner = Some(confiner(&disk, &paths, folder.path(), &noop));
    }

    let tasks = (0..TASKS)
        .map(|number| Task {
            mode: Some(Mode::Concurrent),
            ..Task::new(format!("t{number}"), "nothing")
        })
        .collect();
    let budget = Budget::begin(
        disk.clone(),
        folder.path().join("budgets"),
        (clock.clone(), &Ids::random()),
        None,
        Bounds::default(),
        1,
    )
    .unwrap();
    let circuits = Circuits {
        disk: disk.clone(),
        file: folder.path().join("circuits.json"),
        clock: clock.clone(),
        rules: circuit::Rules {
            failures: 0,
            pause: Duration::ZERO,
        },
    };
    let means = DelegationContext {
        ledger: &ledger,
        answers: &Answers::new(disk, &paths),
        registry: &registry,
        surroundings: &surroundings,
        tree: folder.path(),
        clock: &clock,
        cancel: &cancel,
        provenance: Provenance::default(),
        reuse: None,
        budget: &budget,
        circuits: &circuits,
        fallbacks: &[],
        start_mark: None,
        caps: std::collections::BTreeMap::new(),
        slots: None,
    };
    let rules = Rules {
        limits,
        io_threshold: u64::MAX,
        strict_summary: false,
        memory_limit: None,
        require_citations: None,
        asks_once: false,
        asks_for_citations: false,
        wait_limit: Duration::ZERO,
    };
    let executors = vec!["noop".to_owned(); TASKS];
    let started = Instant::now();
    let report = run(
        Submission::new(tasks).unwrap(),
        &executors,
        &means,
        rules,
        &(),
    )
    .unwrap();
    let elapsed = started.elapsed().as_secs_f64();
    assert!(report.unrecorded.is_none());
    assert!(
        report
            .tasks
            .iter()
            .all(callosum_arbiter::delegation::TaskReport::is_committed)
    );
    let rate = TASKS as f64 / elapsed;
    println!("{} MB held, {how}", ballast.len() >> 20);
    println!("processes alone:       {alone:>6.0} a second, {threads} at a time");
    println!(
        "tasks, all recorded:   {rate:>6.0} a second, {:.2} of that",
        rate / alone
    );
}

/// As much memory as was asked for, every page of it in use.
fn ballast(arguments: &[String]) -> Vec<u8> {
    let at = arguments.iter().position(|word| word == "--parent-mb");
    let megabytes = at.and_then(|at| arguments.get(at + 1)?.parse().ok());
    vec![1; megabytes.unwrap_or(0_usize) << 20]
}

/// Returns the confiner that the program would use here.
fn confiner(disk: &Disk, paths: &LedgerPaths, folder: &Path, executor: &Executor) -> Arc<Confiner> {
    let program = fakes::program("callosum");
    let server = ForkServer::new(&program);
    let system = System::try_out(&server, &program, folder, disk);
    let protected = Protected {
        roots: vec![folder.to_owned()],
        paths: vec![paths.ledger.clone(), paths.audit.clone()],
        hidden: vec![paths.locks.clone()],
    };
    let confiner = Confiner::new(server, system, protected, Names::System);
    let reached = confiner.reach(executor, &[], disk).unwrap();
    println!("{}", reached.to_json());
    Arc::new(confiner)
}

/// Processes a second, with nothing recorded.
fn bare(executor: &Executor, surroundings: &ExecutionEnvironment, threads: usize) -> f64 {
    let begun = AtomicUsize::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while begun.fetch_add(1, Ordering::Relaxed) < TASKS {
                    let request = Request::bare("nothing");
                    runner::run(executor, &request, surroundings, &mut |_| {}).unwrap();
                }
            });
        }
    });
    TASKS as f64 / started.elapsed().as_secs_f64()
}
