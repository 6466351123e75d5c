//! Whole runs of the schedule, played through with made-up tasks and outcomes.

use std::{collections::BTreeMap, time::Duration};

use callosum_ledger::ErrorCode;
use proptest::prelude::*;

use super::*;
use crate::{
    mode::{Facts, Mode, Reason},
    priority::Priority,
    recovery::RecoveryPolicy,
    submission::Submission,
    task::{Link, Task, TaskIndex},
};

const NONE: [usize; 0] = [];

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn linked_to(id: &str, links: &[usize]) -> Task {
    Task {
        links: links.iter().map(|&at| Link::Local(TaskIndex(at))).collect(),
        ..Task::new(id, "")
    }
}

fn in_mode(mode: Mode, count: usize) -> Vec<Task> {
    (0..count)
        .map(|at| Task {
            mode: Some(mode),
            ..Task::new(at.to_string(), "")
        })
        .collect()
}

fn schedule(tasks: Vec<Task>) -> Schedule {
    Schedule::new(Submission::new(tasks).unwrap(), Limits::default())
}

fn started(turn: &Actions) -> Vec<usize> {
    turn.starts.iter().map(|start| start.task.0).collect()
}

fn commit(schedule: &mut Schedule, task: usize, now: Duration) -> Actions {
    let consequence = schedule
        .finished(TaskIndex(task), now, Outcome::Committed)
        .unwrap();
    assert_eq!(consequence, Consequence::Ended(Ending::Committed));
    schedule.next(now, &Facts::IDLE)
}

fn fail(schedule: &mut Schedule, task: usize, now: Duration, code: ErrorCode) -> Consequence {
    schedule
        .finished(TaskIndex(task), now, Outcome::Failed(Some(code)))
        .unwrap()
}

/// Seed CAL §12.2, scenario 1: each starts once the one that it builds on is committed.
#[test]
fn a_chain_runs_in_its_order() {
    let mut run = schedule(vec![
        linked_to("t1", &[]),
        linked_to("t2", &[0]),
        linked_to("t3", &[1]),
    ]);
    let first = run.next(ms(0), &Facts::IDLE);
    assert_eq!(started(&first), [0]);
    assert_eq!(first.then, WakeUp::WaitForEvent);
    let second = commit(&mut run, 0, ms(10));
    assert_eq!(started(&second), [1]);
    assert_eq!(second.starts[0].decision.mode, Mode::Sequential);
    assert_eq!(second.starts[0].decision.reason, Reason::ContextDependency);
    assert_eq!(started(&commit(&mut run, 1, ms(20))), [2]);
    assert_eq!(commit(&mut run, 2, ms(30)).then, WakeUp::Done);
}

/// Seed CAL §12.2, scenario 2, and REQ-ARB-002: independent tasks run in parallel, as many as the
/// limit allows.
#[test]
fn independent_tasks_fill_the_slots_and_no_more() {
    let mut run = schedule(in_mode(Mode::Concurrent, 7));
    assert_eq!(started(&run.next(ms(0), &Facts::IDLE)), [0, 1, 2, 3, 4]);
    assert_eq!(started(&commit(&mut run, 3, ms(1))), [5]);
}

/// Seed CAL §12.2, scenario 3: two failures, then success, with the pauses of §7.1.
#[test]
fn a_task_that_fails_twice_then_succeeds_has_succeeded() {
    let mut run = schedule(vec![Task::new("flaky", "")]);
    run.next(ms(0), &Facts::IDLE);
    for retry in 1..=2 {
        let now = ms(u64::from(retry) * 10_000);
        let Consequence::Retry { retry: number, at } =
            fail(&mut run, 0, now, ErrorCode::ExecutorCrash)
        else {
            panic!("gave up");
        };
        assert_eq!(number, retry);
        assert!(at >= now + ms(500));
        let waiting = run.next(now, &Facts::IDLE);
        assert_eq!(started(&waiting), NONE);
        assert_eq!(waiting.then, WakeUp::WaitUntil(at));
        assert_eq!(run.next(at, &Facts::IDLE).starts[0].retries, retry);
    }
    assert_eq!(commit(&mut run, 0, ms(90_000)).then, WakeUp::Done);
    assert_eq!(run.ending(TaskIndex(0)), Some(Ending::Committed));
    assert_eq!(run.retries(TaskIndex(0)), 2);
}

