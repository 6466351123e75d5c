//! [`Schedule`]: the state of a run, and the two questions that move it on.

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use callosum_ledger::ErrorCode;

use super::{
    actions::{Actions, Consequence, Ending, Outcome, Start, WakeUp},
    limits::Limits,
};
use crate::{
    mode::{Decision, Facts, Mode, Reason, TaskFacts, choose_mode},
    recovery::Remedy,
    submission::{Submission, local_links},
    task::TaskIndex,
};

/// Longest wait of a queued task for the ledger; then it starts all the same.
///
/// Seed CAL §5.3: a process that holds the ledger longer than the global lock's timeout is stuck,
/// and the commit meets that with E007 and its own pauses.
const QUEUE_PATIENCE: Duration = Duration::from_millis(1500);

/// When to look at a held ledger again: no event tells that another process gave it back.
const LEDGER_LOOK: Duration = Duration::from_millis(20);

/// Longest wait of tasks for memory to become free; then they fail with E006 (Seed CAL §7.1).
const MEMORY_PATIENCE: Duration = Duration::from_secs(3);

/// When to look at our own memory again: no event tells that it was given back.
const MEMORY_LOOK: Duration = Duration::from_millis(100);

/// The state of a run of one submission.
///
/// Ask [`next`](Self::next) at the start, after each [`finished`](Self::finished) or
/// [`cancel`](Self::cancel), and when the time has come that it named. It promises:
///
/// - never more tasks at once than the limit;
/// - a task starts only after every task that it links to was committed;
/// - every task ends exactly once, and so a run ends, with any outcomes;
/// - the same calls give the same answers.
#[derive(Debug)]
pub struct Schedule {
    submission: Submission,
    limits: Limits,
    standings: Vec<TaskState>,
    /// Tasks that could start, the heaviest first.
    ready: BTreeSet<(Reverse<Weight>, TaskIndex)>,
    /// Retries whose time has not come.
    delayed: BTreeSet<(Duration, TaskIndex)>,
    /// Most tasks at once: the limit, or less while memory is short.
    slots: usize,
    running: usize,
    /// Number of running tasks that the caller wants one at a time.
    running_in_line: usize,
    last_staggered: Option<Duration>,
    /// Since when memory is short.
    memory_short_since: Option<Duration>,
    lanes: Vec<Lanes>,
    open: usize,
    dropped: Vec<(TaskIndex, Ending)>,
    stopped: Option<Ending>,
}

/// State of one task.
#[derive(Debug)]
struct TaskState {
    phase: Phase,
    unmet_links: usize,
    unmet_at_first: usize,
    retries: u32,
    /// Number of times that the ledger did not take its answer.
    commits: u32,
    decision: Option<Decision>,
    queued_since: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Running,
    Ended(Ending),
}

/// Tasks that share what only so many may use at once: an executor, an answer that is being made.
#[derive(Debug)]
struct Lanes {
    /// For each task, its lane; tasks beyond the list are in none.
    lane_of: Vec<usize>,
    caps: Vec<usize>,
    running: Vec<usize>,
}

impl Lanes {
    fn is_full(&self, task: TaskIndex) -> bool {
        self.lane_of
            .get(task.0)
            .is_some_and(|&lane| self.running[lane] >= self.caps[lane])
    }

    fn enter(&mut self, task: TaskIndex) {
        if let Some(&lane) = self.lane_of.get(task.0) {
            self.running[lane] += 1;
        }
    }

    fn leave(&mut self, task: TaskIndex) {
        if let Some(&lane) = self.lane_of.get(task.0) {
            self.running[lane] -= 1;
        }
    }
}

/// A priority's weight with a total order.
#[derive(Clone, Copy, Debug)]
struct Weight(f64);

