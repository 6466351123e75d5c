//! [`Reporter`] for the terminal: prints what a use case reports on stderr.

use std::sync::Arc;

use callosum_app::{
    CommandError,
    report::{self, Reporter},
};

use super::{Progress, Ui, print_error};

impl Reporter for Ui {
    fn say(&self, line: &str) {
        Self::say(*self, line);
    }

    fn detail(&self, line: &str) {
        Self::detail(*self, line);
    }

    fn warn(&self, what: &str, hint: Option<&str>) {
        Self::warn(*self, what, hint);
    }

    fn note(&self, what: &str, hint: Option<&str>) {
        Self::note(*self, what, hint);
    }

    fn hint(&self, hint: &str) {
        Self::hint(*self, hint);
    }

    fn error(&self, error: &CommandError) {
        print_error(error);
    }

    fn is_verbose(&self) -> bool {
        self.verbose
    }

    fn without_progress(&self) -> Arc<dyn Reporter> {
        Arc::new(Self {
            progress: false,
            ..*self
        })
    }

    fn progress(&self, what: &str) -> report::Progress {
        report::Progress::new(Progress::start(*self, what))
    }
}
