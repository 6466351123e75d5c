//! Text of others in text of ours: masked, on one line, and between quotes.

use callosum_redact::{secrets::mask, terminal_escape::untagged};

/// Most characters of a quoted text.
pub(crate) const MOST_QUOTED: usize = 240;

/// Returns a text of others on one line, in quotes that it cannot end, without secrets and without
/// the beginning of a tag. A long one is cut.
pub fn quoted(text: &str) -> String {
    let line = one_line(&mask(text).text).replace('"', "'");
    let mut shown: String = line.chars().take(MOST_QUOTED).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// Returns a text on one line in which nothing begins a tag.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    untagged(&words.join(" "))
}
