//! [`Machine`]: evaluates a program up to each effect, and goes on from its answer.
//!
//! The continuation is data: frames on a stack of the machine's own. So it stops anywhere, also
//! inside `map`, closures and arguments; no program exhausts the host's stack; and branches of
//! `step-parallel` are machines within that stop side by side, their calls returned together.
//!
//! A run is decided by program, input and answers. A host that keeps the answers can end the
//! process and come to the same place again with a new machine; a machine itself is never written
//! down.

mod branching;
mod continuation;
mod evaluation;
mod fiber;
mod frame;
mod invocation;
mod iteration;
mod pattern_match;
mod suspend;
mod unwinding;

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    sync::Arc,
};

use thiserror::Error;

use self::fiber::Fiber;
use crate::{
    budget::{Budget, Limits},
    capability::CapabilityName,
    failure::{Failure, FailureKind},
    form::Name,
    library::{EvalContext, Patterns},
    program::Program,
    span::Span,
    value::Value,
};

/// A program being evaluated.
pub struct Machine {
    program: Arc<Program>,
    root: Fiber,
    shared: Shared,
}

/// State that the branches of a run share.
struct Shared {
    limits: Limits,
    workshop: EvalContext,
    globals: Vec<Option<Value>>,
    yields: u64,
    events: Vec<StepEvent>,
}

/// State of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It came to a value.
    Complete(Value),
    /// It failed.
    Failed(Failure),
    /// It waits for the answers to these calls, in the order of their positions.
    Yield(Vec<Yield>),
}

/// A call that waits for its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Yield {
    /// Position of the call in the run, the same on every replay.
    pub position: Position,
    /// Capability that is called.
    pub capability: CapabilityName,
    /// Arguments of the call; data, no functions.
    pub arguments: Vec<Value>,
    /// The steps around it, the outermost first.
    pub steps: Vec<StepUse>,
    /// Milliseconds that the step asks to be waited first, where it is tried again.
    pub delay_ms: u64,
    /// Place of the call in the source.
    pub span: Span,
}

/// Position of a call in a run.
///
/// The calls of a program are counted from 0. A `step-parallel` takes one number itself; its
/// branches count on their own below it: `2.1.0` is the first call of the second branch. So the
/// position does not depend on which answer came first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(Vec<u32>);

/// A step around a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepUse {
    /// The step's name.
    pub id: Name,
    /// Number of the try, from 1.
    pub attempt: u32,
    /// Milliseconds that a call in it may take.
    pub timeout_ms: Option<u64>,
}

/// An event of a step, for code that shows or records the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEvent {
    /// The names of the steps around it and its own, the outermost first.
    pub path: Vec<Name>,
    /// Kind of the event.
    pub change: StepChange,
}

/// Kind of an event of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepChange {
    /// It began.
    Started,
    /// It came to a value.
    Completed,
    /// It failed, and begins this try, from 2.
    Retrying(u32),
    /// It failed, without a further try.
    Failed(FailureKind),
    /// A checkpoint of this name was passed within it.
    Checkpoint(Name),
}

/// Reason that a machine can't be started.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StartError {
    /// Parameters have no value; all of them.
    #[error("the plan's {} no value", missing(.0))]
    Missing(Vec<String>),
    /// A value is for no parameter.
    #[error("the plan has no parameter `{name}`; it has {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A value is not of its parameter's type.
    #[error("the plan's parameter `{name}`: {mismatch}")]
    Mismatch {
        /// The parameter.
        name: String,
        /// Description of the mismatch.
        mismatch: String,
    },
}

fn missing(names: &[String]) -> String {
    match names {
        [one] => format!("parameter `{one}` has"),
        several => format!("parameters `{}` have", several.join("`, `")),
    }
}

/// Reason that an answer was not accepted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no call is waiting at {0}")]
pub struct NoSuchYield(pub Position);

