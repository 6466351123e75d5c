//! [`Silent`]: a reporter that drops everything, since a line on standard error would be in the middle of the screen.

use std::sync::Arc;

use callosum_app::CommandError;
use callosum_app::report::{Progress, ProgressLine, Reporter};

/// Drops every report. Faults of an overview are part of the overview.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silent;

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
