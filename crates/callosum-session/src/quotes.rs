//! [`quoted`]: text that anyone may have written, as it is shown to a model.

use std::fmt::Write as _;

use callosum_redact::terminal_escape::{is_unseen, untagged};

use crate::sanitize::one_line;

/// Returns each line as a quote.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for line in text.lines() {
        let _ = writeln!(quoted, "> {}", plain(line));
    }
    quoted
}

/// Returns a text on one line, without invisible characters that may still carry meaning (marks of
/// direction, joiners), and without text that would end the tags that clients put around it.
fn plain(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !is_unseen(*c)).collect();
    untagged(&one_line(&seen))
}
