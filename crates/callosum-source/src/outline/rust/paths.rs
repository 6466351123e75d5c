//! Rust's paths: what a `use` brings in, and what code names in full without one.

use std::collections::{BTreeMap, HashSet};

use tree_sitter::Node;

use super::super::{
    symbol::{Import, ImportKind, Note},
    uses::Purpose,
    walker::{Page, line_of, named_children},
};

/// Longer paths, in bytes, are ignored: no one writes them, and each name in a braced list has the
/// text before the braces in front of it.
const LONGEST_PATH: usize = 500;

/// The leaves of a `use`: each as a path without braces, its node, and its alias.
pub(super) fn leaves<'t>(
    page: &Page<'t>,
    argument: Node<'t>,
) -> Vec<(String, Node<'t>, Option<&'t str>)> {
    let mut open = vec![(String::new(), argument, None)];
    let mut found = Vec::new();
    while let Some((prefix, node, alias)) = open.pop() {
        if prefix.len() > LONGEST_PATH {
            continue;
        }
        let join = |path: &str| {
            let path: String = path.split_whitespace().collect();
            match (prefix.as_str(), path.as_str()) {
                ("", _) => path,
                (_, "self") => prefix.clone(),
                _ => format!("{prefix}::{path}"),
            }
        };
        match node.kind() {
            "use_list" => open.extend(
                named_children(node)
                    .into_iter()
                    .rev()
                    .map(|child| (prefix.clone(), child, None)),
            ),
            "scoped_use_list" => {
                let path = page.field(node, "path");
                let prefix = if path.is_empty() {
                    prefix.clone()
                } else {
                    join(path)
                };
                let list = node.child_by_field_name("list");
                open.extend(list.map(|list| (prefix, list, None)));
            }
            "use_as_clause" => {
                let alias = page.field(node, "alias");
                let path = node.child_by_field_name("path");
                open.extend(path.map(|path| (prefix, path, Some(alias))));
            }
            _ => found.push((join(page.text(node)), node, alias)),
        }
    }
    found
}

/// A path as the file's own module would write it, outside its modules with a body.
pub(super) fn from_file(page: &Page<'_>, path: String) -> String {
    let mut rest = path.as_str();
    for _ in 0..page.places.modules() {
        match rest.strip_prefix("super::") {
            Some(outer) => rest = outer,
            None => break,
        }
    }
    if rest.len() == path.len() || rest.starts_with("super::") {
        rest.to_owned()
    } else {
        format!("self::{rest}")
    }
}

/// Paths in code, and the names that make their first part a local one.
#[derive(Default)]
pub(super) struct Paths {
    announced: HashSet<String>,
    named: BTreeMap<String, (Purpose, u32)>,
    /// Start of the last path that was taken whole, for better or worse: its prefixes are no paths
    /// of their own.
    taken_at: Option<usize>,
    heads: BTreeMap<String, (Purpose, u32)>,
    /// End of the attribute that the walk is in, and of the last macro that was defined.
    attribute_end: usize,
    macro_end: usize,
}

/// Names of tools whose attributes look like a path into a crate of that name.
const TOOLS: [&str; 5] = ["clippy", "rustfmt", "rustdoc", "miri", "diagnostic"];

impl Paths {
    /// Takes note that the last part of `target` is a name of this file from now on.
    pub(super) fn announce(&mut self, target: &str) {
        let last = target.rsplit("::").next().unwrap_or(target);
        self.announced.insert(last.to_owned());
    }

