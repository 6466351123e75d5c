//! Choice between the two grammars for a file: headers of either language are called `.h`.

use crate::language::Language;

/// The language of a text; C's grammar loses every class that it meets.
pub(in crate::outline) fn dialect(named: Language, path: &str, text: &str) -> Language {
    let is_header = path.rsplit('.').next() == Some("h");
    if named == Language::C && is_header && text.lines().any(is_of_cpp_alone) {
        Language::Cpp
    } else {
        named
    }
}

/// Whether no line of C reads like this, comments included.
fn is_of_cpp_alone(line: &str) -> bool {
    let line = line.trim();
    let words = |first: &str| {
        line.strip_prefix(first)
            .is_some_and(|rest| rest.starts_with([' ', '<']))
    };
    matches!(line, "public:" | "protected:" | "private:")
        || words("class") && line.ends_with(['{', ';'])
        || words("namespace") && line.ends_with(['{', '}'])
        || words("template") && line.contains('<') && line.ends_with(['>', '{', ';'])
        || words("using") && line.ends_with(';')
}
