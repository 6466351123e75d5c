//! Named by their budgets: a decision in under 10 µs (REQ-ARB-001 allows 50 ms), and a schedule
//! whose own share of a thousand tasks is small compared with a thousand started processes.

use std::time::Duration;

use callosum_arbiter::{
    Facts, Limits, Mode, Outcome, Schedule, Scope, Submission, Task, TaskFacts, choose_mode,
};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

#[divan::bench]
fn decision_under_10_us(bencher: Bencher) {
    let task = TaskFacts {
        unmet_links: 0,
        asked: None,
        estimated_io_ops: Some(100),
        scope: Scope::Module,
    };
    let facts = Facts {
        disk_utilisation: Some(0.1),
        ..Facts::IDLE
    };
    bencher.bench(|| choose_mode(black_box(&task), black_box(&facts)));
}

#[divan::bench]
fn schedule_of_1000_tasks(bencher: Bencher) {
    let tasks: Vec<Task> = (0..1000)
        .map(|number| Task {
            mode: Some(Mode::Concurrent),
            ..Task::new(number.to_string(), "")
        })
        .collect();
    let submission = Submission::new(tasks).expect("no links, no circle");
    bencher
        .with_inputs(|| Schedule::new(submission.clone(), Limits::default()))
        .bench_values(|mut schedule| {
            let mut running = schedule.next(Duration::ZERO, &Facts::IDLE).starts;
            while let Some(start) = running.pop() {
                schedule
                    .finished(start.task, Duration::ZERO, Outcome::Committed)
                    .expect("it was started");
                running.extend(schedule.next(Duration::ZERO, &Facts::IDLE).starts);
            }
            schedule
        });
}
