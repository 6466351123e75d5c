//! One attempt at a task: have the executor asked, judge the answer, commit the entry.

use std::{
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use callosum_agents::{
    health::Health,
    protocol::{Answer, LONGEST_SUMMARY, Request},
    registry::Executor,
    runner::Sign,
};
use callosum_evidence::{
    citation::{self, Review},
    secrets,
};
use callosum_ledger::{
    AuditEvent, Checksum, Entry, ErrorCode, GrowingChecksum, NewEntry, Reader, TaskId, WriteError,
};
use serde_json::{Map, Value, json};

use super::{
    judge::{self, Demands, Judged, MOST_TOLD, Objection},
    means::{Means, Rules, SHORT_SUMMARY},
    record::{self, About, KeptPrompt},
    report::Failure,
    reuse::{REQUEST_KEY, TREE_KEY},
    stop::{Stop, one_line},
    watch::{Notice, Watch},
};
use crate::{
    budget::{Bound, Money},
    circuit::Admission,
    lifecycle::{State, Trigger},
    mode::Decision,
    slots::Slot,
    task::{Task, TaskIndex},
};

/// The key of an answer's metadata that has what it cost, in US dollars.
const COST_KEY: &str = "cost_usd";

/// The largest ledger, in bytes, that is hashed around what an executor does: a few milliseconds
/// once a run, and after a try that failed.
pub(super) const LARGEST_HASHED: u64 = 4 << 20;

/// What a worker is given.
pub(super) struct Job<'a> {
    pub(super) index: TaskIndex,
    pub(super) task: &'a Task,
    pub(super) executor: &'a Executor,
    pub(super) decision: Decision,
    /// Its id, where an earlier attempt got one.
    pub(super) id: Option<TaskId>,
    /// The committed tasks that it builds on.
    pub(super) linked: Vec<TaskId>,
    /// A judged answer that an earlier attempt could not commit.
    pub(super) uncommitted: Option<Judged>,
}

/// How an attempt went.
pub(super) struct Attempted {
    pub(super) index: TaskIndex,
    pub(super) id: Option<TaskId>,
    pub(super) result: AttemptResult,
}

/// What an attempt led to.
pub(super) enum AttemptResult {
    /// The entry is on disk.
    Committed {
        entry: Box<Entry>,
        judged: Judged,
        /// How old it was, where it was there already.
        reused: Option<Duration>,
    },
    /// It failed; a judged answer that only the ledger did not take is not lost.
    Failed {
        failure: Failure,
        uncommitted: Option<Judged>,
    },
    /// It failed because the ledger takes nothing any more in this run.
    Unstorable(Failure),
    /// It was not made: a bound of the tree of tasks was reached.
    OverBudget(Bound),
    /// Somebody cancelled.
    Cancelled,
}

/// An entry that is in the ledger.
struct Done {
    entry: Entry,
    judged: Judged,
    /// How old it was, where it was there already.
    reused: Option<Duration>,
}

/// Whether it was the executor that failed, and not its answer's content, the machine or we.
fn blames_executor(failure: &Failure) -> bool {
    let is_its = matches!(
        failure.code,
        Some(
            ErrorCode::ExecutorCrash
                | ErrorCode::Timeout
                | ErrorCode::MalformedAnswer
                | ErrorCode::ChecksumMismatch
        )
    );
    // What was sent back once and kept was refused for what it says.
    is_its && !(failure.is_final && failure.kept_answer.is_some())
}

/// What every attempt of a run shares.
pub(super) struct Workshop<'a> {
    pub(super) means: &'a Means<'a>,
    pub(super) rules: Rules,
    pub(super) health: Health,
    pub(super) watch: &'a dyn Watch,
    /// The ledger's file, as it stands around what executors do.
    pub(super) ledger_file: GrowingChecksum,
}

