//! Propagation of a failure outwards: through frames that it ends, to a `catch`, a `finally`, a
//! step that is tried again, or the end.

use super::{
    Shared, StepChange,
    fiber::{Fiber, Next},
    frame::{Frame, Marks},
};
use crate::{
    failure::{Failure, FailureKind},
    program::{Expression, Program},
};

impl Fiber {
    /// Finds the frame that goes on after a failure. Returns the failure if there is none.
    pub(super) fn unwind(
        &mut self,
        failure: Failure,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        if failure.kind == FailureKind::BudgetExhausted {
            // Nothing more is evaluated, or a program could use up more than it may by catching.
            self.frames.clear();
            return Err(failure);
        }
        // What it says was written down, and may be long.
        shared
            .workshop
            .budget
            .spend(failure.message.len() as u64 / 256)?;
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Try { id, marks } => {
                    self.go_back(&marks);
                    let Expression::Try {
                        catches, finally, ..
                    } = &program.expressions[id as usize]
                    else {
                        continue;
                    };
                    let budget = &mut shared.workshop.budget;
                    budget.allocate(failure.message.len() as u64 + 800)?;
                    budget.spend(catches.len() as u64 / 16)?;
                    let caught = failure.to_value();
                    for catch in catches {
                        if catch.kind.is_some_and(|kind| kind != failure.kind)
                            || !self.fits(&catch.pattern, &caught, shared)?
                        {
                            continue;
                        }
                        if let Some(finally) = *finally {
                            self.frames.push(Frame::Cleanup { finally, marks });
                        }
                        return Ok(Next::Evaluate(catch.body));
                    }
                    if let Some(finally) = *finally {
                        self.after_finally(Err(failure), shared)?;
                        return Ok(Next::Evaluate(finally));
                    }
                }
                Frame::Cleanup { finally, marks } => {
                    self.go_back(&marks);
                    self.after_finally(Err(failure), shared)?;
                    return Ok(Next::Evaluate(finally));
                }
                Frame::Step { id, marks } => {
                    let Expression::Step { step, body } = &program.expressions[id as usize] else {
                        continue;
                    };
                    let definition = &program.steps[*step as usize];
                    self.steps.truncate(marks.steps + 1);
                    let attempt = self.steps.last().map_or(1, |step| step.attempt);
                    // What is forbidden stays so, however often it is tried.
                    let again = attempt <= definition.retries
                        && failure.kind != FailureKind::SecurityViolation;
                    if !again {
                        self.tell(StepChange::Failed(failure.kind), shared)?;
                        self.go_back(&marks);
                        continue;
                    }
                    let step = self.steps.pop();
                    self.go_back(&marks);
                    if let Some(mut step) = step {
                        step.attempt = attempt + 1;
                        self.steps.push(step);
                    }
                    self.tell(StepChange::Retrying(attempt + 1), shared)?;
                    self.delay_ms = definition.backoff_ms;
                    self.frames.push(Frame::Step { id, marks });
                    return Ok(Next::Evaluate(*body));
                }
                _ => {}
            }
        }
        Err(failure)
    }

    fn go_back(&mut self, marks: &Marks) {
        self.base = marks.base;
        self.locals.truncate(marks.locals);
        self.operands.truncate(marks.operands);
        self.steps.truncate(marks.steps);
        self.pure = marks.pure;
        self.function.clone_from(&marks.function);
    }
}
