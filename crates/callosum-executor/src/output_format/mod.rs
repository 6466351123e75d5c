//! Dialects: output formats of coding agents, converted to an [`Answer`](crate::protocol::Answer).
//!
//! An entry whose `protocol` is a [`Dialect`] is started as its template says and gets the request
//! in words ([`Request::spoken_plainly`](crate::protocol::Request::spoken_plainly)). Its output is
//! read as it comes: `events` finds the JSON in it, one file per client applies an event to the
//! `stream_state`, and `classify_error` makes a `client_error` of a client's complaint. `run` drives all
//! that.
//!
//! Deliberately not here: the list of clients and their files, which is in
//! [`client`](crate::client), and any network of our own.

mod classify_error;
mod claude;
mod client_error;
mod codex;
mod events;
mod gemini;
mod inner_sandbox;
mod limit_wait;
mod name;
mod opencode;
mod pending_tools;
mod qwen;
mod reason;
mod reset_time;
mod run;
mod stall_detection;
mod stream_state;
mod tool_result;
pub(crate) mod wrapping;

pub(crate) use self::{
    classify_error::{
        CUT_OFF, ErrorText, NOT_SPOKEN, Reset, TOOL_REFUSED, UNREACHABLE, UNREADABLE,
        WRITES_UNASKED,
    },
    events::Events,
    pending_tools::OpenTools,
    reason::named_in,
    run::{LONGEST_DOING, as_answer, ask},
    stream_state::{MOST_TOKENS, StreamState, Tokens},
};
pub use self::{
    client_error::ClientError,
    limit_wait::LONGEST_CLIENT_WAIT,
    name::Dialect,
    reset_time::wait_until_reset,
    run::{DIALECT_QUIET, DIALECT_TOTAL, LARGEST_STREAM},
};

#[cfg(test)]
mod tests;
