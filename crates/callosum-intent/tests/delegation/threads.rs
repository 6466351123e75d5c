//! Several threads at one engine: no deadlock, one computation for each missing decision.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Barrier, OnceLock, Weak,
        atomic::{AtomicU32, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use callosum_intent::delegation::{
    Candidate, Engine, EngineOptions, ExecTarget, Offer, Policy, PolicyEpoch, Scorer, ScorerInput,
    Symbol, WeightedScorer, Why,
};

use crate::{call, local, now, remote};

/// Time after which threads that do not end are in a deadlock, however busy the machine is.
const WATCHDOG: Duration = Duration::from_mins(3);

/// Runs `work` in a thread of its own, and fails if it does not end.
fn watched(work: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        sender.send(()).ok();
    });
    match receiver.recv_timeout(WATCHDOG) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("deadlock: the threads did not end"),
        // A panic of the worker has dropped the sender.
        _ => {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// A scorer that is a closure over the engine.
struct Custom(Box<dyn Fn(&ScorerInput<'_>) -> f64 + Send + Sync>);

impl Scorer for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn score(&self, ask: &ScorerInput<'_>, _: &Candidate<'_>) -> Option<f64> {
        Some((self.0)(ask))
    }
}

fn engine_with(score: impl Fn(&ScorerInput<'_>) -> f64 + Send + Sync + 'static) -> Engine {
    let scorer = Box::new(Custom(Box::new(score)));
    let weighted = WeightedScorer {
        scorer,
        weight: 1.0,
    };
    Engine::with_scorers(EngineOptions::default(), vec![weighted])
}

fn offered(engine: &Engine, name: &str) -> Symbol {
    let symbol = engine.symbol(name);
    engine.offer(symbol, Offer::new(local("phi")));
    symbol
}

/// CCOS-DEL-3, defect 1: eight threads hit, miss, evict, change rules, and take records for two seconds.
#[test]
fn eight_threads_that_use_every_function_never_stop() {
    watched(|| {
        let engine = Engine::new(EngineOptions {
            capacity: 64,
            ..EngineOptions::default()
        });
        let symbols: Vec<Symbol> = (0..8)
            .map(|number| {
                let symbol = engine.symbol(&format!("ns::{number}"));
                (0..3).for_each(|id| engine.offer(symbol, Offer::new(remote(&id.to_string()))));
                symbol
            })
            .collect();
        let denied = |epoch: u64| remote(&(epoch % 3).to_string());
        let policy = |epoch: u64| Policy {
            epoch: PolicyEpoch(epoch),
            denied: BTreeSet::from([denied(epoch)]),
            denies_remote: false,
        };
        engine.set_policy(policy(0));
        let (epoch, decided, written) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let count = |records: &[_]| {
            written.fetch_add(records.len() as u64, Ordering::Relaxed);
            Ok::<(), std::convert::Infallible>(())
        };
        let end = Instant::now() + Duration::from_secs(2);
        let work = |thread: u64| {
            let mut round = thread;
            while Instant::now() < end {
                round += 1;
                for number in 0..32 {
                    let symbol = symbols[(number + round) as usize % symbols.len()];
                    let decision = engine.decide(&call(symbol, number * round % 50, 7), now());
                    assert_ne!(*decision.target, denied(decision.policy_epoch.0));
                    decided.fetch_add(1, Ordering::Relaxed);
                }
                match (round + thread) % 40 {
                    0 => engine.set_policy(policy(epoch.fetch_add(1, Ordering::Relaxed) + 1)),
                    1 => engine.record_outcome(symbols[1], &remote("1"), false),
                    2 => drop(engine.invalidate_symbol("ns::2")),
                    3 => drop(engine.take_records()),
                    4 => drop(engine.explain(&call(symbols[3], 1, 7), now())),
                    5 => drop(engine.plans_of_symbol("ns::4")),
                    6 => engine.offer(symbols[5], Offer::new(remote("1"))),
                    7..=20 => engine.flush(count).unwrap(),
                    _ => {}
                }
            }
        };
        thread::scope(|scope| {
            let work = &work;
            for thread in 0..8 {
                scope.spawn(move || work(thread));
            }
        });
        engine.flush(count).unwrap();
        assert_eq!(decided.into_inner(), written.into_inner());
        assert!(engine.len() <= 64);
    });
}

/// CCOS-DEL-3: threads that miss one key at the same time compute its decision once.
#[test]
fn threads_that_miss_one_key_compute_it_once() {
    watched(|| {
        let (computed, asked) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let engine = engine_with({
            let (computed, asked) = (Arc::clone(&computed), Arc::clone(&asked));
            move |_| {
                computed.fetch_add(1, Ordering::SeqCst);
                // Until all threads are on their way, so that none comes when the entry is there.
                while asked.load(Ordering::SeqCst) < 8 {
                    thread::yield_now();
                }
                1.0
            }
        });
        let symbol = offered(&engine, "f");
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    asked.fetch_add(1, Ordering::SeqCst);
                    let decision = engine.decide(&call(symbol, 1, 2), now());
                    assert_eq!(*decision.target, local("phi"));
                });
            }
        });
        assert_eq!(computed.load(Ordering::SeqCst), 1);
        assert_eq!(engine.pending_records(), 8);
    });
}

