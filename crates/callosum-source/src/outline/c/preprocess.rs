//! Text that a C compiler would not see either, blanked so that the grammar can read the rest.
//!
//! Without the build's definitions, the expansion of a macro is unknown. Some uses are so common in
//! headers, and so confusing to the grammar, that they are recognized by their form.

use std::borrow::Cow;

use super::{super::walker::cut, macros};

/// Most lines of a block about `__cplusplus`.
const LONGEST_BLOCK: usize = 8;

/// The text with three things replaced by as many spaces: `EXPORT` of `class EXPORT Name {`, macros
/// before other declarations, and blocks of `#ifdef __cplusplus` that only open or close an
/// `extern "C" {`.
pub(in crate::outline) fn bleached(text: &str) -> Cow<'_, str> {
    let mut blanks = export_macros(text);
    blanks.extend(linkage_blocks(text));
    blanks.extend(macros::before_declarations(text));
    if blanks.is_empty() {
        return Cow::Borrowed(text);
    }
    blanks.sort_unstable();
    let mut bleached = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in blanks {
        if start < at {
            continue;
        }
        bleached.push_str(&text[at..start]);
        let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
        bleached.extend(text[start..end].bytes().map(blank));
        at = end;
    }
    bleached.push_str(&text[at..]);
    Cow::Owned(bleached)
}

fn export_macros(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for keyword in ["class ", "struct "] {
        for (at, _) in text.match_indices(keyword) {
            let begins_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let start = at + keyword.len();
            let (name, mut rest) = word(&text[start..]);
            let is_macro = name.len() > 1
                && name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            if !begins_word || !is_macro {
                continue;
            }
            let mut end = start + name.len();
            if let Some(arguments) = rest.strip_prefix('(')
                && let Some((inside, _)) = cut(arguments).split_once(')')
            {
                end += inside.len() + 2;
                rest = &arguments[inside.len() + 1..];
            }
            let (declared, after) = word(rest.trim_start());
            let after = after.trim_start();
            let opens = after.starts_with('{')
                || after.starts_with(':') && !after.starts_with("::")
                || after.starts_with("final");
            if !declared.is_empty() && opens {
                found.push((start, end));
            }
        }
    }
    found
}

/// The identifier that a text begins with, and what follows.
fn word(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    text.split_at(end)
}

fn linkage_blocks(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let start = next;
        next += line.len();
        let Some((directive, _)) = line.split_once("__cplusplus") else {
            continue;
        };
        let directive: String = directive.split_whitespace().collect();
        if !matches!(directive.as_str(), "#ifdef" | "#ifdefined(" | "#ifdefined") {
            continue;
        }
        let mut end = start;
        for (index, line) in text[start..]
            .split_inclusive('\n')
            .enumerate()
            .take(LONGEST_BLOCK)
        {
            let words: String = line.split_whitespace().collect();
            let inside = ["extern\"C\"", "}", "{", "/*", "//"]
                .iter()
                .any(|start| words.starts_with(start));
            end += line.len();
            if words.starts_with("#endif") {
                found.push((start, end));
                break;
            }
            if index > 0 && !inside && !words.is_empty() {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = bleached(text);
        assert_eq!(found, expected);
        assert_eq!(found.len(), text.len());
    }

    #[test]
    fn an_export_macro_before_the_name_of_a_class_is_blanked() {
        check("class DB_EXPORT Db : Base {", "class           Db : Base {");
        check("struct API(1) A {", "struct        A {");
    }

    #[test]
    fn a_type_in_capitals_is_not() {
        for text in [
            "struct DIR *open(void) {",
            "struct FILE f;",
            "class A {",
            "class URL : Base {",
            "myclass AB c {",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_guarded_linkage_is_blanked_and_other_code_for_cpp_is_not() {
        check(
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a;\n",
            "                  \n            \n      \nint a;\n",
        );
        let other = "#ifdef __cplusplus\nclass A;\n#endif\n";
        check(other, other);
    }

    /// CAL-EXE-3: no input holds the process up.
    #[test]
    fn a_long_line_is_looked_at_once() {
        for part in ["__cplusplus", "class AB("] {
            let line = part.repeat(100_000);
            assert!(bleached(&line) == line);
        }
    }
}
