//! [`Progress`]: one line on stderr that moves while a person waits.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Ui;

/// A line that shows what is being done and for how long; nothing where nobody looks.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Starts the line.
    pub(crate) fn start(ui: Ui, what: &str) -> Self {
        let bar = if ui.is_watched() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Says a line on stderr that stays, above the moving one.
    pub(crate) fn above(&self, ui: Ui, line: &str) {
        self.0.suspend(|| ui.say(line));
    }

    /// Says what is being done now.
    pub(crate) fn now(&self, what: String) {
        self.0.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