#[test]
fn a_failed_task_fails_those_that_link_to_it_and_no_others() {
    let mut run = schedule(vec![
        linked_to("a", &[]),
        linked_to("b", &[0]),
        linked_to("c", &[1]),
        linked_to("other", &[]),
    ]);
    run.next(ms(0), &Facts::IDLE);
    run.finished(TaskIndex(0), ms(1), Outcome::Failed(None))
        .unwrap();
    let turn = run.next(ms(1), &Facts::IDLE);
    assert_eq!(
        turn.dropped,
        [
            (TaskIndex(1), Ending::DependencyFailed { on: TaskIndex(0) }),
            (TaskIndex(2), Ending::DependencyFailed { on: TaskIndex(1) }),
        ],
    );
    assert_eq!(turn.then, WakeUp::WaitForEvent);
    assert_eq!(commit(&mut run, 3, ms(2)).then, WakeUp::Done);
}

/// CAL-ARB-2, Seed CAL §4.3.
#[test]
fn staggered_tasks_start_half_a_second_apart() {
    let mut run = schedule(in_mode(Mode::Staggered, 3));
    let first = run.next(ms(0), &Facts::IDLE);
    assert_eq!(started(&first), [0]);
    assert_eq!(first.then, WakeUp::WaitUntil(ms(500)));
    assert_eq!(started(&run.next(ms(499), &Facts::IDLE)), NONE);
    assert_eq!(started(&run.next(ms(510), &Facts::IDLE)), [1]);
    assert_eq!(
        run.next(ms(511), &Facts::IDLE).then,
        WakeUp::WaitUntil(ms(1010))
    );
}

/// REQ-ARB-004: and a ledger that is never given back does not hold a run up for ever.
#[test]
fn a_queued_task_waits_for_the_ledger_but_not_for_ever() {
    let busy = Facts {
        ledger_busy: true,
        ..Facts::IDLE
    };
    let mut run = schedule(vec![Task::new("one", "")]);
    let turn = run.next(ms(0), &busy);
    assert_eq!(started(&turn), NONE);
    assert!(matches!(turn.then, WakeUp::WaitUntil(at) if at > ms(0)));
    let freed = run.next(ms(40), &Facts::IDLE);
    assert_eq!(freed.starts[0].decision.mode, Mode::Queued);

    let mut stuck = schedule(vec![Task::new("one", "")]);
    assert_eq!(started(&stuck.next(ms(0), &busy)), NONE);
    assert_eq!(started(&stuck.next(ms(1499), &busy)), NONE);
    assert_eq!(started(&stuck.next(ms(1500), &busy)), [0]);
}

#[test]
fn tasks_asked_for_in_sequence_run_one_at_a_time() {
    let mut tasks = in_mode(Mode::Sequential, 2);
    tasks.push(Task::new("beside", ""));
    let mut run = schedule(tasks);
    assert_eq!(started(&run.next(ms(0), &Facts::IDLE)), [0, 2]);
    assert_eq!(started(&commit(&mut run, 0, ms(1))), [1]);
}

/// CAL-ARB-3: longest remaining chain first, among equals in the order given.
#[test]
fn the_head_of_the_longest_chain_starts_first() {
    let mut tasks = vec![
        linked_to("alone", &[]),
        linked_to("short", &[]),
        linked_to("long", &[]),
        linked_to("after short", &[1]),
        linked_to("after long", &[2]),
        linked_to("last", &[4]),
    ];
    for task in &mut tasks {
        task.priority = Priority::DependencyChain;
    }
    let mut run = schedule(tasks);
    assert_eq!(started(&run.next(ms(0), &Facts::IDLE)), [2, 1, 0]);
}

/// CAL-ARB-3: more links, earlier; links into the ledger count as well.
#[test]
fn the_task_with_more_links_starts_first() {
    let into_ledger = Link::Ledger("cal_2026_01_02_0001".parse().unwrap());
    let mut run = schedule(vec![
        Task::new("plain", ""),
        Task {
            links: vec![into_ledger],
            ..Task::new("linked", "")
        },
    ]);
    assert_eq!(started(&run.next(ms(0), &Facts::IDLE)), [1, 0]);
}

/// CAL-ERR-5, REQ-ERR-003: three tries, then nothing more is started.
#[test]
fn a_disk_that_keeps_failing_halts_the_run() {
    let mut run = schedule(in_mode(Mode::Concurrent, 7));
    run.next(ms(0), &Facts::IDLE);
    let mut now = ms(0);
    while let Consequence::Retry { at, .. } = fail(&mut run, 0, now, ErrorCode::DiskFailure) {
        now = at;
        assert_eq!(started(&run.next(now, &Facts::IDLE)), [0]);
    }
    assert_eq!(run.retries(TaskIndex(0)), 3);
    let turn = run.next(now, &Facts::IDLE);
    let by = TaskIndex(0);
    assert_eq!(
        turn.dropped,
        [
            (TaskIndex(5), Ending::Halted { by }),
            (TaskIndex(6), Ending::Halted { by }),
        ],
    );
    assert_eq!(started(&turn), NONE);
    // Those that ran may finish; a failure among them is not tried again.
    assert_eq!(
        fail(&mut run, 1, now, ErrorCode::Timeout),
        Consequence::Ended(Ending::Failed(Some(ErrorCode::Timeout)))
    );
    for task in 2..=3 {
        assert_eq!(commit(&mut run, task, now).then, WakeUp::WaitForEvent);
    }
    assert_eq!(commit(&mut run, 4, now).then, WakeUp::Done);
}

