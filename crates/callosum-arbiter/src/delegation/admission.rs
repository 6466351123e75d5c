//! Checks before an executor is asked: no other run has answered or is about to, the circuit is not
//! open, and a slot is free. Also records the result of a try for the next one.

use std::{
    thread,
    time::{Duration, Instant},
};

use callosum_executor::runner::Sign;
use callosum_ledger::{Entry, ErrorCode, Reader};

use super::{
    attempt::{AttemptResult, AttemptRunner, Done, Job},
    attempt_error::Stop,
    observer::Notice,
    record::{About, not_started},
    report::Failure,
    reuse::{REQUEST_KEY, Reuse, ReuseLock},
    side_effects::leaves_only_its_answer,
    validate,
};
use crate::{circuit::Admission, slots::Slot};

/// Longest wait for another run's answer if the executor's time has no bound.
const LONGEST_TURN: Duration = Duration::from_mins(10);

/// Interval between checks whether the other run is done.
const EACH_TURN: Duration = Duration::from_millis(50);

impl AttemptRunner<'_> {
    /// Waits while another run has this very request answered, as long as the executor may take.
    /// The first to come has the turn, until it is over or has died.
    ///
    /// Returns `None` if there is no wait: nothing is to be used again, an executor began this run,
    /// which must not wait for the one that waits for it, or the other takes too long.
    pub(super) fn take_turn(&self, job: &Job<'_>) -> Result<Option<ReuseLock>, Stop> {
        let reuse = self.reuse_for(job);
        let (Some(reuse), Some(_)) = (reuse.filter(|it| it.is_looked_for), &self.means.slots)
        else {
            return Ok(None);
        };
        let disk = &self.means.surroundings.disk;
        let key = reuse.key(job.task, job.executor, &job.linked);
        let until = Instant::now() + job.executor.total().unwrap_or(LONGEST_TURN);
        let mut is_reported = false;
        while !self.means.cancel.is_cancelled() {
            match reuse.take_turn(disk, &key) {
                Ok(None) if Instant::now() < until => {}
                // Where nothing can be locked it is asked as well: nothing is lost but time.
                taken => return Ok(taken.ok().flatten()),
            }
            if !std::mem::replace(&mut is_reported, true) {
                let why = format!(
                    "waits: another run is asking `{}` the same question",
                    job.executor.id
                );
                self.watch
                    .notice(job.index, Notice::Heard(&Sign::Waiting(&why)));
            }
            thread::sleep(EACH_TURN);
        }
        Err(Stop::Cancelled)
    }

    /// The entry that answers this very request over this very tree, where there is one that also
    /// meets what is demanded now.
    pub(super) fn answered_before(&self, job: &Job<'_>) -> Result<Option<Done>, Stop> {
        let Some(reuse) = self.reuse_for(job) else {
            return Ok(None);
        };
        let disk = &self.means.surroundings.disk;
        let key = reuse.key(job.task, job.executor, &job.linked);
        let ledger = Reader::open(disk.clone(), self.means.ledger.paths().clone())?;
        let Some(entry) = reuse.find(disk, &key, &ledger)? else {
            return Ok(None);
        };
        let review = self.review(&entry.summary);
        let Some(judged) = validate::judge_again(&entry, review, self.demands(job.task)) else {
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

    /// Returns the store for reusable answers to this job; `None` if each call of its executor counts by itself.
    fn reuse_for(&self, job: &Job<'_>) -> Option<&Reuse> {
        let surroundings = self.means.surroundings;
        let reuse = self.means.reuse.as_ref();
        reuse.filter(|_| leaves_only_its_answer(job.task, job.executor, surroundings))
    }

    /// Remembers what a new entry answers, if the entry says that it may be used again.
    pub(super) fn remember(&self, job: &Job<'_>, entry: &Entry) {
        if let Some(reuse) = self.reuse_for(job)
            && entry.metadata.contains_key(REQUEST_KEY)
        {
            let key = reuse.key(job.task, job.executor, &job.linked);
            // If it is not remembered, it is asked again: nothing is lost but time.
            let disk = &self.means.surroundings.disk;
            drop(reuse.remember(disk, &key, &entry.task_id));
        }
    }

    /// Waits until the runs on this machine leave the executor a slot, where it has only so many.
    pub(super) fn take_slot(&self, job: &Job<'_>) -> Result<Option<Slot>, Stop> {
        let cap = self.means.caps.get(&job.executor.id).copied();
        let (Some(slots), Some(cap)) = (&self.means.slots, cap) else {
            return Ok(None);
        };
        let why = format!(
            "waits: other runs use every slot of `{}` (max_concurrent {cap})",
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
    pub(super) fn pass_circuit(&self, job: &Job<'_>) -> Result<(), Stop> {
        let executor = job.executor;
        let Admission::Open { left } = self.means.circuits.admit(&executor.id)? else {
            return Ok(());
        };
        let failure = Failure {
            code: None,
            message: format!(
                "executor `{id}` failed repeatedly and is paused for {} s: until then it gets no \
                 task; what helps: callosum executor check {id}, which asks it now, or --executor \
                 scout",
                left.as_secs().max(1),
                id = executor.id
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
        let refused = match &job.id {
            Some(id) => About {
                id,
                executor: &executor.id,
            }
            .error(&failure),
            None => not_started(&executor.id, job.task, &failure),
        };
        self.record(refused.with("circuit", "open"))?;
        Err(failure.into())
    }

    /// Takes note of what a try says about its executor.
    pub(super) fn tell_circuit(&self, job: &Job<'_>, result: &AttemptResult) {
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
    is_its && !failure.spares_executor && !(failure.is_final && failure.kept_answer.is_some())
}
