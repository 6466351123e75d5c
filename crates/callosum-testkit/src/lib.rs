//! Foundation of Callosum's tests: a machine of their own, and executors that misbehave on order.
//!
//! Start with [`TestEnv`], in which the built program runs as on a machine without any
//! configuration, with a fixed clock and ids in sequence. [`fakes`] finds the fake executors, which
//! are real programs. [`FakeClient`] plays a coding agent, [`FakeCk`] another program that
//! searches. [`disk`] has a file system in memory, all its possible states after a crash, and one
//! that fails. [`KillLoop`] kills real processes that write a ledger.
//!
//! Real coding agents are run against [`model`], a server that plays back scripts; [`ToolServer`]
//! offers tools over HTTP.
//!
//! Deliberately not here: assertions about Callosum. This crate is used by tests only, and no other
//! crate depends on it otherwise.

#![forbid(unsafe_code)]

mod ck;
mod clients;
pub mod disk;
mod env;
pub mod fakes;
pub mod kill_loop;
pub mod model;
mod notes;
mod schema;
mod time_enough;
mod tool_server;

pub use crate::{
    ck::FakeCk,
    clients::FakeClient,
    env::{Output, Run, TestEnv},
    kill_loop::{KillLoop, Killed},
    notes::Notes,
    schema::Schema,
    time_enough::with_time_enough,
    tool_server::{ServerBehavior, ToolServer},
};