impl PartialEq for Weight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Weight {}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Schedule {
    /// Returns a run in which nothing has happened yet.
    pub fn new(submission: Submission, limits: Limits) -> Self {
        let standings: Vec<TaskState> = submission
            .tasks()
            .iter()
            .map(|task| {
                let unmet_links = local_links(task).count();
                TaskState {
                    phase: Phase::Waiting,
                    unmet_links,
                    unmet_at_first: unmet_links,
                    retries: 0,
                    commits: 0,
                    decision: None,
                    queued_since: None,
                }
            })
            .collect();
        let mut schedule = Self {
            open: standings.len(),
            slots: limits.concurrency.get(),
            submission,
            limits,
            standings,
            ready: BTreeSet::new(),
            delayed: BTreeSet::new(),
            running: 0,
            running_in_line: 0,
            last_staggered: None,
            memory_short_since: None,
            lanes: Vec::new(),
            dropped: Vec::new(),
            stopped: None,
        };
        for task in schedule.submission.places() {
            if schedule.standings[task.0].unmet_links == 0 {
                schedule.make_ready(task);
            }
        }
        schedule
    }

    /// Puts each task in a lane, with at most so many tasks of a lane at once.
    ///
    /// `lane_of` has a place of `caps` for each task, in the submission's order. After several
    /// calls, each task is in one lane of each call, and starts if none of them is full.
    #[must_use]
    pub fn in_lanes(mut self, lane_of: Vec<usize>, caps: Vec<usize>) -> Self {
        self.lanes.push(Lanes {
            running: vec![0; caps.len()],
            lane_of,
            caps,
        });
        self
    }

    /// The tasks that are run.
    pub fn submission(&self) -> &Submission {
        &self.submission
    }

    /// Returns the end of a task; `None` until it has ended.
    pub fn ending(&self, task: TaskIndex) -> Option<Ending> {
        match self.standings[task.0].phase {
            Phase::Ended(ending) => Some(ending),
            Phase::Waiting | Phase::Running => None,
        }
    }

    /// Returns the number of retries of a task.
    pub fn retries(&self, task: TaskIndex) -> u32 {
        self.standings[task.0].retries
    }

    /// Says what to start at `now`, and what to wait for then.
    ///
    /// What it names in `starts` counts as running from here on.
    pub fn next(&mut self, now: Duration, facts: &Facts) -> Actions {
        while let Some(&(at, task)) = self.delayed.first()
            && at <= now
        {
            self.delayed.pop_first();
            self.make_ready(task);
        }
        let (starts, look_again) = if self.waits_for_memory(now, facts) {
            (Vec::new(), Some(now.saturating_add(MEMORY_LOOK)))
        } else {
            self.start_what_may(now, facts)
        };
        let wake = look_again
            .into_iter()
            .chain(self.delayed.first().map(|&(at, _)| at))
            .min();
        Actions {
            starts,
            dropped: std::mem::take(&mut self.dropped),
            then: match wake {
                _ if self.open == 0 => WakeUp::Done,
                Some(at) => WakeUp::WaitUntil(at),
                None => WakeUp::WaitForEvent,
            },
        }
    }

    /// Takes note of how a try went, and says what follows for that task.
    ///
    /// Tasks that it takes down with it are in the next turn's `dropped`.
    pub fn finished(
        &mut self,
        task: TaskIndex,
        now: Duration,
        outcome: Outcome,
    ) -> Result<Consequence, NotRunning> {
        if self.standings.get(task.0).map(|standing| standing.phase) != Some(Phase::Running) {
            return Err(NotRunning { task });
        }
        self.standings[task.0].phase = Phase::Waiting;
        self.running -= 1;
        self.running_in_line -= usize::from(self.is_in_line(task));
        for lanes in &mut self.lanes {
            lanes.leave(task);
        }
        let code = match outcome {
            Outcome::Committed => {
                self.slots = (self.slots + 1).min(self.limits.concurrency.get());
                return Ok(self.end(task, Ending::Committed));
            }
            Outcome::Cancelled => return Ok(self.end(task, Ending::Cancelled)),
            Outcome::OverBudget(bound) => {
                let consequence = self.end(task, Ending::OverBudget(bound));
                self.stop(Ending::OverBudget(bound));
                return Ok(consequence);
            }
            Outcome::Limited(wait) if self.stopped.is_none() => {
                let at = now.saturating_add(wait);
                self.delayed.insert((at, task));
                let retry = self.standings[task.0].retries + 1;
                return Ok(Consequence::Retry { retry, at });
            }
            Outcome::Limited(_) => {
                return Ok(self.end(task, Ending::Failed(Some(ErrorCode::Timeout))));
            }
            Outcome::Refused(code) => return Ok(self.end(task, Ending::Failed(Some(code)))),
            Outcome::Failed(None) => return Ok(self.end(task, Ending::Failed(None))),
            Outcome::Unstorable(code) => return Ok(self.halt(task, code)),
            Outcome::Failed(Some(code)) | Outcome::Uncommitted(code) => code,
        };
        if code == ErrorCode::MemoryOverflow {
            // Seed CAL §7.1, "adaptive": fewer at once, and one more again with each success.
            self.slots = (self.slots / 2).max(1);
        }
        let standing = &mut self.standings[task.0];
        let who = task.0 as u64;
        let recovery = self.limits.recovery;
        let remedy = match outcome {
            Outcome::Uncommitted(_) => {
                standing.commits += 1;
                recovery.after_commit(code, standing.commits - 1, who)
            }
            _ => recovery.after(code, standing.retries, who),
        };
        match remedy {
            Remedy::Retry { delay } if self.stopped.is_none() => {
                standing.retries += 1;
                let at = now.saturating_add(delay);
                self.delayed.insert((at, task));
                Ok(Consequence::Retry {
                    retry: standing.retries,
                    at,
                })
            }
            Remedy::Retry { .. } | Remedy::GiveUp => Ok(self.end(task, Ending::Failed(Some(code)))),
            Remedy::Halt => Ok(self.halt(task, code)),
        }
    }

