//! Functions that make one word for a shell of a text, or a line of a list, and those that leave a text as it is:
//! `shlex.quote`, `escapeshellarg`, `Shellwords.join`, `str`.

use super::last;

/// Functions that quote a text.
const QUOTES: [&str; 7] = [
    "quote",
    "escapeshellarg",
    "shellescape",
    "shell_quote",
    "JSON.stringify",
    "Shellwords.escape",
    "repr",
];

/// Functions that give back what they are given, as far as that matters.
const KEEPS: [&str; 17] = [
    "str",
    "String",
    "fspath",
    "abspath",
    "realpath",
    "normpath",
    "normalize",
    "resolve",
    "absolute",
    "as_posix",
    "toString",
    "to_s",
    "escapeshellcmd",
    "encode",
    "expanduser",
    "Path",
    "PurePath",
];

/// Functions that make a line of a list.
const JOINS: [&str; 6] = [
    "shlex.join",
    "Shellwords.join",
    "Shellwords.shelljoin",
    "list2cmdline",
    "quote",
    "shell_quote",
];

/// Whether a function makes a text of one text.
pub(super) fn is_quoting(name: &str) -> bool {
    quotes(name) || KEEPS.contains(&last(name))
}

fn quotes(name: &str) -> bool {
    QUOTES.contains(&name) || QUOTES.contains(&last(name))
}

/// Whether a method leaves its text as it is.
pub(super) fn keeps(method: &str) -> bool {
    KEEPS.contains(&method)
}

/// Returns the result of such a function for a text.
pub(super) fn made(name: &str, text: &str) -> String {
    if quotes(name) {
        quoted(text)
    } else {
        text.to_owned()
    }
}

/// Whether a function makes a line of a list.
pub(super) fn joins(name: &str) -> bool {
    JOINS.contains(&name) || JOINS.contains(&last(name))
}

/// The line.
pub(super) fn joined(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A text as one word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+./:@%,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