impl Workshop<'_> {
    /// Makes one attempt. Blocks until it is over, however it ends.
    ///
    /// A defect that panics fails this task and no other: the run must not wait for an answer
    /// that never comes.
    pub(super) fn attempt(&self, mut job: Job<'_>) -> Attempted {
        let index = job.index;
        let mut uncommitted = job.uncommitted.take();
        let worked = catch_unwind(AssertUnwindSafe(|| self.work(&mut job, &mut uncommitted)));
        let result = match worked {
            Ok(Ok(done)) => AttemptResult::Committed {
                entry: Box::new(done.entry),
                judged: done.judged,
                reused: done.reused,
            },
            Ok(Err(Stop::Failed(failure))) => AttemptResult::Failed {
                failure: *failure,
                uncommitted,
            },
            Ok(Err(Stop::Unstorable(failure))) => AttemptResult::Unstorable(*failure),
            Ok(Err(Stop::OverBudget(bound))) => AttemptResult::OverBudget(bound),
            Ok(Err(Stop::Cancelled)) => AttemptResult::Cancelled,
            Err(_) => AttemptResult::Failed {
                failure: Failure::of(None, "an internal error ended this task".to_owned()),
                uncommitted: None,
            },
        };
        self.tell_circuit(&job, &result);
        Attempted {
            index,
            id: job.id,
            result,
        }
    }

    fn work(&self, job: &mut Job<'_>, uncommitted: &mut Option<Judged>) -> Result<Done, Stop> {
        if self.means.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        if job.id.is_none()
            && let Some(done) = self.answered_before(job)?
        {
            job.id = Some(done.entry.task_id.clone());
            return Ok(done);
        }
        let _slot = match uncommitted {
            None => self.take_slot(job)?,
            Some(_) => None,
        };
        if uncommitted.is_none()
            && let Some(bound) = self.means.budget.take_spawn()?
        {
            return Err(Stop::OverBudget(bound));
        }
        if uncommitted.is_none() {
            self.pass_circuit(job.executor)?;
        }
        let id = self.identify(job)?;
        let about = About {
            id: &id,
            executor: &job.executor.id,
        };
        if uncommitted.is_none() {
            *uncommitted = Some(self.answer(job, about)?);
        }
        let Some(judged) = uncommitted.as_ref() else {
            unreachable!("it was judged just now");
        };
        let committed = self.means.ledger.commit(self.entry(job, &id, judged));
        let entry = committed.map_err(|error| self.unstored(about, error))?;
        let judged = judged.clone();
        self.record(about.state(Trigger::Judged, State::Terminated))?;
        self.record(about.state(Trigger::CleanedUp, State::Idle))?;
        self.remember(job, &entry);
        Ok(Done {
            entry,
            judged,
            reused: None,
        })
    }

    /// The entry that answers this very request over this very tree, where there is one that also
    /// meets what is demanded now.
    fn answered_before(&self, job: &Job<'_>) -> Result<Option<Done>, Stop> {
        let Some(reuse) = &self.means.reuse else {
            return Ok(None);
        };
        let disk = &self.means.surroundings.disk;
        let key = reuse.key(job.task, job.executor, &job.linked);
        let ledger = Reader::open(disk.clone(), self.means.ledger.paths().clone())?;
        let Some(entry) = reuse.find(disk, &key, &ledger)? else {
            return Ok(None);
        };
        let review = self.review(&entry.summary);
        let Some(judged) = judge::judge_again(&entry, review, self.demands(job.task)) else {
            return Ok(None);
        };
        let age = self.means.clock.now().duration_since(entry.timestamp);
        let age = Duration::try_from(age).unwrap_or_default();
        let about = About {
            id: &entry.task_id,
            executor: &entry.executor,
        };
        self.record(about.reused(age, key))?;
        Ok(Some(Done {
            entry,
            judged,
            reused: Some(age),
        }))
    }

    /// Remembers what a new entry answers, if the entry says that it may be used again.
    fn remember(&self, job: &Job<'_>, entry: &Entry) {
        if let Some(reuse) = &self.means.reuse
            && entry.metadata.contains_key(REQUEST_KEY)
        {
            let key = reuse.key(job.task, job.executor, &job.linked);
            // What is not remembered is asked anew: nothing is lost but time.
            let disk = &self.means.surroundings.disk;
            drop(reuse.remember(disk, &key, &entry.task_id));
        }
    }

    /// Waits until the runs on this machine leave the executor a slot, where it has only so many.
    fn take_slot(&self, job: &Job<'_>) -> Result<Option<Slot>, Stop> {
        let cap = self.means.caps.get(&job.executor.id).copied();
        let (Some(slots), Some(cap)) = (&self.means.slots, cap) else {
            return Ok(None);
        };
        let why = format!(
            "waits: other runs have every slot of `{}` (max_concurrent {cap})",
            job.executor.id
        );
        let mut waits = || {
            let waiting = Sign::Waiting(&why);
            self.watch.notice(job.index, Notice::Heard(&waiting));
        };
        let name = job.executor.fingerprint().to_string();
        let slot = slots.take(&name, cap, self.means.cancel, &mut waits)?;
        slot.map(Some).ok_or(Stop::Cancelled)
    }

    /// Refuses an executor that is left alone for a while.
    fn pass_circuit(&self, executor: &Executor) -> Result<(), Stop> {
        let Admission::Open { left } = self.means.circuits.admit(&executor.id)? else {
            return Ok(());
        };
        Err(Failure {
            code: None,
            message: format!(
                "executor `{}` failed again and again, and is left alone for {} s more",
                executor.id,
                left.as_secs().max(1)
            ),
            details: None,
            kept_answer: None,
            kept_part: None,
            citations: None,
            is_final: true,
        }
        .into())
    }

    /// Takes note of what a try says about its executor.
    fn tell_circuit(&self, job: &Job<'_>, result: &AttemptResult) {
        let succeeded = match result {
            AttemptResult::Committed { reused: None, .. } => true,
            AttemptResult::Failed { failure, .. } if blames_executor(failure) => false,
            _ => return,
        };
        // A circuit that is not kept costs a try of an executor that fails: nothing is lost.
        let is_open = self.means.circuits.tell(&job.executor.id, succeeded);
        if let (Ok(true), Some(id)) = (is_open, &job.id) {
            let about = About {
                id,
                executor: &job.executor.id,
            };
            drop(self.record(about.circuit_opened()));
        }
    }

    /// A commit that failed, told to the journal as soon as that can be written again.
    fn unstored(&self, about: About<'_>, error: WriteError) -> Stop {
        let stop = Stop::from(error);
        if let Stop::Failed(failure) | Stop::Unstorable(failure) = &stop
            && let Err(unrecorded) = self.record(about.error(failure))
        {
            return unrecorded;
        }
        stop
    }

    /// The task's id: reserved by the spawn record at the first attempt.
    fn identify(&self, job: &mut Job<'_>) -> Result<TaskId, Stop> {
        if let Some(id) = &job.id {
            return Ok(id.clone());
        }
        let prompt = KeptPrompt::of(&job.task.prompt);
        if let Some(whole) = prompt.too_long() {
            self.means.answers.put(whole.as_bytes())?;
        }
        let mut spawn = record::spawn(job.task, &prompt, &job.executor.id, job.decision);
        if let Some(reached) = self.means.surroundings.reach(job.executor) {
            let confinement = reached.to_json();
            spawn.details.insert("confinement".to_owned(), confinement);
        }
        let id = self.means.ledger.reserve(spawn)?;
        job.id = Some(id.clone());
        let about = About {
            id: &id,
            executor: &job.executor.id,
        };
        self.record(about.decision(job.decision, job.task))?;
        let started = Notice::Started {
            id: &id,
            executor: &job.executor.id,
            decision: job.decision,
        };
        self.watch.notice(job.index, started);
        Ok(id)
    }

    /// Runs the executor and judges what it says; every state on the way is recorded.
    ///
    /// An answer that is too short, or whose citations do not hold, is sent back once, with what was
    /// wrong.
    fn answer(&self, job: &Job<'_>, about: About<'_>) -> Result<Judged, Stop> {
        let mut process = State::Idle;
        let mut step = |trigger: Trigger| -> Result<(), Stop> {
            process = process
                .after(trigger)
                .map_err(|error| Failure::of(None, one_line(&error)))?;
            self.record(about.state(trigger, process))
        };
        let mut request = self.request(job, about.id)?;
        let mut tokens_before = 0;
        let mut was_sent_back = false;
        loop {
            step(Trigger::Assigned)?;
            let before = self.ledger_before(job.executor)?;
            let asked = match self.ask(job, about, &request) {
                Ok(asked) => asked,
                Err(stop) => {
                    let event = match &stop {
                        Stop::Failed(failure) | Stop::Unstorable(failure) => about.error(failure),
                        Stop::OverBudget(_) | Stop::Cancelled => about.cancelled(),
                    };
                    let after = self.ledger_after(before)?;
                    self.record(record::beside_ledger(event, before, after))?;
                    step(Trigger::Broke)?;
                    step(Trigger::CleanedUp)?;
                    return Err(stop);
                }
            };
            step(Trigger::Answered)?;
            let answer = &asked.answer;
            let tokens = asked.tokens_before + answer.tokens_used;
            self.means.budget.charge(tokens, cost_of(answer))?;
            let objection = match self.judge(job.task, answer) {
                Ok(mut judged) => {
                    self.record(about.validated(answer.checksum))?;
                    judged.tokens_used += asked.tokens_before + tokens_before;
                    if let Some(whole) = asked.whole {
                        judged.metadata.insert("answer".to_owned(), whole);
                    }
                    return Ok(judged);
                }
                Err(objection) => objection,
            };
            let complaint = complaint_of(&objection);
            let failure = Failure {
                code: Some(objection.code()),
                message: one_line(&objection),
                details: None,
                kept_answer: Some(self.keep(answer)?),
                kept_part: None,
                citations: objection.into_review().map(Box::new),
                is_final: complaint.is_some(),
            };
            self.record(about.rejected(&failure))?;
            step(Trigger::Judged)?;
            step(Trigger::CleanedUp)?;
            match complaint {
                Some(complaint) if !was_sent_back => {
                    if let Some(bound) = self.means.budget.take_spawn()? {
                        return Err(Stop::OverBudget(bound));
                    }
                    was_sent_back = true;
                    tokens_before += asked.tokens_before + answer.tokens_used;
                    request = request.sent_back(&complaint);
                }
                _ => return Err(failure.into()),
            }
        }
    }

    /// The hash of the ledger's file before an executor runs that is not our own; of what is not new
    /// since the last time, as it was then.
    fn ledger_before(&self, executor: &Executor) -> Result<Option<Checksum>, Stop> {
        if self.means.surroundings.confiner.is_none() || executor.is_embedded() {
            return Ok(None);
        }
        Ok(self.ledger_file.now(&self.means.surroundings.disk)?)
    }

    /// The hash of all of the ledger's file after a try that failed.
    fn ledger_after(&self, before: Option<Checksum>) -> Result<Option<Checksum>, Stop> {
        if before.is_none() {
            return Ok(None);
        }
        Ok(self.ledger_file.anew(&self.means.surroundings.disk)?)
    }

    /// Looks an answer's citations up and says whether it may be committed.
    fn judge(&self, task: &Task, answer: &Answer) -> Result<Judged, Objection> {
        // Looked up as it was said: a quote in which a secret is masked would not be found.
        let review = self.review(&answer.summary);
        let masked = secrets::mask(&answer.summary);
        judge::judge(answer, masked, review, self.demands(task))
    }

    fn review(&self, summary: &str) -> Review {
        let cited = citation::find(summary);
        let standings = citation::verify(&self.means.surroundings.disk, self.means.tree, &cited);
        Review::of(&cited, &standings)
    }

    fn demands(&self, task: &Task) -> Demands {
        Demands {
            strict_summary: self.rules.strict_summary,
            citations: task.require_citations.or(self.rules.require_citations),
        }
    }

    fn request(&self, job: &Job<'_>, id: &TaskId) -> Result<Request, Stop> {
        let mut context = Map::new();
        context.insert("kind".to_owned(), job.task.kind.as_str().into());
        context.insert("root".to_owned(), self.means.tree.to_string_lossy().into());
        context.insert("paths".to_owned(), job.task.paths.clone().into());
        if !job.linked.is_empty() {
            context.insert(
                "linked_tasks".to_owned(),
                self.linked_summaries(&job.linked)?,
            );
        }
        Ok(Request::for_task(&job.task.prompt, id.as_str(), context))
    }

    /// What the tasks found out that this one builds on.
    fn linked_summaries(&self, linked: &[TaskId]) -> Result<Value, Stop> {
        let mut summaries = Vec::new();
        let ledger = Reader::open(
            self.means.surroundings.disk.clone(),
            self.means.ledger.paths().clone(),
        )?;
        for id in linked {
            if let Some(found) = ledger.find(id)? {
                summaries.push(json!({"task_id": id, "summary": found.entry.summary}));
            }
        }
        Ok(summaries.into())
    }

    fn entry(&self, job: &Job<'_>, id: &TaskId, judged: &Judged) -> NewEntry {
        let mut metadata = judged.metadata.clone();
        KeptPrompt::of(&job.task.prompt).put_into(&mut metadata);
        let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        put("kind", job.task.kind.as_str().into());
        put("mode", job.decision.mode.as_str().into());
        put("priority", job.task.priority.as_str().into());
        if !job.task.paths.is_empty() {
            put("paths", job.task.paths.clone().into());
        }
        if let Some(reached) = self.means.surroundings.reach(job.executor) {
            put("confinement", reached.to_json());
        }
        let provenance = &self.means.provenance;
        for (key, value) in [("repo", &provenance.repo), ("branch", &provenance.branch)] {
            if let Some(value) = value {
                put(key, value.as_str().into());
            }
        }
        if let Some(reuse) = &self.means.reuse
            && reuse
                .tree
                .still_holds(&self.means.surroundings.disk, self.means.tree)
        {
            let key = reuse.key(job.task, job.executor, &job.linked);
            put(REQUEST_KEY, key.to_string().into());
            put(TREE_KEY, reuse.tree.content.to_string().into());
        }
        NewEntry {
            task_id: id.clone(),
            executor: job.executor.id.clone(),
            summary: judged.summary.clone(),
            tokens_used: judged.tokens_used,
            linked_tasks: job.linked.clone(),
            timestamp: self.means.clock.now(),
            metadata,
        }
    }

    pub(super) fn record(&self, event: AuditEvent) -> Result<(), Stop> {
        Ok(self.means.ledger.record(event)?)
    }
}

/// What an executor says that its answer cost, in US dollars.
fn cost_of(answer: &Answer) -> Money {
    let cost = answer.metadata.get(COST_KEY).and_then(Value::as_f64);
    cost.map_or(Money(0), Money::of_dollars)
}

/// What is to be said to the executor, where asking once more may help.
fn complaint_of(objection: &Objection) -> Option<String> {
    match objection {
        Objection::TooShort { bytes } => Some(format!(
            "it has {bytes} bytes, and {SHORT_SUMMARY} to {LONGEST_SUMMARY} are wanted. Say more of \
             what the files hold, each statement with its place, `quoted text` [path:line]"
        )),
        Objection::TooLong { .. } => None,
        Objection::Ungrounded { review, required } => {
            let complaints = review.complaints(MOST_TOLD);
            let mut listed = String::new();
            for complaint in complaints {
                let _ = write!(listed, "\n- {complaint}");
            }
            Some(format!(
                "{review}, and a share of {required} must. A citation is a quote and its place, \
                 `quoted text` [path:line], and holds where the quote stands word for word. Correct these or leave out what they \
                 were to show.{listed}"
            ))
        }
    }
}
