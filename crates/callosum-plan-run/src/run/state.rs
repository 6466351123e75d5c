//! [`RunState`]: state of a run, as its records add up.
//!
//! A fold over records and nothing else, so that every process that reads them comes to the same.

use std::collections::{BTreeSet, HashMap};

use callosum_plan::{FailureKind, Position};
use jiff::Timestamp;

use super::{
    ids::{CallKey, KeyBase, RunId},
    record::{
        Answer, Answered, ConstitutionPrint, Decided, DecisionWord, Ended, Intended, KeptFailure,
        Ruled, RulingWord, RunRecord, Spent, Started, StepRecord, StoredRecord,
    },
};
use crate::kernel::Sensitivity;

/// State of a run.
#[derive(Clone, Debug)]
pub struct RunState {
    run: RunId,
    begun: Timestamp,
    changed: Timestamp,
    started: Started,
    constitution: ConstitutionPrint,
    calls: Vec<CallState>,
    by_key: HashMap<CallKey, usize>,
    /// The last try of each call.
    by_position: HashMap<Position, usize>,
    answered: Vec<usize>,
    steps: Vec<StepRecord>,
    spent: Spent,
    sensitivity: Sensitivity,
    is_cancel_asked: bool,
    /// The calls that the last process stopped at, since only a person could help them on.
    asked_about: BTreeSet<CallKey>,
    ended: Option<Ended>,
}

/// State of one try of a call.
#[derive(Clone, Debug)]
pub struct CallState {
    /// The call.
    pub intended: Intended,
    /// Position of the call in the run.
    pub position: Position,
    /// When it was intended.
    pub since: Timestamp,
    /// Last ruling of the kernel on it.
    pub ruled: Option<Ruled>,
    /// Number of events of steps before it.
    pub after_steps: usize,
    /// State of the call.
    pub standing: CallStanding,
    /// Whether a person, and no provider, supplied its result.
    pub is_by_person: bool,
}

/// State of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallStanding {
    /// It was intended, and surely not made.
    Intended,
    /// A person is asked first.
    Asked,
    /// A person permitted it, and surely it was not made yet.
    Granted,
    /// It was approved; it is unknown whether it was made until it has an answer.
    Begun,
    /// It has its answer.
    Answered(Answered),
    /// A person stated that it was not done; another try takes its place.
    NotDone,
}

impl CallState {
    /// Whether nothing but a person's word is known to help it on. A call whose outcome is not known is
    /// among them, though its provider may be able to tell.
    pub fn needs_person(&self) -> bool {
        matches!(self.standing, CallStanding::Asked | CallStanding::Begun)
    }
}

impl CallStanding {
    /// Returns it in a word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Asked => "asked",
            Self::Granted => "granted",
            Self::Begun => "begun",
            Self::Answered(_) => "answered",
            Self::NotDone => "not done",
        }
    }
}

/// Reason that records don't add up to a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("audit record {seq} does not fit the run: {why}")]
pub struct UnfittingRecord {
    /// The journal's number for it.
    pub seq: u64,
    /// Description of the mismatch.
    pub why: &'static str,
}

impl RunState {
    /// Adds up the records of one run, in their order; `None` where there are none.
    pub fn of_records(records: Vec<StoredRecord>) -> Result<Option<Self>, UnfittingRecord> {
        Self::added_up(records, |unfitting, _| Err(unfitting))
    }

