//! The operator's messages: `Operator (CAKE): Stop. {action}. {reference}.` (Seed CAKE §1).
//!
//! Start with [`Operator::build_message`]. [`message`] is the typed form of a message; the wordings are in
//! `templates.json`, by escalation level and class of errors.
//!
//! What is deliberately not here: whether an error gets a message, and how the message reaches an agent.

mod build;
mod context;
pub mod message;
mod templates;

pub use self::{
    build::{Intervention, InterventionType, Operator, OperatorError},
    context::{Context, ContextError, Fix, KnownFix},
    message::{Clause, Message, ParseError, Slot, Verb},
    templates::{TemplateError, Templates},
};
