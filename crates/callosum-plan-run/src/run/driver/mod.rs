//! [`drive`]: a run carried on as far as it goes without a person.
//!
//! One thread evaluates, asks the kernel and writes records; a thread for each call that is being
//! made blocks on its provider. What a call may do begins once its approval is on disk, and its answer
//! is used once that is. The thread sleeps until a call ends, a deadline, a delay or a cancellation; while calls are being
//! made it looks twice a second whether the rules have changed.
//!
//! How the kernel is asked is in [`authorize`], how calls are made and ended in [`in_flight`], how those end that are forbidden
//! while they are made in [`rules`].

mod authorize;
mod in_flight;
mod rules;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, Scope},
    time::Instant,
};

use callosum_host::{Clock, DiskError, process::Cancel};
use callosum_ledger::{Answers, WriteError};
use callosum_plan::{
    CapabilityName, Failure, Limits, Machine, NoSuchYield, NotationError, Outcome, StartError,
    StepChange, StepEvent, Value,
};

use self::in_flight::{InFlightCall, Known};
use super::{
    ids::CallKey,
    journal::RunJournal,
    next_action::{Action, Attention, Divergence, Need, next},
    payload_store::{KeepingError, StoredPayload, keep_result, result_of, text_of},
    record::{Answer, Ended, OutcomeWord, Paused, Resumed, RunRecord, StepRecord},
    rules::{RulesStamp, RunRules},
    standing::Grant,
    state::{RunState, UnfittingRecord},
    watch::{RunNotice, RunWatch},
};
use crate::kernel::{self, Kernel, Provider, ProviderFailure};

/// Providers by what they perform.
pub type Providers<'p> = BTreeMap<CapabilityName, Arc<dyn Provider + 'p>>;

/// Everything that a run is carried on with, passed by the caller.
pub struct RunMeans<'a> {
    /// Journal for its records.
    pub journal: &'a dyn RunJournal,
    /// Store of its long texts.
    pub answers: &'a Answers,
    /// Decides over each call.
    pub kernel: &'a Kernel,
    /// Providers of the capabilities.
    pub providers: &'a Providers<'a>,
    /// Permissions of the run.
    pub grant: &'a Grant,
    /// Says what is revoked, and what the constitution is by now.
    pub rules: &'a dyn RunRules,
    /// The stamp of the rules before the kernel's constitution was read.
    pub rules_seen: RulesStamp,
    /// Tells the time of day.
    pub clock: &'a Clock,
    /// Stops the process. What is being made then is cancelled; the run can be gone on with.
    pub stop: &'a Cancel,
    /// Ends the run.
    pub end: &'a Cancel,
    /// Most calls at once.
    pub at_once: usize,
    /// Observer that gets notices of what happens.
    pub watch: &'a dyn RunWatch,
}

/// Result of driving a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// To a value.
    Completed(Value),
    /// To a failure.
    Failed(Failure),
    /// A user ended it.
    Cancelled,
    /// It waits for a person, at these calls.
    Paused(Vec<CallKey>),
    /// The process was asked to stop.
    Stopped,
}

