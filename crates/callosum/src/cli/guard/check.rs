//! Arguments and output of `callosum guard check`.
//!
//! The use case is [`callosum_app::guard::check`].

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;

use callosum_app::guard::check::{CheckOutput, LONGEST_INPUT, line};
use callosum_app::guard::gather_facts;
use callosum_app::{CommandError, Exit};
use callosum_client::hook::UNREADABLE;
use callosum_guard::{Decision, Verdict, decide};
use clap::Args;

use super::gather_facts::StrictnessArgs;
use crate::cli::context::Context;

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

/// A command that the guard is asked about on the command line.
pub(super) struct Asked {
    /// The words as one line for the shell; what is no text in them is shown as `\u{fffd}`.
    pub(super) line: String,
    is_text: bool,
}

impl Asked {
    /// Reads the words; a single `-` means standard input.
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

pub(super) fn run(context: &Context, args: &CheckArgs) -> Result<(), CommandError> {
    let policy = args.strictness.policy_with_permits(context)?;
    let asked = Asked::read(&args.command)?;
    let (facts, look) = gather_facts::facts_after_look(context, &asked.line, &policy);
    let verdict = asked.verdict(decide(&asked.line, &facts, &policy));
    let verdict = gather_facts::with_blast_radius(context, look.as_ref(), verdict);
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
