//! Cost of a decision of the delegation engine, compared with a lookup in a plain `HashMap` (CCOS-DEL-2, CCOS-DEL-3).
//!
//! `cargo bench -p callosum-intent --bench decide` fills the cache with 1,000 entries and asks for them in random order.
//! It prints the median and the 99th percentile of batches, so that the cost of the clock is spread over each batch, and
//! the same for a `HashMap` in turn with it. A decision includes the mixing of the key, the checks of policy and age, the
//! order of use, and a record. Aims: 60 ns and 300 ns. Then two threads ask for the same entries at once. Aim: 1.6 times
//! the decisions of one thread. Records are taken between the measurements, and their cost is shown on a line of its own.
//!
//! `-- --stress` runs 8 threads that decide, evict, change rules and take records, for 60 seconds or `--seconds N`. It
//! fails if a thread stops, a record is lost, or a denied target is chosen. `docs/performance/delegation.md` has the
//! figures.
//!
//! Not by divan: two operations in turn, and several threads between barriers.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints to the terminal and fails loudly"
)]

use std::{
    collections::{BTreeSet, HashMap},
    hint::{black_box, spin_loop},
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use callosum_intent::delegation::{
    CallContext, Engine, EngineOptions, ExecTarget, Offer, Policy, PolicyEpoch, Symbol, TaskHash,
    Why,
};
use jiff::Timestamp;

/// Entries of the cache.
const ENTRIES: usize = 1_000;

/// Decisions between two readings of the clock.
const BATCH: usize = 64;

/// Batches that are measured.
const BATCHES: usize = 40_000;

/// Decisions of a thread between two barriers.
const ROUND: usize = 4_000;

/// Pairs of rounds that are measured.
const PAIRS: usize = 2_000;

/// Threads of the stress run.
const THREADS: u64 = 8;

/// A pseudorandom generator (SplitMix64), so that each run asks in the same order.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// A call, as a program would have it before the engine sees it.
#[derive(Clone, Copy)]
struct Call {
    symbol: Symbol,
    fingerprint: u64,
    context: u64,
}

impl Call {
    fn context(&self) -> CallContext<'static> {
        CallContext::new(self.symbol, self.fingerprint, self.context)
    }
}

fn start() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

/// Returns calls of 50 symbols, and an engine that has a decision for each.
fn filled() -> (Engine, Vec<Call>) {
    let engine = Engine::default();
    let symbols: Vec<Symbol> = (0..50)
        .map(|number| engine.symbol(&format!("agents::group-{}/skill-{number}", number % 7)))
        .collect();
    for symbol in &symbols {
        engine.offer(
            *symbol,
            Offer::new(ExecTarget::LocalModel("phi-mini".to_owned())),
        );
    }
    let mut random = Random(1);
    let calls: Vec<Call> = (0..ENTRIES)
        .map(|number| Call {
            symbol: symbols[number % symbols.len()],
            fingerprint: random.next(),
            context: random.next(),
        })
        .collect();
    for call in &calls {
        engine.decide(&call.context(), start());
    }
    engine.take_records().written();
    assert_eq!(engine.len(), ENTRIES);
    (engine, calls)
}

fn order(seed: u64, length: usize) -> Vec<u32> {
    let mut random = Random(seed);
    (0..length).map(|_| random.below(ENTRIES) as u32).collect()
}

/// Prints the median and the 99th percentile of nanoseconds per operation.
fn print(name: &str, mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let at = |share: f64| samples[((samples.len() - 1) as f64 * share) as usize];
    println!(
        "{name:<44} p50 {:>7.1} ns   p99 {:>7.1} ns",
        at(0.5),
        at(0.99)
    );
    at(0.5)
}

fn each(elapsed: Duration, operations: usize) -> f64 {
    elapsed.as_nanos() as f64 / operations as f64
}

/// Hits in turn with lookups of a plain map with the same keys.
fn hits() {
    let (engine, calls) = filled();
    let map: HashMap<(Symbol, TaskHash), (u32, f32)> = calls
        .iter()
        .map(|call| {
            let task = TaskHash::new(call.fingerprint, call.context);
            ((call.symbol, task), (1, 0.9))
        })
        .collect();
    let order = order(2, BATCH * BATCHES);
    let (mut engine_times, mut map_times, mut take_times) = (Vec::new(), Vec::new(), Vec::new());
    let mut now = start();
    let tick = jiff::SignedDuration::from_micros(5);
    for (index, batch) in order.chunks_exact(BATCH).enumerate() {
        now += tick;
        let begun = Instant::now();
        for &call in batch {
            let decision = engine.decide(&calls[call as usize].context(), now);
            black_box(decision);
        }
        engine_times.push(each(begun.elapsed(), BATCH));

        let begun = Instant::now();
        for &call in batch {
            let call = &calls[call as usize];
            let task = TaskHash::new(call.fingerprint, call.context);
            black_box(map.get(&(call.symbol, task)));
        }
        map_times.push(each(begun.elapsed(), BATCH));

        if index % 32 == 31 {
            let begun = Instant::now();
            let records = engine.take_records();
            let count = records.len();
            take_times.push(each(begun.elapsed(), count));
            assert_eq!(count, 32 * BATCH);
            assert!(records.iter().all(|record| record.why == Why::Hit));
            records.written();
        }
    }
    let engine_median = print("hit, 1,000 entries", engine_times);
    let map_median = print("HashMap lookup, same keys, in turn", map_times);
    println!("ratio {:.2}", engine_median / map_median);
    print("take a record for writing", take_times);
}