/// CAL-ERR-5: once the ledger takes nothing any more, nothing is tried again.
#[test]
fn a_ledger_that_has_halted_halts_the_run_at_once() {
    let mut run = schedule(in_mode(Mode::Concurrent, 2));
    run.next(ms(0), &Facts::IDLE);
    let outcome = Outcome::Unstorable(ErrorCode::DiskFailure);
    assert_eq!(
        run.finished(TaskIndex(0), ms(1), outcome).unwrap(),
        Consequence::Ended(Ending::Failed(Some(ErrorCode::DiskFailure)))
    );
    assert_eq!(started(&run.next(ms(1), &Facts::IDLE)), NONE);
    assert_eq!(commit(&mut run, 1, ms(2)).then, WakeUp::Done);
}

/// CAL-ERR-6: "adaptive" means fewer at once while memory is short.
#[test]
fn a_memory_overflow_halves_what_runs_at_once() {
    let mut run = schedule(in_mode(Mode::Concurrent, 12));
    assert_eq!(run.next(ms(0), &Facts::IDLE).starts.len(), 5);
    fail(&mut run, 0, ms(1), ErrorCode::MemoryOverflow);
    assert_eq!(started(&run.next(ms(1), &Facts::IDLE)), NONE);
    // Four run, two may: two successes make room for one more each, and free two slots.
    assert_eq!(started(&commit(&mut run, 1, ms(2))), NONE);
    assert_eq!(started(&commit(&mut run, 2, ms(3))).len(), 2);
}

#[test]
fn cancelling_drops_what_waits_and_keeps_what_was_done() {
    let mut run = schedule(vec![
        linked_to("done", &[]),
        linked_to("running", &[]),
        linked_to("waiting", &[1]),
    ]);
    run.next(ms(0), &Facts::IDLE);
    commit(&mut run, 0, ms(1));
    run.cancel();
    let turn = run.next(ms(2), &Facts::IDLE);
    assert_eq!(turn.dropped, [(TaskIndex(2), Ending::Cancelled)]);
    assert_eq!(turn.then, WakeUp::WaitForEvent);
    run.finished(TaskIndex(1), ms(3), Outcome::Cancelled)
        .unwrap();
    assert_eq!(run.next(ms(3), &Facts::IDLE).then, WakeUp::Done);
    assert_eq!(run.ending(TaskIndex(0)), Some(Ending::Committed));
}

#[test]
fn an_outcome_of_a_task_that_does_not_run_is_refused() {
    let mut run = schedule(vec![linked_to("a", &[]), linked_to("b", &[0])]);
    run.next(ms(0), &Facts::IDLE);
    for task in [TaskIndex(1), TaskIndex(9)] {
        assert_eq!(
            run.finished(task, ms(1), Outcome::Committed),
            Err(NotRunning { task })
        );
    }
    commit(&mut run, 0, ms(1));
    assert!(
        run.finished(TaskIndex(0), ms(2), Outcome::Committed)
            .is_err()
    );
}

/// REQ-SYS-005
#[test]
fn concurrency_is_three_to_twelve() {
    assert_eq!(Concurrency::default().get(), 5);
    for allowed in 3..=12 {
        assert_eq!(
            Concurrency::new(allowed).map(Concurrency::get),
            Ok(usize::from(allowed))
        );
    }
    assert_eq!(
        Concurrency::new(13).unwrap_err().to_string(),
        "cannot run 13 tasks at once (allowed: 3 to 12)"
    );
    assert!(Concurrency::new(2).is_err());
}

