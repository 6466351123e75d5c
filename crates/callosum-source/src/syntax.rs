//! Tells code from comments and strings: [`inert_ranges`] for a file, [`parses_as_code`] for a fragment.
//!
//! A quote that is still in a file proves little when the line was commented out. Start with [`inert_ranges`].

use std::ops::Range;

use tree_sitter::{Node, TreeCursor};

use crate::{language::Language, outline::parse};

/// Returns the byte ranges of a file that are comments or the text of strings, in order and without overlap; `None` if
/// the grammar gives the file up.
///
/// Code within a string, such as `${name}` of a template, is not part of a range. Costs one parse.
pub fn inert_ranges(language: Language, text: &str) -> Option<Vec<Range<usize>>> {
    let tree = parse(language, text)?;
    let mut ranges = Vec::new();
    let mut cursor = tree.walk();
    // A loop and not a recursion, since the depth of a hostile file has no bound.
    loop {
        let node = cursor.node();
        let kind = node.kind();
        let is_comment = kind.contains("comment");
        if is_comment || is_string(kind) {
            let mut from = node.start_byte();
            if !is_comment {
                for code in embedded_code(node) {
                    ranges.push(from..code.start);
                    from = code.end;
                }
            }
            ranges.push(from..node.end_byte());
        } else if cursor.goto_first_child() {
            continue;
        }
        if !advance(&mut cursor) {
            break;
        }
    }
    ranges.retain(|range| !range.is_empty());
    Some(ranges)
}

/// Moves to the next node that is no descendant of this one.
fn advance(cursor: &mut TreeCursor<'_>) -> bool {
    loop {
        if cursor.goto_next_sibling() {
            return true;
        }
        if !cursor.goto_parent() {
            return false;
        }
    }
}

fn is_string(kind: &str) -> bool {
    matches!(
        kind,
        "string"
            | "string_literal"
            | "raw_string_literal"
            | "interpreted_string_literal"
            | "template_string"
            | "char_literal"
            | "character_literal"
            | "rune_literal"
    )
}

/// Returns the ranges of the expressions within a string.
fn embedded_code(string: Node<'_>) -> Vec<Range<usize>> {
    let mut cursor = string.walk();
    let children = string.named_children(&mut cursor);
    let code = children.filter(|child| {
        matches!(
            child.kind(),
            "interpolation" | "template_substitution" | "string_interpolation"
        )
    });
    code.map(|child| child.byte_range()).collect()
}

/// Whether a fragment is code of this language: it parses without an error at the top of a file or in a function.
///
/// Prose does not parse, so this separates a commented-out line from a comment that always was one.
pub fn parses_as_code(language: Language, fragment: &str) -> bool {
    let is_clean = |text: &str| {
        parse(language, text).is_some_and(|tree| {
            let root = tree.root_node();
            !root.has_error() && has_code(root)
        })
    };
    if is_clean(fragment) {
        return true;
    }
    // A function around comments alone would parse too.
    if inert_ranges(language, fragment).is_some_and(|inert| is_covered(&inert, fragment)) {
        return false;
    }
    let (before, after) = match language {
        Language::Rust => ("fn f() {\n", "\n}\n"),
        Language::Python => ("def f():\n    ", "\n    pass\n"),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ("async function f() {\n", "\n}\n")
        }
        Language::Go => ("package p\nfunc f() {\n", "\n}\n"),
        Language::Java => ("class C { void f() {\n", "\n} }\n"),
        Language::C | Language::Cpp => ("void f() {\n", "\n}\n"),
    };
    is_clean(&format!("{before}{fragment}{after}"))
}

/// Whether ranges cover all of a text but blanks.
fn is_covered(ranges: &[Range<usize>], text: &str) -> bool {
    let mut at = 0;
    for range in ranges {
        if !text[at..range.start].trim().is_empty() {
            return false;
        }
        at = range.end;
    }
    text[at..].trim().is_empty()
}

/// Whether anything but comments is in a file.
fn has_code(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    let mut children = root.named_children(&mut cursor);
    children.any(|child| !child.kind().contains("comment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inert(language: Language, text: &str) -> Vec<&str> {
        let ranges = inert_ranges(language, text).unwrap();
        ranges.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn comments_and_strings_are_inert_and_code_in_templates_is_not() {
        assert_eq!(
            inert(
                Language::Rust,
                "// a\nfn f() { g(\"s\"); /* b */ }\n/// c\nstruct S;\n"
            ),
            ["// a", "\"s\"", "/* b */", "/// c\n"]
        );
        assert_eq!(
            inert(
                Language::Python,
                "def f():\n    \"\"\"doc\n    x = 1\n    \"\"\"\n    y = 2  # z\n"
            ),
            ["\"\"\"doc\n    x = 1\n    \"\"\"", "# z"]
        );
        assert_eq!(
            inert(
                Language::JavaScript,
                "/*\nlet a = 1;\n*/\nlet b = `x ${c} y`;\n"
            ),
            ["/*\nlet a = 1;\n*/", "`x ", " y`"]
        );
        assert_eq!(
            inert(Language::Go, "package p // a\nvar s = \"b\"\n"),
            ["// a", "\"b\""]
        );
    }

    #[test]
    fn code_parses_and_prose_does_not() {
        for (language, code) in [
            (Language::Rust, "const RETRIES: u8 = 3;"),
            (Language::Rust, "let retries = config.retries();"),
            (Language::Python, "RETRIES = 3"),
            (Language::Python, "return retries + 1"),
            (Language::JavaScript, "const retries = 3"),
            (Language::TypeScript, "export const retries: number = 3;"),
            (Language::Go, "retries := 3"),
            (Language::Java, "static final int RETRIES = 3;"),
            (Language::C, "#define RETRIES 3"),
        ] {
            assert!(parses_as_code(language, code), "{code}");
        }
        for (language, prose) in [
            (Language::Rust, "Retries are capped at three"),
            (Language::Python, "Returns the value of the cookie"),
            (Language::JavaScript, "Retries are capped at three"),
            (Language::Go, "Retries is the most often a call is made"),
            (Language::Rust, "// const RETRIES: u8 = 3;"),
            (Language::Python, "# RETRIES = 3"),
        ] {
            assert!(!parses_as_code(language, prose), "{prose}");
        }
    }
}
