//! Texts and paths as words of a shell, for commands that are equivalent to a tool's call.
//!
//! Start with [`quoted`], and with [`with_paths`] for paths.

/// Returns a command: a program with these paths as its arguments.
pub(super) fn with_paths(program: &str, paths: &[String]) -> String {
    paths.iter().fold(program.to_owned(), |command, path| {
        format!("{command} {}", path_word(path))
    })
}

/// Returns a path as a word of a shell. Servers know the home folder by `~` as shells do, and take
/// nothing for the folder that they are in.
pub(super) fn path_word(path: &str) -> String {
    match path {
        "" => ".".to_owned(),
        "~" => path.to_owned(),
        _ => match path.strip_prefix("~/") {
            Some(rest) => format!("~/{}", word(rest)),
            None => word(path),
        },
    }
}

/// Returns a command: a program with a text as its only argument.
pub(super) fn quoted(program: &str, text: &str) -> String {
    format!("{program} {}", word(text))
}

/// Returns a text as one word of a shell. Text that cannot be passed to a program becomes a NUL,
/// which the guard rejects.
fn word(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| "\0".to_owned(), Into::into)
}
