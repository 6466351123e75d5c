//! Branches of `step-parallel`: fibers that run in parallel until all have ended.

use std::mem::size_of;

use super::{
    Shared,
    fiber::{Fiber, Next},
    frame::Frame,
    pattern_match::merged,
};
use crate::{
    failure::{Failure, FailureKind},
    program::{Expression, Id, Merge, Program},
    value::Value,
};

/// Deepest nesting of parallel branches; they alone use the host's stack.
const MAX_NESTING: u32 = 16;

impl Fiber {
    pub(super) fn branch_out(
        &mut self,
        id: Id,
        groups: &[u32],
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        if self.nesting == MAX_NESTING {
            return Err(Failure::new(
                FailureKind::BudgetExhausted,
                format!("`step-parallel` is nested more than {MAX_NESTING} times"),
            ));
        }
        let place = self.next_position();
        let mut branches = Vec::with_capacity(groups.len());
        for (number, &group) in (0..).zip(groups) {
            let lambda = &program.groups[group as usize].members[0];
            let locals = lambda.frame as usize * size_of::<Value>();
            let bytes = size_of::<Self>() + locals;
            shared.workshop.budget.allocate(bytes as u64)?;
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
    pub(super) fn branches(&mut self, program: &Program, shared: &mut Shared) -> Option<Next> {
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
            match branch.into_end() {
                Some(Ok(value)) => values.push(value),
                // Of several that failed, the first in the order of the source.
                Some(Err(failure)) => return Some(Next::Raise(failure)),
                None => {}
            }
        }
        let merge = match &program.expressions[id as usize] {
            Expression::Parallel { merge, .. } => *merge,
            _ => Merge::Collect,
        };
        let merged = merged(merge, values, &mut shared.workshop.budget);
        Some(match merged {
            Ok(value) => Next::Return(value),
            Err(failure) => Next::Raise(failure.at(program.spans[id as usize])),
        })
    }
}
