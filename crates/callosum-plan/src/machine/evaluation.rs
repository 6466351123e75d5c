//! Beginning of an expression: its value if that is there, else what has to be evaluated first.

use std::{collections::BTreeMap, mem::take, sync::Arc};

use super::{
    Shared, StepChange, StepUse,
    fiber::{Fiber, Next, conform},
    frame::{Frame, Marks},
};
use crate::{
    failure::{Failure, FailureKind},
    form::Name,
    program::{Binding, Expression, Id, Program},
    value::{Callable, Function, Group, Key, Value},
};

impl Fiber {
    /// The value of what needs no evaluation.
    pub(super) fn simple(&self, id: Id, program: &Program) -> Option<Value> {
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

    pub(super) fn evaluate(
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
                        .with_hint("move its definition before its first use"));
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
                shared.workshop.budget.allocate_box::<Marks>()?;
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
                shared.workshop.budget.allocate_box::<Marks>()?;
                let marks = Box::new(self.marks());
                let definition = &program.steps[*step as usize];
                self.steps.push(StepUse {
                    id: Name::clone(&definition.id),
                    attempt: 1,
                    timeout_ms: definition.timeout_ms,
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

    /// Evaluates arguments from this place on, then does what they are for.
    pub(super) fn arguments(
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
                // A function's last act: its names are done with, so that what only they hold can be
                // gone on with instead of being copied.
                if matches!(self.frames.last(), Some(Frame::Return { .. })) {
                    self.locals.truncate(self.base);
                }
                self.invoke_library(*function, index, program, shared)
            }
            Expression::Apply { .. } => {
                let callee = take(&mut self.operands[start]);
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

    pub(super) fn bindings(
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
                    shared.workshop.budget.spend(slots.len() as u64 / 16)?;
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
}

pub(super) fn choose(id: Id, condition: &Value, program: &Program) -> Next {
    match &program.expressions[id as usize] {
        Expression::If { then, .. } if condition.is_truthy() => Next::Evaluate(*then),
        Expression::If {
            otherwise: Some(otherwise),
            ..
        } => Next::Evaluate(*otherwise),
        _ => Next::Return(Value::Nil),
    }
}
