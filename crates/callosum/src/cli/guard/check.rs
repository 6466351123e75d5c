//! `callosum guard check`: what the guard says to one command.

use std::{ffi::OsString, fmt::Write as _, io::Read as _, os::unix::ffi::OsStringExt as _};

use callosum_guard::{Decision, Verdict, decide, is_fixed, rules};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::place::{self, StrictnessArgs};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit, shell_word},
};
use callosum_client::hook::UNREADABLE;

/// Check whether a command may run
///
/// Exits with 0 if the command may run, and with 1 if the guard would ask a person or block it. Runs nothing. Several
/// words are the words of one command; a single word is a line for the shell. `-` reads the line from standard input.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard check -- git status
  $ callosum guard check -- 'ls | wc -l'
  $ callosum guard check --strictness paranoid -- ls")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    strictness: StrictnessArgs,
    /// Command to check
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// `callosum guard check --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct CheckOutput {
    /// The command that was asked about.
    pub(crate) command: String,
    /// `allow`, `ask` or `block`.
    pub(crate) decision: String,
    /// The rule that decided.
    pub(crate) rule: Option<String>,
    /// Why.
    pub(crate) reason: Option<String>,
    /// A command that serves the same end.
    pub(crate) alternative: Option<String>,
    /// The part of the command that the rule is about.
    pub(crate) subject: Option<String>,
    /// How much of it was understood, in percent.
    pub(crate) understood: u8,
    /// What was not.
    pub(crate) open: Vec<String>,
}

impl CheckOutput {
    /// A verdict as it is printed.
    pub(super) fn new(command: &str, verdict: Verdict) -> Self {
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
    pub(super) fn shown(&self) -> String {
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
const LONGEST_INPUT: u64 = 1024 * 1024;

/// A command that the guard is asked about on the command line.
pub(super) struct Asked {
    /// The words as one line for the shell; what is no text in them is shown as `\u{fffd}`.
    pub(super) line: String,
    is_text: bool,
}

impl Asked {
    /// Reads the words; a single `-` stands for what is on standard input.
    pub(super) fn read(words: &[OsString]) -> Result<Self, CommandError> {
        if words != ["-"] {
            return Ok(Self::of(words));
        }
        let mut bytes = Vec::new();
        let input = std::io::stdin().lock();
        input
            .take(LONGEST_INPUT)
            .read_to_end(&mut bytes)
            .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
        Ok(Self::of(&[OsString::from_vec(bytes)]))
    }

    fn of(words: &[OsString]) -> Self {
        let is_text = words.iter().all(|word| word.to_str().is_some());
        let words: Vec<String> = words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let line = line(&words);
        Self { line, is_text }
    }

    /// The verdict, which never says yes to what could not be read: a hook asks about that too.
    pub(super) fn verdict(&self, verdict: Verdict) -> Verdict {
        if self.is_text || verdict.decision != Decision::Allow {
            return verdict;
        }
        Verdict {
            decision: Decision::Ask,
            rule: Some(UNREADABLE.to_owned()),
            reason: Some("it contains bytes that are not UTF-8".to_owned()),
            ..verdict
        }
    }
}

/// The words on the command line as one line for the shell.
pub(super) fn line(words: &[String]) -> String {
    match words {
        [one] => one.clone(),
        words => words
            .iter()
            .map(|word| shell_word(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

pub(super) fn run(context: &Context, args: &CheckArgs) -> Result<(), CommandError> {
    let policy = args.strictness.policy_with_permits(context)?;
    let asked = Asked::read(&args.command)?;
    let (facts, look) = place::facts_after_look(context, &asked.line, &policy);
    let verdict = asked.verdict(decide(&asked.line, &facts, &policy));
    let verdict = place::with_blast_radius(context, look.as_ref(), verdict);
    let allowed = verdict.decision == Decision::Allow;
    let output = CheckOutput::new(&asked.line, verdict);
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.foreign(&output.shown())?;
    }
    if allowed {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