/// Reason that a run could not be carried on. The records are good; it can be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its records could not be written. No call was made that is not on record.
    #[error("cannot write the run's records")]
    Journal(#[from] WriteError),
    /// Its data outside of the journal could not be written or read.
    #[error(transparent)]
    Keeping(#[from] KeepingError),
    /// Its plan can't be started with its input any more.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Its input can't be read.
    #[error("cannot read the run's input")]
    Input(#[source] NotationError),
    /// Its plan does not do what its records say it did.
    #[error(transparent)]
    Divergence(#[from] Divergence),
    /// Its records don't add up.
    #[error(transparent)]
    Unfitting(#[from] UnfittingRecord),
    /// The machine doesn't wait for the call that it reported.
    #[error(transparent)]
    Machine(#[from] NoSuchYield),
    /// It is unknown what is revoked, so nothing may be called.
    #[error("cannot read which capabilities are revoked on this machine: {0}")]
    Revocations(String),
    /// No thread could be made.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}

impl From<DiskError> for RunError {
    fn from(error: DiskError) -> Self {
        Self::Keeping(error.into())
    }
}

/// Carries a run on from where its records stand.
///
/// `source` is the text that `program` was compiled of. A run that is over ends at once, as it did.
/// The caller holds the run's lock.
pub fn drive(
    state: RunState,
    program: &Arc<callosum_plan::Program>,
    source: &str,
    means: &RunMeans<'_>,
) -> Result<RunEnd, RunError> {
    if let Some(ended) = state.ended().cloned() {
        return past_end(&ended, means.answers);
    }
    let input = text_of(means.answers, &state.started().input)?;
    let input = Value::read(&input).map_err(RunError::Input)?;
    let machine = Machine::start(
        Arc::clone(program),
        &parameters(&input),
        limits(&state.started().limits),
    )?;
    let done = Cancel::new().map_err(RunError::Thread)?;
    thread::scope(|scope| {
        let (sender, events) = channel();
        for (cancel, event) in [(means.stop, Event::Stop), (means.end, Event::End)] {
            let (sender, over) = (sender.clone(), done.clone());
            let passing = thread::Builder::new().spawn_scoped(scope, move || {
                // Where it can't be waited for, the calls' own deadlines still hold.
                drop(cancel.wait_here_or(&over));
                if cancel.is_cancelled() {
                    drop(sender.send(event));
                }
            });
            if let Err(error) = passing {
                done.cancel();
                return Err(RunError::Thread(error));
            }
        }
        let skipped_events = state.steps().len();
        let is_resumed = !state.calls().is_empty() || skipped_events > 0;
        let mut driver = Driver {
            means,
            source,
            state,
            machine,
            given: 0,
            skipped_events,
            flying: BTreeMap::new(),
            asked_after: BTreeSet::new(),
            not_before: BTreeMap::new(),
            scope,
            sender,
            events,
            rules_seen: means.rules_seen.clone(),
            rules_seen_at: Instant::now(),
            newer: None,
        };
        let ended = driver.begin(is_resumed).and_then(|()| driver.run());
        // However it ended, nothing goes on behind its back.
        for call in driver.flying.values() {
            call.cancel.cancel();
        }
        done.cancel();
        ended
    })
}

/// Event that wakes the driver.
enum Event {
    /// A call ended.
    Performed(CallKey, Result<kernel::Answer, ProviderFailure>),
    /// The process is to stop.
    Stop,
    /// The run is to end.
    End,
}

struct Driver<'scope, 'env, 'a: 'env> {
    means: &'env RunMeans<'a>,
    source: &'env str,
    state: RunState,
    machine: Machine,
    /// Number of answers that the machine has got.
    given: usize,
    /// Number of the machine's events that are on record from before.
    skipped_events: usize,
    flying: BTreeMap<CallKey, InFlightCall>,
    /// Calls that providers were asked after, and can't tell.
    asked_after: BTreeSet<CallKey>,
    /// When calls may begin that are tried again.
    not_before: BTreeMap<CallKey, Instant>,
    scope: &'scope Scope<'scope, 'env>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// The rules as they were last looked at.
    rules_seen: RulesStamp,
    /// When that was.
    rules_seen_at: Instant,
    /// Decides as well, once the constitution is another than the one that the run goes on under.
    newer: Option<Kernel>,
}

impl<'env, 'a: 'env> Driver<'_, 'env, 'a> {
    fn begin(&mut self, is_resumed: bool) -> Result<(), RunError> {
        if !is_resumed {
            return Ok(());
        }
        let constitution = self.means.grant.constitution.clone();
        let answered = self.state.answer_count() as u64;
        let resumed = Resumed {
            constitution,
            answered,
        };
        self.tell(vec![RunRecord::Resumed(resumed)])
    }

    fn run(&mut self) -> Result<RunEnd, RunError> {
        if self.state.is_cancel_asked() {
            return self.cancelled();
        }
        loop {
            let outcome = self.machine.run();
            self.note_events()?;
            let flying = self.flying.keys().copied().collect();
            match next(&self.state, &outcome, self.given, &flying)? {
                Action::Give { position, answer } => {
                    let result = result_of(self.means.answers, answer)?;
                    self.machine.answer(position, result)?;
                    self.given += 1;
                }
                Action::End => return self.ended(outcome),
                Action::Attend(attentions) => {
                    if self.means.end.is_cancelled() {
                        return self.cancelled();
                    }
                    if self.means.stop.is_cancelled() {
                        return self.stopped();
                    }
                    let before = self.state.answer_count();
                    let waiting = self.attend(attentions)?;
                    if self.state.answer_count() > before {
                        continue;
                    }
                    if self.flying.is_empty() && self.not_before.is_empty() {
                        return self.paused(waiting);
                    }
                    self.wait()?;
                }
            }
        }
    }

    /// Sees to calls that wait; says which of them wait for a person.
    fn attend(&mut self, attentions: Vec<Attention>) -> Result<Vec<CallKey>, RunError> {
        let mut waiting = Vec::new();
        let mut records = Vec::new();
        let mut approved = Vec::new();
        for attention in attentions {
            match attention.need {
                Need::Approval => waiting.push(attention.key),
                Need::Inquire if self.asked_after.contains(&attention.key) => {
                    waiting.push(attention.key);
                }
                Need::Inquire => match self.inquire(&attention)? {
                    Known::Nothing => {
                        self.asked_after.insert(attention.key);
                        waiting.push(attention.key);
                    }
                    Known::Repeatable => {
                        self.rule(attention, &mut records, &mut approved, &mut waiting)?;
                    }
                    Known::Answer(answered) => {
                        records.push(RunRecord::Answered(answered));
                        // What the plan does with it comes before what else may be begun, as it did
                        // where nothing was interrupted.
                        break;
                    }
                },
                Need::Begin | Need::GoOn => {
                    self.rule(attention, &mut records, &mut approved, &mut waiting)?;
                }
            }
        }
        if !records.is_empty() {
            self.tell(records)?;
        }
        for (call, provider, request) in approved {
            self.perform(call, provider, request)?;
        }
        Ok(waiting)
    }

    fn ended(&mut self, outcome: Outcome) -> Result<RunEnd, RunError> {
        let result = match outcome {
            Outcome::Complete(value) => Ok(value),
            Outcome::Failed(failure) => Err(failure),
            Outcome::Yield(_) => unreachable!("a machine that waits has not ended"),
        };
        let most = self.state.started().limits.value;
        let answer = keep_result(self.means.answers, StoredPayload::Value, &result, most)?;
        let end = match (result, result_of(self.means.answers, &answer)?) {
            (_, Ok(value)) => RunEnd::Completed(value),
            // It knows where it happened.
            // Its own failure, or a value that can't be kept.
            (Err(failure), _) | (Ok(_), Err(failure)) => RunEnd::Failed(failure),
        };
        let ended = Ended {
            outcome: match end {
                RunEnd::Completed(_) => OutcomeWord::Completed,
                _ => OutcomeWord::Failed,
            },
            answer,
        };
        self.tell(vec![RunRecord::Ended(ended)])?;
        Ok(end)
    }

    fn cancelled(&mut self) -> Result<RunEnd, RunError> {
        self.land()?;
        let mut records = Vec::new();
        if !self.state.is_cancel_asked() {
            records.push(RunRecord::CancelAsked);
        }
        records.push(RunRecord::Ended(Ended {
            outcome: OutcomeWord::Cancelled,
            answer: Answer::nothing(),
        }));
        self.tell(records)?;
        Ok(RunEnd::Cancelled)
    }

    fn stopped(&mut self) -> Result<RunEnd, RunError> {
        self.land()?;
        Ok(RunEnd::Stopped)
    }

    fn paused(&mut self, waits_for: Vec<CallKey>) -> Result<RunEnd, RunError> {
        for key in &waits_for {
            if let Some(call) = self.state.call(*key) {
                self.means.watch.notice(RunNotice::Waits(call));
            }
        }
        let paused = Paused {
            waits_for: waits_for.clone(),
        };
        self.tell(vec![RunRecord::Paused(paused)])?;
        Ok(RunEnd::Paused(waits_for))
    }

    /// Puts what happened to steps on record, but for what is there from before.
    fn note_events(&mut self) -> Result<(), RunError> {
        for event in self.machine.take_events() {
            if self.skipped_events > 0 {
                self.skipped_events -= 1;
                continue;
            }
            let step = step_record(event);
            self.means.watch.notice(RunNotice::Step(&step));
            let record = RunRecord::Step(step);
            self.means.journal.note(self.state.run(), &record)?;
            self.state.apply(record, 0, self.means.clock.now())?;
        }
        Ok(())
    }

    /// Puts these on record, on disk, and takes them up.
    fn tell(&mut self, records: Vec<RunRecord>) -> Result<(), RunError> {
        self.means.journal.tell(self.state.run(), &records)?;
        for record in records {
            let key = match &record {
                RunRecord::Answered(answered) => Some(answered.key),
                _ => None,
            };
            self.state.apply(record, 0, self.means.clock.now())?;
            if let Some(call) = key.and_then(|key| self.state.call(key)) {
                self.means.watch.notice(RunNotice::Answered(call));
            }
        }
        Ok(())
    }
}

/// The values of a plan's parameters, from the map that they are kept as.
fn parameters(input: &Value) -> BTreeMap<String, Value> {
    let Value::Map(entries) = input else {
        return BTreeMap::new();
    };
    let named = entries.iter().filter_map(|(key, value)| match key {
        callosum_plan::Key::Text(name) => Some((name.to_string(), value.clone())),
        _ => None,
    });
    named.collect()
}

fn limits(kept: &super::record::RunLimits) -> Limits {
    Limits {
        fuel: kept.fuel,
        memory: kept.memory,
        yields: kept.yields,
        turns: kept.turns,
        value: kept.value,
    }
}

/// Returns the end of a run that is over.
fn past_end(ended: &Ended, answers: &Answers) -> Result<RunEnd, RunError> {
    if ended.outcome == OutcomeWord::Cancelled {
        return Ok(RunEnd::Cancelled);
    }
    Ok(match result_of(answers, &ended.answer)? {
        Ok(value) => RunEnd::Completed(value),
        Err(failure) => RunEnd::Failed(failure),
    })
}

fn step_record(event: StepEvent) -> StepRecord {
    let (change, attempt, what) = match event.change {
        StepChange::Started => ("started", None, None),
        StepChange::Completed => ("completed", None, None),
        StepChange::Retrying(attempt) => ("retrying", Some(attempt), None),
        StepChange::Failed(kind) => ("failed", None, Some(kind.to_string())),
        StepChange::Checkpoint(name) => ("checkpoint", None, Some(name.to_string())),
    };
    StepRecord {
        path: event.path.iter().map(ToString::to_string).collect(),
        change: change.to_owned(),
        attempt,
        what,
    }
}
