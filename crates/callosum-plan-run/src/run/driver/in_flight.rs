//! Calls in flight: each made on a thread of its own, bounded in time, its end put on record.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock, mpsc::RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use callosum_host::process::Cancel;
use callosum_json::Checksum;
use callosum_plan::{CapabilityName, FailureKind};

use super::{
    Driver, Event, RunError,
    rules::{LOOK_EVERY, Stopped},
};
use crate::{
    kernel::{
        self, AnsweredCost, ApprovedCall, CallRequest, KnownOutcome, Provider, ProviderFailure,
    },
    run::{
        ids::CallKey,
        next_action::Attention,
        payload_store::{StoredPayload, keep_result},
        record::{Answered, Ruled, RulingWord, RunRecord, Spent},
        watch::RunNotice,
    },
};

/// Result of a lookup of a call that may have been made.
pub(super) enum Known {
    /// Its outcome is unknown.
    Nothing,
    /// To make it does nothing twice.
    Repeatable,
    /// Answer of the call.
    Answer(Answered),
}

/// A call that is being made.
pub(super) struct InFlightCall {
    pub(super) cancel: Cancel,
    since: Instant,
    deadline: Option<Instant>,
    pub(super) is_late: bool,
    /// The approved request, as the plan wrote it.
    pub(super) request: CallRequest,
    /// The executor that performs it, once that is chosen.
    pub(super) addressee: Arc<OnceLock<CapabilityName>>,
    /// Reason that it is stopped, once the rules forbid it.
    pub(super) stopped: Option<Stopped>,
    most_ms: u64,
    most_bytes: u64,
    /// Whether it may use tokens or money.
    pub(super) may_cost: bool,
    /// Whether its time is what was left of the run's.
    has_the_rest: bool,
    /// Whether it was ended because the run's time was used up.
    is_out_of_time: bool,
}

impl<'env, 'a: 'env> Driver<'_, 'env, 'a> {
    /// Asks what became of a call that an earlier process may have made.
    pub(super) fn inquire(&self, attention: &Attention) -> Result<Known, RunError> {
        let Some(provider) = self.means.providers.get(&attention.call.capability) else {
            return Ok(Known::Nothing);
        };
        if !provider.manifest().answers_by_key {
            return Ok(Known::Nothing);
        }
        let key = attention.key.to_string();
        let result = match provider.outcome(&key, self.means.stop) {
            Ok(KnownOutcome::NotBegun | KnownOutcome::Repeatable) => return Ok(Known::Repeatable),
            Ok(KnownOutcome::Unknown) | Err(_) => return Ok(Known::Nothing),
            Ok(KnownOutcome::Answered(answer)) => Ok(answer),
            Ok(KnownOutcome::Failed(failure)) => Err(failure),
        };
        let most = provider.manifest().quotas.answer_bytes;
        let answered = self.answered(attention.key, result, Duration::ZERO, most)?;
        Ok(Known::Answer(Answered {
            found: true,
            ..answered
        }))
    }

    /// Makes a call, which is on record, on a thread of its own.
    pub(super) fn perform(
        &mut self,
        call: ApprovedCall,
        provider: Arc<dyn Provider + 'a>,
        request: CallRequest,
    ) -> Result<(), RunError> {
        let Ok(key) = call.key().parse::<Checksum>().map(CallKey) else {
            unreachable!("the request was made with a key of ours");
        };
        let limits = call.limits();
        let left = self.caps().milliseconds;
        let left = left.map(|cap| cap.saturating_sub(self.state.spent().elapsed_ms));
        let since = Instant::now();
        let cancel = Cancel::new().map_err(RunError::Thread)?;
        let flying = InFlightCall {
            cancel: cancel.clone(),
            since,
            deadline: since.checked_add(Duration::from_millis(limits.milliseconds)),
            is_late: false,
            request,
            addressee: call.addressee(),
            stopped: None,
            most_ms: limits.milliseconds,
            most_bytes: limits.answer_bytes,
            may_cost: provider.manifest().may_cost(),
            has_the_rest: left.is_some_and(|left| left <= limits.milliseconds),
            is_out_of_time: false,
        };
        self.flying.insert(key, flying);
        if let Some(state) = self.state.call(key) {
            self.means.watch.notice(RunNotice::Begun(state));
        }
        let sender = self.sender.clone();
        let performed = thread::Builder::new().spawn_scoped(self.scope, move || {
            let performed = catch_unwind(AssertUnwindSafe(|| provider.perform(call, &cancel)));
            let performed = performed.unwrap_or_else(|_| {
                let what = "an internal error ended the call";
                Err(ProviderFailure::midway(FailureKind::CapabilityError, what))
            });
            // If the run was given up, no one receives it: then the call counts as unknown.
            drop(sender.send(Event::Performed(key, performed)));
        });
        performed.map(drop).map_err(RunError::Thread)
    }

