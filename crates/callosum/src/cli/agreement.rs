//! Asking a person before something is written into their settings or their project.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::agreement`].

use std::io;
use std::io::{BufRead as _, IsTerminal as _};

use callosum_app::agreement::Agreement;
use callosum_app::{CommandError, Exit};

use super::context::Context;

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
