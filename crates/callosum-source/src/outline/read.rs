//! [`outline`]: a file's text becomes its [`Outline`].

use std::{borrow::Cow, ops::ControlFlow};

use callosum_host::Disk;
use tree_sitter::{ParseOptions, Parser, Tree};

use super::{c, go, java, javascript, python, rust, symbol::Outline, walker::Page};
use crate::{
    language::Language,
    walk::{SourceTree, Why},
};

/// Number of progress reports of the parser before it is stopped, for each KiB of text.
///
/// It reports after a fixed number of steps and not of seconds, so that the same text always gets
/// the same answer. Written files of Rust, TypeScript and C++ need 5 to 11; recovery from errors
/// can take a time that grows with the square of the text, and needs 30 and more.
const REPORTS_PER_KIB: usize = 16;

/// Number of reports that any text is granted.
const REPORTS_AT_LEAST: usize = 200;

/// Reads one file. Never fails: what the grammar cannot read is left out, and
/// [`Outline::has_errors`] says so.
///
/// `path` is the file's path from the root; test runners tell their files by it. Costs one parse
/// and one walk over the syntax tree; a text that the grammar loses itself in is given up. The
/// stack does not grow with the text.
pub fn outline(language: Language, path: &str, text: &str) -> Outline {
    let (grammar, readable) = match language {
        Language::C | Language::Cpp => (c::dialect(language, path, text), c::bleached(text)),
        _ => (language, Cow::Borrowed(text)),
    };
    let Some(tree) = parse(grammar, &readable) else {
        return Outline {
            has_errors: true,
            ..Outline::default()
        };
    };
    let page = Page::new(path, text);
    match language {
        Language::Rust => {
            let rust::Opened { tree, macros } =
                rust::Opened::of(text, tree, |text| parse(language, text));
            page.read(&tree, &mut rust::Rust::new(text, macros))
        }
        Language::Python => page.read(&tree, &mut python::Python::new(path, text)),
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            page.read(&tree, &mut javascript::JavaScript::new(text))
        }
        Language::Go => page.read(&tree, &mut go::Go::new(path, text)),
        Language::Java => page.read(&tree, &mut java::Java::default()),
        Language::C | Language::Cpp => page.read(&tree, &mut c::C::new(path)),
    }
}

/// Reads every file of a tree on every core, in the order of [`SourceTree::files`]; `None` for a
/// file that no grammar reads.
pub fn outline_all(disk: &Disk, tree: &SourceTree) -> Vec<Result<Option<Outline>, Why>> {
    tree.map_texts(disk, |file, text| {
        file.language
            .map(|language| outline(language, &file.path, &text))
    })
}

/// Parses a text; `None` if the grammar loses itself in it.
pub(crate) fn parse(language: Language, text: &str) -> Option<Tree> {
    let grammar = match language {
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Go => tree_sitter_go::LANGUAGE,
        Language::Java => tree_sitter_java::LANGUAGE,
        Language::C => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
    };
    let mut parser = Parser::new();
    parser.set_language(&grammar.into()).ok()?;
    let granted = REPORTS_AT_LEAST + text.len() / 1024 * REPORTS_PER_KIB;
    let mut reports = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > granted {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    parser.parse_with_options(
        &mut |offset, _| text.as_bytes().get(offset..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    )
}
