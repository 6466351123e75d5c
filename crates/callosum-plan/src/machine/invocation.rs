//! Calling functions: of the library, of the program, and keywords as functions of maps.

use std::{mem::take, sync::Arc};

use super::{
    Shared,
    fiber::{Fiber, Next, conform},
    frame::Frame,
};
use crate::{
    failure::Failure,
    library::{Body, arity, look_up},
    program::{Pattern, Program},
    value::{Callable, Function, Group, Value},
};

impl Fiber {
    /// Calls a value with the last `count` operands, which it takes from there.
    pub(super) fn invoke(
        &mut self,
        callee: Value,
        count: usize,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        match callee {
            Value::Function(Function(Callable::Closure(group, member))) => {
                self.enter(group, member, count, program, shared)
            }
            Value::Function(Function(Callable::Library(function))) => {
                self.invoke_library(function, count, program, shared)
            }
            Value::Keyword(name) => {
                let start = self.operands.len() - count;
                let mut arguments = self.operands.drain(start..);
                let (Some(of), default, None) =
                    (arguments.next(), arguments.next(), arguments.next())
                else {
                    let failure =
                        arity(&format!(":{name}"), "a map and an optional default", count);
                    return Err(failure.with_hint(to_call(&name)));
                };
                drop(arguments);
                if matches!(of, Value::Vector(_)) {
                    return Err(Failure::type_error(format!(
                        "`:{name}` takes a map, but got a vector"
                    )));
                }
                let found = look_up(&format!(":{name}"), &of, &Value::Keyword(Arc::clone(&name)))
                    .map_err(|failure| failure.with_hint(to_call(&name)))?;
                Ok(Next::Return(found.or(default).unwrap_or_default()))
            }
            other => {
                let failure = Failure::type_error(format!(
                    "{} is called, but is not a function",
                    other.noun()
                ));
                Err(failure.with_hint("a list calls its first part; write data as a vector `[…]`"))
            }
        }
    }

    pub(super) fn invoke_library(
        &mut self,
        place: u32,
        count: usize,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let function = program.library.function(place);
        let start = self.operands.len() - count;
        if let Err(failure) = function.check_arity(count) {
            self.operands.truncate(start);
            return Err(failure);
        }
        // Strings may be long, and most functions look through theirs.
        let texts = self.operands[start..].iter().map(|operand| match operand {
            Value::Text(text) | Value::Keyword(text) => text.len() as u64 / 256,
            _ => 0,
        });
        shared.workshop.budget.spend(texts.sum())?;
        match &function.body {
            Body::Pure(body) => {
                let result = body(&mut shared.workshop, &mut self.operands[start..]);
                self.operands.truncate(start);
                Ok(Next::Return(result?))
            }
            Body::Domain(body) => {
                let result = body(&self.operands[start..]);
                self.operands.truncate(start);
                let value = result?;
                shared.workshop.budget.allocate(value.weight())?;
                Ok(Next::Return(value.detached()))
            }
            Body::Operation(operation) => {
                let arguments = self.operands.split_off(start);
                self.operate(*operation, arguments, program, shared)
            }
        }
    }

    /// Enters a function of the program; a call in tail position leaves nothing behind.
    fn enter(
        &mut self,
        group: Arc<Group>,
        member: u32,
        count: usize,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let lambda = &program.groups[group.definition as usize].members[member as usize];
        let named = lambda.parameters.len();
        if count < named || (count > named && lambda.rest.is_none()) {
            self.operands.truncate(self.operands.len() - count);
            let name = lambda.name.as_deref().unwrap_or("fn");
            let least = if lambda.rest.is_some() {
                " or more"
            } else {
                ""
            };
            let plural = if named == 1 && least.is_empty() {
                ""
            } else {
                "s"
            };
            return Err(arity(
                name,
                &format!("{named}{least} argument{plural}"),
                count,
            ));
        }
        if matches!(self.frames.last(), Some(Frame::Return { .. })) {
            self.locals.truncate(self.base);
        } else {
            let base = self.base;
            self.base = self.locals.len();
            let function = self.function.take();
            self.frames.push(Frame::Return { base, function });
        }
        shared.workshop.budget.spend(u64::from(lambda.frame) / 16)?;
        let start = self.operands.len() - count;
        let others = self.operands.split_off(start + named.min(count));
        self.locals.extend(self.operands.drain(start..));
        self.locals
            .resize_with(self.base + lambda.frame as usize, Value::default);
        shared.workshop.budget.bear(self.stack_bytes())?;
        if lambda.rest.is_some() {
            self.locals[self.base + named] = shared.workshop.budget.vector(others)?;
        }
        if !lambda.plain {
            let rest = lambda.rest.iter();
            for (slot, (pattern, schema)) in lambda.parameters.iter().chain(rest).enumerate() {
                let place = self.base + slot;
                conform(schema.as_ref(), &self.locals[place], shared)?;
                if !matches!(pattern, Pattern::Bind(own) if *own as usize == slot) {
                    let value = take(&mut self.locals[place]);
                    self.destructure(pattern, value, shared)?;
                }
            }
        }
        if lambda.returns.is_some() {
            let group = group.definition;
            self.frames.push(Frame::Typed { group, member });
        }
        self.function = Some((group, member));
        Ok(Next::Evaluate(lambda.body))
    }
}

/// Returns the hint for a capability's name that is used as a function.
fn to_call(name: &str) -> String {
    format!("a keyword reads a map; call a capability with `(call :{name} {{…}})`")
}
