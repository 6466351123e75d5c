//! [`Command`]: arguments of this program, and [`Program`], which runs them.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// The arguments of one call of this program, without `--json` and `-C`.
///
/// They are passed to the process as they are. No shell reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command(Vec<String>);

impl Command {
    /// Returns a command of fixed words.
    pub fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|&word| word.to_owned()).collect())
    }

    /// Adds a word that the program reads as one argument.
    #[must_use]
    pub fn arg(mut self, word: impl Into<String>) -> Self {
        self.0.push(word.into());
        self
    }

    /// Adds an option and its value as one word, so that a value with a leading `-` is no option.
    #[must_use]
    pub fn option(self, name: &str, value: &str) -> Self {
        self.arg(format!("{name}={value}"))
    }

    /// Adds words that are values even if they begin with `-`. Nothing may be added after them.
    #[must_use]
    pub fn values<'v>(mut self, words: impl IntoIterator<Item = &'v str>) -> Self {
        self.0.push("--".to_owned());
        self.0.extend(words.into_iter().map(str::to_owned));
        self
    }

    /// The arguments.
    pub fn arguments(&self) -> &[String] {
        &self.0
    }

    /// Returns the line that a person pastes into a shell to do the same.
    pub fn line(&self) -> String {
        let mut line = String::from("callosum");
        for word in &self.0 {
            line.push(' ');
            match shlex::try_quote(word) {
                Ok(quoted) => line.push_str(&quoted),
                // No argument of a process can hold a null byte.
                Err(_) => line.push_str(
                    &shlex::Quoter::new()
                        .allow_nul(true)
                        .quote(word)
                        .unwrap_or_default(),
                ),
            }
        }
        line
    }
}

/// Reason for which a command has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandFailure {
    /// The failure and its cause.
    pub message: String,
    /// A line that a person can paste.
    pub hint: Option<String>,
    /// Exit code of the program; `None` if it did not exit by itself.
    pub exit: Option<i32>,
}

impl CommandFailure {
    /// Returns a failure that has no hint and no exit code.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit: None,
        }
    }

    /// Reads the failure that the program printed, from its output and exit code.
    pub fn printed(output: &[u8], error: &[u8], exit: Option<i32>) -> Self {
        #[derive(Deserialize)]
        struct Printed {
            error: Explained,
        }
        #[derive(Deserialize)]
        struct Explained {
            message: String,
            hint: Option<String>,
        }
        if let Ok(Printed { error }) = serde_json::from_slice(output) {
            return Self {
                message: error.message,
                hint: error.hint,
                exit,
            };
        }
        let words = String::from_utf8_lossy(error);
        let words = words.trim().trim_start_matches("error: ");
        let message = match (words, exit) {
            ("", Some(code)) => format!("the command exited with {code}"),
            ("", None) => "the command was ended".to_owned(),
            (words, _) => words.to_owned(),
        };
        Self {
            message,
            hint: None,
            exit,
        }
    }
}

/// Runs commands of this program in a project.
pub trait Program: Send + Sync {
    /// Runs a command with `--json`, and returns what it printed; `Value::Null` if that is nothing.
    ///
    /// An exit code of 1 with a result that is no error is a result: `status` and `doctor` exit so.
    ///
    /// # Errors
    /// If the command failed, or what it printed is not JSON.
    fn run(&self, root: &Path, command: &Command) -> Result<Value, CommandFailure>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_line_of_a_command_can_be_pasted() {
        let command = Command::new(&["mesh", "task", "add"])
            .option("--to", "codex")
            .values(["Fix it; rm -rf $HOME", "-x"]);
        assert_eq!(
            command.line(),
            "callosum mesh task add '--to=codex' -- 'Fix it; rm -rf $HOME' -x"
        );
    }

    proptest! {
        #[test]
        fn a_shell_reads_the_line_as_the_same_arguments(words in prop::collection::vec("[^\0]{0,12}", 1..6)) {
            let command = Command(words.clone());
            let read = shlex::split(&command.line()).unwrap();
            prop_assert_eq!(&read[1..], &words[..]);
        }
    }

    #[test]
    fn a_failure_is_read_from_what_the_program_prints() {
        let output = br#"{"error":{"code":null,"message":"there is no task `a`","details":null,"hint":"callosum mesh task list"}}"#;
        let failure = CommandFailure::printed(output, b"error: there is no task", Some(1));
        assert_eq!(failure.message, "there is no task `a`");
        assert_eq!(failure.hint.as_deref(), Some("callosum mesh task list"));
        let failure = CommandFailure::printed(b"", b"error: no such option\n", Some(2));
        assert_eq!(failure.message, "no such option");
        assert_eq!(
            CommandFailure::printed(b"", b"", None).message,
            "the command was ended"
        );
    }
}