impl Machine {
    /// Starts a program with values for its plan's parameters; nothing is evaluated yet.
    ///
    /// Fails where they are not those that the plan has.
    pub fn start(
        program: Arc<Program>,
        input: &BTreeMap<String, Value>,
        limits: Limits,
    ) -> Result<Self, StartError> {
        let known = || match program.parameters.as_slice() {
            [] => "none".to_owned(),
            some => some
                .iter()
                .map(|own| &*own.name)
                .collect::<Vec<_>>()
                .join(", "),
        };
        let mut workshop = EvalContext {
            budget: Budget::new(&limits),
            patterns: Patterns::default(),
        };
        for name in input.keys() {
            if !program.parameters.iter().any(|own| &*own.name == name) {
                return Err(StartError::Unknown {
                    name: name.clone(),
                    known: known(),
                });
            }
        }
        let names = program.parameters.iter().map(|own| &*own.name);
        let missing = names.filter(|name| !input.contains_key(*name));
        let missing: Vec<String> = missing.map(str::to_owned).collect();
        if !missing.is_empty() {
            return Err(StartError::Missing(missing));
        }
        let mut locals = vec![Value::Nil; program.frame as usize];
        for parameter in &program.parameters {
            let value = &input[&*parameter.name];
            if let Some(schema) = &parameter.schema {
                let mismatch = schema.mismatch(value, &mut |work| workshop.budget.spend(work));
                let mismatch = mismatch.unwrap_or_else(|failure| Some(failure.message));
                if let Some(mismatch) = mismatch {
                    let name = parameter.name.to_string();
                    return Err(StartError::Mismatch { name, mismatch });
                }
            }
            if let Err(failure) = workshop.budget.allocate(value.weight()) {
                let name = parameter.name.to_string();
                let mismatch = failure.message;
                return Err(StartError::Mismatch { name, mismatch });
            }
            locals[parameter.slot as usize] = value.detached();
        }
        let root = Fiber::of_program(program.entry, locals);
        let shared = Shared {
            globals: vec![None; program.globals.len()],
            limits,
            workshop,
            yields: 0,
            events: Vec::new(),
        };
        Ok(Self {
            program,
            root,
            shared,
        })
    }

    /// Evaluates as far as it goes without an answer that isn't there yet.
    ///
    /// Once it has come to an end it says the same again.
    pub fn run(&mut self) -> Outcome {
        self.root.run(&self.program, &mut self.shared);
        match self.root.ended() {
            Some(Ok(value)) if value.weight() > self.shared.limits.value => {
                Outcome::Failed(too_large("the program's value", value.weight()))
            }
            Some(Ok(value)) => Outcome::Complete(value.clone()),
            Some(Err(failure)) => Outcome::Failed(failure.clone()),
            None => {
                let mut waiting = Vec::new();
                self.root.waiting(&mut waiting);
                waiting.sort_by(|one: &Yield, other| one.position.cmp(&other.position));
                Outcome::Yield(waiting)
            }
        }
    }

    /// Gives the answer to a call that waits; `run` goes on from there.
    ///
    /// A failure is raised at the call, and may be caught there.
    pub fn answer(
        &mut self,
        position: &Position,
        answer: Result<Value, Failure>,
    ) -> Result<(), NoSuchYield> {
        let budget = &mut self.shared.workshop.budget;
        let charged = answer.and_then(|value| {
            budget.allocate(value.weight())?;
            Ok(value.detached())
        });
        if self.root.answer(position, charged) {
            Ok(())
        } else {
            Err(NoSuchYield(position.clone()))
        }
    }

    /// Takes what has happened to steps since this was asked last.
    pub fn take_events(&mut self) -> Vec<StepEvent> {
        std::mem::take(&mut self.shared.events)
    }

    /// Returns the program that it evaluates.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}

impl Yield {
    /// Returns the call as one text that is the same on every replay, for keys and records: position,
    /// capability, arguments in the language's notation.
    pub fn key_text(&self) -> String {
        let mut text = format!("{} :{}", self.position, self.capability);
        for argument in &self.arguments {
            text.push(' ');
            text.push_str(&argument.to_string());
        }
        text
    }

    /// Returns the milliseconds that it may take, the least of its steps'.
    pub fn timeout_ms(&self) -> Option<u64> {
        self.steps.iter().filter_map(|step| step.timeout_ms).min()
    }
}

impl Display for Position {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (index, number) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "." };
            write!(formatter, "{gap}{number}")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Position {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        Ok(Self(numbers?))
    }
}

fn too_large(what: &str, weight: u64) -> Failure {
    // Weights add up and stop at the most that can be counted: values may share their parts.
    let much = if weight == u64::MAX {
        "too many bytes to count when written out".to_owned()
    } else {
        format!("about {weight} bytes when written out, more than allowed")
    };
    Failure::new(
        FailureKind::BudgetExhausted,
        format!("{what} would have {much}"),
    )
    .with_hint("pass on a part or a summary of it")
}
