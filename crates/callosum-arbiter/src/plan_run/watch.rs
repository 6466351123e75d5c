//! [`RunWatch`]: somebody who is told how a run goes, while it does.

use super::{record::StepRecord, state::CallState};

/// Somebody who is told how a run goes. Told by one thread; must not block.
pub trait RunWatch: Sync {
    /// Tells of something that has just happened, and is on record.
    fn notice(&self, notice: RunNotice<'_>);
}

/// Something that happened in a run.
#[derive(Clone, Copy, Debug)]
pub enum RunNotice<'a> {
    /// Something happened to a step.
    Step(&'a StepRecord),
    /// A call is being made.
    Begun(&'a CallState),
    /// A call has its answer.
    Answered(&'a CallState),
    /// A call waits for a person.
    Waits(&'a CallState),
}
