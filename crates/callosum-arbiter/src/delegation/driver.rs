//! [`run`]: the threads of a delegation, and the events that move its schedule on.
//!
//! One thread asks the schedule and waits for events; as many workers as may run at once make the
//! attempts; one short-lived thread measures the disk, another passes a cancellation on. No thread
//! polls: each sleeps until there is something for it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use callosum_executor::{health::Health, registry::Executor};
use callosum_host::{machine, process::Cancel};
use callosum_json::GrowingChecksum;
use callosum_ledger::{AuditEvent, ErrorCode, TaskId, WriteError};

use super::{
    attempt::{AttemptResult, AttemptRunner, Attempted, Job, LARGEST_HASHED},
    context::{DelegationContext, Rules},
    observer::{Notice, RetryNotice, Watch},
    record::{About, not_started, over_budget},
    report::{Failure, Report, TaskReport, TaskStatus},
    side_effects::leaves_only_its_answer,
    unreached::UnreachedPlaces,
    validate::Judged,
};
use crate::{
    circuit::Admission,
    mode::{Decision, Facts},
    schedule::{Consequence, Ending, NotRunning, Outcome, Schedule, Start, WakeUp},
    submission::Submission,
    task::{Link, Task, TaskIndex, kind_name},
};

/// Time span over which the disk's utilization is measured (CAL-ARB-2).
const UTILISATION_SPAN: Duration = Duration::from_millis(50);

/// Reason that a delegation could not be carried through.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A task is to go to an executor that the registry does not have (CAL-SCH-4).
    #[error("task `{task}` is for executor `{executor}`, which is not registered")]
    UnknownExecutor {
        /// The task's name in the submission.
        task: String,
        /// The executor.
        executor: String,
    },
    /// The system gave no thread or pipe.
    #[error("cannot start the delegation")]
    System(#[from] std::io::Error),
    /// The schedule received a report that does not fit.
    #[error(transparent)]
    Schedule(#[from] NotRunning),
}

/// The pause between the reset of a limit and the next try: clocks differ, and servers name whole seconds.
const AFTER_RESET: Duration = Duration::from_secs(1);

/// As the configuration counts.
const MEGABYTE: u64 = 1_000_000;

enum Event {
    Finished(Box<Attempted>),
    Utilisation(Option<f64>),
    Cancelled,
}

/// Runs every task of a submission to its end.
///
/// `executors` names, for each task in order, who works on it. Blocks until all is over. A task
/// that fails is in the report, and fails those that build on it, not the rest. All records are
/// durable when this returns, or `unrecorded` holds the reason.
pub fn run(
    submission: Submission,
    executors: &[String],
    means: &DelegationContext<'_>,
    rules: Rules,
    watch: &dyn Watch,
) -> Result<Report, RunError> {
    let assigned = assigned(&submission, executors, means)?;
    let tasks = submission.tasks().to_vec();
    let workshop = AttemptRunner {
        means,
        rules,
        health: Health::new(),
        watch,
        unreached: UnreachedPlaces::default(),
        ledger_file: GrowingChecksum::new(&means.ledger.paths().ledger, LARGEST_HASHED),
    };
    let over = Cancel::new()?;
    let (job_sender, jobs) = channel::<Job<'_>>();
    let jobs = Mutex::new(jobs);
    let (event_sender, events) = channel();
    let workers = rules.limits.concurrency.get().min(tasks.len());

    let (records, assigned, mut unrecorded) = thread::scope(|scope| {
        let mut working = 0;
        for _ in 0..workers {
            let event_sender = event_sender.clone();
            let (workshop, jobs) = (&workshop, &jobs);
            let worker = thread::Builder::new()
                .spawn_scoped(scope, move || work(workshop, jobs, &event_sender));
            match worker {
                Ok(_) => working += 1,
                // Fewer workers do the same tasks, only later.
                Err(_) if working > 0 => break,
                Err(error) => return Err(RunError::System(error)),
            }
        }
        let cancelled = event_sender.clone();
        let over = &over;
        let passing = thread::Builder::new().spawn_scoped(scope, move || {
            if means.cancel.wait_here_or(over).is_ok() && means.cancel.is_cancelled() {
                // The run may be over already; then no one needs to know.
                drop(cancelled.send(Event::Cancelled));
            }
        });
        // The workers end with the sender of their jobs, which is dropped on the way out.
        passing?;
        if tasks.len() > 1 {
            let (measured, tree) = (event_sender.clone(), means.tree.to_owned());
            // Not scoped: a run shorter than the measurement does not wait for it.
            let measuring = thread::Builder::new().spawn(move || {
                let share = machine::disk_utilisation(&tree, UTILISATION_SPAN);
                drop(measured.send(Event::Utilisation(share)));
            });
            // Without it the disk counts as idle.
            drop(measuring);
        }
        drop(event_sender);
        let run = Run {
            schedule: in_lanes(
                Schedule::new(submission, rules.limits),
                &tasks,
                &assigned,
                means,
            ),
            records: tasks.iter().map(|_| TaskRecord::default()).collect(),
            facts: Facts {
                ledger_busy: false,
                disk_utilisation: None,
                io_threshold: rules.io_threshold,
                memory_short: false,
            },
            started: Instant::now(),
            tasks: &tasks,
            assigned,
            means,
            watch,
            unrecorded: None,
            memory_limit: rules.memory_limit,
            wait_limit: rules.wait_limit,
        };
        let records = run.drive(&events, job_sender);
        over.cancel();
        records
    })?;
    if let Err(error) = means.ledger.flush() {
        unrecorded.get_or_insert(error);
    }
    Ok(Report {
        tasks: reports(&tasks, &assigned, records),
        unwell: workshop.health.unwell(),
        unrecorded,
    })
}

/// Looks up who works on what; the report's order is the submission's.
fn assigned<'a>(
    submission: &Submission,
    executors: &[String],
    means: &DelegationContext<'a>,
) -> Result<Vec<&'a Executor>, RunError> {
    submission
        .tasks()
        .iter()
        .zip(executors)
        .map(|(task, executor)| {
            means
                .registry
                .get(executor)
                .ok_or_else(|| RunError::UnknownExecutor {
                    task: task.local_id.clone(),
                    executor: executor.clone(),
                })
        })
        .collect()
}

