//! Statements for a database among the strings of a program.

use super::token::Token;

/// Whether a program in Python has tests: `def test_x(db)`.
pub(super) fn has_tests(tokens: &[Token]) -> bool {
    tokens.array_windows().any(|[first, second]| {
        matches!((first, second), (Token::Name(def), Token::Name(name))
            if def == "def" && name.starts_with("test_"))
    })
}

/// Whether a text is a statement that changes a database.
pub(super) fn changes_database(text: &str) -> bool {
    const VERBS: [&str; 5] = ["drop", "delete", "truncate", "alter", "update"];
    let mut words = text.split_whitespace();
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    // `truncate -s 0 x.log` is a command.
    let is_statement = !second.is_empty() && !second.starts_with('-');
    is_statement && VERBS.iter().any(|verb| first.eq_ignore_ascii_case(verb))
}

/// Whether a text is a statement that asks a database, or makes something in it, and no command.
pub(super) fn asks_database(text: &str) -> bool {
    const VERBS: [&str; 6] = ["select", "insert", "create", "pragma", "with", "explain"];
    let first = text.split_whitespace().next().unwrap_or("");
    let is_command = ["&&", "||", "$(", "; do", "`"]
        .iter()
        .any(|sign| text.contains(sign));
    !is_command && VERBS.iter().any(|verb| first.eq_ignore_ascii_case(verb))
}
