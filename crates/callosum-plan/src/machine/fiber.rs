//! [`Fiber`]: one thread of evaluation, with stacks of its own. The run is one, each parallel branch
//! is one.

use std::{
    mem::{self, size_of},
    sync::Arc,
};

use super::{
    Position, Shared, StepChange, StepEvent, StepUse, Yield,
    frame::{Frame, Marks},
};
use crate::{
    failure::{Failure, FailureKind},
    form::Name,
    program::{Id, Pattern, Program},
    value::{Group, Value},
};

pub(super) struct Fiber {
    pub(super) frames: Vec<Frame>,
    pub(super) locals: Vec<Value>,
    pub(super) operands: Vec<Value>,
    /// Start of the running function's frame in `locals`.
    pub(super) base: usize,
    pub(super) function: Option<(Arc<Group>, u32)>,
    pub(super) pure: u32,
    pub(super) steps: Vec<StepUse>,
    /// Milliseconds that the next call should wait.
    pub(super) delay_ms: u64,
    pub(super) prefix: Vec<u32>,
    pub(super) calls: u32,
    pub(super) nesting: u32,
    pub(super) state: State,
}

pub(super) enum State {
    Ready(Next),
    Waiting(Box<Yield>),
    /// The last frame's branches are under way.
    Branching,
    Ended(Box<Result<Value, Failure>>),
}

/// Next action of a fiber.
pub(super) enum Next {
    Evaluate(Id),
    Return(Value),
    Raise(Failure),
    Wait(Box<Yield>),
    Branch,
}

impl Fiber {
    pub(super) fn of_program(entry: Id, locals: Vec<Value>) -> Self {
        Self {
            frames: Vec::new(),
            locals,
            operands: Vec::new(),
            base: 0,
            function: None,
            pure: 0,
            steps: Vec::new(),
            delay_ms: 0,
            prefix: Vec::new(),
            calls: 0,
            nesting: 0,
            state: State::Ready(Next::Evaluate(entry)),
        }
    }

    pub(super) fn ended(&self) -> Option<&Result<Value, Failure>> {
        match &self.state {
            State::Ended(result) => Some(result),
            _ => None,
        }
    }

    /// Returns how it ended, where it has.
    pub(super) fn into_end(self) -> Option<Result<Value, Failure>> {
        match self.state {
            State::Ended(result) => Some(*result),
            _ => None,
        }
    }

    pub(super) fn waiting(&self, into: &mut Vec<Yield>) {
        match (&self.state, self.frames.last()) {
            (State::Waiting(waiting), _) => into.push((**waiting).clone()),
            (State::Branching, Some(Frame::Parallel { branches, .. })) => {
                for branch in branches {
                    branch.waiting(into);
                }
            }
            _ => {}
        }
    }

    /// Takes the answer where a call of this position waits, and says whether one did.
    pub(super) fn answer(&mut self, position: &Position, answer: Result<Value, Failure>) -> bool {
        match (&self.state, self.frames.last_mut()) {
            (State::Waiting(waiting), _) if waiting.position == *position => {
                self.state = State::Ready(match answer {
                    Ok(value) => Next::Return(value),
                    Err(failure) => Next::Raise(failure.at(waiting.span)),
                });
                true
            }
            (State::Branching, Some(Frame::Parallel { branches, .. })) => {
                match branches.iter_mut().find(|branch| branch.holds(position)) {
                    Some(branch) => branch.answer(position, answer),
                    None => false,
                }
            }
            _ => false,
        }
    }

    fn holds(&self, position: &Position) -> bool {
        position.0.starts_with(&self.prefix)
    }

    /// Evaluates until there is an end, or nothing to do before an answer.
    pub(super) fn run(&mut self, program: &Program, shared: &mut Shared) {
        loop {
            let next = match mem::replace(&mut self.state, State::Branching) {
                State::Ready(next) => next,
                State::Branching => match self.branches(program, shared) {
                    Some(next) => next,
                    None => return,
                },
                other => {
                    self.state = other;
                    return;
                }
            };
            self.state = self.evaluate_all(next, program, shared);
        }
    }

