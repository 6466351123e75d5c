//! Transports: executors that are reached otherwise than by a program with an answer on standard
//! output.
//!
//! A process of our own (`callosum executor run http`) speaks the [`Transport`]. It is started,
//! watched and ended like any other executor. So the deadlines, the cancellation and the bounds of
//! [`runner`](crate::runner) apply without knowledge of sockets, and a library that speaks to
//! strangers does so outside of the controller.
//!
//! `job` is the input of that process, `event` its output, a line each. The controller's side is in
//! `run_worker`, `tool_call`, `resources` and `cancel`, the other side in [`worker`](crate::worker).
//! `strip_reasoning` removes thoughts from an answer. `runtime` and `output_reader` are for
//! protocols that a library speaks on the other side, on a runtime: events as they come, and bytes
//! as signs of life.
//!
//! Deliberately not here: the protocols themselves ([`http`](crate::http), `mcp`, `acp`).

pub(crate) mod cancel;
mod event;
mod job;
mod name;
mod output_reader;
mod resources;
pub(crate) mod run_worker;
mod runtime;
mod strip_reasoning;
mod tool_call;
mod worker_context;

pub(crate) use self::{
    cancel::LEAVE_WITHIN,
    event::{Event, Tell},
    job::{Job, Limits, Want},
    output_reader::{LONGEST_MESSAGE, ReadOutput},
    run_worker::ask,
    runtime::{relay, say},
};
pub use self::{
    name::Transport,
    resources::{EXACT, Resource, ResourceError, ResourceQuery, ResourceServer, read_resources},
    tool_call::{CallError, ToolAnswer, call_tool},
    worker_context::WorkerContext,
};