/// Decisions that do not come from the cache.
fn other_ways() {
    let (engine, calls) = filled();
    let time = |name: &str, decide: &mut dyn FnMut(usize)| {
        let mut samples = Vec::new();
        for index in 0..4_000 {
            if index % 8 == 0 {
                engine.take_records().written();
            }
            let begun = Instant::now();
            for offset in 0..BATCH {
                decide(index * BATCH + offset);
            }
            samples.push(each(begun.elapsed(), BATCH));
        }
        print(name, samples);
    };
    let fixed = engine.symbol("mesh/refactor");
    engine.set_routes([("mesh/refactor", ExecTarget::RemoteModel("codex".to_owned()))]);
    time("static route", &mut |index| {
        black_box(engine.decide(&CallContext::new(fixed, index as u64, 1), start()));
    });
    let unknown = engine.symbol("math/add");
    time("default, no offer", &mut |index| {
        black_box(engine.decide(&CallContext::new(unknown, index as u64, 1), start()));
    });
    let mut random = Random(3);
    time("miss: 5 scorers, insert, evict", &mut |_| {
        let call = CallContext::new(calls[0].symbol, random.next(), 1);
        black_box(engine.decide(&call, start()));
    });
}

/// Keeps the thread on one processor: two threads on the same one would only take turns.
#[cfg(target_os = "linux")]
fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    // Without the right to choose, the rounds are only less even.
    let _: Result<(), _> = rustix::thread::sched_setaffinity(None, &set);
}

#[cfg(not(target_os = "linux"))]
fn pin(_: usize) {}

/// Waits without sleep: to wake up takes longer than a round.
fn wait(counter: &AtomicUsize, value: usize) {
    while counter.load(Ordering::Acquire) < value {
        spin_loop();
    }
}

/// Returns the times of pairs of rounds: in one, one thread asks for entries, in the other, two ask for the same ones. A time
/// is from the first begin to the last end.
///
/// The rounds of a pair follow each other, since the speed of a machine changes from second to second. `between` runs
/// before each round, always in the second thread: records leave the processor of the first in both cases, as they do
/// when one thread of a program writes them.
fn rounds(
    decide: &(dyn Fn(u32) + Sync),
    between: &(dyn Fn() + Sync),
    orders: &[Vec<u32>; 2],
) -> Vec<(f64, f64)> {
    let (begin, end) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |thread: usize| -> Vec<(Instant, Instant)> {
        pin(thread);
        let numbers = 1..=2 * PAIRS;
        numbers
            .map(|number| {
                if thread == 1 {
                    between();
                }
                begin.fetch_add(1, Ordering::AcqRel);
                wait(&begin, 2 * number);
                let begun = Instant::now();
                if thread == 0 || number % 2 == 0 {
                    orders[thread].iter().for_each(|&call| decide(call));
                }
                let ended = Instant::now();
                end.fetch_add(1, Ordering::AcqRel);
                wait(&end, 2 * number);
                (begun, ended)
            })
            .collect()
    };
    let [first, second] = thread::scope(|scope| {
        let work = &work;
        [0, 1]
            .map(|thread| scope.spawn(move || work(thread)))
            .map(|worker| worker.join().unwrap())
    });
    (0..2 * PAIRS)
        .step_by(2)
        .map(|one| {
            let two = one + 1;
            let begun = first[two].0.min(second[two].0);
            let ended = first[two].1.max(second[two].1);
            (
                (first[one].1 - first[one].0).as_secs_f64(),
                (ended - begun).as_secs_f64(),
            )
        })
        .collect()
}

