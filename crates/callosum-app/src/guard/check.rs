//! `callosum guard check`: the guard's verdict on one command.

use std::fmt::Write as _;

use callosum_guard::{Verdict, is_fixed, rules};
use schemars::JsonSchema;
use serde::Serialize;

use crate::shell_word;

/// `callosum guard check --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CheckOutput {
    /// The command that was asked about.
    pub command: String,
    /// `allow`, `ask` or `block`.
    pub decision: String,
    /// The rule that decided.
    pub rule: Option<String>,
    /// Reason.
    pub reason: Option<String>,
    /// A command that serves the same end.
    pub alternative: Option<String>,
    /// The part of the command that the rule is about.
    pub subject: Option<String>,
    /// Percentage of the command that was understood.
    pub understood: u8,
    /// Parts that were not understood.
    pub open: Vec<String>,
}

impl CheckOutput {
    /// A verdict as it is printed.
    pub fn new(command: &str, verdict: Verdict) -> Self {
        Self {
            command: command.to_owned(),
            decision: verdict.decision.name().to_owned(),
            rule: verdict.rule,
            reason: verdict.reason,
            alternative: verdict.alternative,
            subject: verdict.subject,
            understood: verdict.coverage.percent,
            open: verdict.coverage.open,
        }
    }

    /// The verdict for people.
    pub fn shown(&self) -> String {
        let mut text = self.decision.clone();
        if let Some(rule) = &self.rule {
            let _ = write!(text, " by {rule}");
        }
        text.push('\n');
        for (what, value) in [
            ("command", &self.subject),
            ("reason", &self.reason),
            ("instead", &self.alternative),
        ] {
            if let Some(value) = value {
                let _ = writeln!(text, "  {what}: {value}");
            }
        }
        let lowered = match self.decision.as_str() {
            "block" => Some("ask"),
            "ask" => Some("allow"),
            _ => None,
        };
        if let (Some(rule), Some(level)) = (&self.rule, lowered)
            && !is_fixed(rule)
            && rules().iter().any(|known| known.id == rule)
        {
            let _ = writeln!(
                text,
                "  to lower: callosum guard rule {rule} {level} --for 10m"
            );
        }
        for open in &self.open {
            let _ = writeln!(text, "  not understood: {open}");
        }
        text
    }
}

/// Most bytes that are read of standard input: more than the guard looks at.
pub const LONGEST_INPUT: u64 = 1024 * 1024;

/// The words on the command line as one line for the shell.
pub fn line(words: &[String]) -> String {
    match words {
        [one] => one.clone(),
        words => words
            .iter()
            .map(|word| shell_word(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}
