//! [`Fiber`]: one thread of evaluation, with stacks of its own. The run is one, each parallel branch
//! is one.

use std::{
    collections::BTreeMap,
    mem::{self, size_of},
    sync::Arc,
};

use super::{
    Position, Shared, StepChange, StepEvent, StepUse, Yield,
    frame::{ForState, Frame, Marks},
    too_large,
};
use crate::{
    failure::{Failure, FailureKind},
    form::Name,
    library::items_of,
    program::{Binding, Expression, Id, Merge, Pattern, Program},
    value::{Callable, Function, Group, Key, Value},
};

/// How deep parallel branches may stand in one another; they alone use the host's stack.
const MAX_NESTING: u32 = 16;

pub(super) struct Fiber {
    pub(super) frames: Vec<Frame>,
    pub(super) locals: Vec<Value>,
    pub(super) operands: Vec<Value>,
    /// Where the running function's frame begins in `locals`.
    pub(super) base: usize,
    pub(super) function: Option<(Arc<Group>, u32)>,
    pub(super) pure: u32,
    pub(super) steps: Vec<StepUse>,
    /// Milliseconds that the next call should wait.
    pub(super) delay_ms: u64,
    prefix: Vec<u32>,
    calls: u32,
    nesting: u32,
    state: State,
}

enum State {
    Ready(Next),
    Waiting(Box<Yield>),
    /// The last frame's branches are under way.
    Branching,
    Ended(Box<Result<Value, Failure>>),
}

