//! [`Message`]: the typed form of a message, its text, and the way back from the text.
//!
//! A message is `Operator (CAKE): Stop. {action}. {reference}.` (Seed CAKE §1). Each clause is a verb and one slot. The
//! kind of a slot follows from its text alone, so that the gate reads a message without knowing who wrote it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Text that opens each message.
pub const PREFIX: &str = "Operator (CAKE):";

/// First sentence of each message.
pub const STOP: &str = "Stop.";

/// Most bytes of a message.
pub const LONGEST: usize = 600;

/// Things that a message may point to besides files, commands, errors and tests, in alphabetical order.
pub const WORDS: [&str; 36] = [
    "another approach",
    "branch",
    "build files",
    "build output",
    "command name",
    "configuration",
    "coverage report",
    "dependencies",
    "disk space",
    "file path",
    "git status",
    "imports",
    "input data",
    "installed packages",
    "known fix",
    "linter output",
    "memory use",
    "merge conflicts",
    "network settings",
    "output",
    "parentheses",
    "permissions",
    "port in use",
    "python version",
    "remote branch",
    "spelling",
    "stack trace",
    "test output",
    "test results",
    "tests",
    "the diff",
    "the first error",
    "the full output",
    "the line above",
    "uncommitted changes",
    "virtual environment",
];

/// Words that `Run` and `Try` take; after these verbs, `git status` is a command.
const TASKS: [&str; 2] = ["another approach", "tests"];

/// Phrases for the closed list of error types, in the order of [`callosum_diagnose::error_type::NAMES`].
const PHRASES: [(&str, &str); 33] = [
    ("Abort", "abort"),
    ("AddressInUse", "address conflict"),
    ("BuildError", "build error"),
    ("BuildWarning", "build warning"),
    ("CommandNotFound", "missing command"),
    ("CompileError", "compile error"),
    ("CompileWarning", "compile warning"),
    ("ConnectionError", "connection error"),
    ("CoverageDrop", "coverage drop"),
    ("DependencyError", "dependency error"),
    ("DeprecationWarning", "deprecation"),
    ("DiskFull", "full disk"),
    ("FileNotFoundError", "missing file"),
    ("GitError", "git error"),
    ("GitPushRejected", "rejected push"),
    ("JSONParseError", "JSON error"),
    ("LinkError", "link error"),
    ("LintError", "lint error"),
    ("MergeConflict", "merge conflict"),
    ("NoTestsRan", "missing tests"),
    ("OutOfMemory", "memory error"),
    ("Panic", "panic"),
    ("PermissionError", "file permissions"),
    ("PhpFatalError", "PHP error"),
    ("PhpWarning", "PHP warning"),
    ("SegFault", "segmentation fault"),
    ("SyntaxError", "syntax error"),
    ("TestError", "test error"),
    ("TestFailure", "failing test"),
    ("TestTimeout", "slow test"),
    ("TestUsageError", "test command"),
    ("TypeCheckError", "type error"),
    ("UnboundVariable", "unset variable"),
];

/// File names without a dot that need no `./` to be read as files.
const BARE_FILES: [&str; 8] = [
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "Makefile",
    "Pipfile",
    "Procfile",
    "Rakefile",
];

/// Verb of a clause (Seed CAKE §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verb {
    /// Run a command.
    Run,
    /// Look at something with a question in mind.
    Check,
    /// Change something.
    Fix,
    /// Run a command that may not help.
    Try,
    /// Read something.
    See,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 5] = [Self::Run, Self::Check, Self::Fix, Self::Try, Self::See];

    /// Returns the word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "Run",
            Self::Check => "Check",
            Self::Fix => "Fix",
            Self::Try => "Try",
            Self::See => "See",
        }
    }
}

/// Object of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A command line; only after `Run` and `Try`.
    Command(String),
    /// A file or folder.
    File(String),
    /// A line of a file, written `file:line`.
    FileLine {
        /// The file.
        file: String,
        /// The line, from 1 on.
        line: u32,
    },
    /// A class of errors, or the phrase of a listed type.
    Error {
        /// The class or the phrase, as written.
        name: String,
        /// The line, written `line N`.
        line: Option<u32>,
    },
    /// A test, written `test NAME`.
    Test(String),
    /// One of [`WORDS`].
    Word(&'static str),
}