    /// Adds up the records of one run whose writers are unknown: a record that does not fit those
    /// before it is passed to `pass_over`, and counts for nothing.
    pub(super) fn of_fitting(
        records: Vec<StoredRecord>,
        mut pass_over: impl FnMut(UnfittingRecord, &'static str),
    ) -> Result<Option<Self>, UnfittingRecord> {
        Self::added_up(records, |unfitting, status| {
            pass_over(unfitting, status);
            Ok(())
        })
    }

    fn added_up(
        records: Vec<StoredRecord>,
        mut take_unfitting: impl FnMut(UnfittingRecord, &'static str) -> Result<(), UnfittingRecord>,
    ) -> Result<Option<Self>, UnfittingRecord> {
        let mut records = records.into_iter();
        let Some(first) = records.next() else {
            return Ok(None);
        };
        let RunRecord::Started(started) = first.record else {
            return Err(UnfittingRecord {
                seq: first.seq,
                why: "the run's first record does not start it",
            });
        };
        let mut state = Self::begin(first.run, *started, first.timestamp);
        for kept in records {
            let status = kept.record.status();
            if let Err(unfitting) = state.apply(kept.record, kept.seq, kept.timestamp) {
                take_unfitting(unfitting, status)?;
            }
        }
        Ok(Some(state))
    }

    /// Returns the state of a run with only its beginning on record.
    pub fn begin(run: RunId, started: Started, at: Timestamp) -> Self {
        Self {
            run,
            begun: at,
            changed: at,
            constitution: started.constitution.clone(),
            started,
            calls: Vec::new(),
            by_key: HashMap::new(),
            by_position: HashMap::new(),
            answered: Vec::new(),
            steps: Vec::new(),
            spent: Spent::default(),
            sensitivity: Sensitivity::default(),
            is_cancel_asked: false,
            asked_about: BTreeSet::new(),
            ended: None,
        }
    }

    /// Adds one record. Leaves the state as it was where that doesn't fit.
    pub fn apply(
        &mut self,
        record: RunRecord,
        seq: u64,
        at: Timestamp,
    ) -> Result<(), UnfittingRecord> {
        let unfitting = |why| Err(UnfittingRecord { seq, why });
        if self.ended.is_some() {
            return unfitting("the run was already over");
        }
        match record {
            RunRecord::Started(_) => return unfitting("the run had already started"),
            RunRecord::Resumed(resumed) => {
                self.constitution = resumed.constitution;
                self.asked_about.clear();
            }
            RunRecord::Intended(intended) => {
                let Ok(position) = intended.position.parse::<Position>() else {
                    return unfitting("its position is invalid");
                };
                let before = self.by_position.get(&position);
                let is_next = match before.map(|&index| &self.calls[index]) {
                    None => intended.attempt == 1,
                    Some(before) => {
                        before.standing == CallStanding::NotDone
                            && intended.attempt == before.intended.attempt + 1
                    }
                };
                if !is_next || self.by_key.contains_key(&intended.key) {
                    return unfitting("the call was already recorded");
                }
                let index = self.calls.len();
                self.by_key.insert(intended.key, index);
                self.by_position.insert(position.clone(), index);
                self.calls.push(CallState {
                    intended: *intended,
                    position,
                    since: at,
                    ruled: None,
                    after_steps: self.steps.len(),
                    standing: CallStanding::Intended,
                    is_by_person: false,
                });
            }
            RunRecord::Ruled(ruled) => {
                let Some(call) = self.open_call(ruled.key) else {
                    return unfitting("it decides a call that is not waiting");
                };
                call.standing = match ruled.ruling {
                    RulingWord::Approved => CallStanding::Begun,
                    RulingWord::Asked => CallStanding::Asked,
                    // The failure that the call comes to is the next record.
                    RulingWord::Denied | RulingWord::Withdrawn => CallStanding::Intended,
                };
                let sensitivity = ruled.sensitivity.unwrap_or_default();
                call.ruled = Some(ruled);
                self.sensitivity = self.sensitivity.max(sensitivity);
            }
            RunRecord::Answered(answered) => {
                if !self.answer(answered) {
                    return unfitting("it answers a call that is not waiting");
                }
            }
            RunRecord::Decided(decided) => {
                if let Err(why) = self.decide(decided) {
                    return unfitting(why);
                }
            }
            RunRecord::Step(step) => self.steps.push(step),
            RunRecord::Paused(paused) => self.asked_about = paused.waits_for.into_iter().collect(),
            RunRecord::CancelAsked => self.is_cancel_asked = true,
            RunRecord::Ended(ended) => self.ended = Some(ended),
        }
        self.changed = at;
        Ok(())
    }

    fn open_call(&mut self, key: CallKey) -> Option<&mut CallState> {
        let index = *self.by_key.get(&key)?;
        let call = &mut self.calls[index];
        let is_open = !matches!(
            call.standing,
            CallStanding::Answered(_) | CallStanding::NotDone
        );
        is_open.then_some(call)
    }

    fn answer(&mut self, answered: Answered) -> bool {
        let Some(&index) = self.by_key.get(&answered.key) else {
            return false;
        };
        let spent = answered.spent;
        let sensitivity = answered.sensitivity.unwrap_or_default();
        let Some(call) = self.open_call(answered.key) else {
            return false;
        };
        call.standing = CallStanding::Answered(answered);
        self.answered.push(index);
        self.spent = self.spent.plus(spent);
        self.sensitivity = self.sensitivity.max(sensitivity);
        true
    }

    fn decide(&mut self, decided: Decided) -> Result<(), &'static str> {
        let key = decided.key;
        let Some(call) = self.open_call(key) else {
            return Err("it decides about a call that is not waiting");
        };
        let answer = match (decided.decision, &call.standing) {
            (DecisionWord::Approved, CallStanding::Asked) => {
                call.standing = CallStanding::Granted;
                return Ok(());
            }
            (DecisionWord::NotDone, CallStanding::Begun) => {
                call.standing = CallStanding::NotDone;
                return Ok(());
            }
            (DecisionWord::Refused, CallStanding::Asked | CallStanding::Granted) => {
                Answer::of_failure(KeptFailure {
                    kind: FailureKind::SecurityViolation.to_string(),
                    message: format!("a person refused `:{}`", call.intended.capability),
                    hint: None,
                })
            }
            (DecisionWord::Done, CallStanding::Begun) => match decided.value {
                Some(value) => Answer::of_value(value),
                None => return Err("it marks a call as done, but has no value"),
            },
            _ => return Err("it decides about a call whose outcome is known"),
        };
        call.is_by_person = true;
        self.answer(Answered {
            key,
            answer,
            spent: Spent::default(),
            found: false,
            sensitivity: None,
        });
        Ok(())
    }

    /// The run's id.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns its beginning.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// When it was begun.
    pub fn begun(&self) -> Timestamp {
        self.begun
    }

    /// The time of its last record.
    pub fn changed(&self) -> Timestamp {
        self.changed
    }

    /// Returns the constitution that governed its last calls.
    pub fn constitution(&self) -> &ConstitutionPrint {
        &self.constitution
    }

    /// Its calls in the order in which they were intended, each try by itself.
    pub fn calls(&self) -> &[CallState] {
        &self.calls
    }

    /// The call of this key.
    pub fn call(&self, key: CallKey) -> Option<&CallState> {
        self.by_key.get(&key).map(|&index| &self.calls[index])
    }

    /// The last try of the call at this position.
    pub fn call_at(&self, position: &Position) -> Option<&CallState> {
        let index = *self.by_position.get(position)?;
        Some(&self.calls[index])
    }

    /// The `number`th answer, from 0, in the order in which they were used.
    pub fn answer_number(&self, number: usize) -> Option<(&CallState, &Answered)> {
        let call = &self.calls[*self.answered.get(number)?];
        match &call.standing {
            CallStanding::Answered(answered) => Some((call, answered)),
            _ => None,
        }
    }

    /// Returns the number of calls that have an answer.
    pub fn answer_count(&self) -> usize {
        self.answered.len()
    }

    /// The calls that have no answer, but for those that another try has taken the place of.
    pub fn open_calls(&self) -> impl Iterator<Item = &CallState> {
        self.calls.iter().filter(|call| {
            !matches!(call.standing, CallStanding::Answered(_))
                && self
                    .by_position
                    .get(&call.position)
                    .is_some_and(|&last| self.calls[last].intended.key == call.intended.key)
        })
    }

    /// Whether a call waits for a person: to be approved, or since its provider could not tell its
    /// outcome. One that a process was killed in is looked up by the next process that goes on.
    pub fn waits_for_person(&self, call: &CallState) -> bool {
        match call.standing {
            CallStanding::Asked => true,
            CallStanding::Begun => self.asked_about.contains(&call.intended.key),
            _ => false,
        }
    }

    /// Returns the events of its steps, in order.
    pub fn steps(&self) -> &[StepRecord] {
        &self.steps
    }

    /// Returns the resources that its calls have used.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// The most sensitive that its calls may have handed to it.
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// Whether a user asked for its end.
    pub fn is_cancel_asked(&self) -> bool {
        self.is_cancel_asked
    }

    /// Returns its end.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Returns its state in a word; `is_running` says whether a process holds its lock.
    ///
    /// `completed`, `failed`, `cancelled`; `running`; `waiting`, for a person; `interrupted`, if it
    /// can be gone on with.
    pub fn standing(&self, is_running: bool) -> &'static str {
        match &self.ended {
            Some(ended) => ended.outcome.as_str(),
            None if is_running => "running",
            None if self.open_calls().any(|call| self.waits_for_person(call)) => "waiting",
            None => "interrupted",
        }
    }

    /// Returns the part that the keys of its calls have in common.
    pub fn key_base(&self) -> KeyBase {
        KeyBase {
            run: self.run.clone(),
            plan: self.started.source_sha256,
            input: self.started.input_sha256,
        }
    }
}
