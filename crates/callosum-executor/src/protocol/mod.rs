//! Protocol of executors: one JSON request in, one JSON answer out (seed CAL §6).
//!
//! [`Request`] is the input, and [`parse_answer`] checks the output. Both are pure; the runner moves
//! the bytes. The fields and their rules are in `docs/formats/executor-protocol.md`.

mod answer;
mod capabilities;
mod parse;
mod prompt;
mod request;

pub use self::{
    answer::{Answer, AnswerError, ChecksumBy, LONGEST_SUMMARY, Spent, parse_answer},
    capabilities::{Described, parse_capabilities},
    parse::{JsonType, Unreadable},
    request::{AnswerForm, Request, RequestMetadata},
};
