//! Fixes: what happened between an error and the success that followed, and how often it helped (Seed CAKE §3).
//!
//! Start with [`Episodes`], a pure state machine over what one session does: it notices an error, keeps the commands and
//! edits that follow, and yields a candidate fix when the same command succeeds. [`Fix`] is a stored one, and
//! [`InterventionHistory`] what is known about a type of error; [`KnownFailure`]
//! is an error whose fix is known, for a session that begins. [`refusal`] is about commands that the guard refused.

mod command;
mod episode;
mod fix;
mod history;
mod known;
pub mod refusal;

#[cfg(test)]
mod tests;

pub use self::{
    command::{changes_something, same_command},
    episode::{Episodes, Learned, Observation, Step},
    fix::{Fix, PersonalFix},
    history::{EscalationPatterns, InterventionHistory},
    known::KnownFailure,
};