    fn evaluate_all(&mut self, mut next: Next, program: &Program, shared: &mut Shared) -> State {
        loop {
            next = match next {
                Next::Evaluate(id) => match self.evaluate(id, program, shared) {
                    Ok(next) => next,
                    Err(failure) => Next::Raise(failure.at(program.spans[id as usize])),
                },
                Next::Return(value) => match self.frames.pop() {
                    Some(frame) => match self.resume(frame, value, program, shared) {
                        Ok(next) => next,
                        Err(failure) => Next::Raise(failure),
                    },
                    None => return State::Ended(Box::new(Ok(value))),
                },
                Next::Raise(failure) => match self.unwind(failure, program, shared) {
                    Ok(next) => next,
                    Err(failure) => return State::Ended(Box::new(Err(failure))),
                },
                Next::Wait(waiting) => return State::Waiting(waiting),
                Next::Branch => return State::Branching,
            };
        }
    }

    pub(super) fn marks(&self) -> Marks {
        Marks {
            base: self.base,
            locals: self.locals.len(),
            operands: self.operands.len(),
            steps: self.steps.len(),
            pure: self.pure,
            function: self.function.clone(),
        }
    }

    /// Notes what happened to the innermost step.
    pub(super) fn tell(&self, change: StepChange, shared: &mut Shared) -> Result<(), Failure> {
        let path: Vec<Name> = self
            .steps
            .iter()
            .map(|step| Name::clone(&step.id))
            .collect();
        // They are kept in a vector, which grows by doubling.
        let bytes = 2 * size_of::<StepEvent>() + path.len() * size_of::<Name>();
        shared.workshop.budget.allocate(bytes as u64)?;
        shared.events.push(StepEvent { path, change });
        Ok(())
    }

    /// Bytes that the stacks take, which grow by doubling.
    pub(super) fn stack_bytes(&self) -> u64 {
        let room = |length: usize| length.next_power_of_two();
        let values = room(self.locals.len()) + room(self.operands.len());
        (room(self.frames.len()) * size_of::<Frame>() + values * size_of::<Value>()) as u64
    }

    /// Has `finally` followed by what it was for.
    pub(super) fn after_finally(
        &mut self,
        result: Result<Value, Failure>,
        shared: &mut Shared,
    ) -> Result<(), Failure> {
        let budget = &mut shared.workshop.budget;
        budget.allocate_box::<Result<Value, Failure>>()?;
        self.frames.push(Frame::AfterFinally(Box::new(result)));
        Ok(())
    }

    pub(super) fn destructure(
        &mut self,
        pattern: &Pattern,
        value: Value,
        shared: &mut Shared,
    ) -> Result<(), Failure> {
        if let Pattern::Bind(slot) = pattern {
            self.locals[self.base + *slot as usize] = value;
            return Ok(());
        }
        if self.fits(pattern, &value, shared)? {
            return Ok(());
        }
        let message = format!("the pattern does not match {}", shown(&value));
        Err(match (pattern, &value) {
            (Pattern::Vector { .. }, Value::Vector(_)) => Failure::new(
                FailureKind::MatchError,
                message,
            )
            .with_hint(
                "a vector needs exactly as many items as its pattern, unless the pattern ends in `& rest`",
            ),
            _ => Failure::type_error(message),
        })
    }
}

pub(super) fn conform(
    schema: Option<&crate::schema::Schema>,
    value: &Value,
    shared: &mut Shared,
) -> Result<(), Failure> {
    let Some(schema) = schema else { return Ok(()) };
    let budget = &mut shared.workshop.budget;
    match schema.mismatch(value, &mut |work| budget.spend(work))? {
        None => Ok(()),
        Some(mismatch) => {
            let message = format!("{mismatch}; it is {}", shown(value));
            Err(Failure::new(FailureKind::TypeValidationError, message))
        }
    }
}

/// A value for a message: what it is, and itself where it is short.
pub(super) fn shown(value: &Value) -> String {
    match value.to_text(60) {
        Ok(text) if text != value.noun() => format!("{} ({text})", value.noun()),
        _ => value.noun().to_owned(),
    }
}
