//! Dialects: what coding agents write on their own terms, made into an [`Answer`](crate::protocol::Answer).
//!
//! An entry whose `protocol` is a [`Dialect`] is started as its template says and hears the request
//! in words ([`Request::spoken_plainly`](crate::protocol::Request::spoken_plainly)). What it writes
//! is read as it comes: `events` finds the JSON in it, one file per client says what an event means
//! to a `hearing`, and `complaint` makes a `fault` of what a client complains about. `asking` drives all that, and
//! `handshake` finds out without a paid call whether a client can be used at all.
//!
//! What is deliberately not here: which clients there are and what they keep where, which is
//! [`client`](crate::client)'s, and any network of our own.

mod claude;
mod client_error;
mod codex;
mod error_text;
mod events;
mod gemini;
mod handshake;
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

pub use self::{
    client_error::ClientError,
    limit_wait::LONGEST_CLIENT_WAIT,
    name::Dialect,
    reset_time::wait_until_reset,
    run::{DIALECT_QUIET, DIALECT_TOTAL, LARGEST_STREAM},
};
pub(crate) use self::{
    error_text::{
        CUT_OFF, ErrorText, NOT_SPOKEN, Reset, TOOL_REFUSED, UNREACHABLE, UNREADABLE,
        WRITES_UNASKED,
    },
    events::Events,
    handshake::{handshake, ping},
    pending_tools::OpenTools,
    reason::named_in,
    run::{LONGEST_DOING, as_answer, ask},
    stream_state::{MOST_TOKENS, StreamState, Tokens},
};

#[cfg(test)]
mod tests;
