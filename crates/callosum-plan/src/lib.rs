//! The language of plans: read with spans, checked before it runs, evaluated up to each effect.
//!
//! Start with [`compile`], which makes a [`Program`] of source or lists all faults in it, and
//! [`Machine`], which evaluates one until it comes to a value or needs the answer to a call.
//! [`read`] makes [`Form`]s of source; [`Value`] is the value of an expression. [`accept`] makes a
//! program of a model's proposal.
//!
//! What is deliberately not here: effects, policy, models, tokens, clocks. A program is decided by
//! its source, its input and the answers to its calls, and by nothing else.
//!
//! The language as we speak it: `docs/rtfs.md`.

#![forbid(unsafe_code)]

mod budget;
mod call_site;
mod capability;
mod compile;
mod diagnostic;
mod failure;
mod finding;
mod form;
mod invisible_chars;
mod library;
mod machine;
mod print;
mod program;
mod proposal;
mod reader;
mod regular_expression;
mod schema;
mod span;
mod value;

pub use crate::{
    budget::Limits,
    call_site::{CallSite, KnownValue},
    capability::{Allowlist, CapabilityName, CapabilityNameError, CapabilityPattern},
    compile::{CompileOptions, PlanRule, Unbounded, compile, compile_forms},
    diagnostic::Colours,
    failure::{Failure, FailureKind},
    finding::{Finding, Rule},
    form::{Form, FormKind, Name},
    library::{DomainFunction, Library},
    machine::{
        Machine, NoSuchYield, Outcome, Position, StartError, StepChange, StepEvent, StepUse, Yield,
    },
    program::{Parameter, Program, StepDefinition, YieldBound},
    proposal::{
        AcceptedPlan, PlanProposal, ProposalRequest, ProposedConstraints, ProposedStep,
        ProposedYield, Rejection, accept,
    },
    reader::{MAX_DEPTH, MAX_SOURCE, ReadError, read, read_one},
    schema::{Excluded, Schema, SchemaError},
    span::Span,
    value::{Function, JsonError, Key, Map, NotationError, Value, Vector},
};