/// One task of a made-up run: what it is, how long each try takes and how it ends.
#[derive(Clone, Debug)]
struct Part {
    links: Vec<prop::sample::Index>,
    mode: Option<Mode>,
    priority: Priority,
    reads: Option<u64>,
    tries: Vec<(u64, Outcome)>,
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        6 => Just(Outcome::Committed),
        1 => Just(Outcome::Failed(None)),
        1 => Just(Outcome::Unstorable(ErrorCode::DiskFailure)),
        1 => Just(Outcome::Cancelled),
        4 => prop::sample::select(&ErrorCode::ALL[..]).prop_map(|code| Outcome::Failed(Some(code))),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    (
        prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        prop::option::of(prop::sample::select(&Mode::ALL[..])),
        prop::sample::select(&Priority::ALL[..]),
        prop::option::of(9_999_u64..10_002),
        prop::collection::vec((0_u64..2_000, outcome()), 1..8),
    )
        .prop_map(|(links, mode, priority, reads, tries)| Part {
            links,
            mode,
            priority,
            reads,
            tries,
        })
}

/// Observations of a run that was played to its end.
#[derive(Debug, PartialEq)]
struct Played {
    starts: Vec<(Duration, Start)>,
    endings: Vec<Ending>,
}

/// Plays a run, with the ledger held in every second half second, and checks on the way what must
/// hold at every moment.
fn play(parts: &[Part], concurrency: u8, cancel_after: usize) -> Played {
    let tasks: Vec<Task> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| Task {
            links: part
                .links
                .iter()
                .filter(|_| at > 0)
                .map(|link| Link::Local(TaskIndex(link.index(at))))
                .collect(),
            mode: part.mode,
            priority: part.priority,
            estimated_io_ops: part.reads,
            ..Task::new(at.to_string(), "")
        })
        .collect();
    let limits = Limits {
        concurrency: Concurrency::new(concurrency).unwrap(),
        recovery: RecoveryPolicy {
            seed: 7,
            ..RecoveryPolicy::default()
        },
        ..Limits::default()
    };
    let mut run = Schedule::new(Submission::new(tasks.clone()).unwrap(), limits);
    let mut now = ms(0);
    let mut running: BTreeMap<(Duration, TaskIndex), Outcome> = BTreeMap::new();
    let mut endings: Vec<Option<Ending>> = vec![None; tasks.len()];
    let mut starts: Vec<(Duration, Start)> = Vec::new();
    let note = |endings: &mut Vec<Option<Ending>>, task: TaskIndex, ending: Ending| {
        assert_eq!(endings[task.0].replace(ending), None, "{task} ended twice");
    };
    for _ in 0..100_000 {
        if starts.len() == cancel_after {
            run.cancel();
        }
        let facts = Facts {
            ledger_busy: now.as_millis() / 500 % 2 == 1,
            ..Facts::IDLE
        };
        let turn = run.next(now, &facts);
        for start in turn.starts {
            for link in &tasks[start.task.0].links {
                let Link::Local(on) = link else {
                    unreachable!()
                };
                assert_eq!(endings[on.0], Some(Ending::Committed), "{start:?}");
            }
            let part = &parts[start.task.0];
            let (takes, outcome) = part.tries[start.retries as usize % part.tries.len()];
            let clash = running.insert((now + ms(takes), start.task), outcome);
            assert_eq!(clash, None);
            starts.push((now, start));
        }
        assert!(running.len() <= usize::from(concurrency));
        for (task, ending) in turn.dropped {
            note(&mut endings, task, ending);
        }
        let wake = match turn.then {
            WakeUp::Done => {
                assert!(running.is_empty());
                return Played {
                    starts,
                    endings: endings.into_iter().map(Option::unwrap).collect(),
                };
            }
            WakeUp::WaitUntil(at) => {
                assert!(at > now, "asked to wait for what has passed");
                Some(at)
            }
            WakeUp::WaitForEvent => None,
        };
        let event = running.first_key_value().map(|(&(at, _), _)| at);
        now = wake
            .into_iter()
            .chain(event)
            .min()
            .expect("waits for nothing");
        while let Some(entry) = running.first_entry()
            && entry.key().0 <= now
        {
            let ((_, task), outcome) = entry.remove_entry();
            if let Consequence::Ended(ending) = run.finished(task, now, outcome).unwrap() {
                note(&mut endings, task, ending);
            }
        }
    }
    panic!("the run does not end");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// REQ-ARB-002, REQ-ARB-003, REQ-GOV-004: the limit, the order of links and "ends exactly
    /// once" are asserted at each step of the play; a second play is the same.
    #[test]
    fn any_run_keeps_its_promises(
        parts in prop::collection::vec(part(), 0..24),
        concurrency in 3_u8..=12,
        cancel_after in prop_oneof![4 => Just(usize::MAX), 1 => 0_usize..20],
    ) {
        let played = play(&parts, concurrency, cancel_after);
        let mut last_staggered = None;
        for (at, start) in &played.starts {
            if start.decision.mode == Mode::Staggered {
                let gap = last_staggered.replace(*at).map(|last: Duration| at.saturating_sub(last));
                prop_assert!(gap.is_none_or(|gap| gap >= ms(500)), "{:?}", gap);
            }
        }
        for (task, ending) in played.endings.iter().enumerate() {
            if let Ending::DependencyFailed { on } = ending {
                prop_assert_ne!(played.endings[on.0], Ending::Committed);
                prop_assert!(played.starts.iter().all(|(_, start)| start.task.0 != task));
            }
        }
        prop_assert_eq!(played, play(&parts, concurrency, cancel_after));
    }
}

