//! [`shell_word`]: a word of a hint, quoted for the shell that the hint is pasted into.

/// Returns the word in quotes where a shell would read it as something else.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:@%^,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_word_back_as_it_was() {
        for word in [
            "",
            "/home/me/project",
            "/srv/it's \u{fc}",
            "a b",
            "$(touch x)",
            "`id`",
            "~/x",
            "a;b\nc",
            "!!",
            "*",
        ] {
            let read = shlex::split(&shell_word(word)).unwrap();
            assert_eq!(read, [word]);
        }
        assert_eq!(shell_word("/srv/a.b"), "/srv/a.b");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }
}
