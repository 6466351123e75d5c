//! One attempt at a task: have the executor asked, judge the answer, commit the entry.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use callosum_citation::Review;
use callosum_executor::{
    health::Health,
    protocol::{Answer, Spent},
    registry::Executor,
};
use callosum_json::{Checksum, GrowingChecksum};
use callosum_ledger::{AuditEvent, Entry, TaskId, WriteError};
use callosum_redact::secrets;
use callosum_source::walk::{RelativePath, Scope, SourceTree};

use super::{
    attempt_error::{Stop, one_line},
    context::{DelegationContext, Rules},
    denied_writes::Denials,
    observer::{Notice, Watch},
    record::{self, About, KeptPrompt},
    report::Failure,
    request::complaint_of,
    side_effects::may_change,
    unreached::UnreachedPlaces,
    validate::{self, Demands, Judged, Objection},
};
use crate::{
    budget::{Bound, Money},
    lifecycle::{State, Trigger},
    mode::Decision,
    task::{Task, TaskIndex},
};

/// The largest ledger, in bytes, that is hashed around what an executor does: a few milliseconds
/// once a run, and after a try that failed.
pub(super) const LARGEST_HASHED: u64 = 4 << 20;

/// Input of a worker.
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

/// Result of an attempt, and its task.
pub(super) struct Attempted {
    pub(super) index: TaskIndex,
    pub(super) id: Option<TaskId>,
    pub(super) result: AttemptResult,
}

/// Outcome of an attempt.
pub(super) enum AttemptResult {
    /// The entry is on disk.
    Committed {
        entry: Box<Entry>,
        judged: Judged,
        /// Age of the entry, if it existed already.
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
    /// The run was cancelled.
    Cancelled,
}

/// An entry that is in the ledger.
pub(super) struct Done {
    pub(super) entry: Entry,
    pub(super) judged: Judged,
    /// Age of the entry, if it existed already.
    pub(super) reused: Option<Duration>,
}

/// State that all attempts of a run share.
pub(super) struct AttemptRunner<'a> {
    pub(super) means: &'a DelegationContext<'a>,
    pub(super) rules: Rules,
    pub(super) health: Health,
    pub(super) watch: &'a dyn Watch,
    /// Places that executors did not reach and that were reported.
    pub(super) unreached: UnreachedPlaces,
    /// The ledger's file, before and after each executor's work.
    pub(super) ledger_file: GrowingChecksum,
}

