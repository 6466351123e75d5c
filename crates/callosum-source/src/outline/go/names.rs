//! The names that Go code uses and the local ones that hide them.
//!
//! Start with [`enter`].

use tree_sitter::Node;

use super::super::walker::{Page, named_children};

/// Notes what a node says of names; the walk enters its children afterwards.
pub(super) fn enter<'t>(page: &mut Page<'t>, node: Node<'t>) {
    match node.kind() {
        "function_declaration"
        | "method_declaration"
        | "func_literal"
        | "block"
        | "if_statement"
        | "for_statement"
        | "expression_switch_statement"
        | "type_switch_statement"
        | "select_statement"
        | "expression_case"
        | "type_case"
        | "communication_case"
        | "default_case" => {
            page.open_scope(node);
            locals(page, node.child_by_field_name("alias"));
        }
        // A type's parameters are known in the type alone.
        "type_spec" | "type_alias" => {
            if page.places.in_function() {
                locals(page, node.child_by_field_name("name"));
            }
            page.open_scope(node);
        }
        "parameter_declaration"
        | "variadic_parameter_declaration"
        | "type_parameter_declaration"
        | "var_spec"
        | "const_spec" => {
            let mut cursor = node.walk();
            let names: Vec<_> = node.children_by_field_name("name", &mut cursor).collect();
            for name in names {
                locals(page, Some(name));
            }
        }
        "short_var_declaration" | "range_clause" | "receive_statement" => {
            locals(page, node.child_by_field_name("left"));
        }
        "keyed_element" => {
            // A key names a field, or a constant of a map: without a written type nothing tells which.
            let key = node.named_child(0).map(|key| match key.kind() {
                "literal_element" => key.named_child(0).unwrap_or(key),
                _ => key,
            });
            if let Some(key) = key.filter(|key| key.kind() == "identifier" && !is_of_map(node)) {
                page.uses.pass_over(key.start_byte());
            }
        }
        "selector_expression" => member(page, node, "operand", "field"),
        "qualified_type" => member(page, node, "package", "name"),
        "identifier" | "type_identifier" => page.use_name(node),
        _ => {}
    }
}

/// Whether a key is in a literal whose type is written as a map or an array, so that it is a value.
fn is_of_map(element: Node<'_>) -> bool {
    let literal = element.parent().and_then(|body| body.parent());
    let of = literal.and_then(|literal| literal.child_by_field_name("type"));
    let kinds = [
        "map_type",
        "array_type",
        "slice_type",
        "implicit_length_array_type",
    ];
    of.is_some_and(|of| kinds.contains(&of.kind()))
}

/// `a.B`: the name `B` behind `a`.
fn member<'t>(page: &mut Page<'t>, node: Node<'t>, qualifier: &str, name: &str) {
    let (Some(qualifier), Some(name)) = (
        node.child_by_field_name(qualifier),
        node.child_by_field_name(name),
    ) else {
        return;
    };
    page.uses.pass_over(name.start_byte());
    if matches!(qualifier.kind(), "identifier" | "package_identifier") {
        page.use_member(qualifier, name);
    }
}

/// Declares the names of one side of a declaration.
fn locals<'t>(page: &mut Page<'t>, names: Option<Node<'t>>) {
    if let Some(node) = names {
        match node.kind() {
            "identifier" | "type_identifier" => page.uses.declare_local(page.text(node)),
            "expression_list" => {
                for name in named_children(node) {
                    if name.kind() == "identifier" {
                        page.uses.declare_local(page.text(name));
                    }
                }
            }
            _ => {}
        }
    }
}
