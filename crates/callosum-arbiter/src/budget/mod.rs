//! The budget of a tree of tasks: executors started, tokens, money and time.
//!
//! Start with [`Budget`]. Code that starts tasks asks it for each start; an executor that delegates
//! further gets its [`Budget::token`] in an environment variable, and what it starts counts against
//! every budget above it as well. [`Bounds`] decides without touching anything.
//!
//! Deliberately not here: which bounds hold, and the variable's place in an environment. An
//! executor that is not confined can take the variable away, and then begins a tree of its own.

mod budget_store;
mod limits;

pub use self::{
    budget_store::{Budget, BudgetError, TOKEN_VARIABLE},
    limits::{Bound, Bounds, Money, Spent},
};
