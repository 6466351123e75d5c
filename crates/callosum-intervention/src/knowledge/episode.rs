//! [`Episodes`]: what one session does between an error and the success of the same command.
//!
//! Pure: the caller stores it between two tool calls, and says what time it is.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::command::{changes_something, same_command};

/// Most open errors of one session.
const MOST_OPEN: usize = 8;

/// Most steps that are kept of one episode.
const MOST_STEPS: usize = 20;

/// An error that is older than this no longer teaches anything.
const LONGEST: jiff::SignedDuration = jiff::SignedDuration::from_hours(8);

/// Something a session did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation<'a> {
    /// A command ended. `errors` are the signatures of the errors that it printed.
    Command {
        /// The command line. Secrets are masked already.
        text: &'a str,
        /// Whether it failed.
        has_failed: bool,
        /// Signatures of the errors in its output.
        errors: &'a [String],
    },
    /// A file was written.
    Edit {
        /// The file, as a path below the project.
        path: &'a str,
    },
}

/// A step that may have fixed an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// A command that succeeded.
    Command(String),
    /// A file that was written.
    Edit(String),
}

/// A fix that was learned: the same command succeeded after these steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The error.
    pub signature: String,
    /// The commands that succeeded in between, in order, each once.
    pub commands: Vec<String>,
    /// The files that were written in between, each once.
    pub files: Vec<String>,
    /// Seconds from the error to the success.
    pub seconds: i64,
    /// Number of times the command failed with this error.
    pub attempts: u32,
}

/// The errors of one session that are not fixed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episodes {
    open: Vec<Episode>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Episode {
    signature: String,
    command: String,
    since: Timestamp,
    attempts: u32,
    steps: Vec<Step>,
}

impl Episodes {
    /// Returns whether no error is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the signatures of the errors that are open.
    pub fn open_signatures(&self) -> impl Iterator<Item = &str> {
        self.open.iter().map(|episode| &*episode.signature)
    }

    /// Takes in what the session did, and returns the fixes that it shows.
    ///
    /// A command that prints an error opens an episode for it. The same command without that error closes it: what
    /// succeeded in between is the fix. Nothing is learned if nothing was changed in between.
    pub fn observe(&mut self, observation: &Observation<'_>, now: Timestamp) -> Vec<Learned> {
        self.open
            .retain(|episode| now.duration_since(episode.since) <= LONGEST);
        match observation {
            Observation::Edit { path } => {
                self.add_step(&Step::Edit((*path).to_owned()));
                Vec::new()
            }
            Observation::Command {
                text,
                has_failed,
                errors,
            } => self.command(text, *has_failed, errors, now),
        }
    }

    fn command(
        &mut self,
        text: &str,
        has_failed: bool,
        errors: &[String],
        now: Timestamp,
    ) -> Vec<Learned> {
        let mut learned = Vec::new();
        self.open.retain(|episode| {
            // The same command may fail with another error now: this error is gone in any case.
            let is_over =
                same_command(&episode.command, text) && !errors.contains(&episode.signature);
            // A failure without a known error teaches nothing.
            if !is_over || (has_failed && errors.is_empty()) {
                return true;
            }
            learned.extend(episode.learned(now));
            false
        });
        for signature in errors {
            let known = self
                .open
                .iter_mut()
                .find(|episode| episode.signature == *signature);
            if let Some(episode) = known {
                episode.attempts += 1;
            } else {
                if self.open.len() == MOST_OPEN {
                    self.open.remove(0);
                }
                self.open.push(Episode {
                    signature: signature.clone(),
                    command: text.to_owned(),
                    since: now,
                    attempts: 1,
                    steps: Vec::new(),
                });
            }
        }
        if !has_failed && errors.is_empty() && changes_something(text) {
            self.add_step(&Step::Command(text.to_owned()));
        }
        learned
    }

    fn add_step(&mut self, step: &Step) {
        for episode in &mut self.open {
            let is_repeat = episode.steps.contains(step);
            let is_own =
                matches!(step, Step::Command(text) if same_command(text, &episode.command));
            if !is_repeat && !is_own && episode.steps.len() < MOST_STEPS {
                episode.steps.push(step.clone());
            }
        }
    }
}

