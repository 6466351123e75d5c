//! The language of plans: read with spans, checked before it runs, evaluated up to each effect.
//!
//! Start with [`read`], which makes [`Form`]s of source.
//!
//! What is deliberately not here: effects, policy, models, tokens, clocks. A program is decided by
//! its source, its input and the answers to its calls, and by nothing else.
//!
//! The language as we speak it: `docs/rtfs.md`.

#![forbid(unsafe_code)]

mod form;
mod print;
mod reader;
mod span;
mod value;

pub use crate::{
    form::{Form, FormKind, Name},
    reader::{MAX_DEPTH, ReadError, read, read_one},
    span::Span,
    value::{Function, JsonError, Key, Map, NotationError, Value, Vector},
};
