//! Small phrases that all digests share: numbers, plurals, and what a file says of itself.

use callosum_source::outline::{Note, Symbol};

use crate::{
    citation::{self, Cited},
    modules::Module,
    report_layout::Statement,
    survey::file::SurveyedFile,
};

/// "1 file", "2 files", "12,345 lines"; a word that ends in "s" already stays as it is.
pub(super) fn count(number: usize, noun: &str) -> String {
    let digits = thousands(number as u64);
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{digits} {stem}ies"),
        _ => format!("{digits} {noun}s"),
    }
}

/// Returns the size of a part.
pub(super) fn size(part: &Module) -> String {
    let lines = count(part.lines as usize, "line");
    match part.files.len() {
        1 => lines,
        files => format!("{}, {lines}", count(files, "file")),
    }
}

/// A number with a comma between each three digits.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The number of names that a line lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// The first few, and the number of the others.
    Few,
    /// All of them.
    All,
}

impl Names {
    /// Lists some names, `few` of them unless all are wanted.
    pub(super) fn list<T: AsRef<str>>(self, names: &[T], few: usize) -> String {
        match self {
            Self::Few => list(names, few),
            Self::All => list(names, usize::MAX),
        }
    }
}

/// Some names in a row, and how many more there are.
pub(super) fn list<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} +{more} more", shown.join(", ")),
    }
}

/// Quotes a file's description of itself: the line that its first sentence begins on, and the rest
/// of that sentence.
pub(super) fn note_statement(file: &SurveyedFile, note: &Note) -> Option<Statement> {
    let line = unmarked(file.line(note.line)?);
    let words = citation::sentence(&note.text);
    let whole = Cited::of_line_at_most(&file.path, note.line, line, 120)?;
    if words.is_empty() || words.trim_end_matches('.') == whole.quote.trim_end_matches('.') {
        return Some(Statement::at(whole));
    }
    // The quote may begin with an ornament, or end behind the sentence.
    if whole.quote.contains(words.trim_end_matches('.')) {
        return Some(Statement::at(whole));
    }
    if let Some(rest) = words.strip_prefix(whole.quote.as_str()) {
        let mut statement = Statement::at(whole);
        let rest = rest.trim().trim_end_matches('.');
        rest.clone_into(&mut statement.rest);
        return Some(statement);
    }
    let short = Cited::of_line_at_most(&file.path, note.line, line, 28)?;
    Some(Statement::at(short).described(words))
}

/// Removes the comment mark at the start of a line of documentation. The rest is still a literal
/// part of the line.
fn unmarked(line: &str) -> &str {
    let marks =
        |c: char| c.is_whitespace() || matches!(c, '/' | '!' | '*' | '#' | '"' | '\'' | ';');
    line.trim_start_matches(marks)
        .trim_end_matches(['"', '\'', ' ', '*'])
}

/// The first sentence of a symbol's documentation; empty if it has none or only repeats the name.
pub(super) fn about_symbol(symbol: &Symbol) -> String {
    let words = citation::sentence(symbol.about.as_deref().unwrap_or_default());
    let ornament = |c: char| c.is_whitespace() || "./=-*#".contains(c);
    let words = words.trim_matches(ornament);
    if words == symbol.name {
        return String::new();
    }
    words.to_owned()
}

/// States what a file declares under a symbol's name, with its description.
pub(super) fn declared(file: &SurveyedFile, symbol: &Symbol) -> Option<Statement> {
    let statement = file.declares(symbol, 88)?;
    Some(statement.described(about_symbol(symbol)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(12_345, "line"), "12,345 lines");
        assert_eq!(count(2, "dependency"), "2 dependencies");
        assert_eq!(thousands(1_000_000), "1,000,000");
        assert_eq!(list(&["a", "b", "c"], 2), "a, b +1 more");
    }
}
