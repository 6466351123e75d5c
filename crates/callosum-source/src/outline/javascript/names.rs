//! The names that JavaScript and TypeScript code uses, and the local variables that hide them.
//!
//! Start with [`enter`]. A variable that holds a module (`const a = require("./a")`) hides nothing:
//! it is a [`Binding`] of that import, wherever it is declared.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::{
    uses::{Binding, LONGEST_QUALIFIER},
    walker::{Page, arguments_of, child_of_kind, named_children},
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
    // The grammar reads `x as a.b.C` as `(x as a.b).C`; written that way it would have parentheses.
    let is_cast = matches!(object.kind(), "as_expression" | "satisfies_expression");
    let last = object.named_child_count().saturating_sub(1) as u32;
    let object = object
        .named_child(last)
        .filter(|_| is_cast)
        .unwrap_or(object);
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

/// The local names of `import a, { b as c, type D } from "…"`: those of values, and those of types.
pub(super) fn imported(page: &Page<'_>, statement: Node<'_>) -> (Vec<Binding>, Vec<Binding>) {
    let binding = |local: &str, name: &str| Binding {
        local: local.to_owned(),
        name: name.to_owned(),
    };
    let (mut values, mut types) = (Vec::new(), Vec::new());
    let clause = child_of_kind(statement, "import_clause");
    for part in clause.map(named_children).unwrap_or_default() {
        match part.kind() {
            "identifier" => values.push(binding(page.text(part), "default")),
            "namespace_import" => {
                let local = part.named_child(0).map(|local| page.text(local));
                values.extend(local.map(|local| binding(local, "")));
            }
            "named_imports" => {
                for specifier in named_children(part) {
                    let (name, alias) = (
                        page.field(specifier, "name"),
                        page.field(specifier, "alias"),
                    );
                    let found = binding(if alias.is_empty() { name } else { alias }, name);
                    if is_type_only(specifier) {
                        types.push(found);
                    } else {
                        values.push(found);
                    }
                }
            }
            _ => {}
        }
    }
    let assigned = child_of_kind(statement, "import_require_clause");
    if let Some(local) = assigned.and_then(|clause| child_of_kind(clause, "identifier")) {
        values.push(binding(page.text(local), ""));
    }
    let is_whole = statement.child(1);
    if is_whole.is_some_and(|word| matches!(word.kind(), "type" | "typeof")) {
        types.append(&mut values);
    }
    (values, types)
}

/// Whether one name of a list is marked: `type A`.
pub(super) fn is_type_only(specifier: Node<'_>) -> bool {
    let word = specifier.child(0);
    word.is_some_and(|word| matches!(word.kind(), "type" | "typeof"))
}
