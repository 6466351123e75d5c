//! The protocol that executors speak: one JSON request in, one JSON answer out (seed CAL §6).
//!
//! [`Request`] is what we send, [`parse_answer`] judges what comes back. Both are pure; moving the
//! bytes is the runner's. The fields and their rules stand in
//! `docs/formats/executor-protocol.md`.

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
