//! Placeholders for secrets: a variable, a template, a word of examples.

use super::assignments::is_name;

/// Whether a value is a placeholder instead of a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 14] = [
        "password", "passwd", "pass", "pwd", "secret", "token", "changeme", "example", "test",
        "user", "your", "xxx", "port", "key",
    ];
    let value = value.to_ascii_lowercase();
    // Examples and tests use `password123` as a password.
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit() || "!_-".contains(c));
    let first = value.chars().next();
    let one_letter = value.chars().all(|c| Some(c) == first);
    one_letter
        || is_filled_in(&value)
        || WORDS.contains(&word)
        || [
            "your",
            "example",
            "changeme",
            "placeholder",
            "dummy",
            "fake",
            "xxx",
        ]
        .iter()
        .any(|word| value.contains(word))
}

/// Whether a reader fills in the value: a variable of a shell, `${…}`, `{…}`, `<…>`, `%NAME%`,
/// `%(name)s`, stars, an alias of YAML. A password may hold any of these marks by itself, or begin
/// with one, and in an address `%40` is one of its letters.
fn is_filled_in(value: &str) -> bool {
    const PAIRS: [[char; 2]; 4] = [['{', '}'], ['<', '>'], ['(', ')'], ['[', ']']];
    let is_between = |[open, close]: [char; 2]| {
        let rest = value.split_once(open).map(|(_, rest)| rest);
        rest.is_some_and(|rest| {
            let inner = rest.split_once(close).map(|(inner, _)| inner);
            let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-:$ ".contains(c);
            inner.is_some_and(|inner| inner.chars().all(is_name))
        })
    };
    value.starts_with('$')
        // An earlier mask, up to the next blank.
        || value.starts_with("[secret:")
        || value.contains("${")
        || value.contains("**")
        || value.strip_prefix('*').is_some_and(is_behind_star)
        || value.strip_prefix('%').is_some_and(is_behind_percent)
        || PAIRS.into_iter().any(is_between)
}

/// Whether the text after a star is the name of an alias, or makes a file name pattern with it.
fn is_behind_star(rest: &str) -> bool {
    rest.contains('*') || rest.starts_with(['.', '/', '_', '-', '?', '[']) || is_name(rest)
}

/// Whether the text after a percent sign is a name, with or without another sign after it, or a
/// format such as `%s`, `%-10d`.
fn is_behind_percent(rest: &str) -> bool {
    let name = rest.split_once('%').map(|(name, _)| name);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_between = name.is_some_and(|name| name.contains('_') && name.chars().all(is_of_name));
    if rest.ends_with('%') || is_between {
        return true;
    }
    if is_of_hex(rest) {
        return false;
    }
    let letter = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "#- +.$'lhz".contains(c));
    let mut printed = letter.chars();
    let is_printed = printed
        .next()
        .is_some_and(|c| "diouxefgcsvqtpabw@r".contains(c))
        && printed.next().is_none_or(|c| !c.is_ascii_alphanumeric());
    is_printed || is_name(name.unwrap_or(rest))
}

/// Whether a text begins with two digits of base 16.
fn is_of_hex(text: &str) -> bool {
    let mut first = text.bytes().take(2);
    text.len() >= 2 && first.all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-SEC-1: a mark that templates have makes no password of theirs one.
    #[test]
    fn a_mark_alone_makes_no_placeholder() {
        for value in [
            "gt0jx1%40efa",
            "%40gt0jx1",
            "gt0%23jx%2f1",
            "gt0{jx1",
            "gt0(jx1",
            "gt0[jx1",
            "gt0*jx1",
            "gt0$jx1",
            "gt0<jx1",
            "*gt0jx1aid2",
            "%gt0jx1aid2",
            "%s3cr3t-pa55",
            "*%gt0jx1",
        ] {
            assert!(!is_placeholder(value), "{value}");
        }
        for value in [
            "$pass1",
            "${pass1}",
            "$(cat x)",
            "{password1}",
            "<db1>",
            "[db1]",
            "%db_pass1%",
            "%(pass1)s",
            "%s",
            "%s:%d@host1",
            "%-10s",
            "%1$s",
            "%password",
            "%db_pass1%@db2",
            "%%pass1%%",
            "*anchor",
            "*db_password",
            "*.pem1",
            "*/secrets1",
            "*pass1*",
            "a-${x1}-b",
            "****",
            "p***d1",
            "password1",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
    }
}
