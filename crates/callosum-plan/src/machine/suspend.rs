//! A call of a capability: where the machine stops, if it may.

use std::mem::take;

use super::{
    Position, Shared, Yield,
    fiber::{Fiber, Next},
    too_large,
};
use crate::{
    capability::CapabilityName,
    failure::{Failure, FailureKind},
    program::{Id, Program},
    value::Value,
};

impl Fiber {
    pub(super) fn stop_at_call(
        &mut self,
        id: Id,
        capability: &CapabilityName,
        arguments: Vec<Value>,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        if self.pure > 0 {
            return Err(Failure::new(
                FailureKind::SecurityViolation,
                format!("`:{capability}` is called inside `pure`"),
            ));
        }
        if shared.yields >= shared.limits.yields {
            return Err(Failure::new(
                FailureKind::BudgetExhausted,
                format!("the program reached its call limit ({})", shared.yields),
            ));
        }
        let weight = arguments.iter().fold(0, |sum: u64, argument| {
            sum.saturating_add(argument.weight())
        });
        if weight > shared.limits.value {
            return Err(too_large("the call's arguments", weight));
        }
        shared.workshop.budget.allocate(weight)?;
        if arguments.iter().any(holds_function) {
            return Err(Failure::type_error("a call takes data, but got a function"));
        }
        shared.yields += 1;
        // Whether the host still holds them must not decide what is copied from here on.
        let arguments = arguments.iter().map(Value::detached).collect();
        Ok(Next::Wait(Box::new(Yield {
            position: self.next_position(),
            capability: capability.clone(),
            arguments,
            steps: self.steps.clone(),
            delay_ms: take(&mut self.delay_ms),
            span: program.spans[id as usize],
        })))
    }

    pub(super) fn next_position(&mut self) -> Position {
        let mut position = self.prefix.clone();
        position.push(self.calls);
        self.calls += 1;
        Position(position)
    }
}

/// Whether a value, which is small when written out, has a function somewhere in it.
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