/// A verb and its object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clause {
    /// The verb.
    pub verb: Verb,
    /// The object.
    pub slot: Slot,
}

/// A message without its prefix and `Stop.`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// First clause: the thing to do.
    pub action: Clause,
    /// Second clause: the place to look at, or the next thing to do.
    pub reference: Clause,
}

/// The reason that a text is not a clause or message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It does not open with the prefix and `Stop.`.
    #[error("the opening is not \"Operator (CAKE): Stop.\"")]
    Opening,
    /// It is longer than [`LONGEST`].
    #[error("the message is longer than {LONGEST} bytes")]
    Length,
    /// It does not have exactly two clauses after `Stop.`.
    #[error("{0} sentences instead of 3")]
    Sentences(usize),
    /// A sentence does not begin with a listed verb.
    #[error("{0:?} does not begin with Run, Check, Fix, Try or See")]
    Verb(String),
    /// The object does not fit a slot of the verb.
    #[error("{0:?} is not an object of {1:?}")]
    Object(String, Verb),
}

impl fmt::Display for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => formatter.write_str(command),
            Self::File(file) => formatter.write_str(file),
            Self::FileLine { file, line } => write!(formatter, "{file}:{line}"),
            Self::Error { name, line: None } => formatter.write_str(name),
            Self::Error {
                name,
                line: Some(line),
            } => write!(formatter, "{name} line {line}"),
            Self::Test(test) => write!(formatter, "test {test}"),
            Self::Word(word) => formatter.write_str(word),
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.verb.word(), self.slot)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{PREFIX} {STOP} {}. {}.",
            self.action, self.reference
        )
    }
}

impl Clause {
    /// Reads a sentence without its full stop.
    ///
    /// # Errors
    /// The verb is not listed, or the rest is not an object of it.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let first = text.split(' ').next().unwrap_or_default();
        let verb = Verb::ALL
            .into_iter()
            .find(|verb| verb.word() == first)
            .ok_or_else(|| ParseError::Verb(excerpt(text)))?;
        let object = text[first.len()..].strip_prefix(' ').unwrap_or_default();
        let slot =
            slot_of(verb, object).ok_or_else(|| ParseError::Object(excerpt(object), verb))?;
        Ok(Self { verb, slot })
    }

    /// Returns the clause with its variables replaced, as the similarity compares it.
    pub fn masked(&self) -> String {
        let verb = self.verb.word();
        match &self.slot {
            Slot::Command(_) => format!("{verb} COMMAND"),
            Slot::File(_) => format!("{verb} FILE"),
            Slot::FileLine { .. } => format!("{verb} FILE:LINE"),
            Slot::Error { line: None, .. } => format!("{verb} ERROR"),
            Slot::Error { line: Some(_), .. } => format!("{verb} ERROR line N"),
            Slot::Test(_) => format!("{verb} test TEST"),
            Slot::Word(word) => format!("{verb} {word}"),
        }
    }
}

impl Message {
    /// Returns a message of two clauses, or `None` if its text does not read back as the same clauses.
    pub fn new(action: Clause, reference: Clause) -> Option<Self> {
        let message = Self { action, reference };
        (Self::parse(&message.to_string()).as_ref() == Ok(&message)).then_some(message)
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// The text is not exactly the opening and two clauses.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        if text.len() > LONGEST {
            return Err(ParseError::Length);
        }
        let rest = text
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.strip_prefix(' '))
            .and_then(|rest| rest.strip_prefix(STOP))
            .and_then(|rest| rest.strip_prefix(' '))
            .ok_or(ParseError::Opening)?;
        match sentences(rest).as_slice() {
            [action, reference] => Ok(Self {
                action: Clause::parse(action)?,
                reference: Clause::parse(reference)?,
            }),
            other => Err(ParseError::Sentences(other.len() + 1)),
        }
    }
}

