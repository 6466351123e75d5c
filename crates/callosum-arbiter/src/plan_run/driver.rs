//! [`drive`]: a run carried on as far as it goes without a person.
//!
//! One thread evaluates, asks the kernel and writes records; a thread for each call that is being
//! made blocks on its provider. What a call may do begins once its approval is on disk, and its answer
//! is used once that is. Nobody polls: the thread sleeps until a call ends, a deadline, a delay or a
//! cancellation.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

use callosum_host::{Clock, DiskError, process::Cancel};
use callosum_ledger::{Answers, Checksum, WriteError};
use callosum_plan::{
    CapabilityName, Failure, FailureKind, Limits, Machine, NoSuchYield, NotationError, Outcome,
    StartError, StepChange, StepEvent, Value,
};

use super::{
    journal::RunJournal,
    keeping::{KeepingError, keep, keep_result, result_of, text_of},
    key::{CallKey, arguments_text},
    next::{Action, Attention, Divergence, Need, next},
    record::{
        Answer, Answered, Ended, Intended, KeptFailure, OutcomeWord, Paused, Resumed, Ruled,
        RulingWord, RunRecord, Spent, StepRecord,
    },
    standing::{Grant, standing},
    state::{RunState, UnfittingRecord},
    watch::{RunNotice, RunWatch},
};
use crate::kernel::{
    self, AnsweredCost, ApprovedCall, CallRequest, Kernel, KnownOutcome, Provider, ProviderFailure,
    Ruling,
};

/// Providers by what they perform.
pub type Providers<'p> = BTreeMap<CapabilityName, Arc<dyn Provider + 'p>>;

/// What a run is carried on with, all of it handed in.
pub struct RunMeans<'a> {
    /// Where its records go.
    pub journal: &'a dyn RunJournal,
    /// Where its long texts are kept.
    pub answers: &'a Answers,
    /// Decides over each call.
    pub kernel: &'a Kernel,
    /// Who performs what.
    pub providers: &'a Providers<'a>,
    /// What the run may.
    pub grant: &'a Grant,
    /// Tells the time of day.
    pub clock: &'a Clock,
    /// Stops the process. What is being made then is cancelled; the run can be gone on with.
    pub stop: &'a Cancel,
    /// Ends the run.
    pub end: &'a Cancel,
    /// How many calls may be made at once.
    pub at_once: usize,
    /// Who is told what happens.
    pub watch: &'a dyn RunWatch,
}

/// How far a run came.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// To a value.
    Completed(Value),
    /// To a failure.
    Failed(Failure),
    /// Somebody ended it.
    Cancelled,
    /// It waits for a person, at these calls.
    Paused(Vec<CallKey>),
    /// The process was told to stop.
    Stopped,
}