/// What a fiber does next.
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

    /// The value of what needs no evaluation.
    fn simple(&self, id: Id, program: &Program) -> Option<Value> {
        Some(match &program.expressions[id as usize] {
            Expression::Constant(value) => value.clone(),
            Expression::Local(slot) => self.locals[self.base + *slot as usize].clone(),
            Expression::Captured(place) => {
                let (group, _) = self.function.as_ref()?;
                group.captured[*place as usize].clone()
            }
            Expression::Sibling(member) => {
                let (group, _) = self.function.as_ref()?;
                Value::Function(Function(Callable::Closure(Arc::clone(group), *member)))
            }
            _ => return None,
        })
    }

    fn evaluate(
        &mut self,
        id: Id,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        shared.workshop.budget.spend(1)?;
        if let Some(value) = self.simple(id, program) {
            return Ok(Next::Return(value));
        }
        Ok(match &program.expressions[id as usize] {
            Expression::Vector(_)
            | Expression::Map(_)
            | Expression::Apply { .. }
            | Expression::Library { .. }
            | Expression::Call { .. } => return self.arguments(id, 0, program, shared),
            Expression::If { condition, .. } => {
                if let Some(value) = self.simple(*condition, program) {
                    return Ok(choose(id, &value, program));
                }
                self.frames.push(Frame::If(id));
                Next::Evaluate(*condition)
            }
            Expression::Let { .. } => return self.bindings(id, 0, program, shared),
            Expression::Do(parts) => {
                if parts.len() > 1 {
                    self.frames.push(Frame::Do { id, next: 1 });
                }
                Next::Evaluate(parts[0])
            }
            Expression::And(parts) | Expression::Or(parts) => {
                if parts.len() > 1 {
                    self.frames.push(Frame::Junction { id, next: 1 });
                }
                Next::Evaluate(parts[0])
            }
            Expression::Function(group) => {
                let group = self.make_group(*group, program, shared)?;
                Next::Return(Value::Function(Function(Callable::Closure(group, 0))))
            }
            Expression::Global(place) => {
                let Some(value) = &shared.globals[*place as usize] else {
                    let name = &program.globals[*place as usize];
                    let message = format!("`{name}` is not defined yet");
                    return Err(Failure::new(FailureKind::UndefinedSymbol, message)
                        .with_hint("move its definition before what uses it"));
                };
                Next::Return(value.clone())
            }
            Expression::Pure(inner) => {
                self.frames.push(Frame::Pure);
                self.pure += 1;
                Next::Evaluate(*inner)
            }
            Expression::Match { subject, .. } => {
                self.frames.push(Frame::Match(id));
                Next::Evaluate(*subject)
            }
            Expression::Try { body, .. } => {
                let marks = Box::new(self.marks());
                self.frames.push(Frame::Try { id, marks });
                Next::Evaluate(*body)
            }
            Expression::For { items, .. } => {
                self.frames.push(Frame::ForItems(id));
                Next::Evaluate(*items)
            }
            Expression::Repeat { times, .. } => {
                self.frames.push(Frame::RepeatTimes(id));
                Next::Evaluate(*times)
            }
            Expression::Step { step, body } => {
                let marks = Box::new(self.marks());
                let definition = &program.steps[*step as usize];
                self.steps.push(StepUse {
                    id: Name::clone(&definition.id),
                    attempt: 1,
                    timeout_ms: definition.timeout_ms,
                    on_fail: definition.on_fail,
                });
                self.tell(StepChange::Started, shared)?;
                self.frames.push(Frame::Step { id, marks });
                Next::Evaluate(*body)
            }
            Expression::StepLoop { condition, .. } => {
                self.operands.push(Value::Nil);
                self.frames.push(Frame::LoopCondition { id, turns: 0 });
                Next::Evaluate(*condition)
            }
            Expression::Parallel { branches, .. } => {
                return self.branch_out(id, branches, program, shared);
            }
            Expression::Define { value, .. } => {
                self.frames.push(Frame::Define(id));
                Next::Evaluate(*value)
            }
            Expression::Checkpoint(name) => {
                self.tell(StepChange::Checkpoint(Name::clone(name)), shared)?;
                Next::Return(Value::Nil)
            }
            Expression::Constant(_)
            | Expression::Local(_)
            | Expression::Captured(_)
            | Expression::Sibling(_) => Next::Return(Value::Nil),
        })
    }

    /// Goes on with a value that an expression of this frame came to.
    fn resume(
        &mut self,
        frame: Frame,
        value: Value,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        match frame {
            Frame::Return { base, function } => {
                self.locals.truncate(self.base);
                self.base = base;
                self.function = function;
                Ok(Next::Return(value))
            }
            Frame::Typed { group, member } => {
                let lambda = &program.groups[group as usize].members[member as usize];
                conform(lambda.returns.as_ref(), &value, shared)
                    .map_err(|failure| failure.at(program.spans[lambda.body as usize]))?;
                Ok(Next::Return(value))
            }
            Frame::If(id) => Ok(choose(id, &value, program)),
            Frame::Junction { id, next } => {
                let (Expression::And(parts) | Expression::Or(parts)) =
                    &program.expressions[id as usize]
                else {
                    return Ok(Next::Return(value));
                };
                let goes_on = matches!(program.expressions[id as usize], Expression::And(_));
                if value.is_truthy() != goes_on {
                    return Ok(Next::Return(value));
                }
                if next + 1 < parts.len() {
                    self.frames.push(Frame::Junction { id, next: next + 1 });
                }
                Ok(Next::Evaluate(parts[next]))
            }
            Frame::Do { id, next } => {
                let Expression::Do(parts) = &program.expressions[id as usize] else {
                    return Ok(Next::Return(value));
                };
                if next + 1 < parts.len() {
                    self.frames.push(Frame::Do { id, next: next + 1 });
                }
                Ok(Next::Evaluate(parts[next]))
            }
            Frame::Bind { id, next } => {
                if let Expression::Let { bindings, .. } = &program.expressions[id as usize]
                    && let Binding::Value {
                        pattern, schema, ..
                    } = &bindings[next]
                {
                    conform(schema.as_ref(), &value, shared)
                        .and_then(|()| self.destructure(pattern, value, shared))
                        .map_err(|failure| failure.at(program.spans[id as usize]))?;
                }
                self.bindings(id, next + 1, program, shared)
            }
            Frame::Arguments { id, next } => {
                self.operands.push(value);
                self.arguments(id, next, program, shared)
                    .map_err(|failure| failure.at(program.spans[id as usize]))
            }
            Frame::Match(id) => self
                .clauses(id, 0, value, program, shared)
                .map_err(|failure| failure.at(program.spans[id as usize])),
            Frame::Guard { id, clause } => {
                let subject = self.operands.pop().unwrap_or_default();
                let Expression::Match { clauses, .. } = &program.expressions[id as usize] else {
                    return Ok(Next::Return(value));
                };
                if value.is_truthy() {
                    return Ok(Next::Evaluate(clauses[clause].body));
                }
                self.clauses(id, clause + 1, subject, program, shared)
                    .map_err(|failure| failure.at(program.spans[id as usize]))
            }
            Frame::Try { id, .. } => {
                let Expression::Try {
                    finally: Some(finally),
                    ..
                } = &program.expressions[id as usize]
                else {
                    return Ok(Next::Return(value));
                };
                self.frames.push(Frame::AfterFinally(Box::new(Ok(value))));
                Ok(Next::Evaluate(*finally))
            }
            Frame::Cleanup { finally, .. } => {
                self.frames.push(Frame::AfterFinally(Box::new(Ok(value))));
                Ok(Next::Evaluate(finally))
            }
            Frame::AfterFinally(result) => match *result {
                Ok(value) => Ok(Next::Return(value)),
                Err(failure) => Ok(Next::Raise(failure)),
            },
            Frame::ForItems(id) => {
                let items = items_of("for", &mut shared.workshop.budget, value)
                    .map_err(|failure| failure.at(program.spans[id as usize]))?;
                let state = Box::new(ForState {
                    items: items.into_iter(),
                    results: Vec::new(),
                });
                self.for_next(id, state, program, shared)
            }
            Frame::For { id, mut state } => {
                let flatten = matches!(
                    program.expressions[id as usize],
                    Expression::For { flatten: true, .. }
                );
                match value {
                    Value::Vector(inner) if flatten => {
                        shared.workshop.budget.allocate_values(inner.len())?;
                        state.results.extend(inner.iter().cloned());
                    }
                    value => {
                        shared.workshop.budget.allocate_values(1)?;
                        state.results.push(value);
                    }
                }
                self.for_next(id, state, program, shared)
            }
            Frame::RepeatTimes(id) => match value {
                Value::Integer(times) => Ok(self.repeat(id, times, 0, program)),
                other => Err(Failure::type_error(format!(
                    "`dotimes` takes an integer, and here is {}",
                    other.noun()
                ))
                .at(program.spans[id as usize])),
            },
            Frame::Repeat { id, times, next } => Ok(self.repeat(id, times, next, program)),
            Frame::Step { .. } => {
                self.tell(StepChange::Completed, shared)?;
                self.steps.pop();
                Ok(Next::Return(value))
            }
            Frame::LoopCondition { id, turns } => {
                let Expression::StepLoop { body, .. } = &program.expressions[id as usize] else {
                    return Ok(Next::Return(value));
                };
                if !value.is_truthy() {
                    return Ok(Next::Return(self.operands.pop().unwrap_or_default()));
                }
                if turns >= shared.limits.turns {
                    return Err(Failure::new(
                        FailureKind::BudgetExhausted,
                        format!("`step-loop` has made {turns} turns, all that are allowed"),
                    )
                    .at(program.spans[id as usize]));
                }
                let turns = turns + 1;
                self.frames.push(Frame::LoopBody { id, turns });
                Ok(Next::Evaluate(*body))
            }
            Frame::LoopBody { id, turns } => {
                let Expression::StepLoop { condition, .. } = &program.expressions[id as usize]
                else {
                    return Ok(Next::Return(value));
                };
                self.operands.pop();
                self.operands.push(value);
                self.frames.push(Frame::LoopCondition { id, turns });
                Ok(Next::Evaluate(*condition))
            }
            Frame::Pure => {
                self.pure -= 1;
                Ok(Next::Return(value))
            }
            Frame::Define(id) => {
                if let Expression::Define { global, schema, .. } = &program.expressions[id as usize]
                {
                    conform(schema.as_ref(), &value, shared)
                        .map_err(|failure| failure.at(program.spans[id as usize]))?;
                    shared.globals[*global as usize] = Some(value.clone());
                }
                Ok(Next::Return(value))
            }
            Frame::Iterate(iteration) => self.iterated(iteration, value, program, shared),
            Frame::Update(target) => {
                let (map, key) = *target;
                let mut entries = map.into_entries();
                entries.insert(key, value);
                Ok(Next::Return(shared.workshop.budget.map(entries)?))
            }
            Frame::Parallel { .. } => Ok(Next::Return(value)),
        }
    }

    /// Evaluates arguments from this place on, then does what they are for.
    fn arguments(
        &mut self,
        id: Id,
        from: usize,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let expression = &program.expressions[id as usize];
        let part = |index: usize| match expression {
            Expression::Vector(parts)
            | Expression::Library {
                arguments: parts, ..
            }
            | Expression::Call {
                arguments: parts, ..
            } => parts.get(index).copied(),
            Expression::Map(entries) => entries.get(index).map(|(_, id)| *id),
            Expression::Apply {
                function,
                arguments,
            } => match index {
                0 => Some(*function),
                _ => arguments.get(index - 1).copied(),
            },
            _ => None,
        };
        let mut index = from;
        while let Some(part) = part(index) {
            index += 1;
            let Some(value) = self.simple(part, program) else {
                self.frames.push(Frame::Arguments { id, next: index });
                return Ok(Next::Evaluate(part));
            };
            self.operands.push(value);
        }
        let start = self.operands.len() - index;
        let budget = &mut shared.workshop.budget;
        match expression {
            Expression::Vector(_) => {
                let items = self.operands.split_off(start);
                Ok(Next::Return(budget.vector(items)?))
            }
            Expression::Map(entries) => {
                let values = self.operands.drain(start..);
                let keys = entries.iter().map(|(key, _)| key.clone());
                let map: BTreeMap<Key, Value> = keys.zip(values).collect();
                Ok(Next::Return(budget.map(map)?))
            }
            Expression::Library { function, .. } => {
                self.invoke_library(*function, index, program, shared)
            }
            Expression::Apply { .. } => {
                let callee = mem::take(&mut self.operands[start]);
                let next = self.invoke(callee, index - 1, program, shared)?;
                // What is left of the callee's place lies under arguments that are gone.
                debug_assert_eq!(self.operands.len(), start + 1);
                self.operands.truncate(start);
                Ok(next)
            }
            Expression::Call { capability, .. } => {
                let arguments = self.operands.split_off(start);
                self.stop_at_call(id, capability, arguments, program, shared)
            }
            _ => Ok(Next::Return(Value::Nil)),
        }
    }

    fn stop_at_call(
        &mut self,
        id: Id,
        capability: &crate::capability::CapabilityName,
        arguments: Vec<Value>,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        if self.pure > 0 {
            return Err(Failure::new(
                FailureKind::SecurityViolation,
                format!("`:{capability}` is called under `pure`"),
            ));
        }
        if shared.yields >= shared.limits.yields {
            return Err(Failure::new(
                FailureKind::BudgetExhausted,
                format!(
                    "the program has made {} calls, all that are allowed",
                    shared.yields
                ),
            ));
        }
        let weight = arguments.iter().fold(0, |sum: u64, argument| {
            sum.saturating_add(argument.weight())
        });
        if weight > shared.limits.value {
            return Err(too_large("what the call takes", weight));
        }
        shared.workshop.budget.allocate(weight)?;
        if arguments.iter().any(holds_function) {
            return Err(Failure::type_error(
                "a call takes data, and here is a function",
            ));
        }
        shared.yields += 1;
        Ok(Next::Wait(Box::new(Yield {
            position: self.next_position(),
            capability: capability.clone(),
            arguments,
            steps: self.steps.clone(),
            delay_ms: mem::take(&mut self.delay_ms),
            span: program.spans[id as usize],
        })))
    }

    fn next_position(&mut self) -> Position {
        let mut position = self.prefix.clone();
        position.push(self.calls);
        self.calls += 1;
        Position(position)
    }

    fn bindings(
        &mut self,
        id: Id,
        from: usize,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let Expression::Let { bindings, body } = &program.expressions[id as usize] else {
            return Ok(Next::Return(Value::Nil));
        };
        for (index, binding) in bindings.iter().enumerate().skip(from) {
            match binding {
                Binding::Functions { group, slots } => {
                    let group = self.make_group(*group, program, shared)?;
                    for (member, slot) in (0..).zip(slots) {
                        let function = Callable::Closure(Arc::clone(&group), member);
                        self.locals[self.base + *slot as usize] =
                            Value::Function(Function(function));
                    }
                }
                Binding::Value {
                    pattern,
                    schema,
                    value,
                } => {
                    let Some(value) = self.simple(*value, program) else {
                        self.frames.push(Frame::Bind { id, next: index });
                        return Ok(Next::Evaluate(*value));
                    };
                    conform(schema.as_ref(), &value, shared)?;
                    self.destructure(pattern, value, shared)?;
                }
            }
        }
        Ok(Next::Evaluate(*body))
    }

    pub(super) fn make_group(
        &self,
        place: u32,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Arc<Group>, Failure> {
        let captures = &program.groups[place as usize].captures;
        shared.workshop.budget.allocate_values(captures.len() + 2)?;
        let captured = captures
            .iter()
            .map(|&id| self.simple(id, program).unwrap_or_default())
            .collect();
        Ok(Arc::new(Group {
            definition: place,
            captured,
        }))
    }

    fn clauses(
        &mut self,
        id: Id,
        from: usize,
        subject: Value,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let Expression::Match { clauses, .. } = &program.expressions[id as usize] else {
            return Ok(Next::Return(Value::Nil));
        };
        for (index, clause) in clauses.iter().enumerate().skip(from) {
            if !self.fits(&clause.pattern, &subject, shared)? {
                continue;
            }
            let Some(guard) = clause.guard else {
                return Ok(Next::Evaluate(clause.body));
            };
            self.operands.push(subject);
            self.frames.push(Frame::Guard { id, clause: index });
            return Ok(Next::Evaluate(guard));
        }
        Err(Failure::new(
            FailureKind::MatchError,
            format!("no clause fits {}", shown(&subject)),
        )
        .with_hint("add a last clause `_ otherwise`"))
    }

    fn for_next(
        &mut self,
        id: Id,
        mut state: Box<ForState>,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let Expression::For { pattern, body, .. } = &program.expressions[id as usize] else {
            return Ok(Next::Return(Value::Nil));
        };
        match state.items.next() {
            Some(item) => {
                self.destructure(pattern, item, shared)
                    .map_err(|failure| failure.at(program.spans[id as usize]))?;
                self.frames.push(Frame::For { id, state });
                Ok(Next::Evaluate(*body))
            }
            None => Ok(Next::Return(shared.workshop.budget.vector(state.results)?)),
        }
    }

    fn repeat(&mut self, id: Id, times: i64, next: i64, program: &Program) -> Next {
        match &program.expressions[id as usize] {
            Expression::Repeat { slot, body, .. } if next < times => {
                self.locals[self.base + *slot as usize] = Value::Integer(next);
                let next = next + 1;
                self.frames.push(Frame::Repeat { id, times, next });
                Next::Evaluate(*body)
            }
            _ => Next::Return(Value::Nil),
        }
    }

    fn branch_out(
        &mut self,
        id: Id,
        groups: &[u32],
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        if self.nesting == MAX_NESTING {
            return Err(Failure::new(
                FailureKind::BudgetExhausted,
                format!("`step-parallel` stands in itself more than {MAX_NESTING} times"),
            ));
        }
        let place = self.next_position();
        let mut branches = Vec::with_capacity(groups.len());
        for (number, &group) in (0..).zip(groups) {
            shared.workshop.budget.allocate(size_of::<Self>() as u64)?;
            let lambda = &program.groups[group as usize].members[0];
            let made = self.make_group(group, program, shared)?;
            let mut prefix = place.0.clone();
            prefix.push(number);
            branches.push(Self {
                function: Some((made, 0)),
                pure: self.pure,
                steps: self.steps.clone(),
                prefix,
                nesting: self.nesting + 1,
                ..Self::of_program(lambda.body, vec![Value::Nil; lambda.frame as usize])
            });
        }
        self.frames.push(Frame::Parallel { id, branches });
        Ok(Next::Branch)
    }

    /// Runs the branches as far as they go; says how it goes on where all have ended.
    fn branches(&mut self, program: &Program, shared: &mut Shared) -> Option<Next> {
        let Some(Frame::Parallel { branches, .. }) = self.frames.last_mut() else {
            return Some(Next::Return(Value::Nil));
        };
        for branch in branches.iter_mut() {
            branch.run(program, shared);
        }
        if branches.iter().any(|branch| branch.ended().is_none()) {
            return None;
        }
        let Some(Frame::Parallel { id, branches }) = self.frames.pop() else {
            return Some(Next::Return(Value::Nil));
        };
        let mut values = Vec::with_capacity(branches.len());
        for branch in branches {
            if let State::Ended(result) = branch.state {
                match *result {
                    Ok(value) => values.push(value),
                    // Of several that failed, the first in the order of the source.
                    Err(failure) => return Some(Next::Raise(failure)),
                }
            }
        }
        let merge = match &program.expressions[id as usize] {
            Expression::Parallel { merge, .. } => *merge,
            _ => Merge::Collect,
        };
        let merged = super::matching::merged(merge, values, &mut shared.workshop.budget);
        Some(match merged {
            Ok(value) => Next::Return(value),
            Err(failure) => Next::Raise(failure.at(program.spans[id as usize])),
        })
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
        let bytes = size_of::<StepEvent>() + path.len() * size_of::<Name>();
        shared.workshop.budget.allocate(bytes as u64)?;
        shared.events.push(StepEvent { path, change });
        Ok(())
    }

    /// Bytes that the stacks take.
    pub(super) fn stack_bytes(&self) -> u64 {
        let values = self.locals.len() + self.operands.len();
        (self.frames.len() * size_of::<Frame>() + values * size_of::<Value>()) as u64
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
        let message = format!("{} can't be taken apart that way", shown(&value));
        Err(match (pattern, &value) {
            (Pattern::Vector { .. }, Value::Vector(_)) => Failure::new(
                FailureKind::MatchError,
                message,
            )
            .with_hint(
                "a vector has exactly as many items as its pattern, unless that ends in `& rest`",
            ),
            _ => Failure::type_error(message),
        })
    }
}