    /// Takes note of `crate::disk::open` or `serde_json::to_string` in code.
    pub(super) fn note<'t>(&mut self, page: &mut Page<'t>, path: Node<'t>) {
        if self.taken_at == Some(path.start_byte()) {
            return;
        }
        let text = page.text(path);
        if text.len() <= LONGEST_PATH {
            use_path(page, text, path.start_byte());
        }
        if text.len() > LONGEST_PATH || self.name(page, text, path) {
            self.taken_at = Some(path.start_byte());
        }
    }

    /// Takes note of the paths among a macro's arguments, which the grammar sees as mere tokens:
    /// `sum::total` of `println!("{}", sum::total(&items))`. Names in a macro's own body depend on
    /// the place of the call.
    pub(super) fn note_tokens<'t>(&mut self, page: &mut Page<'t>, tokens: Node<'t>) {
        if tokens.start_byte() < self.macro_end {
            return;
        }
        let mut path: Option<(Node<'_>, usize)> = None;
        let mut after_colons = false;
        let mut cursor = tokens.walk();
        for token in tokens.children(&mut cursor) {
            match token.kind() {
                "::" => {
                    after_colons = true;
                    continue;
                }
                "identifier" | "crate" | "self" | "super" if after_colons => {
                    path = path.map(|(first, _)| (first, token.end_byte()));
                }
                kind => {
                    self.tokens(page, path);
                    let begins = matches!(kind, "identifier" | "crate" | "self" | "super");
                    path = begins.then(|| (token, token.end_byte()));
                }
            }
            after_colons = false;
        }
        self.tokens(page, path);
    }

    fn tokens<'t>(&mut self, page: &mut Page<'t>, path: Option<(Node<'t>, usize)>) {
        if let Some((first, end)) = path
            && end > first.end_byte()
            && end - first.start_byte() <= LONGEST_PATH
        {
            let text = &page.text[first.start_byte()..end];
            use_path(page, text, first.start_byte());
            self.name(page, text, first);
        }
    }

    /// Takes note of a path if it is a plain one.
    fn name(&mut self, page: &Page<'_>, text: &str, at: Node<'_>) -> bool {
        let is_plain = |text: &str| {
            let mut bytes = text.bytes();
            bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte))
        };
        if !text.starts_with(|c: char| c.is_lowercase() || c == '_') || !is_plain(text) {
            return false;
        }
        let named = (page.uses.purpose_at(at.start_byte()), line_of(at));
        let head = text.split("::").next().unwrap_or(text);
        if at.start_byte() < self.attribute_end && TOOLS.contains(&head) {
            return true;
        }
        if !matches!(head, "crate" | "self" | "super" | "std" | "core" | "alloc") {
            let first = self.heads.entry(head.to_owned()).or_insert(named);
            *first = named.min(*first);
        }
        let path = from_file(page, text.to_owned());
        let first = self.named.entry(path).or_insert(named);
        *first = named.min(*first);
        true
    }

    /// Says that the walk enters an attribute.
    pub(super) fn enter_attribute(&mut self, attribute: Node<'_>) {
        self.attribute_end = attribute.end_byte();
    }

    /// Says that the walk enters the definition of a macro.
    pub(super) fn enter_macro(&mut self, definition: Node<'_>) {
        self.macro_end = definition.end_byte();
    }

    /// Adds the paths that no `use`, `mod` or `extern crate` of the file announces.
    pub(super) fn finish(&mut self, page: &mut Page<'_>) {
        let named = std::mem::take(&mut self.named);
        let is_prefix = |path: &str| {
            let inner = format!("{path}::");
            named
                .range(inner.clone()..)
                .next()
                .is_some_and(|(longer, _)| longer.starts_with(&inner))
        };
        let paths = named
            .iter()
            .filter(|(path, _)| {
                let first = path.split("::").next().unwrap_or(path);
                !self.announced.contains(first) && !is_primitive(first) && !is_prefix(path)
            })
            .map(|(path, (purpose, line))| Import {
                target: path.clone(),
                kind: ImportKind::Path,
                names: Vec::new(),
                bindings: Vec::new(),
                purpose: *purpose,
                line: *line,
            });
        page.outline.imports.extend(paths);
        let heads = std::mem::take(&mut self.heads);
        for (text, (purpose, line)) in heads {
            let head = Note { text, line };
            match purpose {
                Purpose::Tests => page.outline.test_path_heads.push(head),
                _ => page.outline.path_heads.push(head),
            }
        }
    }
}

/// Notes the last name of a plain path behind what is in front of it.
fn use_path<'t>(page: &mut Page<'t>, text: &'t str, at: usize) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_:".contains(&byte);
    if !text.bytes().all(is_plain) {
        return;
    }
    // `super` of a module with a body in this file is this file.
    let mut path = text;
    for _ in 0..page.places.modules() {
        path = path.strip_prefix("super::").unwrap_or(path);
    }
    match path.rsplit_once("::") {
        Some((qualifier, name)) if !qualifier.is_empty() => page.uses.note(qualifier, name, at),
        Some(_) => {}
        // Not at the name's own place: that is passed over as a part of this path.
        None => page.uses.note_outer(path, at),
    }
}

fn is_primitive(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "char"
            | "str"
            | "f32"
            | "f64"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
    )
}
