//! Circuit breakers: an executor that fails again and again is left alone for a while.
//!
//! Start with [`Circuits`], what this machine knows of a project's executors from one run to the
//! next. [`Circuit`] decides without touching anything: closed, open until a time, and then
//! half open, when one task may try it.

mod breaker;
mod store;

pub use self::{
    breaker::{Admission, Circuit, Rules},
    store::{Circuits, CircuitsError},
};
