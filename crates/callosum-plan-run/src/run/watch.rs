//! [`RunWatch`]: observer of a run while it goes on.

use super::{record::StepRecord, state::CallState};

/// Observer of a run. Called by one thread; must not block.
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
