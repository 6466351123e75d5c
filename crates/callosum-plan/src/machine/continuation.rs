//! Continuation after a value: each frame goes on with it.

use super::{
    Shared, StepChange,
    evaluation::choose,
    fiber::{Fiber, Next, conform, shown},
    frame::{ForState, Frame},
    iteration::Update,
};
use crate::{
    failure::{Failure, FailureKind},
    library::vector_of,
    program::{Binding, Expression, Id, Program},
    value::Value,
};

impl Fiber {
    /// Goes on with a value that an expression of this frame came to.
    pub(super) fn resume(
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
                self.after_finally(Ok(value), shared)?;
                Ok(Next::Evaluate(*finally))
            }
            Frame::Cleanup { finally, .. } => {
                self.after_finally(Ok(value), shared)?;
                Ok(Next::Evaluate(finally))
            }
            Frame::AfterFinally(result) => match *result {
                Ok(value) => Ok(Next::Return(value)),
                Err(failure) => Ok(Next::Raise(failure)),
            },
            Frame::ForItems(id) => {
                let items = vector_of("for", &mut shared.workshop.budget, value)
                    .map_err(|failure| failure.at(program.spans[id as usize]))?;
                shared.workshop.budget.allocate_box::<ForState>()?;
                let state = Box::new(ForState {
                    items,
                    next: 0,
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
                    "`dotimes` takes an integer, but got {}",
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
                        format!("`step-loop` reached its turn limit ({turns})"),
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
                let Update {
                    mut entries,
                    mut known,
                    key,
                } = *target;
                known.entry(&key, &value, None);
                entries.insert(key, value);
                let updated = shared.workshop.budget.map_again(entries, known)?;
                Ok(Next::Return(updated))
            }
            Frame::Parallel { .. } => Ok(Next::Return(value)),
        }
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
            format!("no clause matches {}", shown(&subject)),
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
        match state.items.get(state.next).cloned() {
            Some(item) => {
                state.next += 1;
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
}
