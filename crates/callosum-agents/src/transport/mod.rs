//! Transports: executors that are reached otherwise than by a program with an answer on standard
//! output.
//!
//! Whoever speaks a [`Transport`] is asked by a process of our own (`callosum executor run http`),
//! which is started, watched and ended like any other executor: the deadlines, the cancellation and
//! the bounds of [`runner`](crate::runner) hold without knowing of sockets, and a library that
//! speaks to strangers does so outside of the controller. `job` is what that process is told,
//! `event` what it tells, a line each; `asking`, `calling` and `handshake` are the controller's side,
//! [`speak`] the other; `thoughts` is what of an answer is none. `relay` and `heard` are for those protocols of the other
//! side that are spoken
//! by a library, on a runtime: events as they come, and bytes as signs of life.
//!
//! What is deliberately not here: the protocols themselves ([`http`](crate::http), `mcp`, `acp`).

pub(crate) mod cancel;
mod event;
mod handshake;
mod job;
mod name;
mod output_reader;
mod run_worker;
mod runtime;
mod strip_reasoning;
mod tool_call;
mod worker_main;

pub(crate) use self::{
    cancel::LEAVE_WITHIN,
    event::{Event, Tell},
    handshake::{handshake, offers, ping},
    job::{Job, Limits, Want},
    output_reader::{LONGEST_MESSAGE, ReadOutput},
    run_worker::ask,
    runtime::{relay, say},
};
pub use self::{
    handshake::wait_until_ready,
    name::Transport,
    tool_call::{CallError, ToolAnswer, call_tool},
    worker_main::{JobError, WorkerContext, speak},
};