impl Episode {
    fn learned(&self, now: Timestamp) -> Option<Learned> {
        let mut learned = Learned {
            signature: self.signature.clone(),
            commands: Vec::new(),
            files: Vec::new(),
            seconds: now.duration_since(self.since).as_secs(),
            attempts: self.attempts,
        };
        for step in &self.steps {
            match step {
                Step::Command(text) => learned.commands.push(text.clone()),
                Step::Edit(path) => learned.files.push(path.clone()),
            }
        }
        (!self.steps.is_empty()).then_some(learned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn command<'a>(text: &'a str, has_failed: bool, errors: &'a [String]) -> Observation<'a> {
        Observation::Command {
            text,
            has_failed,
            errors,
        }
    }

    /// CAKE-KNOW-1: what lies between an error and the success of the same command is the fix.
    #[test]
    fn what_lies_between_is_the_fix() {
        let mut episodes = Episodes::default();
        let errors = ["sha256:a".to_owned()];
        assert!(
            episodes
                .observe(&command("pytest", true, &errors), at(0))
                .is_empty()
        );
        for (text, has_failed) in [
            ("cat requirements.txt", false),
            ("pip install request", true),
            ("pip install requests", false),
            ("pip install requests", false),
        ] {
            assert!(
                episodes
                    .observe(&command(text, has_failed, &[]), at(5))
                    .is_empty()
            );
        }
        episodes.observe(&Observation::Edit { path: "app.py" }, at(6));
        episodes.observe(&command("pytest -v", true, &errors), at(7));
        // Stored between two processes.
        let stored = serde_json::to_string(&episodes).unwrap();
        let mut episodes: Episodes = serde_json::from_str(&stored).unwrap();
        let learned = episodes.observe(&command("pytest", false, &[]), at(30));
        assert_eq!(
            learned,
            [Learned {
                signature: "sha256:a".to_owned(),
                commands: vec!["pip install requests".to_owned()],
                files: vec!["app.py".to_owned()],
                seconds: 30,
                attempts: 2,
            }]
        );
        assert!(episodes.is_empty());
    }

    /// CAKE-KNOW-1: a command that succeeds by itself, another command, and a failure without a known error teach nothing.
    #[test]
    fn nothing_is_learned_from_nothing() {
        let errors = ["sha256:a".to_owned()];
        let mut episodes = Episodes::default();
        episodes.observe(&command("make", true, &errors), at(0));
        assert!(
            episodes
                .observe(&command("make", false, &[]), at(1))
                .is_empty()
        );
        assert!(episodes.is_empty());
        episodes.observe(&command("make", true, &errors), at(0));
        episodes.observe(&Observation::Edit { path: "a.c" }, at(1));
        for (text, has_failed) in [("make install", false), ("make", true)] {
            assert!(
                episodes
                    .observe(&command(text, has_failed, &[]), at(2))
                    .is_empty()
            );
        }
        assert!(!episodes.is_empty());
        // Another error of the same command: the first one is fixed.
        let others = ["sha256:b".to_owned()];
        let learned = episodes.observe(&command("make", true, &others), at(3));
        assert_eq!(learned[0].signature, "sha256:a");
        assert_eq!(episodes.open_signatures().collect::<Vec<_>>(), ["sha256:b"]);
        // A day later it teaches nothing.
        episodes.observe(&Observation::Edit { path: "a.c" }, at(4));
        let learned = episodes.observe(&command("make", false, &[]), at(100_000));
        assert!(learned.is_empty() && episodes.is_empty());
    }

    /// CAKE-KNOW-1: a session that prints ten thousand errors takes bounded memory.
    #[test]
    fn open_errors_and_steps_are_bounded() {
        let mut episodes = Episodes::default();
        for number in 0..10_000 {
            let errors = [format!("sha256:{number}")];
            episodes.observe(&command("make", true, &errors), at(number));
            let path = format!("f{number}");
            episodes.observe(&Observation::Edit { path: &path }, at(number));
        }
        assert!(episodes.open.len() <= MOST_OPEN);
        assert!(
            episodes
                .open
                .iter()
                .all(|episode| episode.steps.len() <= MOST_STEPS)
        );
    }
}
