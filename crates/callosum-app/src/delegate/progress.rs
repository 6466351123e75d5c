//! Progress lines for a person while a delegation runs: files read, phase, elapsed, retries.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use callosum_arbiter::delegation::{Notice, RetryNotice, Watch};
use callosum_arbiter::{Submission, TaskIndex};
use callosum_executor::runner::Sign;
use serde::Deserialize;

use crate::context::{Context, ProgressSink};
use crate::many;
use crate::report::{Progress, Reporter};

/// Characters of the last output line that are shown at most.
const LONGEST_LINE: usize = 100;

/// Draws what a delegation tells.
pub struct Shown {
    report: Arc<dyn Reporter>,
    telling: Option<ProgressSink>,
    line: Progress,
    names: Vec<String>,
    running: Mutex<BTreeMap<TaskIndex, String>>,
}

impl Shown {
    /// Begins to watch a submission.
    pub fn start(context: &Context, submission: &Submission) -> Self {
        let report = Arc::clone(&context.report);
        let names = submission
            .tasks()
            .iter()
            .map(|task| task.local_id.clone())
            .collect();
        let line = report.progress("arbitrating");
        Self {
            report,
            telling: context.telling.clone(),
            line,
            names,
            running: Mutex::new(BTreeMap::new()),
        }
    }

    fn set(&self, task: TaskIndex, what: Option<String>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            Some(what) => running.insert(task, what),
            None => running.remove(&task),
        };
        let Some(latest) = running.values().next_back() else {
            return;
        };
        let line = match running.len() {
            1 => latest.clone(),
            more => format!("{more} tasks running; {latest}"),
        };
        self.tell(&line);
        self.line.now(line);
    }

    /// Says a line that stays.
    fn above(&self, line: &str) {
        self.tell(line);
        self.line.above(line);
    }

    fn tell(&self, line: &str) {
        if let Some(telling) = &self.telling {
            telling(line);
        }
    }
}

impl Watch for Shown {
    fn notice(&self, task: TaskIndex, notice: Notice<'_>) {
        match notice {
            Notice::Started {
                id,
                executor,
                decision,
            } => {
                self.report.detail(&format!(
                    "{id}: {} because of {}, assigned to {executor}",
                    decision.mode, decision.reason
                ));
                self.set(task, Some(format!("{executor} starts {id}")));
            }
            Notice::Heard(Sign::Answering { bytes }) => {
                self.set(
                    task,
                    Some(format!(
                        "{} of the answer received",
                        many(*bytes as u64, "byte")
                    )),
                );
            }
            Notice::Heard(Sign::Line(line)) => {
                if let Ok(counted) = serde_json::from_str::<Counted>(line) {
                    self.set(task, Some(counted.to_string()));
                } else if !line.trim().is_empty() {
                    let name = self.names.get(task.0).map_or("", String::as_str);
                    if self.report.is_verbose() {
                        self.line.above(&format!("{name}: {line}"));
                    }
                    self.set(task, Some(line.chars().take(LONGEST_LINE).collect()));
                }
            }
            // As it came, it is for no terminal.
            Notice::Heard(Sign::Tool(_) | Sign::Text(_) | Sign::Restarted) => {}
            Notice::Heard(Sign::Doing(what)) => self.set(task, Some((*what).to_owned())),
            Notice::Heard(Sign::Waiting(what)) => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                self.above(&format!("{name}: {what}"));
            }
            Notice::Denied(words) => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                let words = words.lines().next().unwrap_or_default();
                let warning = format!("{name}: it reports a denied write to the ledger: {words}");
                self.above(&warning);
            }
            Notice::Unreached {
                executor,
                place,
                reason,
            } => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                self.above(&format!(
                    "{name}: the sandbox blocked executor {executor} from {place}: {reason}; to allow it, \
                     register it with `--allow-net {place}`"
                ));
            }
            Notice::Unasked { executor, reason } => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                self.above(&format!(
                    "{name}: executor {executor} sent the proxy a request that is not for a connection: {reason}"
                ));
            }
            Notice::UnreachedBesides { executor, places } => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                self.above(&format!(
                    "{name}: executor {executor} did not reach {places} other hosts; `callosum audit tail` \
                     lists them"
                ));
            }
            Notice::Failed {
                executor,
                place,
                reason,
            } => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                self.above(&format!(
                    "{name}: executor {executor} cannot reach {place}: {reason}"
                ));
            }
            Notice::SentBack(why) => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                self.above(&format!("{name}: {why}; asking once more"));
            }
            Notice::Retrying {
                code,
                reason,
                again,
                pause,
            } => {
                let name = self.names.get(task.0).map_or("", String::as_str);
                let code = code.map(|code| format!(" [{code}]")).unwrap_or_default();
                let pause = pause.as_secs_f64();
                let what = match again {
                    RetryNotice::Ask => "retrying",
                    RetryNotice::Commit => "keeping the answer and storing it again",
                };
                self.above(&format!("{name}{code}: {reason}; {what} in {pause:.1} s"));
            }
            Notice::Ended => self.set(task, None),
        }
    }
}

/// A line in which an executor counts what it has read.
#[derive(Deserialize)]
struct Counted {
    phase: String,
    files_read: u64,
    files_total: u64,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase: String = self.phase.chars().take(LONGEST_LINE).collect();
        write!(
            f,
            "{phase}: {} of {} files",
            self.files_read, self.files_total
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executor_that_counts_files_names_the_phase() {
        let line = r#"{"phase": "grepping", "files_read": 3, "files_total": 9}"#;
        let counted: Counted = serde_json::from_str(line).unwrap();
        assert_eq!(counted.to_string(), "grepping: 3 of 9 files");
    }
}
