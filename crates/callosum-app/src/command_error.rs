//! [`CommandError`]: a failure with its causes, one hint to paste, and the exit code.

use std::{error::Error, fmt};

use callosum_ledger::ErrorCode;
use callosum_redact::terminal_escape::harmless;

/// The exit codes of every command but hooks, which have tables of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ran, and the answer is no: a task or a check failed, or nothing was found.
    No = 1,
    /// The command was used wrongly.
    Usage = 2,
    /// It could not start or store: configuration, registry, disk, locks, a newer format.
    Environment = 3,
    /// A defect of the program.
    Internal = 4,
    /// It waits for a person, whose word is all that it lacks.
    Waiting = 5,
    /// The user pressed Ctrl-C.
    Interrupted = 130,
    /// The reader of its output went away before the end; the code is that of a program ended by
    /// SIGPIPE.
    NoReader = 141,
}

/// A command that failed.
#[derive(Debug)]
pub struct CommandError {
    /// Exit code for the shell.
    pub exit: Exit,
    /// The seed's code, where it has one.
    pub code: Option<ErrorCode>,
    what: String,
    causes: Vec<String>,
    hint: Option<String>,
    quiet: bool,
}

impl CommandError {
    /// A failure in words of our own.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            code: None,
            what: what.into(),
            causes: Vec::new(),
            hint: None,
            quiet: false,
        }
    }

    /// A failure whose words, and causes, are those of `error`.
    pub fn from_error(exit: Exit, error: &(dyn Error + 'static)) -> Self {
        Self::new(exit, error.to_string()).caused_by(error.source())
    }

    /// A failure of `what`, caused by `error`.
    pub fn because(exit: Exit, what: impl Into<String>, error: &(dyn Error + 'static)) -> Self {
        Self::new(exit, what).caused_by(Some(error))
    }

    /// A failure that has been reported already: only the exit code is left.
    pub fn told(exit: Exit) -> Self {
        Self {
            quiet: true,
            ..Self::new(exit, "")
        }
    }

    /// A defect of the program itself.
    pub fn internal(error: impl Error + 'static) -> Self {
        Self::because(Exit::Internal, "internal error", &error)
    }

    /// Adds the causes, except those that the previous line already contains.
    fn caused_by(mut self, error: Option<&(dyn Error + 'static)>) -> Self {
        let mut next = error;
        while let Some(cause) = next {
            let words = cause.to_string();
            let previous = self.causes.last().unwrap_or(&self.what);
            if !previous.contains(&words) {
                self.causes.push(words);
            }
            next = cause.source();
        }
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds where it is, before what failed.
    #[must_use]
    pub fn in_place(mut self, place: &str) -> Self {
        self.what = format!("{place}: {}", self.what);
        self
    }

    /// Adds a cause in words.
    #[must_use]
    pub fn cause(mut self, words: impl Into<String>) -> Self {
        self.causes.push(words.into());
        self
    }

    /// Adds the seed's code.
    #[must_use]
    pub fn coded(mut self, code: Option<ErrorCode>) -> Self {
        self.code = code;
        self
    }

    /// Returns the hint, if there is one.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The failure on one line, without the hint: for a JSON field.
    pub fn one_line(&self) -> String {
        let mut line = self.what.clone();
        for cause in &self.causes {
            line.push_str(": ");
            line.push_str(cause);
        }
        line
    }

    /// Returns what failed.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns the causes, the nearest first.
    pub fn causes(&self) -> &[String] {
        &self.causes
    }

    /// Whether the failure has been reported, so that only the exit code is left.
    pub fn is_reported(&self) -> bool {
        self.quiet
    }
}

impl fmt::Display for CommandError {
    /// Writes the failure as stderr has it, without colors. Control characters of foreign words are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map(|code| format!("[{code}]"))
            .unwrap_or_default();
        writeln!(f, "error{code}: {}", harmless(&self.what))?;
        for cause in &self.causes {
            writeln!(f, "caused by: {}", harmless(cause))?;
        }
        if let Some(hint) = &self.hint {
            writeln!(f, "hint: {}", harmless(hint))?;
        }
        Ok(())
    }
}