    /// Ends a task whose failure shows that nothing can be stored, and drops what is not running.
    fn halt(&mut self, task: TaskIndex, code: ErrorCode) -> Consequence {
        let consequence = self.end(task, Ending::Failed(Some(code)));
        self.stop(Ending::Halted { by: task });
        consequence
    }

    /// Drops everything that is not running. What runs is for the caller to interrupt; the caller
    /// still has to report its outcomes.
    pub fn cancel(&mut self) {
        self.stop(Ending::Cancelled);
    }

    /// Whether nothing is started because memory is short. Where that has lasted and nothing runs
    /// that could give any back, what is ready fails.
    fn waits_for_memory(&mut self, now: Duration, facts: &Facts) -> bool {
        if !facts.memory_short || self.open == 0 {
            self.memory_short_since = None;
            return false;
        }
        let since = *self.memory_short_since.get_or_insert(now);
        if self.running == 0 && now >= since.saturating_add(MEMORY_PATIENCE) {
            let failed = Ending::Failed(Some(ErrorCode::MemoryOverflow));
            while let Some((_, task)) = self.ready.pop_first() {
                self.end(task, failed);
                self.dropped.push((task, failed));
            }
        }
        true
    }

    /// Starts ready tasks in order of weight while there are slots. Also says when to look again
    /// at those that time alone, or another process, holds back.
    fn start_what_may(&mut self, now: Duration, facts: &Facts) -> (Vec<Start>, Option<Duration>) {
        let mut starts = Vec::new();
        let mut look_again = None;
        let mut candidate = self.ready.first().copied();
        while let Some(key) = candidate
            && self.running < self.slots
        {
            let (_, task) = key;
            let decision = self.decide(task, facts);
            match self.held_back(task, decision, now, facts) {
                Hold::Free => {
                    self.ready.remove(&key);
                    self.start(task, decision, now);
                    starts.push(Start {
                        task,
                        retries: self.standings[task.0].retries,
                        decision,
                    });
                }
                Hold::Until(at) => {
                    look_again = Some(look_again.map_or(at, |earlier: Duration| earlier.min(at)));
                }
                Hold::UntilEvent => {}
            }
            candidate = self
                .ready
                .range((std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded))
                .next()
                .copied();
        }
        (starts, look_again)
    }

    /// The task's decision, made at its first turn and kept for its further tries.
    fn decide(&mut self, task: TaskIndex, facts: &Facts) -> Decision {
        let asked = self.submission.task(task);
        let standing = &mut self.standings[task.0];
        *standing.decision.get_or_insert_with(|| {
            let task_facts = TaskFacts {
                // By now its links are met; what counts is that it had to wait for them.
                unmet_links: standing.unmet_at_first,
                asked: asked.mode,
                estimated_io_ops: asked.estimated_io_ops,
                scope: asked.scope,
            };
            choose_mode(&task_facts, facts)
        })
    }

