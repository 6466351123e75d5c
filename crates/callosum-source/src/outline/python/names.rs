//! The names that Python code uses and the local variables that hide them.
//!
//! Start with [`enter`]. A local variable counts in its whole function, as Python has it.

use tree_sitter::Node;

use super::super::{
    uses::{LONGEST_QUALIFIER, Purpose},
    walker::{Page, named_children},
};

/// Notes what a node says of names; the walk enters its children afterwards.
pub(super) fn enter<'t>(page: &mut Page<'t>, node: Node<'t>) {
    match node.kind() {
        "function_definition" | "lambda" => {
            let name = node.child_by_field_name("name");
            if let Some(name) = name.filter(|_| page.places.in_function()) {
                page.uses.declare_local(page.text(name));
                page.uses.pass_over(name.start_byte());
            }
            page.open_scope(node);
        }
        "class_definition" if page.places.in_function() => {
            if let Some(name) = node.child_by_field_name("name") {
                page.uses.declare_local(page.text(name));
            }
        }
        "list_comprehension"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "generator_expression" => page.open_scope(node),
        "parameters" | "lambda_parameters" => {
            for parameter in named_children(node) {
                parameter_names(page, parameter);
            }
        }
        "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
            targets(page, node.child_by_field_name("left"));
        }
        "named_expression" => targets(page, node.child_by_field_name("name")),
        "as_pattern" => targets(page, node.child_by_field_name("alias")),
        "keyword_argument" => {
            if let Some(name) = node.child_by_field_name("name") {
                page.uses.pass_over(name.start_byte());
            }
        }
        "attribute" => attribute(page, node),
        "if_statement" => {
            let condition = page.field(node, "condition");
            let last = condition.rsplit('.').next().unwrap_or(condition);
            if last == "TYPE_CHECKING"
                && let Some(body) = node.child_by_field_name("consequence")
            {
                page.uses.set_apart(body.byte_range(), Purpose::Types);
            }
        }
        _ => {}
    }
}

/// `a.b.c`: the name `c` behind `a.b`.
fn attribute<'t>(page: &mut Page<'t>, node: Node<'t>) {
    let (Some(object), Some(name)) = (
        node.child_by_field_name("object"),
        node.child_by_field_name("attribute"),
    ) else {
        return;
    };
    page.uses.pass_over(name.start_byte());
    let is_plain = matches!(object.kind(), "identifier" | "attribute")
        && object.byte_range().len() <= LONGEST_QUALIFIER
        && page
            .text(object)
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte) || !byte.is_ascii());
    if is_plain {
        page.use_member(object, name);
    }
}

fn parameter_names<'t>(page: &mut Page<'t>, parameter: Node<'t>) {
    let name = match parameter.kind() {
        "identifier" => Some(parameter),
        "default_parameter" | "typed_default_parameter" => parameter.child_by_field_name("name"),
        "typed_parameter" | "list_splat_pattern" | "dictionary_splat_pattern" => {
            let inner = parameter.named_child(0);
            inner.and_then(|inner| match inner.kind() {
                "identifier" => Some(inner),
                _ => inner.named_child(0),
            })
        }
        _ => None,
    };
    targets(page, name);
}

/// Declares the names that an assignment gives a value, tuples taken apart.
fn targets<'t>(page: &mut Page<'t>, target: Option<Node<'t>>) {
    let mut open: Vec<Node<'t>> = target.into_iter().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "identifier" => page.uses.declare_local(page.text(node)),
            "pattern_list" | "tuple_pattern" | "list_pattern" | "list_splat_pattern"
            | "as_pattern_target" | "tuple" | "expression_list" => {
                open.extend(named_children(node));
            }
            _ => {}
        }
    }
}