/// CAL-ARB-2: an executor at its cap lets others pass, and its own tasks queue.
#[test]
fn a_full_lane_queues_its_own_tasks_and_no_others() {
    let mut run = schedule(in_mode(Mode::Concurrent, 4)).in_lanes(vec![0, 0, 0, 1], vec![1, 12]);
    assert_eq!(started(&run.next(ms(0), &Facts::IDLE)), [0, 3]);
    let turn = commit(&mut run, 3, ms(10));
    assert_eq!(started(&turn), NONE);
    assert_eq!(turn.then, WakeUp::WaitForEvent);
    assert_eq!(started(&commit(&mut run, 0, ms(20))), [1]);
    assert_eq!(started(&commit(&mut run, 1, ms(30))), [2]);
    assert_eq!(commit(&mut run, 2, ms(40)).then, WakeUp::Done);
}

/// REQ-GOV-004: tasks of two kinds of lanes start where neither is full, and hold no slot until then.
#[test]
fn a_task_in_two_lanes_waits_for_both() {
    let mut run = schedule(in_mode(Mode::Concurrent, 4))
        .in_lanes(vec![0, 0, 0, 0], vec![2])
        .in_lanes(vec![0, 0, 1, 2], vec![1, 1, 1]);
    assert_eq!(started(&run.next(ms(0), &Facts::IDLE)), [0, 2]);
    assert_eq!(started(&commit(&mut run, 2, ms(10))), [3]);
    assert_eq!(started(&commit(&mut run, 0, ms(20))), [1]);
}

/// CAL-ERR-6: while memory is short nothing is started; where that lasts, what waits fails.
#[test]
fn short_memory_pauses_and_then_fails_what_waits() {
    let short = Facts {
        memory_short: true,
        ..Facts::IDLE
    };
    let mut run = schedule(in_mode(Mode::Concurrent, 2));
    let turn = run.next(ms(0), &short);
    assert_eq!(started(&turn), NONE);
    assert!(matches!(turn.then, WakeUp::WaitUntil(at) if at > ms(0)));
    assert_eq!(started(&run.next(ms(2_000), &Facts::IDLE)), [0, 1]);

    let mut run = schedule(in_mode(Mode::Concurrent, 2));
    run.next(ms(0), &short);
    let turn = run.next(ms(3_000), &short);
    let failed = Ending::Failed(Some(ErrorCode::MemoryOverflow));
    assert_eq!(
        turn.dropped,
        [(TaskIndex(0), failed), (TaskIndex(1), failed)]
    );
    assert_eq!(turn.then, WakeUp::Done);
}

/// A bound that is reached ends everything that waits; what runs goes on.
#[test]
fn a_reached_bound_ends_what_waits() {
    let mut tasks = in_mode(Mode::Concurrent, 6);
    tasks.push(linked_to("after", &[0]));
    let mut run = schedule(tasks);
    assert_eq!(run.next(ms(0), &Facts::IDLE).starts.len(), 5);
    let bound = crate::budget::Bound::Spawns(4);
    run.finished(TaskIndex(4), ms(1), Outcome::OverBudget(bound))
        .unwrap();
    let turn = run.next(ms(1), &Facts::IDLE);
    let over = Ending::OverBudget(bound);
    assert_eq!(turn.dropped, [(TaskIndex(5), over), (TaskIndex(6), over)]);
    assert_eq!(run.ending(TaskIndex(4)), Some(over));
    for task in 0..4 {
        commit(&mut run, task, ms(2));
    }
    assert_eq!(run.next(ms(3), &Facts::IDLE).then, WakeUp::Done);
}

/// CAL-ERR-3: an answer that was sent back once is not asked for once more.
#[test]
fn a_refused_answer_is_not_tried_again() {
    let mut run = schedule(in_mode(Mode::Concurrent, 1));
    run.next(ms(0), &Facts::IDLE);
    let code = ErrorCode::MalformedAnswer;
    let ended = run
        .finished(TaskIndex(0), ms(1), Outcome::Refused(code))
        .unwrap();
    assert_eq!(ended, Consequence::Ended(Ending::Failed(Some(code))));
}
