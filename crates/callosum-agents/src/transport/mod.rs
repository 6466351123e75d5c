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

mod asking;
mod calling;
mod event;
pub(crate) mod farewell;
mod handshake;
mod heard;
mod job;
mod name;
mod relay;
mod speaking;
mod thoughts;

pub(crate) use self::{
    asking::ask,
    event::{Event, Tell},
    farewell::LEAVE_WITHIN,
    handshake::{handshake, offers, ping},
    heard::{Heard, LONGEST_MESSAGE},
    job::{Job, Limits, Want},
    relay::{relay, say},
};
pub use self::{
    calling::{CallError, ToolAnswer, call_tool},
    handshake::wait_until_ready,
    name::Transport,
    speaking::{JobError, Means, speak},
};
