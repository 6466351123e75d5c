//! The names of types, and of what is imported by `import static`, that Java code uses.
//!
//! Start with [`enter`]. Methods and fields behind a receiver are left out: only a type checker
//! knows what a receiver is.

use tree_sitter::Node;

use super::super::walker::Page;

/// Notes what a node says of names; the walk enters its children afterwards.
pub(super) fn enter<'t>(page: &mut Page<'t>, node: Node<'t>) {
    match node.kind() {
        "class_declaration"
        | "interface_declaration"
        | "record_declaration"
        | "method_declaration"
        | "constructor_declaration" => page.open_scope(node),
        "type_parameter" => {
            if let Some(name) = node.named_child(0) {
                page.uses.declare_local(page.text(name));
            }
        }
        // `Outer.Inner` is a matter of `Outer`.
        "scoped_type_identifier" => {
            let parts = node.named_child_count();
            let last = parts
                .checked_sub(1)
                .and_then(|at| node.named_child(at as u32));
            if let Some(name) = last.filter(|_| parts > 1) {
                page.uses.pass_over(name.start_byte());
            }
        }
        "type_identifier" => page.use_name(node),
        "method_invocation" => match node.child_by_field_name("object") {
            Some(object) => receiver(page, object),
            None => {
                if let Some(name) = node.child_by_field_name("name") {
                    page.use_name(name);
                }
            }
        },
        "field_access" => {
            if let Some(object) = node.child_by_field_name("object") {
                receiver(page, object);
            }
        }
        "annotation" | "marker_annotation" => {
            if let Some(name) = node.child_by_field_name("name") {
                receiver(page, name);
            }
        }
        "method_reference" => {
            if let Some(object) = node.named_child(0) {
                receiver(page, object);
            }
        }
        _ => {}
    }
}

/// A name in front of a dot is a type if it is spelled like one.
fn receiver<'t>(page: &mut Page<'t>, node: Node<'t>) {
    if node.kind() == "identifier" && page.text(node).starts_with(char::is_uppercase) {
        page.use_name(node);
    }
}