/// Throughput of one and of two threads, in turn.
fn threads() {
    let (engine, calls) = filled();
    let orders = [order(4, ROUND), order(5, ROUND)];
    let locked: Mutex<HashMap<(Symbol, TaskHash), u32>> = Mutex::new(
        calls
            .iter()
            .map(|call| {
                let task = TaskHash::new(call.fingerprint, call.context);
                ((call.symbol, task), 1)
            })
            .collect(),
    );
    let by_engine = |call: u32| {
        black_box(engine.decide(&calls[call as usize].context(), start()));
    };
    let by_map = |call: u32| {
        let call = &calls[call as usize];
        let task = TaskHash::new(call.fingerprint, call.context);
        black_box(locked.lock().unwrap().get(&(call.symbol, task)).copied());
    };
    let unlocked = locked.lock().unwrap().clone();
    let by_read = |call: u32| {
        let call = &calls[call as usize];
        let task = TaskHash::new(call.fingerprint, call.context);
        black_box(unlocked.get(&(call.symbol, task)).copied());
    };
    let ways: [(&str, &(dyn Fn(u32) + Sync)); 3] = [
        ("engine", &by_engine),
        ("HashMap, read", &by_read),
        ("Mutex<HashMap>", &by_map),
    ];
    for (name, decide) in ways {
        let pairs = rounds(decide, &|| engine.take_records().written(), &orders);
        let median = |value: &dyn Fn(&(f64, f64)) -> f64| {
            let mut values: Vec<f64> = pairs.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[PAIRS / 2]
        };
        println!(
            "{name:<15} 1 thread {:>5.1} M/s   2 threads {:>5.1} M/s   ratio {:.2}",
            ROUND as f64 / median(&|(one, _)| *one) / 1e6,
            2.0 * ROUND as f64 / median(&|(_, two)| *two) / 1e6,
            median(&|(one, two)| 2.0 * one / two),
        );
    }
}

/// Eight threads at a small cache, with a watchdog.
fn stress(seconds: u64) -> ExitCode {
    let engine = Engine::new(EngineOptions {
        capacity: 256,
        ..EngineOptions::default()
    });
    let symbols: Vec<Symbol> = (0..16)
        .map(|number| engine.symbol(&format!("ns::a/{number}")))
        .collect();
    let target = |number: u64| ExecTarget::RemoteModel(format!("m{number}"));
    let policy = |epoch: u64| Policy {
        epoch: PolicyEpoch(epoch),
        denied: BTreeSet::from([target(epoch % 3)]),
        denies_remote: false,
    };
    for symbol in &symbols {
        (0..3).for_each(|number| engine.offer(*symbol, Offer::new(target(number))));
    }
    engine.set_policy(policy(0));
    let is_over = AtomicBool::new(false);
    let decisions: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
    let (written, epoch) = (AtomicU64::new(0), AtomicU64::new(0));
    let write = |records: &[callosum_intent::delegation::DecisionRecord]| {
        for record in records {
            let denied = target(record.policy_epoch.0 % 3);
            assert!(record.target != denied, "a denied target: {record:?}");
        }
        written.fetch_add(records.len() as u64, Ordering::Relaxed);
        Ok::<(), std::convert::Infallible>(())
    };
    let worker = |thread: u64| {
        let mut random = Random(thread);
        while !is_over.load(Ordering::Relaxed) {
            for _ in 0..64 {
                let symbol = symbols[random.below(symbols.len())];
                let call = CallContext::new(symbol, random.next() % 64, 7);
                let decision = engine.decide(&call, start());
                let denied = target(decision.policy_epoch.0 % 3);
                assert!(*decision.target != denied, "a denied target: {decision:?}");
                decisions[thread as usize].fetch_add(1, Ordering::Relaxed);
            }
            match random.below(400) {
                0 => engine.set_policy(policy(epoch.fetch_add(1, Ordering::Relaxed) + 1)),
                1..=4 => drop(engine.invalidate_symbol("ns::a/3")),
                5..=9 => engine.record_outcome(symbols[5], &target(1), false),
                10..=14 => drop(engine.take_records()),
                15 => drop(engine.plans_of_symbol("ns::a/4")),
                16..=60 => engine.flush(write).unwrap(),
                _ => {}
            }
        }
    };
    let begun = Instant::now();
    thread::scope(|scope| {
        let worker = &worker;
        for thread in 0..THREADS {
            scope.spawn(move || worker(thread));
        }
        let mut before = vec![0; THREADS as usize];
        while begun.elapsed() < Duration::from_secs(seconds) {
            thread::sleep(Duration::from_secs(1).min(Duration::from_secs(seconds)));
            for (thread, counter) in decisions.iter().enumerate() {
                let count = counter.load(Ordering::Relaxed);
                if count == before[thread] && begun.elapsed() > Duration::from_secs(5) {
                    println!("thread {thread} stopped after {count} decisions");
                    // A join would wait for it.
                    std::process::exit(1);
                }
                before[thread] = count;
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    engine.flush(write).unwrap();
    let decided: u64 = decisions.iter().map(|it| it.load(Ordering::Relaxed)).sum();
    let written = written.load(Ordering::Relaxed);
    println!(
        "{THREADS} threads, {} s: {decided} decisions, {written} records, {} policies",
        begun.elapsed().as_secs(),
        epoch.load(Ordering::Relaxed)
    );
    if decided == written {
        ExitCode::SUCCESS
    } else {
        println!("records were lost");
        ExitCode::FAILURE
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|it| it == "--stress") {
        let seconds = arguments.iter().position(|it| it == "--seconds");
        let seconds = seconds.and_then(|at| arguments.get(at + 1)?.parse().ok());
        return stress(seconds.unwrap_or(60));
    }
    hits();
    other_ways();
    threads();
    ExitCode::SUCCESS
}
