//! [`Progress`]: one line on stderr that moves while a person waits.

use std::{
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::Ui;
use callosum_app::report::ProgressLine;

/// Age below which a message is shown without it.
const FRESH: Duration = Duration::from_secs(3);

/// A line that shows the current work, the age of that message, and the total time; nothing without
/// a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    ui: Ui,
    bar: ProgressBar,
    /// When what it says was heard, in milliseconds since it began.
    heard: Arc<AtomicU64>,
}

impl Progress {
    /// Starts the line.
    pub(crate) fn start(ui: Ui, what: &str) -> Self {
        let bar = if ui.is_watched() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        let heard = Arc::new(AtomicU64::new(0));
        let last = Arc::clone(&heard);
        let age = move |state: &ProgressState, text: &mut dyn Write| {
            let last = Duration::from_millis(last.load(Ordering::Relaxed));
            let age = aged(state.elapsed().saturating_sub(last));
            // A writer in memory takes everything.
            let _ = text.write_str(&age);
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}{age} [{elapsed}]") {
            bar.set_style(style.with_key("age", age));
        }
        bar.set_message(what.to_owned());
        // The library panics if the system gives it no thread: then the line does not move.
        let has_thread = || {
            let probe = thread::Builder::new().spawn(|| {});
            probe.is_ok_and(|probe| probe.join().is_ok())
        };
        if ui.is_watched() && has_thread() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { ui, bar, heard }
    }
}

impl ProgressLine for Progress {
    fn above(&self, line: &str) {
        self.bar.suspend(|| self.ui.say(line));
    }

    fn now(&self, what: String) {
        let now = self.bar.elapsed().as_millis();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        self.heard.store(now, Ordering::Relaxed);
        self.bar.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the age of a message, to append to it; nothing if it is recent.
fn aged(age: Duration) -> String {
    if age < FRESH {
        return String::new();
    }
    format!(", {} s ago", age.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-COM-2: an executor's activity is shown with its age, so that a line that does not change
    /// is not taken for news.
    #[test]
    fn what_was_heard_a_while_ago_has_its_age() {
        assert_eq!(aged(Duration::from_millis(2_999)), "");
        assert_eq!(aged(Duration::from_millis(75_500)), ", 75 s ago");
    }
}
