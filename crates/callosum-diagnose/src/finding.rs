//! [`Finding`]: an error in a window of lines, before it becomes an event.

use std::borrow::Cow;

use crate::event::Severity;

/// An error that a tool's reader found in a window of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Index of its first line in the window.
    pub(crate) first: usize,
    /// Index of its last line in the window.
    pub(crate) last: usize,
    /// The class as printed, else a name of the closed list.
    pub(crate) error_type: Cow<'static, str>,
    /// The file as printed.
    pub(crate) file: Option<String>,
    /// The line in the file, from 1 on.
    pub(crate) line: Option<u32>,
    /// The message on one line.
    pub(crate) message: String,
    /// Its severity.
    pub(crate) severity: Severity,
    /// The tool's own code for it.
    pub(crate) code: Option<String>,
    /// What is missing or at fault.
    pub(crate) module: Option<String>,
    /// The test that failed.
    pub(crate) test: Option<String>,
    /// Whether another finding is the one to act on: the other exceptions of a chain, and members of a group.
    pub(crate) is_secondary: bool,
    /// Whether it only follows from another error, as the end of a recipe does. Reported if there is no other.
    pub(crate) is_consequence: bool,
}

impl Finding {
    /// Returns a finding over the lines `first` to `last`, without a place, code, module or test.
    pub(crate) fn new(
        first: usize,
        last: usize,
        error_type: impl Into<Cow<'static, str>>,
        severity: Severity,
        message: impl Into<String>,
    ) -> Self {
        Self {
            first,
            last,
            error_type: error_type.into(),
            file: None,
            line: None,
            message: message.into(),
            severity,
            code: None,
            module: None,
            test: None,
            is_secondary: false,
            is_consequence: false,
        }
    }

    /// Adds the place.
    pub(crate) fn at(mut self, file: impl Into<String>, line: impl Into<Option<u32>>) -> Self {
        self.file = Some(file.into());
        self.line = line.into().filter(|line| *line > 0);
        self
    }
}
