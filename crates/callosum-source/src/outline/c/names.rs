//! The local names that hide others in C and C++, and names behind `::`.
//!
//! Start with [`enter`].

use tree_sitter::Node;

use super::{
    super::walker::{Page, named_children},
    declarator::Declarator,
};

/// Notes what a node says of names; the walk enters its children afterwards.
pub(super) fn enter<'t>(page: &mut Page<'t>, node: Node<'t>) {
    match node.kind() {
        "function_definition"
        | "compound_statement"
        | "for_statement"
        | "for_range_loop"
        | "lambda_expression"
        | "template_declaration"
        | "catch_clause" => page.open_scope(node),
        "parameter_declaration" | "optional_parameter_declaration" => declared(page, node),
        "declaration" if page.places.in_function() => declared(page, node),
        "type_parameter_declaration" => {
            if let Some(name) = node.named_child(0) {
                page.uses.declare_local(page.text(name));
            }
        }
        "qualified_identifier" => {
            if let (Some(scope), Some(name)) = (
                node.child_by_field_name("scope"),
                node.child_by_field_name("name"),
            ) {
                page.uses.pass_over(name.start_byte());
                let is_plain = matches!(scope.kind(), "namespace_identifier" | "type_identifier");
                if is_plain && matches!(name.kind(), "identifier" | "type_identifier") {
                    page.use_member(scope, name);
                }
            }
        }
        "labeled_statement" | "goto_statement" => {
            for name in named_children(node) {
                if name.kind() == "statement_identifier" {
                    page.uses.pass_over(name.start_byte());
                }
            }
        }
        _ => {}
    }
}

/// Declares the variables of a declaration; what it calls a function is not local.
fn declared<'t>(page: &mut Page<'t>, declaration: Node<'t>) {
    let mut cursor = declaration.walk();
    let declarators: Vec<_> = declaration
        .children_by_field_name("declarator", &mut cursor)
        .collect();
    for declarator in declarators {
        let inner = match declarator.kind() {
            "init_declarator" => declarator.child_by_field_name("declarator"),
            _ => Some(declarator),
        };
        if let Some(declared) = inner.and_then(Declarator::of) {
            page.uses.declare_local(page.text(declared.name));
        }
    }
}
