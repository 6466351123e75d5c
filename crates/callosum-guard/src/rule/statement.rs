//! Statements of SQL, as far as it matters which of them delete more than a row.
//!
//! No dialect is parsed: comments and strings are taken out, and the first words of each statement
//! are looked at.

use super::scratch_name::says_scratch;

/// The statements of a text, without comments and the client's own commands, which end with their
/// line.
fn statements(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        if line.trim_start().starts_with(['.', '\\']) {
            plain.push(';');
        } else {
            plain.push_str(line.split("-- ").next().unwrap_or(line));
        }
        plain.push('\n');
    }
    plain
}

/// Whether one of these statements deletes a table, a database, or every row of one.
pub(super) fn destroys_sql(text: &str) -> bool {
    let plain = statements(&without_strings(text).to_ascii_lowercase());
    plain.split(';').any(|statement| {
        let words: Vec<&str> = statement
            .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','))
            .filter(|word| !word.is_empty())
            .collect();
        let at = |word: &str| words.iter().position(|one| *one == word);
        let starts = |verb: &str| {
            words.first() == Some(&verb)
                || at(verb).is_some_and(|at| {
                    at > 0
                        && matches!(
                            words[at - 1],
                            "-c" | "begin" | "=" | "execute" | "analyze" | "as"
                        )
                })
        };
        if starts("drop") {
            // `drop database if exists shop_test`
            let named = words.last().copied().unwrap_or("");
            if matches!(words.get(1), Some(&"database" | &"schema")) && says_scratch(named) {
                return false;
            }
            return words.iter().any(|word| {
                matches!(
                    *word,
                    "table"
                        | "database"
                        | "schema"
                        | "view"
                        | "user"
                        | "role"
                        | "keyspace"
                        | "owned"
                        | "tablespace"
                        | "materialized"
                        | "function"
                        | "trigger"
                        | "type"
                        | "extension"
                        | "sequence"
                        | "column"
                )
            });
        }
        if starts("truncate") {
            return words.len() > 1;
        }
        if starts("delete") || starts("with") && at("delete").is_some() {
            let everywhere = at("where").is_none_or(|at| {
                matches!(
                    words.get(at + 1..),
                    Some(["true" | "1" | "1=1"] | ["1", "=", "1"])
                )
            });
            return at("from").is_some() && everywhere;
        }
        if starts("update") {
            return at("set").is_some() && at("where").is_none();
        }
        if starts("alter") {
            return at("drop").is_some();
        }
        starts("reassign")
    })
}

/// Returns a text without the contents of its quotes.
fn without_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) | (None, '"' | '`') => {}
            (None, '\'') => {
                quote = Some('\'');
                out.push('?');
            }
            (None, '-') if letters.peek() == Some(&'-') => {
                for letter in letters.by_ref() {
                    if letter == '\n' {
                        break;
                    }
                }
                out.push(' ');
            }
            (None, '/') if letters.peek() == Some(&'*') => {
                let mut last = ' ';
                letters.next();
                for letter in letters.by_ref() {
                    if last == '*' && letter == '/' {
                        break;
                    }
                    last = letter;
                }
                out.push(' ');
            }
            (None, other) => out.push(other),
        }
    }
    out
}
