//! The names that Rust code uses alone, the local ones that hide them, and what only tests need.
//!
//! Start with [`enter`]. Paths such as `disk::open` are in [`super::paths`].

use tree_sitter::Node;

use super::super::{
    uses::Purpose,
    walker::{Page, child_of_kind, named_children},
};

/// Attributes that make a function a test, by the last part of their path.
pub(super) const TEST_ATTRIBUTES: [&str; 7] = [
    "test",
    "rstest",
    "test_case",
    "quickcheck",
    "proptest",
    "wasm_bindgen_test",
    "gtest",
];

/// Notes what a node says of names; the walk enters its children afterwards. `lead` holds the
/// attributes before it.
pub(super) fn enter<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
    if lead.iter().any(|attribute| is_for_tests(page, *attribute)) {
        page.uses.set_apart(node.byte_range(), Purpose::Tests);
    }
    match node.kind() {
        "attribute_item" if is_for_tests(page, node) => {
            page.uses.set_apart(node.byte_range(), Purpose::Tests);
        }
        "inner_attribute_item" if page.places.is_empty() && page.text(node) == "#![cfg(test)]" => {
            let rest = node.start_byte()..page.text.len();
            page.uses.set_apart(rest, Purpose::Tests);
        }
        "function_item"
        | "function_signature_item"
        | "closure_expression"
        | "block"
        | "match_arm"
        | "for_expression"
        | "impl_item"
        | "trait_item"
        | "struct_item"
        | "enum_item"
        | "union_item"
        | "type_item" => {
            let name = node.child_by_field_name("name");
            if let Some(name) = name.filter(|_| page.places.in_function()) {
                page.uses.declare_local(page.text(name));
            }
            page.open_scope(node);
            if node.kind() == "for_expression" {
                pattern(page, node.child_by_field_name("pattern"));
            }
        }
        "let_declaration" | "parameter" | "let_condition" => {
            pattern(page, node.child_by_field_name("pattern"));
        }
        "match_pattern" => pattern(page, node.named_child(0)),
        "closure_parameters" => {
            for parameter in named_children(node) {
                pattern(page, Some(parameter));
            }
        }
        "type_parameters" => {
            for parameter in named_children(node) {
                let name = parameter
                    .child_by_field_name("name")
                    .or_else(|| parameter.child_by_field_name("left"))
                    .or_else(|| child_of_kind(parameter, "type_identifier"))
                    .unwrap_or(parameter);
                page.uses.declare_local(page.text(name));
            }
        }
        "enum_variant"
        | "type_binding"
        | "associated_type"
        | "scoped_identifier"
        | "scoped_type_identifier" => {
            if let Some(name) = node.child_by_field_name("name") {
                page.uses.pass_over(name.start_byte());
            }
        }
        "macro_invocation" => {
            if let Some(name) = node.child_by_field_name("macro")
                && name.kind() == "identifier"
            {
                note_macro(page, name);
                page.uses.pass_over(name.start_byte());
            }
        }
        _ => {}
    }
}

/// Notes the call of a macro by its bare name.
pub(super) fn note_macro<'t>(page: &mut Page<'t>, name: Node<'t>) {
    let end = name.end_byte() + 1;
    if page.text.as_bytes().get(end - 1) == Some(&b'!') {
        let text = &page.text[name.start_byte()..end];
        page.uses.note("", text, name.start_byte());
    }
}

/// Whether an attribute says that what follows is only there for tests.
fn is_for_tests(page: &Page<'_>, attribute: Node<'_>) -> bool {
    let Some(inner) = child_of_kind(attribute, "attribute") else {
        return false;
    };
    let path = inner.named_child(0).map_or("", |path| page.text(path));
    let last = path.rsplit(':').next().unwrap_or(path);
    if last != "cfg" {
        return TEST_ATTRIBUTES.contains(&last);
    }
    let arguments = inner.child_by_field_name("arguments");
    let text: String = arguments
        .map_or("", |arguments| page.text(arguments))
        .split_whitespace()
        .collect();
    text == "(test)"
        || text.starts_with("(all(test,")
        || is_any_of_tests(&text)
        || text.starts_with("(all(") && {
            text.ends_with(",test))") && !text.contains("any(") && !text.contains("not(")
        }
}

/// Whether the arguments of a `cfg` are `any(test, …)`, with each alternative for tests,
/// documentation or checkers: `feature = "std"` is not.
fn is_any_of_tests(arguments: &str) -> bool {
    const ALIKE: [&str; 6] = ["test", "doc", "doctest", "fuzzing", "loom", "miri"];
    let inner = arguments.strip_prefix("(any(");
    let Some(inner) = inner.and_then(|inner| inner.strip_suffix("))")) else {
        return false;
    };
    let is_alike = |part: &str| {
        let feature = part.strip_prefix("feature=\"");
        ALIKE.contains(&part)
            || feature.is_some_and(|name| {
                ["test", "mock", "bench", "fuzz"]
                    .iter()
                    .any(|word| name.contains(word))
            })
    };
    let mut parts = inner.trim_end_matches(',').split(',');
    inner.split(',').any(|part| part == "test") && parts.all(is_alike)
}

/// Declares the variables of a pattern.
fn pattern<'t>(page: &mut Page<'t>, pattern: Option<Node<'t>>) {
    let mut open: Vec<Node<'t>> = pattern.into_iter().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "identifier" => {
                let name = page.text(node);
                // In capitals it is a constant or a variant.
                if name.starts_with(|c: char| c.is_lowercase() || c == '_') {
                    page.uses.declare_local(name);
                }
            }
            "tuple_pattern"
            | "tuple_struct_pattern"
            | "struct_pattern"
            | "slice_pattern"
            | "or_pattern"
            | "ref_pattern"
            | "mut_pattern"
            | "reference_pattern"
            | "captured_pattern"
            | "field_pattern"
            | "parameter" => {
                open.extend(named_children(node));
            }
            _ => {}
        }
    }
}