fn choose(id: Id, condition: &Value, program: &Program) -> Next {
    match &program.expressions[id as usize] {
        Expression::If { then, .. } if condition.is_truthy() => Next::Evaluate(*then),
        Expression::If {
            otherwise: Some(otherwise),
            ..
        } => Next::Evaluate(*otherwise),
        _ => Next::Return(Value::Nil),
    }
}

pub(super) fn conform(
    schema: Option<&crate::schema::Schema>,
    value: &Value,
    shared: &mut Shared,
) -> Result<(), Failure> {
    let Some(schema) = schema else { return Ok(()) };
    let budget = &mut shared.workshop.budget;
    match schema.mismatch(value, &mut || budget.spend(1))? {
        None => Ok(()),
        Some(mismatch) => Err(Failure::new(FailureKind::TypeValidationError, mismatch)),
    }
}

/// A value for a message: what it is, and itself where it is short.
fn shown(value: &Value) -> String {
    match value.to_text(60) {
        Ok(text) => format!("{} ({text})", value.noun()),
        Err(_) => value.noun().to_owned(),
    }
}

fn holds_function(value: &Value) -> bool {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Function(_) => return true,
            Value::Vector(items) => pending.extend(items.iter()),
            Value::Map(map) => pending.extend(map.values()),
            _ => {}
        }
    }
    false
}