    fn held_back(
        &mut self,
        task: TaskIndex,
        decision: Decision,
        now: Duration,
        facts: &Facts,
    ) -> Hold {
        if self.lanes.iter().any(|lanes| lanes.is_full(task)) {
            return Hold::UntilEvent;
        }
        match decision.mode {
            Mode::Sequential if self.is_in_line(task) && self.running_in_line > 0 => {
                Hold::UntilEvent
            }
            Mode::Concurrent | Mode::Sequential => Hold::Free,
            Mode::Staggered => {
                let from = self.last_staggered.map_or(Duration::ZERO, |last| {
                    last.saturating_add(self.limits.stagger)
                });
                if now < from {
                    Hold::Until(from)
                } else {
                    Hold::Free
                }
            }
            Mode::Queued => {
                let since = *self.standings[task.0].queued_since.get_or_insert(now);
                let patience_ends = since.saturating_add(QUEUE_PATIENCE);
                if facts.ledger_busy && now < patience_ends {
                    Hold::Until(patience_ends.min(now.saturating_add(LEDGER_LOOK)))
                } else {
                    Hold::Free
                }
            }
        }
    }

    fn start(&mut self, task: TaskIndex, decision: Decision, now: Duration) {
        self.standings[task.0].phase = Phase::Running;
        self.running += 1;
        self.running_in_line += usize::from(self.is_in_line(task));
        for lanes in &mut self.lanes {
            lanes.enter(task);
        }
        if decision.mode == Mode::Staggered {
            self.last_staggered = Some(now);
        }
    }

    /// Whether the caller wants this task and its like one at a time.
    fn is_in_line(&self, task: TaskIndex) -> bool {
        self.standings[task.0].decision
            == Some(Decision {
                mode: Mode::Sequential,
                reason: Reason::Asked,
            })
    }

    /// Ends a task that is not running, and what that brings about for those that link to it.
    fn end(&mut self, task: TaskIndex, ending: Ending) -> Consequence {
        self.standings[task.0].phase = Phase::Ended(ending);
        self.open -= 1;
        if ending == Ending::Committed {
            for at in 0..self.submission.dependants(task).len() {
                let dependant = self.submission.dependants(task)[at];
                let standing = &mut self.standings[dependant.0];
                standing.unmet_links -= 1;
                if standing.unmet_links == 0 && standing.phase == Phase::Waiting {
                    self.make_ready(dependant);
                }
            }
        } else {
            self.drop_dependants(task);
        }
        Consequence::Ended(ending)
    }

    /// Ends all that wait for a task which did not succeed, each with the link that failed it.
    fn drop_dependants(&mut self, task: TaskIndex) {
        let mut lost = vec![task];
        while let Some(on) = lost.pop() {
            for at in 0..self.submission.dependants(on).len() {
                let dependant = self.submission.dependants(on)[at];
                if self.standings[dependant.0].phase == Phase::Waiting {
                    self.drop_waiting(dependant, Ending::DependencyFailed { on });
                    lost.push(dependant);
                }
            }
        }
    }

    /// Ends everything that waits, now and later.
    fn stop(&mut self, ending: Ending) {
        self.stopped.get_or_insert(ending);
        self.ready.clear();
        self.delayed.clear();
        for task in self.submission.places() {
            if self.standings[task.0].phase == Phase::Waiting {
                self.drop_waiting(task, ending);
            }
        }
    }

    fn drop_waiting(&mut self, task: TaskIndex, ending: Ending) {
        self.standings[task.0].phase = Phase::Ended(ending);
        self.open -= 1;
        self.dropped.push((task, ending));
    }

    fn make_ready(&mut self, task: TaskIndex) {
        let asked = self.submission.task(task);
        let weight = asked
            .priority
            .weight(asked.links.len(), self.submission.remaining_chain(task));
        self.ready.insert((Reverse(Weight(weight)), task));
    }
}

/// Obstacle to the start of a ready task.
enum Hold {
    Free,
    Until(Duration),
    UntilEvent,
}

/// An outcome was reported of a task that was not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task {task} of the submission is not running")]
pub struct NotRunning {
    /// The task.
    pub task: TaskIndex,
}
