//! Asking a person before something is written into their settings or their project.

use std::io::{self, BufRead as _, IsTerminal as _};

use super::context::Context;
use crate::ui::{CommandError, Exit};

/// The variable that answers every such question with yes; for scripts.
const ASSUME_YES: &str = "CALLOSUM_ASSUME_YES";

/// A person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// Go on.
    Yes,
    /// Do nothing.
    No,
    /// There is no terminal to ask at.
    CannotAsk,
}

/// Returns whether the user agreed beforehand, by `--yes` or by the environment.
pub(super) fn is_given(context: &Context, yes: bool) -> bool {
    yes || context
        .environment
        .get(ASSUME_YES)
        .is_some_and(|value| value == "1")
}

/// Returns whether there is a terminal to ask at.
pub(super) fn can_ask(context: &Context) -> bool {
    !context.ui.json && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks `question` at the terminal. Anything but `y` or `yes` is no, and so is the end of the input.
pub(super) fn ask(context: &Context, question: &str) -> Result<Agreement, CommandError> {
    if !can_ask(context) {
        return Ok(Agreement::CannotAsk);
    }
    context.ui.ask(&format!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read standard input", &error)
    })?;
    let answer = answer.trim().to_ascii_lowercase();
    Ok(if answer == "y" || answer == "yes" {
        Agreement::Yes
    } else {
        Agreement::No
    })
}