/// Why a run could not be carried on. What is on record is good; it can be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its records could not be written. No call was made that is not on record.
    #[error("the run's records could not be written")]
    Journal(#[from] WriteError),
    /// What it keeps beside the journal could not be written or read.
    #[error(transparent)]
    Keeping(#[from] KeepingError),
    /// Its plan can't be started with its input any more.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Its input can't be read.
    #[error("the run's input is not readable")]
    Input(#[source] NotationError),
    /// Its plan does not do what its records say it did.
    #[error(transparent)]
    Divergence(#[from] Divergence),
    /// Its records don't add up.
    #[error(transparent)]
    Unfitting(#[from] UnfittingRecord),
    /// The machine doesn't wait for what it said it waits for.
    #[error(transparent)]
    Machine(#[from] NoSuchYield),
    /// No thread could be made.
    #[error("no thread could be started")]
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
            let (sender, done) = (sender.clone(), done.clone());
            scope.spawn(move || {
                // Where it can't be waited for, the calls' own deadlines still hold.
                drop(cancel.wait_here_or(&done));
                if cancel.is_cancelled() {
                    drop(sender.send(event));
                }
            });
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

/// What wakes the driver.
enum Event {
    /// A call ended.
    Performed(CallKey, Result<kernel::Answer, ProviderFailure>),
    /// The process is to stop.
    Stop,
    /// The run is to end.
    End,
}

/// What is known of a call that may have been made.
enum Known {
    /// Nobody can tell.
    Nothing,
    /// To make it does nothing twice.
    Repeatable,
    /// What it came to.
    Answer(Answered),
}

/// A call that is being made.
struct Flying {
    cancel: Cancel,
    since: Instant,
    deadline: Option<Instant>,
    is_late: bool,
    most_bytes: u64,
}

struct Driver<'scope, 'env, 'a: 'env> {
    means: &'env RunMeans<'a>,
    source: &'env str,
    state: RunState,
    machine: Machine,
    /// How many answers the machine was given.
    given: usize,
    /// How many of the machine's events are on record from before.
    skipped_events: usize,
    flying: BTreeMap<CallKey, Flying>,
    /// Calls that providers were asked after, and can't tell.
    asked_after: BTreeSet<CallKey>,
    /// When calls may begin that are tried again.
    not_before: BTreeMap<CallKey, Instant>,
    scope: &'scope Scope<'scope, 'env>,
    sender: Sender<Event>,
    events: Receiver<Event>,
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
        for (call, provider) in approved {
            self.perform(call, provider)?;
        }
        Ok(waiting)
    }

    /// Asks what became of a call that an earlier process may have made.
    fn inquire(&self, attention: &Attention) -> Result<Known, RunError> {
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

    /// Has the kernel rule about a call, and puts it on record.
    fn rule(
        &mut self,
        attention: Attention,
        records: &mut Vec<RunRecord>,
        approved: &mut Vec<(ApprovedCall, Arc<dyn Provider + 'a>)>,
        waiting: &mut Vec<CallKey>,
    ) -> Result<(), RunError> {
        let Attention {
            call,
            key,
            attempt,
            need,
        } = attention;
        if self.flying.len() + approved.len() >= self.means.at_once || self.is_delayed(key, &call) {
            return Ok(());
        }
        if need == Need::Begin {
            let ordinal = self.state.calls().len() as u64;
            let begun = records
                .iter()
                .filter(|record| matches!(record, RunRecord::Intended(_)))
                .count() as u64;
            let intended = self.intended(&call, key, attempt, ordinal + begun)?;
            records.push(RunRecord::Intended(Box::new(intended)));
        }
        let request = CallRequest::of_yield(
            self.state.run().as_str(),
            &self.state.started().source_sha256.to_string(),
            &key.to_string(),
            &call,
        );
        let stands = standing(&self.state, self.means.grant, records, key);
        let ruling = self.means.kernel.gate(&request, &stands);
        let grounds = ruling.grounds().clone();
        let mut ruled = Ruled {
            key,
            ruling: RulingWord::Approved,
            policies: grounds.policies,
            reason: grounds.text,
            sensitivity: None,
        };
        match ruling {
            Ruling::Approved(call) => {
                let provider = self.means.providers.get(call.capability());
                let Some(provider) = provider else {
                    ruled.ruling = RulingWord::Denied;
                    let failure = unprovided(call.capability());
                    records.push(RunRecord::Ruled(ruled));
                    records.push(RunRecord::Answered(Self::refused(key, &failure)));
                    return Ok(());
                };
                ruled.sensitivity = Some(call.sensitivity());
                records.push(RunRecord::Ruled(ruled));
                approved.push((call, Arc::clone(provider)));
            }
            Ruling::NeedsApproval(request) => {
                ruled.ruling = RulingWord::Asked;
                ruled.reason = request.question;
                records.push(RunRecord::Ruled(ruled));
                waiting.push(key);
            }
            Ruling::Denied(denial) => {
                ruled.ruling = RulingWord::Denied;
                records.push(RunRecord::Ruled(ruled));
                let failure = denial.to_failure();
                records.push(RunRecord::Answered(Self::refused(key, &failure)));
            }
        }
        Ok(())
    }

    /// Whether a call's step asks for a pause that is not over.
    fn is_delayed(&mut self, key: CallKey, call: &callosum_plan::Yield) -> bool {
        if call.delay_ms == 0 {
            return false;
        }
        let now = Instant::now();
        let pause = Duration::from_millis(call.delay_ms);
        let until = *self.not_before.entry(key).or_insert(now + pause);
        if until > now {
            return true;
        }
        self.not_before.remove(&key);
        false
    }

    fn intended(
        &self,
        call: &callosum_plan::Yield,
        key: CallKey,
        attempt: u32,
        ordinal: u64,
    ) -> Result<Intended, RunError> {
        let arguments = arguments_text(&call.arguments);
        let masked = callosum_evidence::secrets::mask(&arguments).text;
        let (line, column) = call.span.line_and_column(self.source);
        let steps = call.steps.iter().map(|step| match step.attempt {
            1 => step.id.to_string(),
            attempt => format!("{}#{attempt}", step.id),
        });
        Ok(Intended {
            position: call.position.to_string(),
            ordinal,
            capability: call.capability.to_string(),
            arguments_sha256: Checksum::of(arguments.as_bytes()),
            arguments: keep(self.means.answers, masked)?,
            key,
            attempt,
            steps: steps.collect(),
            line: line as u64,
            column: column as u64,
        })
    }

    fn refused(key: CallKey, failure: &Failure) -> Answered {
        Answered {
            key,
            answer: Answer::of_failure(KeptFailure::of(failure)),
            spent: Spent::default(),
            found: false,
        }
    }

    fn answered(
        &self,
        key: CallKey,
        result: Result<kernel::Answer, ProviderFailure>,
        elapsed: Duration,
        most_bytes: u64,
    ) -> Result<Answered, RunError> {
        let (result, cost) = match result {
            Ok(answer) => (Ok(answer.value), answer.cost),
            Err(failure) => (Err(failure.to_failure()), failure.cost),
        };
        let AnsweredCost { tokens, cost } = cost;
        Ok(Answered {
            key,
            answer: keep_result(self.means.answers, &result, most_bytes)?,
            spent: Spent {
                elapsed_ms: elapsed.as_millis() as u64,
                tokens,
                cost,
            },
            found: false,
        })
    }

    /// Makes a call, which is on record, on a thread of its own.
    fn perform(
        &mut self,
        call: ApprovedCall,
        provider: Arc<dyn Provider + 'a>,
    ) -> Result<(), RunError> {
        let Ok(key) = call.key().parse::<Checksum>().map(CallKey) else {
            unreachable!("the request was made with a key of ours");
        };
        let limits = call.limits();
        let since = Instant::now();
        let cancel = Cancel::new().map_err(RunError::Thread)?;
        let flying = Flying {
            cancel: cancel.clone(),
            since,
            deadline: since.checked_add(Duration::from_millis(limits.milliseconds)),
            is_late: false,
            most_bytes: limits.answer_bytes,
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
            // Nobody hears it where the run was given up: then the call counts as unknown.
            drop(sender.send(Event::Performed(key, performed)));
        });
        performed.map(drop).map_err(RunError::Thread)
    }

    /// Sleeps until something happens, and takes it up.
    fn wait(&mut self) -> Result<(), RunError> {
        let deadlines = self.flying.values().filter(|call| !call.is_late);
        let deadlines = deadlines.filter_map(|call| call.deadline);
        let until = deadlines.chain(self.not_before.values().copied()).min();
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
        match event {
            Ok(Event::Performed(key, result)) => self.performed(key, result),
            // What they ask for is looked at where the run goes on.
            Ok(Event::Stop | Event::End) => Ok(()),
            Err(_) => {
                let now = Instant::now();
                for call in self.flying.values_mut() {
                    if call.deadline.is_some_and(|deadline| deadline <= now) {
                        call.is_late = true;
                        call.cancel.cancel();
                    }
                }
                Ok(())
            }
        }
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
        let result = match result {
            Err(failure) if flying.is_late => Err(ProviderFailure {
                kind: FailureKind::Timeout,
                message: format!("it took longer than {} ms", elapsed.as_millis()),
                ..failure
            }),
            Err(failure) if flying.cancel.is_cancelled() => {
                // It broke off because it was told to: that is no answer to the plan.
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
    fn land(&mut self) -> Result<(), RunError> {
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

    fn ended(&mut self, outcome: Outcome) -> Result<RunEnd, RunError> {
        let result = match outcome {
            Outcome::Complete(value) => Ok(value),
            Outcome::Failed(failure) => Err(failure),
            Outcome::Yield(_) => unreachable!("a machine that waits has not ended"),
        };
        let most = self.state.started().limits.value;
        let answer = keep_result(self.means.answers, &result, most)?;
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

/// How a run that is over ended.
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

fn unprovided(capability: &CapabilityName) -> Failure {
    let what = format!("nobody provides `:{capability}` here");
    Failure::new(FailureKind::UnknownCapability, what)
        .with_hint("`callosum capability list` tells what there is")
}
