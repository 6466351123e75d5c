//! Small phrases that all digests share: numbers, plurals, and what a file says of itself.

use callosum_search::outline::{Note, Symbol};

use crate::scout::{citation, modules::Module, survey::file::SurveyedFile};

/// "1 file", "2 files", "12,345 lines"; a word that ends in "s" already stays as it is.
pub(super) fn count(number: usize, noun: &str) -> String {
    let digits = thousands(number as u64);
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{digits} {stem}ies"),
        _ => format!("{digits} {noun}s"),
    }
}

/// How large a part is.
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

/// Some names in a row, and how many more there are.
pub(super) fn list<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} +{more} more", shown.join(", ")),
    }
}

/// What a file says of itself: the line alone where it holds the sentence and no links, else the
/// sentence with the line it begins on.
pub(super) fn said(file: &SurveyedFile, note: &Note) -> Option<String> {
    let line = unmarked(file.line(note.line)?);
    let words = citation::plain(&note.text, 150);
    let longest = 120;
    let has_links = ["](", "][", "`]"].iter().any(|mark| line.contains(mark));
    if !has_links
        && line.chars().count() <= longest
        && line.chars().count() + 8 >= words.chars().count()
    {
        return citation::cite_at_most(&file.path, note.line, line, longest);
    }
    let cited = citation::cite_at_most(&file.path, note.line, line, 28)?;
    Some(format!("{words} {cited}"))
}

/// A line of documentation without the comment mark it begins with. What is left still stands on
/// the line word for word.
fn unmarked(line: &str) -> &str {
    let marks =
        |c: char| c.is_whitespace() || matches!(c, '/' | '!' | '*' | '#' | '"' | '\'' | ';');
    line.trim_start_matches(marks)
        .trim_end_matches(['"', '\'', ' ', '*'])
}

/// The words of a symbol's documentation, after a colon; nothing where there is none.
pub(super) fn about_symbol(symbol: &Symbol, longest: usize) -> String {
    let words = citation::plain(symbol.about.as_deref().unwrap_or_default(), longest);
    let ornament = |c: char| c.is_whitespace() || "./=-*#".contains(c);
    let words = words.trim_matches(ornament);
    if words.is_empty() || words == symbol.name {
        return String::new();
    }
    format!(": {words}")
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
