//! [`Frame`]: remaining work with a value once it is there.

use std::sync::Arc;

use super::{
    fiber::Fiber,
    iteration::{Iteration, Update},
};
use crate::{
    failure::Failure,
    program::Id,
    value::{Group, Value, Vector},
};

/// One piece of a continuation; expressions are named by their places.
pub(super) enum Frame {
    /// The caller's frame is put back.
    Return {
        base: usize,
        function: Option<(Arc<Group>, u32)>,
    },
    /// The value is held against the type that a function returns.
    Typed {
        group: u32,
        member: u32,
    },
    If(Id),
    /// One of `and` or `or`; the place of the next part.
    Junction {
        id: Id,
        next: usize,
    },
    Do {
        id: Id,
        next: usize,
    },
    Bind {
        id: Id,
        next: usize,
    },
    Arguments {
        id: Id,
        next: usize,
    },
    Match(Id),
    /// A clause's guard; the subject is the last operand.
    Guard {
        id: Id,
        clause: usize,
    },
    Try {
        id: Id,
        marks: Box<Marks>,
    },
    /// A clause of `catch` is evaluated; `finally` comes after it in any case.
    Cleanup {
        finally: Id,
        marks: Box<Marks>,
    },
    /// `finally` is evaluated; this is what it was for.
    AfterFinally(Box<Result<Value, Failure>>),
    ForItems(Id),
    For {
        id: Id,
        state: Box<ForState>,
    },
    RepeatTimes(Id),
    Repeat {
        id: Id,
        times: i64,
        next: i64,
    },
    Step {
        id: Id,
        marks: Box<Marks>,
    },
    /// The last turn's value is the last operand.
    LoopCondition {
        id: Id,
        turns: u64,
    },
    LoopBody {
        id: Id,
        turns: u64,
    },
    Pure,
    Define(Id),
    Iterate(Box<Iteration>),
    Update(Box<Update>),
    Parallel {
        id: Id,
        branches: Vec<Fiber>,
    },
}

/// Heights of the stacks, to go back to when something fails.
pub(super) struct Marks {
    pub(super) base: usize,
    pub(super) locals: usize,
    pub(super) operands: usize,
    pub(super) steps: usize,
    pub(super) pure: u32,
    pub(super) function: Option<(Arc<Group>, u32)>,
}

/// A `for` under way.
pub(super) struct ForState {
    pub(super) items: Vector,
    /// The place of the item that comes next.
    pub(super) next: usize,
    pub(super) results: Vec<Value>,
}
