//! [`Gate::check`]: form, words, slots and similarity of a message, in this order.

use serde::Serialize;

use super::{
    Corpus, CorruptedCorpus,
    command::check_command,
    file::{check_file, plain},
    forbidden,
};
use crate::operator::message::{
    self, Clause, LONGEST, Message, PREFIX, STOP, Slot, Verb, error_name,
};

/// Lowest similarity of a message that passes (Seed CAKE §1).
pub const THRESHOLD: f64 = 0.90;

/// Most sentences after the prefix (Seed CAKE §1).
const MOST_SENTENCES: usize = 3;

/// Facts that the slots of a message are checked against.
#[derive(Clone, Copy)]
pub struct GateFacts<'a> {
    /// Whether the guard allows a command line.
    pub allows: &'a dyn Fn(&str) -> bool,
    /// Whether a file exists, by its path from the project's root. Never asked for absolute paths.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// Whether the project itself declares a program, as `package.json` and `pyproject.toml` do, or the target of a build tool.
    /// Asked for programs that are not in the built-in list, and for commands like `make seed` and `npm run e2e`. Do not answer
    /// with what `PATH` has.
    pub declares: &'a dyn Fn(&str) -> bool,
    /// The error that the message is about; `None` if a person asks.
    pub event: Option<EventFacts<'a>>,
}

/// The error that a message is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventFacts<'a> {
    /// Its class.
    pub error_type: &'a str,
    /// Its file: from the project's root if it is inside, else as printed.
    pub file: Option<&'a str>,
    /// Its line.
    pub line: Option<u32>,
    /// The test that failed.
    pub test: Option<&'a str>,
    /// The file that its known fix edits, from the project's root.
    pub fix_file: Option<&'a str>,
    /// The tool's message, or more of its output. A command that adds a package must be a fix, or add a name of this text.
    pub message: Option<&'a str>,
    /// Commands that may fix it: known and suggested.
    pub fixes: [Option<&'a str>; 2],
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether the message may be sent.
    pub passed: bool,
    /// Similarity with masked slots, from 0 to 1; that of the raw text if the message has no slots to mask.
    pub score: f64,
    /// Similarity of the raw text.
    pub raw_score: f64,
    /// `Valid`, or what is wrong.
    pub reason: String,
}

/// The gate with its corpus.
#[derive(Clone, Debug)]
pub struct Gate {
    corpus: Corpus,
}

impl Gate {
    /// Returns the gate with the built-in corpus.
    ///
    /// # Errors
    /// The same as for [`Corpus::built_in`].
    pub fn built_in() -> Result<Self, CorruptedCorpus> {
        Corpus::built_in().map(Self::new)
    }

    /// Returns a gate that compares with a corpus.
    pub fn new(corpus: Corpus) -> Self {
        Self { corpus }
    }

    /// Returns its corpus.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Checks a message. Costs well below a millisecond, besides what the caller's functions cost.
    pub fn check(&self, text: &str, surroundings: &GateFacts<'_>) -> Verdict {
        // The beginning is enough to see what a long text is like.
        let end = text.floor_char_boundary(LONGEST);
        let raw_score = rounded(self.corpus.raw_similarity(&text[..end]));
        let refusal = |score, reason| Verdict {
            passed: false,
            score,
            raw_score,
            reason,
        };
        let problems = problems(text);
        if !problems.is_empty() {
            return refusal(raw_score, sentence(&problems));
        }
        let message = match Message::parse(text) {
            Ok(message) => message,
            Err(error) => return refusal(raw_score, sentence(&[error.to_string()])),
        };
        let score = rounded(self.corpus.masked_similarity(&message));
        if let Err(reason) = check_message(&message, surroundings) {
            return refusal(score, sentence(&[reason]));
        }
        if score < THRESHOLD {
            let reason = format!("similarity {score} is below {THRESHOLD}");
            return refusal(score, sentence(&[reason]));
        }
        Verdict {
            passed: true,
            score,
            raw_score,
            reason: "Valid".to_owned(),
        }
    }
}

/// Returns a similarity with four decimals, cut and not rounded up, so that no score reaches the threshold by rounding.
fn rounded(similarity: f64) -> f64 {
    (similarity * 10_000.0 + 1e-6).floor() / 10_000.0
}

/// Joins problems as one text with a capital.
fn sentence(problems: &[String]) -> String {
    let mut text = problems.join(", ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// Returns what the hard rules find in a text: opening, length, white space, count of sentences and forbidden words.
fn problems(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |problem: &str| found.push(problem.to_owned());
    if text.len() > LONGEST {
        add(&format!("longer than {LONGEST} bytes"));
        return found;
    }
    let after = text.strip_prefix(PREFIX);
    match after {
        None => add("missing operator prefix"),
        Some(rest) if !rest.starts_with(&format!(" {STOP}")) => add("missing \"Stop.\""),
        Some(_) => {}
    }
    if text
        .chars()
        .any(|letter| letter != ' ' && letter.is_whitespace() || letter.is_control())
        || text.contains("  ")
        || text.starts_with(' ')
        || text.ends_with(' ')
    {
        add("white space other than single spaces");
    }
    if after.is_some() {
        if !text.ends_with('.') {
            add("text after the last sentence");
        }
        let rest = after.unwrap_or_default().trim_start();
        let count = message::sentences(rest).len();
        if count > MOST_SENTENCES {
            add(&format!("{count} sentences (limit: {MOST_SENTENCES})"));
        }
    }
    for kind in forbidden::kinds(text) {
        add(kind);
    }
    found
}

/// Checks the slots of both clauses.
pub(crate) fn check_message(message: &Message, surroundings: &GateFacts<'_>) -> Result<(), String> {
    if message.action.slot == message.reference.slot {
        return Err("both sentences have the same topic".to_owned());
    }
    check_clause(&message.action, surroundings)?;
    check_clause(&message.reference, surroundings)
}

/// Checks that a clause is about the event and this project.
pub(crate) fn check_clause(clause: &Clause, surroundings: &GateFacts<'_>) -> Result<(), String> {
    let event = surroundings.event;
    match &clause.slot {
        Slot::Command(command) => check_command(command, surroundings),
        Slot::File(file) => check_file(file, surroundings),
        Slot::FileLine { file, line } => {
            check_file(file, surroundings)?;
            if event.is_some_and(|event| {
                event.file.map(plain) != Some(plain(file)) || event.line != Some(*line)
            }) {
                return Err(format!("{file}:{line} is not the place of the error"));
            }
            Ok(())
        }
        Slot::Error { name, line } => {
            if clause.verb != Verb::Fix {
                return Err(format!("{} is not a verb for an error", clause.verb.word()));
            }
            let Some(event) = event else {
                return if message::is_phrase(name) || is_usual_class(name) {
                    Ok(())
                } else {
                    Err(format!("{name} is not an error"))
                };
            };
            if error_name(event.error_type) != name && event.error_type != name {
                return Err(format!("{name} is not the error"));
            }
            if line.is_some() && *line != event.line {
                return Err("the line is not that of the error".to_owned());
            }
            Ok(())
        }
        Slot::Test(test) => {
            if event.is_some_and(|event| event.test != Some(test)) {
                return Err(format!("{test} is not the test that failed"));
            }
            Ok(())
        }
        Slot::Word(_) => Ok(()),
    }
}

/// Returns whether the class is listed, or is named as classes of errors usually are.
fn is_usual_class(name: &str) -> bool {
    callosum_diagnose::error_type::is_listed(name)
        || ["Error", "Exception", "Warning"]
            .iter()
            .any(|ending| name.len() > ending.len() && name.ends_with(ending))
}