impl AttemptRunner<'_> {
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
        let _turn = match job.id {
            None => self.take_turn(job)?,
            Some(_) => None,
        };
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
            self.pass_circuit(job)?;
        }
        let id = self.identify(job)?;
        let about = About {
            id: &id,
            executor: &job.executor.id,
        };
        let mut tokens = 0;
        if uncommitted.is_none() {
            let judged = uncommitted.insert(self.answer(job, about)?);
            tokens = judged.tokens_used;
        }
        let Some(judged) = uncommitted.as_ref() else {
            unreachable!("it was judged just now");
        };
        let committed = self.means.ledger.commit(self.entry(job, &id, judged));
        let entry = committed.map_err(|error| self.unstored(about, error, judged, tokens))?;
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

    /// Describes a commit that failed, for the journal as soon as that is writable again. The
    /// answer is kept, since it may be paid for; `tokens` were used for it since the last try.
    fn unstored(&self, about: About<'_>, error: WriteError, judged: &Judged, tokens: u64) -> Stop {
        let mut stop = Stop::from(error);
        if let Stop::Failed(failure) | Stop::Unstorable(failure) = &mut stop {
            failure.tokens = tokens;
            // Where that cannot be done either, what hindered the commit is what there is to tell.
            failure.kept_answer = self.keep_text(&judged.summary).ok();
            if let Err(unrecorded) = self.record(about.error(failure)) {
                return unrecorded;
            }
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
        if job.task.plan_call.is_some() {
            let may_change = may_change(job.executor, self.means.surroundings);
            let key = record::MAY_CHANGE.to_owned();
            spawn.details.insert(key, may_change.into());
            if let Some(mark) = &self.means.start_mark {
                mark.keep(may_change)?;
            }
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
    /// wrong. One that might have been committed as it was is, where nothing better comes of that.
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
        let mut short: Option<Judged> = None;
        loop {
            step(Trigger::Assigned)?;
            let before = self.ledger_before(job.executor)?;
            let mut denials = Denials::default();
            let asked = match self.ask(job, about, &request, &mut denials) {
                Ok(asked) => asked,
                Err(stop) => {
                    self.tell_denial(job, about, denials.of_tools(), before)?;
                    let event = match &stop {
                        Stop::Failed(failure) | Stop::Unstorable(failure) => about.error(failure),
                        Stop::OverBudget(_) | Stop::Cancelled => about.cancelled(),
                    };
                    let after = self.ledger_after(before)?;
                    self.record(record::beside_ledger(event, before, after))?;
                    step(Trigger::Broke)?;
                    step(Trigger::CleanedUp)?;
                    return match (stop, short) {
                        (Stop::Failed(_), Some(short)) => Ok(short),
                        (Stop::Failed(mut failure), None) => {
                            failure.tokens = failure.tokens.saturating_add(tokens_before);
                            Err(Stop::Failed(failure))
                        }
                        (stop, _) => Err(stop),
                    };
                }
            };
            step(Trigger::Answered)?;
            self.tell_denial(job, about, denials.words(), before)?;
            let answer = &asked.answer;
            self.charge(answer.spent())?;
            let objection = match self.mask_and_validate(job.task, answer) {
                Ok(mut judged) => {
                    judged.tokens_used += asked.tokens_before + tokens_before;
                    if let Some(whole) = asked.whole {
                        judged.metadata.insert("answer".to_owned(), whole);
                    }
                    if was_sent_back
                        || self.rules.asks_once
                        || !self.is_worth_a_second_call(job, &judged)
                    {
                        self.record(about.validated(answer.checksum))?;
                        return Ok(judged);
                    }
                    let bytes = judged.summary.len();
                    let review = judged.citations.clone();
                    tokens_before = judged.tokens_used;
                    short = Some(judged);
                    match job.task.kind_for(&job.executor.id) {
                        Some(_) => Objection::TooShort { bytes },
                        None => Objection::Uncited { bytes, review },
                    }
                }
                Err(objection) => objection,
            };
            let complaint = complaint_of(&objection);
            let tokens = asked.tokens_before.saturating_add(answer.tokens_used);
            let mut failure = Failure {
                code: Some(objection.code()),
                message: one_line(&objection),
                details: None,
                kept_answer: Some(self.keep(answer)?),
                kept_part: None,
                kept_at: None,
                resets_in: None,
                citations: objection.into_review().map(Box::new),
                is_final: complaint.is_some(),
                spares_executor: false,
                tokens,
            };
            self.record(about.rejected(&failure))?;
            step(Trigger::Judged)?;
            step(Trigger::CleanedUp)?;
            match complaint {
                Some(complaint) if !was_sent_back && !self.rules.asks_once => {
                    if let Some(bound) = self.means.budget.take_spawn()? {
                        return short.ok_or(Stop::OverBudget(bound));
                    }
                    was_sent_back = true;
                    self.watch
                        .notice(job.index, Notice::SentBack(&failure.message));
                    if short.is_none() {
                        tokens_before += tokens;
                    }
                    request = request.sent_back(&complaint);
                }
                _ => {
                    failure.tokens = tokens.saturating_add(tokens_before);
                    return short.ok_or_else(|| failure.into());
                }
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
        Ok(self.ledger_file.recompute(&self.means.surroundings.disk)?)
    }

    /// Tells and records that a try was denied a write to the ledger, where its words say so.
    fn tell_denial(
        &self,
        job: &Job<'_>,
        about: About<'_>,
        words: Option<String>,
        before: Option<Checksum>,
    ) -> Result<(), Stop> {
        let Some(words) = words else {
            return Ok(());
        };
        self.watch.notice(job.index, Notice::Denied(&words));
        let after = self.ledger_after(before)?;
        self.record(record::beside_ledger(about.denied(&words), before, after))
    }

    /// Whether an answer that is short is sent back: not one of ours, which says what there is each time.
    fn is_worth_a_second_call(&self, job: &Job<'_>, judged: &Judged) -> bool {
        let scope_bytes = || {
            let paths = job.task.paths.iter().map(|path| RelativePath::parse(path));
            let paths: Vec<_> = paths.flatten().collect();
            let scope = Scope::of(&paths);
            let tree = SourceTree::read(&self.means.surroundings.disk, self.means.tree, &scope);
            // What cannot be listed is no reason to ask again.
            tree.map_or(0, |tree| tree.files.iter().map(|file| file.bytes).sum())
        };
        let is_question = job.task.kind_for(&job.executor.id).is_none();
        if is_question && !self.rules.asks_for_citations {
            return false;
        }
        !job.executor.is_embedded() && validate::is_worth_a_second_call(judged, scope_bytes)
    }

    /// Masks the secrets of an answer and checks its citations, or says why it may not be committed.
    fn mask_and_validate(&self, task: &Task, answer: &Answer) -> Result<Judged, Objection> {
        // Looks up the original text: a quote in which a secret is masked would not be found.
        let review = self.review(&answer.summary);
        let masked = secrets::mask(&answer.summary);
        validate::judge(answer, masked, review, self.demands(task))
    }

    pub(super) fn review(&self, summary: &str) -> Review {
        Review::of_text(&self.means.surroundings.disk, self.means.tree, summary)
    }

    pub(super) fn demands(&self, task: &Task) -> Demands {
        Demands {
            strict_summary: self.rules.strict_summary,
            citations: task.require_citations.or(self.rules.require_citations),
        }
    }

    /// Counts what an executor reports as used, whether its answer is accepted or not.
    pub(super) fn charge(&self, spent: Spent) -> Result<(), Stop> {
        let cost = Money::of_dollars(spent.cost_usd);
        Ok(self.means.budget.charge(spent.tokens, cost)?)
    }

    pub(super) fn record(&self, event: AuditEvent) -> Result<(), Stop> {
        Ok(self.means.ledger.record(event)?)
    }
}
