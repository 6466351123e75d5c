//! Statements that a query makes: `select 'drop table ' || name from …`, and dumps of a database.

use crate::analyze::value::SOME;

/// First line of a dump that deletes what it then replaces.
pub(crate) const DUMP: &str = "-- dump that replaces what is there\n";

/// Returns the output of a client for statements that join texts: the texts, with placeholders for
/// unknown parts between them. `None` if there are none.
pub(crate) fn made_by(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    if !lower.contains("select") && !lower.contains("execute") {
        return None;
    }
    let mut made = String::new();
    let mut letters = text.chars().peekable();
    let mut any = false;
    while let Some(letter) = letters.next() {
        if letter == ';' {
            made.push('\n');
        }
        if letter != '\'' {
            continue;
        }
        if any && !made.ends_with('\n') {
            made.push(' ');
            made.push(SOME);
            made.push(' ');
        }
        any = true;
        while let Some(inner) = letters.next() {
            match (inner, letters.peek()) {
                // Two quotes are one within a text.
                ('\'', Some('\'')) => {
                    letters.next();
                    made.push('\'');
                }
                ('\'', _) => break,
                (inner, _) => made.push(inner),
            }
        }
    }
    any.then(|| made + "\n")
}

/// Whether a text runs what its query makes: `\gexec` of psql, `EXECUTE` in a block of PL/pgSQL,
/// `PREPARE` of MySQL.
pub(crate) fn runs_what_it_makes(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("\\gexec")
        || lower.contains("execute") && (lower.contains("do $") || lower.contains("begin"))
        || lower.contains("prepare") && lower.contains("from '")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: the texts that a query joins are what it makes.
    #[test]
    fn a_query_makes_its_texts() {
        let made = |text| made_by(text).map(|made| made.replace(SOME, "?"));
        for (text, expected) in [
            (
                "select 'drop table ' || name || ';' from t",
                Some("drop table  ? ;\n"),
            ),
            (
                "SELECT CONCAT('DROP TABLE ', n, ';') FROM t",
                Some("DROP TABLE  ? ;\n"),
            ),
            ("select 'it''s'", Some("it's\n")),
            ("select 1", None),
            ("insert into t values ('drop table x')", None),
        ] {
            assert_eq!(made(text).as_deref(), expected, "{text}");
        }
        assert!(runs_what_it_makes(
            "select format('drop table %I', t) \\gexec"
        ));
        assert!(!runs_what_it_makes("select 'drop table x'"));
    }
}