/// Puts the tasks of each executor in a lane of their own. Where answers are used again, those that ask
/// one executor the same are in one lane too, one at a time: what comes later finds the answer there,
/// and holds no slot while it is made.
fn in_lanes(
    schedule: Schedule,
    tasks: &[Task],
    assigned: &[&Executor],
    means: &DelegationContext<'_>,
) -> Schedule {
    let (lane_of, ids) = grouped(assigned.iter().map(|executor| executor.id.as_str()));
    let cap = |id: &&str| means.caps.get(*id).copied().unwrap_or(usize::MAX);
    let schedule = schedule.in_lanes(lane_of, ids.iter().map(cap).collect());
    if !means.reuse.as_ref().is_some_and(|it| it.is_looked_for) {
        return schedule;
    }
    let asks = tasks.iter().zip(assigned).enumerate();
    let asks = asks.map(|(place, (task, executor))| {
        let kind = kind_name(task.kind_for(&executor.id));
        // A call that counts by itself gets a lane of its own next to equal calls.
        let is_reused = leaves_only_its_answer(task, executor, means.surroundings);
        let alone = (!is_reused).then_some(place);
        let asked = (&task.prompt, kind, &task.paths, &task.links, &executor.id);
        (asked, alone)
    });
    let (lane_of, asked) = grouped(asks);
    schedule.in_lanes(lane_of, vec![1; asked.len()])
}

/// For each item, the place of its like among those that differ.
fn grouped<T: Clone + Eq + Hash>(items: impl Iterator<Item = T>) -> (Vec<usize>, Vec<T>) {
    let mut places: HashMap<T, usize> = HashMap::new();
    let mut different = Vec::new();
    let place_of = items
        .map(|item| {
            *places.entry(item.clone()).or_insert_with(|| {
                different.push(item);
                different.len() - 1
            })
        })
        .collect();
    (place_of, different)
}

fn work(workshop: &AttemptRunner<'_>, jobs: &Mutex<Receiver<Job<'_>>>, events: &Sender<Event>) {
    loop {
        // The lock is held while waiting: the thread that has it takes the next job, the others
        // queue.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if events
            .send(Event::Finished(Box::new(workshop.attempt(job))))
            .is_err()
        {
            return;
        }
    }
}

/// Facts about a task that the schedule does not know.
#[derive(Default)]
struct TaskRecord {
    id: Option<TaskId>,
    decision: Option<Decision>,
    began: Option<Instant>,
    elapsed: Duration,
    failures: Vec<Failure>,
    uncommitted: Option<Judged>,
    status: Option<TaskStatus>,
    /// The time that it has waited for limits, a wait in progress included.
    waited: Duration,
}

/// Facts at the end: the record of each task, its last executor, and the write that failed.
type Driven<'a> = (Vec<TaskRecord>, Vec<&'a Executor>, Option<WriteError>);