    /// Sleeps until something happens, and takes it up.
    pub(super) fn wait(&mut self) -> Result<(), RunError> {
        let deadlines = self.flying.values().filter(|call| !call.is_late);
        let deadlines = deadlines.filter_map(|call| call.deadline);
        let others = self.not_before.values().copied();
        let look = (!self.flying.is_empty()).then(|| self.rules_seen_at + LOOK_EVERY);
        let until = deadlines
            .chain(others)
            .chain(self.out_of_time())
            .chain(look)
            .min();
        let event = match until {
            None => self
                .events
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => {
                let patience = until.saturating_duration_since(Instant::now());
                self.events.recv_timeout(patience)
            }
        };
        self.look_at_rules_now_and_then()?;
        match event {
            Ok(Event::Performed(key, result)) => self.performed(key, result),
            // What they ask for is looked at where the run goes on.
            Ok(Event::Stop | Event::End) => Ok(()),
            Err(_) => {
                let out_of_time = self.out_of_time();
                let now = Instant::now();
                for call in self.flying.values_mut() {
                    if call.deadline.is_some_and(|deadline| deadline <= now) {
                        call.is_late = true;
                        call.is_out_of_time = call.has_the_rest;
                        call.cancel.cancel();
                    }
                }
                if out_of_time.is_some_and(|until| until <= now) {
                    for call in self.flying.values_mut().filter(|call| !call.is_late) {
                        call.is_late = true;
                        call.is_out_of_time = true;
                        call.cancel.cancel();
                    }
                }
                Ok(())
            }
        }
    }

    /// When several calls that are under way will together have used up the time of the run; one alone was
    /// given what is left of it as its own.
    fn out_of_time(&self) -> Option<Instant> {
        let most = self.caps().milliseconds?;
        let under_way = self.flying.values().filter(|call| !call.is_late).count();
        let under_way = u32::try_from(under_way).ok().filter(|count| *count > 1)?;
        let now = Instant::now();
        let used = self.flying.values().map(|call| now - call.since);
        let before = Duration::from_millis(self.state.spent().elapsed_ms);
        let used = used.fold(before, Duration::saturating_add);
        let left = Duration::from_millis(most).saturating_sub(used);
        now.checked_add(left / under_way)
    }

    /// Puts on record how a call ended.
    fn performed(
        &mut self,
        key: CallKey,
        result: Result<kernel::Answer, ProviderFailure>,
    ) -> Result<(), RunError> {
        let Some(flying) = self.flying.remove(&key) else {
            return Ok(());
        };
        let elapsed = flying.since.elapsed();
        let was_stopped = flying.stopped.is_some();
        let result = match (result, flying.stopped) {
            (Err(failure), Some(stopped)) => Err(stopped.failure(failure)),
            (result, _) => result,
        };
        let result = match result {
            Err(failure) if was_stopped => Err(failure),
            Err(failure) if flying.is_out_of_time => Err(ProviderFailure {
                kind: FailureKind::BudgetExhausted,
                message: "the run's budget of time is used up".to_owned(),
                hint: Some("start it again with a larger `--timeout`"),
                ..failure
            }),
            Err(failure) if flying.is_late => Err(ProviderFailure {
                kind: FailureKind::Timeout,
                message: format!("it took longer than {} ms", flying.most_ms),
                ..failure
            }),
            Err(failure) if flying.cancel.is_cancelled() => {
                // It broke off because we canceled it: that is no answer to the plan.
                if failure.may_have_happened {
                    return Ok(());
                }
                let ruled = Ruled {
                    key,
                    ruling: RulingWord::Withdrawn,
                    policies: Vec::new(),
                    reason: "it was stopped before it did anything".to_owned(),
                    sensitivity: None,
                };
                return self.tell(vec![RunRecord::Ruled(ruled)]);
            }
            result => result,
        };
        let answered = self.answered(key, result, elapsed, flying.most_bytes)?;
        self.tell(vec![RunRecord::Answered(answered)])
    }

    /// Ends what is being made, and waits for that.
    pub(super) fn land(&mut self) -> Result<(), RunError> {
        for call in self.flying.values() {
            call.cancel.cancel();
        }
        while !self.flying.is_empty() {
            match self.events.recv() {
                Ok(Event::Performed(key, result)) => self.performed(key, result)?,
                Ok(Event::Stop | Event::End) => {}
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn answered(
        &self,
        key: CallKey,
        result: Result<kernel::Answer, ProviderFailure>,
        elapsed: Duration,
        most_bytes: u64,
    ) -> Result<Answered, RunError> {
        let (result, cost, sensitivity) = match result {
            Ok(answer) => (Ok(answer.value), answer.cost, answer.sensitivity),
            Err(failure) => (Err(failure.to_failure()), failure.cost, None),
        };
        let AnsweredCost { tokens, cost } = cost;
        Ok(Answered {
            key,
            answer: keep_result(
                self.means.answers,
                StoredPayload::Answer,
                &result,
                most_bytes,
            )?,
            spent: Spent {
                elapsed_ms: elapsed.as_millis() as u64,
                tokens,
                cost,
            },
            found: false,
            sensitivity,
        })
    }
}