/// CCOS-DEL-3: other calls go on while a scorer works, and so do changes of the rules.
#[test]
fn a_slow_scorer_holds_up_no_other_call() {
    watched(|| {
        let (began, may_end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let engine = engine_with({
            let (began, may_end) = (Arc::clone(&began), Arc::clone(&may_end));
            let waited = AtomicU32::new(0);
            move |ask| {
                if ask.symbol == "slow" && waited.fetch_add(1, Ordering::SeqCst) == 0 {
                    began.wait();
                    may_end.wait();
                }
                1.0
            }
        });
        let (slow, fast) = (offered(&engine, "slow"), offered(&engine, "fast"));
        thread::scope(|scope| {
            let decided = scope.spawn(|| engine.decide(&call(slow, 1, 2), now()).why);
            began.wait();
            assert_eq!(engine.decide(&call(fast, 1, 2), now()).why, Why::Metadata);
            assert_eq!(engine.decide(&call(fast, 1, 2), now()).why, Why::Hit);
            engine.invalidate_symbol("fast");
            engine.take_records().written();
            engine.set_policy(Policy::default());
            may_end.wait();
            assert_eq!(decided.join().unwrap(), Why::Metadata);
        });
    });
}

/// CCOS-DEL-3: a thread whose scorer panics leaves no one waiting.
#[test]
fn a_scorer_that_panics_leaves_no_one_waiting() {
    watched(|| {
        let calls = AtomicU32::new(0);
        let engine = engine_with(move |_| {
            assert!(
                calls.fetch_add(1, Ordering::SeqCst) > 0,
                "the first call fails"
            );
            1.0
        });
        let symbol = offered(&engine, "f");
        thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| engine.decide(&call(symbol, 1, 2), now()).target.clone()))
                .collect();
            let results: Vec<_> = threads
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect();
            assert_eq!(results.iter().filter(|it| it.is_err()).count(), 1);
            for target in results.into_iter().flatten() {
                assert_eq!(target, local("phi"));
            }
        });
        assert_eq!(engine.decide(&call(symbol, 1, 2), now()).why, Why::Hit);
    });
}

/// CCOS-DEL-3, defect 1: two scorers that each ask for the other's decision wait for no one.
#[test]
fn scorers_that_ask_for_each_others_decisions_do_not_wait_in_a_circle() {
    watched(|| {
        let own: Arc<OnceLock<Weak<Engine>>> = Arc::default();
        let both = Barrier::new(2);
        let engine = Arc::new(engine_with({
            let own = Arc::clone(&own);
            let met = AtomicU32::new(0);
            move |ask| {
                if met.fetch_add(1, Ordering::SeqCst) < 2 {
                    // Both threads compute before one asks for the other's decision.
                    both.wait();
                }
                let engine = own.get().and_then(Weak::upgrade).unwrap();
                let other = if ask.symbol == "one" { "two" } else { "one" };
                engine.decide(&call(engine.symbol(other), 1, 2), now());
                1.0
            }
        }));
        own.set(Arc::downgrade(&engine)).unwrap();
        let symbols = ["one", "two"].map(|name| offered(&engine, name));
        thread::scope(|scope| {
            for symbol in symbols {
                let engine = &engine;
                scope.spawn(move || {
                    let decision = engine.decide(&call(symbol, 1, 2), now());
                    assert_eq!(*decision.target, local("phi"));
                });
            }
        });
    });
}

/// CCOS-DEL-3: a scorer that asks for its own decision gets the default at some depth.
#[test]
fn a_scorer_that_asks_for_its_own_decision_ends() {
    watched(|| {
        let own: Arc<OnceLock<Weak<Engine>>> = Arc::default();
        let inner = Arc::new(AtomicU32::new(0));
        let engine = Arc::new(engine_with({
            let (own, inner) = (Arc::clone(&own), Arc::clone(&inner));
            move |ask| {
                let engine = own.get().and_then(Weak::upgrade).unwrap();
                let decision = engine.decide(&call(engine.symbol(ask.symbol), 1, 2), now());
                if decision.why == Why::Default {
                    assert_eq!(*decision.target, ExecTarget::LocalPure);
                    inner.fetch_add(1, Ordering::SeqCst);
                }
                1.0
            }
        }));
        own.set(Arc::downgrade(&engine)).unwrap();
        let symbol = offered(&engine, "f");
        assert_eq!(engine.decide(&call(symbol, 1, 2), now()).why, Why::Metadata);
        assert_eq!(inner.load(Ordering::SeqCst), 1);
    });
}

/// CCOS-DEL-3: an outcome that comes while scorers work is newer than what they saw, so their decision is not stored.
#[test]
fn a_decision_that_an_outcome_overtook_is_not_stored() {
    watched(|| {
        let own: Arc<OnceLock<Weak<Engine>>> = Arc::default();
        let engine = Arc::new(engine_with({
            let own = Arc::clone(&own);
            move |ask| {
                let engine = own.get().and_then(Weak::upgrade).unwrap();
                let symbol = engine.symbol(ask.symbol);
                engine.record_outcome(symbol, &local("phi"), false);
                1.0
            }
        }));
        own.set(Arc::downgrade(&engine)).unwrap();
        let symbol = offered(&engine, "f");
        assert_eq!(engine.decide(&call(symbol, 1, 2), now()).why, Why::Metadata);
        assert!(engine.is_empty());
    });
}
