//! [`Reporter`]: receives what a use case reports while it runs.
//!
//! A use case returns its result. Warnings, notices and progress go to the reporter: the command line prints them, a server
//! drops or forwards them.

use std::sync::Arc;

use crate::CommandError;

/// Drops every report, for work whose faults are part of its result or of no concern to the person.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

/// Receives warnings, notices and progress.
pub trait Reporter: Send + Sync {
    /// Reports a line.
    fn say(&self, line: &str);

    /// Reports a line of detail.
    fn detail(&self, line: &str);

    /// Reports a warning, with a hint that can be pasted.
    fn warn(&self, what: &str, hint: Option<&str>);

    /// Reports a notice, with a hint that can be pasted.
    fn note(&self, what: &str, hint: Option<&str>);

    /// Reports what can be done.
    fn hint(&self, hint: &str);

    /// Reports a failure that does not end the use case.
    fn error(&self, error: &CommandError);

    /// Whether details are wanted.
    fn is_verbose(&self) -> bool;

    /// Returns the same reporter without progress.
    fn without_progress(&self) -> Arc<dyn Reporter>;

    /// Starts to report the progress of something long, until the line is dropped.
    fn progress(&self, what: &str) -> Progress;
}

/// The progress of something long, reported until this is dropped.
pub struct Progress(Box<dyn ProgressLine>);

impl Progress {
    /// Wraps a reporter's line.
    pub fn new(line: impl ProgressLine + 'static) -> Self {
        Self(Box::new(line))
    }

    /// Reports the current step.
    pub fn now(&self, what: String) {
        self.0.now(what);
    }

    /// Reports a line that stays.
    pub fn above(&self, line: &str) {
        self.0.above(line);
    }
}

/// A line that shows progress, ended when it is dropped.
pub trait ProgressLine: Send + Sync {
    /// Reports the current step.
    fn now(&self, what: String);

    /// Reports a line that stays.
    fn above(&self, line: &str);
}

impl Reporter for Silent {
    fn say(&self, _line: &str) {}

    fn detail(&self, _line: &str) {}

    fn warn(&self, _what: &str, _hint: Option<&str>) {}

    fn note(&self, _what: &str, _hint: Option<&str>) {}

    fn hint(&self, _hint: &str) {}

    fn error(&self, _error: &CommandError) {}

    fn is_verbose(&self) -> bool {
        false
    }

    fn without_progress(&self) -> Arc<dyn Reporter> {
        Arc::new(*self)
    }

    fn progress(&self, _what: &str) -> Progress {
        Progress::new(*self)
    }
}

impl ProgressLine for Silent {
    fn now(&self, _what: String) {}

    fn above(&self, _line: &str) {}
}
