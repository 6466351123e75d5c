//! Prints a [`CommandError`] on stderr, in color.

use std::io::{self, Write as _};

use callosum_app::{CommandError, Exit};
use callosum_redact::terminal_escape::harmless;
use owo_colors::OwoColorize as _;

/// Prints what failed, why, and the hint. Prints nothing if the failure has been reported.
pub(crate) fn print_error(error: &CommandError) {
    if error.is_reported() {
        return;
    }
    // No one is left to read it if stderr is closed.
    drop(write!(anstream::stderr().lock(), "{}", colored(error)));
}

fn colored(error: &CommandError) -> String {
    let code = error.code.map(|code| format!("[{code}]"));
    let code = code.unwrap_or_default();
    let what = harmless(error.what());
    let mut text = format!("{}{}: {what}\n", "error".red().bold(), code.red().bold());
    for cause in error.causes() {
        text = format!("{text}caused by: {}\n", harmless(cause));
    }
    if let Some(hint) = error.hint_text() {
        text = format!("{text}{}: {}\n", "hint".cyan().bold(), harmless(hint));
    }
    text
}

/// Returns the failure to write to stdout. If its reader went away, it has seen enough: nothing is printed.
pub(crate) fn unprinted(error: io::Error) -> CommandError {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return CommandError::told(Exit::NoReader);
    }
    CommandError::because(Exit::Environment, "cannot write to standard output", &error)
}
