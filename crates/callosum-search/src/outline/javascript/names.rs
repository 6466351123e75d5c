//! The names that JavaScript and TypeScript code uses, and the local variables that hide them.
//!
//! Start with [`enter`]. A variable that holds a module (`const a = require("./a")`) hides nothing:
//! it is a [`Binding`] of that import, wherever it is declared.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::{
    page::{Page, arguments_of, child_of_kind, named_children},
    uses::{Binding, LONGEST_QUALIFIER},
};

/// Bindings of `require` calls that the walk has not reached yet, by the start of the call.
pub(super) type Required = HashMap<usize, Vec<Binding>>;

/// Notes what a node says of names; the walk enters its children afterwards.
pub(super) fn enter<'t>(page: &mut Page<'t>, required: &mut Required, node: Node<'t>) {
    match node.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "class_declaration"
        | "abstract_class_declaration" => {
            if let Some(name) = node.child_by_field_name("name") {
                page.uses.declare_local(page.text(name));
            }
            page.open_scope(node);
        }
        "function_expression" | "generator_function" | "function" | "class" => {
            page.open_scope(node);
            pattern(page, node.child_by_field_name("name"));
        }
        "arrow_function"
        | "method_definition"
        | "interface_declaration"
        | "type_alias_declaration"
        | "function_signature"
        | "method_signature"
        | "call_signature"
        | "construct_signature"
        | "function_type"
        | "constructor_type"
        | "statement_block"
        | "switch_body"
        | "for_statement"
        | "catch_clause" => {
            page.open_scope(node);
            pattern(page, node.child_by_field_name("parameter"));
        }
        "for_in_statement" => {
            page.open_scope(node);
            pattern(page, node.child_by_field_name("left"));
        }
        "formal_parameters" => {
            for parameter in named_children(node) {
                let name = parameter.child_by_field_name("pattern");
                pattern(page, name.or(Some(parameter)));
            }
        }
        "type_parameter" => pattern(page, node.child_by_field_name("name")),
        "variable_declarator" => declarator(page, required, node),
        "member_expression" => member(page, node, "object", "property"),
        "nested_type_identifier" => member(page, node, "module", "name"),
        "identifier" | "type_identifier" | "shorthand_property_identifier" => page.use_name(node),
        _ => {}
    }
}

/// `a.b.c`: the name `c` behind `a.b`.
fn member<'t>(page: &mut Page<'t>, node: Node<'t>, object: &str, name: &str) {
    let (Some(object), Some(name)) = (
        node.child_by_field_name(object),
        node.child_by_field_name(name),
    ) else {
        return;
    };
    page.uses.pass_over(name.start_byte());
    let is_plain = |node: Node<'_>| {
        node.byte_range().len() <= LONGEST_QUALIFIER
            && page
                .text(node)
                .chars()
                .all(|c| c.is_alphanumeric() || "_$.".contains(c))
    };
    if is_plain(object) && name.kind() != "private_property_identifier" {
        page.use_member(object, name);
    }
}

/// Declares the names of a pattern: `a`, `{ a, b: c = 1 }`, `[a, ...b]`.
fn pattern<'t>(page: &mut Page<'t>, pattern: Option<Node<'t>>) {
    let mut open: Vec<Node<'t>> = pattern.into_iter().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            "identifier" | "type_identifier" | "shorthand_property_identifier_pattern" => {
                page.uses.declare_local(page.text(node));
            }
            "object_pattern" | "array_pattern" | "rest_pattern" => {
                open.extend(named_children(node));
            }
            "pair_pattern" => open.extend(node.child_by_field_name("value")),
            "assignment_pattern" | "object_assignment_pattern" => {
                open.extend(node.child_by_field_name("left"));
            }
            _ => {}
        }
    }
}

