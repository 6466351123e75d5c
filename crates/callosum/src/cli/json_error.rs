//! Failures as programs read them: the error inside every JSON object, and the object that is
//! printed alone if a command failed before it had printed one of its own.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::json_error`].

use std::ffi::OsString;

use callosum_app::json_error::{ErrorOutput, FailureOutput, misuse};
use callosum_app::{CommandError, Exit, shell_word};
use clap::error::{ContextKind, ContextValue};

use super::{delegate, legacy_args};
use crate::ui::Ui;

/// Reports that a command line could not be parsed: in words on stderr, and as the one object that
/// its caller waits for if `--json` is among the words. Help and version are data.
pub(super) fn misused(arguments: &[OsString], error: &clap::Error) -> Result<(), CommandError> {
    // If the stream is closed, no one can read it.
    drop(error.print());
    let options = arguments.iter().skip(1).take_while(|word| *word != "--");
    let mut wants_json = options.filter(|word| *word == "--json");
    if !error.use_stderr() || wants_json.next().is_none() {
        return Ok(());
    }
    let ui = Ui::plain(true);
    let hint = meant(arguments, error).unwrap_or_else(|| manual(arguments));
    let error = ErrorOutput {
        hint: Some(hint),
        ..misuse(&error.render().to_string())
    };
    let is_delegation = legacy_args::verb(arguments)
        .is_some_and(|verb| ["delegate", "scan", "deps", "tests", "api"].contains(&verb));
    if is_delegation {
        return delegate::misused(ui, arguments, error);
    }
    ui.json_data(&FailureOutput { error })
}

/// Prints the one object that a program waits for, if the command that failed has printed none.
pub(super) fn print(ui: Ui, failed: &CommandError) {
    if !ui.json || ui.has_spoken() {
        return;
    }
    let mut error = ErrorOutput::of_command(failed);
    if error.message.is_empty() {
        // It was reported on stderr when it occurred.
        let message = match failed.exit {
            Exit::Interrupted => "interrupted",
            _ => "the command failed; see standard error",
        };
        message.clone_into(&mut error.message);
    }
    // If stdout is closed, no one can read it.
    drop(ui.json_data(&FailureOutput { error }));
}

/// The command line with the one word put right that clap has a guess for.
fn meant(arguments: &[OsString], error: &clap::Error) -> Option<String> {
    const GUESSES: [(ContextKind, ContextKind); 3] = [
        (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    let word = |kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.as_str()),
        // The best guess comes last.
        ContextValue::Strings(words) => words.last().map(String::as_str),
        _ => None,
    };
    let (kind, wrong, right) = GUESSES
        .into_iter()
        .find_map(|(wrong, right)| Some((wrong, word(wrong)?, word(right)?)))?;
    let mut words: Vec<&str> = arguments
        .iter()
        .skip(1)
        .map(|word| word.to_str())
        .collect::<Option<_>>()?;
    let is_wrong = |word: &&str| *word == wrong;
    // The same word may occur before as well: a command comes first, and a value last.
    let at = match kind {
        ContextKind::InvalidSubcommand => words.iter().position(is_wrong)?,
        _ => words.iter().rposition(is_wrong)?,
    };
    words[at] = right;
    let words: Vec<_> = words.into_iter().map(shell_word).collect();
    Some(format!("callosum {}", words.join(" ")))
}

/// Returns the command that prints the manual of the intended command, as far as the words lead to
/// one.
fn manual(arguments: &[OsString]) -> String {
    let mut command = &super::tree();
    let mut line = "callosum".to_owned();
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if legacy_args::takes_a_value(word) {
            words.next();
            continue;
        }
        let Some(found) = command.find_subcommand(word) else {
            continue;
        };
        line.push(' ');
        line.push_str(found.get_name());
        command = found;
    }
    format!("{line} --help")
}

/// The exit code that says so.
pub(super) fn exit_of(error: &clap::Error) -> u8 {
    u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_and_the_usage_is_its_details() {
        let failure = misuse("error: a value is\n  required\n\nUsage: callosum x\n\nMore.\n");
        assert_eq!(failure.message, "a value is required");
        assert_eq!(
            failure.details.as_deref(),
            Some("Usage: callosum x\n\nMore.")
        );
    }

    /// A usage error comes with the intended line, or the manual of its command.
    #[test]
    fn a_usage_error_has_a_line_to_paste() {
        for (line, hint) in [
            ("executor lst --json", "callosum executor list --json"),
            (
                "executor enable scout --priorty 1 --json",
                "callosum executor enable scout --priority 1 --json",
            ),
            (
                "delegate x --kind scn --json",
                "callosum delegate x --kind scan --json",
            ),
            (
                "executor enable scout --priority x --json",
                "callosum executor enable --help",
            ),
            ("executor --json", "callosum executor --help"),
            ("-C . --json", "callosum --help"),
            (
                "delegate scn --kind scn --json",
                "callosum delegate scn --kind scan --json",
            ),
            ("-C mesh executor --json", "callosum executor --help"),
        ] {
            let words = ["callosum"].into_iter().chain(line.split(' '));
            let words: Vec<OsString> = words.map(OsString::from).collect();
            let error = super::super::tree()
                .try_get_matches_from(&words)
                .unwrap_err();
            let line = meant(&words, &error).unwrap_or_else(|| manual(&words));
            assert_eq!(line, hint, "{error}");
        }
    }
}