struct Run<'a> {
    schedule: Schedule,
    records: Vec<TaskRecord>,
    facts: Facts,
    started: Instant,
    tasks: &'a [Task],
    assigned: Vec<&'a Executor>,
    means: &'a DelegationContext<'a>,
    watch: &'a dyn Watch,
    unrecorded: Option<WriteError>,
    memory_limit: Option<u64>,
    wait_limit: Duration,
}

impl<'a> Run<'a> {
    /// Turns events into turns until every task has ended. Dropping `jobs` ends the workers.
    fn drive(
        mut self,
        events: &Receiver<Event>,
        jobs: Sender<Job<'a>>,
    ) -> Result<Driven<'a>, RunError> {
        loop {
            self.facts.ledger_busy = self.means.ledger.another_process_is_writing();
            let held = self.memory_limit.and_then(|_| machine::resident_bytes());
            self.facts.memory_short = held > self.memory_limit;
            let turn = self.schedule.next(self.started.elapsed(), &self.facts);
            for start in turn.starts {
                let job = self.job(start);
                // It cannot fail: workers end only when this sender is dropped.
                drop(jobs.send(job));
            }
            for (task, ending) in turn.dropped {
                if let Ending::Failed(code) = ending {
                    self.lacks_memory(task, code, held.unwrap_or_default());
                }
                self.ended(task, ending);
            }
            let event = match turn.then {
                WakeUp::Done => return Ok((self.records, self.assigned, self.unrecorded)),
                WakeUp::WaitForEvent => events.recv().ok(),
                WakeUp::WaitUntil(at) => {
                    let left = at.saturating_sub(self.started.elapsed());
                    events.recv_timeout(left).ok()
                }
            };
            match event {
                Some(Event::Finished(attempted)) => self.finished(*attempted)?,
                Some(Event::Utilisation(share)) => self.facts.disk_utilisation = share,
                Some(Event::Cancelled) => self.schedule.cancel(),
                None => {}
            }
        }
    }

    /// A task was never started, because this process holds too much memory.
    fn lacks_memory(&mut self, task: TaskIndex, code: Option<ErrorCode>, held: u64) {
        let failure = Failure {
            code,
            message: format!(
                "not started: this program uses {} MB (limit: {}, `memory_limit_mb`)",
                held / MEGABYTE,
                self.memory_limit.unwrap_or_default() / MEGABYTE
            ),
            details: None,
            kept_answer: None,
            kept_part: None,
            kept_at: None,
            resets_in: None,
            citations: None,
            is_final: true,
            spares_executor: false,
            tokens: 0,
        };
        self.record(not_started(
            &self.assigned[task.0].id,
            &self.tasks[task.0],
            &failure,
        ));
        self.records[task.0].failures.push(failure);
    }

    /// Gives a task that names no executor to the next one whose circuit is not open, if the
    /// circuit of its own is.
    fn fall_back(&mut self, task: TaskIndex) {
        let means = self.means;
        let is_open = |id: &str| matches!(means.circuits.look(id), Ok(Admission::Open { .. }));
        let from = self.assigned[task.0];
        if self.tasks[task.0].executor.is_some() || !is_open(&from.id) {
            return;
        }
        let next = means
            .fallbacks
            .iter()
            .filter(|id| **id != from.id && !is_open(id))
            .find_map(|id| means.registry.get(id));
        let Some(next) = next else { return };
        self.assigned[task.0] = next;
        if let Some(id) = self.records[task.0].id.clone() {
            let about = About {
                id: &id,
                executor: &next.id,
            };
            self.record(about.fallback(&from.id));
        }
    }

    fn job(&mut self, start: Start) -> Job<'a> {
        let at = start.task.0;
        self.fall_back(start.task);
        let linked = self.tasks[at]
            .links
            .iter()
            .filter_map(|link| match link {
                Link::Ledger(id) => Some(id.clone()),
                Link::Local(place) => self.records[place.0].id.clone(),
            })
            .collect();
        let record = &mut self.records[at];
        record.began.get_or_insert_with(Instant::now);
        record.decision = Some(start.decision);
        Job {
            index: start.task,
            task: &self.tasks[at],
            executor: self.assigned[at],
            decision: start.decision,
            id: record.id.clone(),
            linked,
            uncommitted: record.uncommitted.take(),
        }
    }

    fn finished(&mut self, attempted: Attempted) -> Result<(), RunError> {
        let task = attempted.index;
        let record = &mut self.records[task.0];
        record.id = attempted.id;
        let now = self.started.elapsed();
        let outcome = match attempted.result {
            AttemptResult::Committed {
                entry,
                judged,
                reused,
            } => {
                record.status = Some(TaskStatus::Committed {
                    entry,
                    citations: judged.citations,
                    tokens_returned: judged.tokens_returned,
                    reused,
                });
                Outcome::Committed
            }
            AttemptResult::Failed {
                failure,
                uncommitted,
            } => {
                let wait = failure.resets_in.map(|wait| wait + AFTER_RESET);
                let left = self.wait_limit.saturating_sub(record.waited);
                let wait = wait.filter(|wait| uncommitted.is_none() && *wait <= left);
                let outcome = match failure.code {
                    Some(_) if let Some(wait) = wait => {
                        record.waited += wait;
                        Outcome::Limited(wait)
                    }
                    Some(code) if failure.is_final => Outcome::Refused(code),
                    Some(code) if uncommitted.is_some() => Outcome::Uncommitted(code),
                    code => Outcome::Failed(code),
                };
                record.failures.push(failure);
                record.uncommitted = uncommitted;
                outcome
            }
            AttemptResult::Unstorable(failure) => {
                let code = failure.code.unwrap_or(ErrorCode::DiskFailure);
                record.failures.push(failure);
                Outcome::Unstorable(code)
            }
            AttemptResult::OverBudget(bound) => {
                record.status = Some(TaskStatus::OverBudget { bound });
                Outcome::OverBudget(bound)
            }
            AttemptResult::Cancelled => Outcome::Cancelled,
        };
        match self.schedule.finished(task, now, outcome)? {
            Consequence::Retry { retry, at } => {
                self.will_retry(task, retry, at.saturating_sub(now));
            }
            Consequence::Ended(ending) => self.ended(task, ending),
        }
        Ok(())
    }

    fn will_retry(&mut self, task: TaskIndex, retry: u32, pause: Duration) {
        let record = &self.records[task.0];
        let failure = record.failures.last();
        let code = failure.and_then(|failure| failure.code);
        let reason = failure.map_or("", |failure| &failure.message);
        let again = match record.uncommitted {
            Some(_) => RetryNotice::Commit,
            None => RetryNotice::Ask,
        };
        self.watch.notice(
            task,
            Notice::Retrying {
                code,
                reason,
                again,
                pause,
            },
        );
        if let Some(id) = record.id.clone() {
            let about = About {
                id: &id,
                executor: &self.assigned[task.0].id,
            };
            if code == Some(ErrorCode::ChecksumMismatch) {
                self.record(about.rollback());
            }
            self.record(about.retry(retry, pause));
        }
    }

    fn ended(&mut self, task: TaskIndex, ending: Ending) {
        let status = self.status_of(ending);
        let record = &mut self.records[task.0];
        let status = &*record.status.get_or_insert(status);
        record.elapsed = record.began.map_or(Duration::ZERO, |began| began.elapsed());
        let over = match status {
            TaskStatus::OverBudget { bound } => Some(*bound),
            _ => None,
        };
        let recovered = matches!(status, TaskStatus::Committed { .. });
        if let Some(id) = record.id.clone()
            && !record.failures.is_empty()
        {
            let about = About {
                id: &id,
                executor: &self.assigned[task.0].id,
            };
            self.record(about.recovery(recovered));
        }
        if let Some(bound) = over {
            let id = self.records[task.0].id.as_ref();
            let executor = &self.assigned[task.0].id;
            self.record(over_budget(id, executor, &self.tasks[task.0], bound));
        }
        self.watch.notice(task, Notice::Ended);
    }

    fn status_of(&self, ending: Ending) -> TaskStatus {
        let name = |task: TaskIndex| self.tasks[task.0].local_id.clone();
        match ending {
            // The attempt has already recorded this, with the entry.
            Ending::Committed | Ending::Failed(_) => TaskStatus::Failed,
            Ending::DependencyFailed { on } => TaskStatus::DependencyFailed { on: name(on) },
            Ending::OverBudget(bound) => TaskStatus::OverBudget { bound },
            Ending::Cancelled => TaskStatus::Cancelled,
            Ending::Halted { by } => TaskStatus::Halted { by: name(by) },
        }
    }

    /// Hands a record to the journal; the first failure is kept for the report.
    fn record(&mut self, event: AuditEvent) {
        if let Err(error) = self.means.ledger.record(event) {
            self.unrecorded.get_or_insert(error);
        }
    }
}

fn reports(tasks: &[Task], assigned: &[&Executor], records: Vec<TaskRecord>) -> Vec<TaskReport> {
    tasks
        .iter()
        .zip(assigned)
        .zip(records)
        .map(|((task, executor), record)| TaskReport {
            local_id: task.local_id.clone(),
            task_id: record.id,
            executor: executor.id.clone(),
            kind: task.kind_for(&executor.id),
            decision: record.decision,
            status: record.status.unwrap_or(TaskStatus::Cancelled),
            failures: record.failures,
            elapsed: record.elapsed,
        })
        .collect()
}