/// A variable: a binding if its value is a module or a part of one, else a local one.
fn declarator<'t>(page: &mut Page<'t>, required: &mut Required, node: Node<'t>) {
    let name = node.child_by_field_name("name");
    let value = node.child_by_field_name("value");
    match (name, value.and_then(|value| module_of(page, value))) {
        (Some(name), Some((call, taken))) => {
            let found = bindings(page, name, taken);
            required.entry(call.start_byte()).or_default().extend(found);
        }
        (name, None) => pattern(page, name),
        (None, Some(_)) => {}
    }
}

/// The `require("…")` or `import("…")` that a value is taken from, and the first name taken.
pub(super) fn module_of<'t>(
    page: &Page<'t>,
    value: Node<'t>,
) -> Option<(Node<'t>, Option<&'t str>)> {
    let mut node = value;
    let mut taken = None;
    loop {
        node = match node.kind() {
            "await_expression"
            | "parenthesized_expression"
            | "non_null_expression"
            | "as_expression"
            | "satisfies_expression" => node.named_child(0)?,
            "member_expression" => {
                taken = Some(page.field(node, "property"));
                node.child_by_field_name("object")?
            }
            "call_expression" => {
                let is_module = matches!(page.field(node, "function"), "require" | "import")
                    && matches!(arguments_of(node).as_slice(), [_]);
                return is_module.then_some((node, taken));
            }
            _ => return None,
        };
    }
}

/// The local names that a pattern takes from a module, or from the member `of` of it.
fn bindings<'t>(page: &Page<'t>, name: Node<'t>, of: Option<&'t str>) -> Vec<Binding> {
    let binding = |local: &str, name: &str| Binding {
        local: local.to_owned(),
        name: name.to_owned(),
    };
    match name.kind() {
        "identifier" => vec![binding(page.text(name), of.unwrap_or_default())],
        "object_pattern" => named_children(name)
            .into_iter()
            .filter_map(|part| {
                let (local, taken) = match part.kind() {
                    "shorthand_property_identifier_pattern" => (page.text(part), page.text(part)),
                    "pair_pattern" => {
                        let value = part.child_by_field_name("value")?;
                        let value = match value.kind() {
                            "assignment_pattern" => value.child_by_field_name("left")?,
                            _ => value,
                        };
                        let is_name = value.kind() == "identifier";
                        is_name.then(|| (page.text(value), page.field(part, "key")))?
                    }
                    "object_assignment_pattern" => {
                        let left = page.field(part, "left");
                        (left, left)
                    }
                    _ => return None,
                };
                Some(binding(local, of.unwrap_or(taken)))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The local names of `import a, { b as c, type D } from "…"` and whether all are types.
pub(super) fn imported(page: &Page<'_>, statement: Node<'_>) -> (Vec<Binding>, bool) {
    let is_type = |node: Node<'_>, at: u32| {
        let word = node.child(at);
        word.is_some_and(|word| matches!(word.kind(), "type" | "typeof"))
    };
    let binding = |local: &str, name: &str| Binding {
        local: local.to_owned(),
        name: name.to_owned(),
    };
    let whole = is_type(statement, 1);
    let (mut found, mut values) = (Vec::new(), 0);
    let clause = child_of_kind(statement, "import_clause");
    for part in clause.map(named_children).unwrap_or_default() {
        match part.kind() {
            "identifier" => {
                values += 1;
                found.push(binding(page.text(part), "default"));
            }
            "namespace_import" => {
                values += 1;
                let local = part.named_child(0).map(|local| page.text(local));
                found.extend(local.map(|local| binding(local, "")));
            }
            "named_imports" => {
                for specifier in named_children(part) {
                    values += usize::from(!is_type(specifier, 0));
                    let (name, alias) = (
                        page.field(specifier, "name"),
                        page.field(specifier, "alias"),
                    );
                    found.push(binding(if alias.is_empty() { name } else { alias }, name));
                }
            }
            _ => {}
        }
    }
    let assigned = child_of_kind(statement, "import_require_clause");
    if let Some(local) = assigned.and_then(|clause| child_of_kind(clause, "identifier")) {
        values += 1;
        found.push(binding(page.text(local), ""));
    }
    let only_types = whole || values == 0 && !found.is_empty();
    (found, only_types)
}
