//! Display of a run in progress: its steps and calls, a line each, deeper ones further in.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::plan::progress`].

use std::time::Instant;

use callosum_app::plan::progress::{depth_of, shown};
use callosum_plan_run::run::{CallStanding, RunNotice, RunWatch};
use callosum_redact::terminal_escape::on_one_line;
use owo_colors::OwoColorize as _;

use crate::ui::Ui;

/// Shows a run on the terminal.
pub(super) struct Shown {
    ui: Ui,
    begun: Instant,
}

impl Shown {
    pub(super) fn new(ui: Ui) -> Self {
        Self {
            ui,
            begun: Instant::now(),
        }
    }

    fn line(&self, depth: usize, text: &str) {
        if self.ui.is_watched() || self.ui.verbose {
            let seconds = self.begun.elapsed().as_secs();
            let indent = "  ".repeat(depth);
            self.ui.say(&format!("{seconds:>4} s  {indent}{text}"));
        }
    }
}

impl RunWatch for Shown {
    fn notice(&self, notice: RunNotice<'_>) {
        match notice {
            RunNotice::Step(step) => {
                let depth = step.path.len().saturating_sub(1);
                let name = step.path.last().map_or("", String::as_str);
                let name = on_one_line(name);
                let what = step.what.as_deref().unwrap_or_default();
                match (step.change.as_str(), step.attempt) {
                    ("started", _) => self.line(depth, &name.clone()),
                    ("retrying", Some(attempt)) => {
                        self.line(depth, &format!("{name}, attempt {attempt}"));
                    }
                    ("failed", _) => {
                        self.line(depth, &format!("{name} {}: {what}", "failed".red()));
                    }
                    ("checkpoint", _) => {
                        self.line(depth + 1, &format!("passed {}", on_one_line(what)));
                    }
                    (change, _) => self.line(depth, &format!("{name} {change}")),
                }
            }
            RunNotice::Begun(call) => self.line(depth_of(call), &shown(call)),
            RunNotice::Answered(call) => {
                let CallStanding::Answered(answered) = &call.standing else {
                    return;
                };
                let name = &call.intended.capability;
                let how = match &answered.answer.failure {
                    Some(failure) => {
                        let message = on_one_line(&failure.message);
                        format!("{} {}: {message}", "failed".red(), failure.kind)
                    }
                    None => "answered".green().to_string(),
                };
                self.line(depth_of(call), &format!(":{name} {how}"));
            }
            RunNotice::Waits(call) => {
                let text = format!("{} {}", shown(call), "waits for a person".yellow());
                self.line(depth_of(call), &text);
            }
        }
    }
}