/// Splits a text into sentences without their full stops.
///
/// A sentence ends at a full stop before a space or at the end. Stops inside of `requirements.txt`, `v1.2`, `./...` and
/// `a.b.c:42` are followed by neither. Text after the last full stop is a sentence as well, with its end marked by `…`, so
/// that it parses as nothing.
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(". ") {
        found.push(rest[..end].to_owned());
        rest = &rest[end + 2..];
    }
    match rest.strip_suffix('.') {
        Some(last) => found.push(last.to_owned()),
        None if rest.is_empty() => {}
        None => found.push(format!("{rest}…")),
    }
    found
}

/// Returns the phrase of a listed type, else the class itself.
pub fn error_name(error_type: &str) -> &str {
    PHRASES
        .binary_search_by_key(&error_type, |(name, _)| name)
        .map_or(error_type, |found| PHRASES[found].1)
}

/// Returns whether this is the phrase of a listed type.
pub fn is_phrase(name: &str) -> bool {
    PHRASES.iter().any(|(_, phrase)| *phrase == name)
}

/// Returns the word of the closed list.
pub fn word(text: &str) -> Option<&'static str> {
    WORDS.into_iter().find(|word| *word == text)
}

/// Returns the path in the form that a message writes: without `./` unless the name can be read as a class.
pub fn written_path(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.contains(['/', '.']) || BARE_FILES.contains(&path) {
        path.to_owned()
    } else {
        format!("./{path}")
    }
}

/// Returns the slot that an object of the verb reads as.
fn slot_of(verb: Verb, object: &str) -> Option<Slot> {
    if object.is_empty() || object.starts_with(' ') || object.ends_with(' ') {
        return None;
    }
    let is_task = matches!(verb, Verb::Run | Verb::Try);
    if let Some(word) = word(object).filter(|word| !is_task || TASKS.contains(word)) {
        return Some(Slot::Word(word));
    }
    if is_task {
        return is_command_text(object).then(|| Slot::Command(object.to_owned()));
    }
    if let Some((name, number)) = object.rsplit_once(" line ") {
        let line = Some(line_number(number)?);
        let is_error = is_phrase(name) || is_error_class(name);
        return is_error.then(|| Slot::Error {
            name: name.to_owned(),
            line,
        });
    }
    if let Some(test) = object.strip_prefix("test ").filter(|_| !is_phrase(object)) {
        return is_test_name(test).then(|| Slot::Test(test.to_owned()));
    }
    if is_phrase(object) {
        return Some(Slot::Error {
            name: object.to_owned(),
            line: None,
        });
    }
    if let Some((file, number)) = object.rsplit_once(':') {
        let line = line_number(number)?;
        return is_path_text(file).then(|| Slot::FileLine {
            file: file.to_owned(),
            line,
        });
    }
    if is_path_text(object) {
        return Some(Slot::File(object.to_owned()));
    }
    is_error_class(object).then(|| Slot::Error {
        name: object.to_owned(),
        line: None,
    })
}

/// Reads a number in the one form in which it is written.
fn line_number(text: &str) -> Option<u32> {
    let number = text.parse().ok().filter(|number| *number > 0)?;
    (u32::to_string(&number) == text).then_some(number)
}

/// Returns whether the text is plain words of a command: no quotes, no expansion, no second command. A word ends with no dot,
/// unless it is `./...`, or the folder `.` as the last word.
pub fn is_command_text(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._/:@=+,-".contains(&byte))
            && (!word.ends_with('.') || matches!(word, "." | "./..."))
    };
    text.split(' ').all(is_word) && !text.contains(". ") && text.len() <= 160
}

/// Returns whether the text is a path as a message writes it.
pub fn is_path_text(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && !text.ends_with('.')
        && !text.starts_with(['-', ':'])
        && text
            .chars()
            .all(|letter| letter.is_alphanumeric() || "._-/+@[]".contains(letter))
        && (text.contains(['/', '.']) || BARE_FILES.contains(&text))
}

/// Returns whether the text is the name of a test as a message writes it.
pub fn is_test_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 120
        && !text.starts_with('-')
        && !text.ends_with(['.', ':'])
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_:./-#$".contains(&byte))
}

/// Returns whether the text is a class of errors: an identifier in ASCII, of at most 80 letters.
pub fn is_error_class(text: &str) -> bool {
    text.len() <= 80
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the beginning of a text for an error.
fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}
