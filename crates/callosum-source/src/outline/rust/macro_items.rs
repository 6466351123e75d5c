//! Items inside a macro's braces: `cfg_rt! { pub mod runtime; }`, which the grammar sees as mere
//! tokens.
//!
//! Such a call is blanked out of the text and the text is parsed again, so that its content takes
//! the place of the call, on its own line. Only a call in the place of an item is opened, and only
//! if its tokens are items and nothing else; the macro's expansion is not known.

use std::{borrow::Cow, ops::Range};

use tree_sitter::{Node, Tree};

use super::super::walker::{child_of_kind, named_children};

/// Most levels of calls within calls that are opened.
const DEEPEST: usize = 4;

/// A text whose macros are open: its tree, and the ranges of the opened macros' names.
pub(in crate::outline) struct Opened {
    pub(in crate::outline) tree: Tree,
    pub(in crate::outline) macros: Vec<Range<usize>>,
}

/// A call whose braces hold items.
struct Call {
    name: Range<usize>,
    /// Positions of the braces.
    open: usize,
    close: usize,
}

impl Opened {
    /// Opens the macros of a text; costs a parse of the text in braces, and one of the whole if any
    /// were opened, for each level of calls within calls.
    pub(in crate::outline) fn of(
        text: &str,
        tree: Tree,
        parse: impl Fn(&str) -> Option<Tree>,
    ) -> Self {
        let mut opened = Self {
            tree,
            macros: Vec::new(),
        };
        let mut text = Cow::Borrowed(text);
        for _ in 0..DEEPEST {
            let calls: Vec<Call> = calls(&opened.tree)
                .into_iter()
                .filter(|call| holds_items(&text[call.open + 1..call.close], &parse))
                .collect();
            if calls.is_empty() {
                break;
            }
            let blanked = without(&text, &calls);
            let Some(tree) = parse(&blanked) else { break };
            if tree.root_node().has_error() && !opened.tree.root_node().has_error() {
                break;
            }
            opened.tree = tree;
            opened
                .macros
                .extend(calls.into_iter().map(|call| call.name));
            text = Cow::Owned(blanked);
        }
        opened
    }
}

/// Returns the calls with braces in the place of an item.
fn calls(tree: &Tree) -> Vec<Call> {
    let mut open = vec![tree.root_node()];
    let mut calls = Vec::new();
    while let Some(node) = open.pop() {
        match node.kind() {
            "source_file" | "declaration_list" | "expression_statement" => {
                open.extend(named_children(node));
            }
            "mod_item" | "impl_item" | "trait_item" => {
                open.extend(node.child_by_field_name("body"));
            }
            "macro_invocation" => calls.extend(call(node)),
            _ => {}
        }
    }
    calls
}

/// Of a macro that is called by its bare name: a path says which crate is used, and stays.
fn call(node: Node<'_>) -> Option<Call> {
    let name = node.child_by_field_name("macro")?;
    let tokens = child_of_kind(node, "token_tree")?;
    let begins = tokens.child(0)?;
    (name.kind() == "identifier" && begins.kind() == "{").then(|| Call {
        name: name.byte_range(),
        open: tokens.start_byte(),
        close: tokens.end_byte() - 1,
    })
}

/// Whether a text is items, all of it.
fn holds_items(text: &str, parse: impl Fn(&str) -> Option<Tree>) -> bool {
    let Some(tree) = parse(text) else {
        return false;
    };
    let root = tree.root_node();
    let children = named_children(root);
    !root.has_error()
        && children
            .iter()
            .any(|child| child.kind() != "attribute_item")
        && children.into_iter().all(is_item)
}

fn is_item(node: Node<'_>) -> bool {
    match node.kind() {
        "attribute_item"
        | "const_item"
        | "enum_item"
        | "extern_crate_declaration"
        | "function_item"
        | "impl_item"
        | "macro_definition"
        | "macro_invocation"
        | "mod_item"
        | "static_item"
        | "struct_item"
        | "trait_item"
        | "type_item"
        | "union_item"
        | "use_declaration" => true,
        "expression_statement" => child_of_kind(node, "macro_invocation").is_some(),
        _ => false,
    }
}

/// Returns the text with these calls blanked out, and the text in their braces left in place. The
/// braces become semicolons, so that the documentation of the call does not apply to its first
/// item.
fn without(text: &str, calls: &[Call]) -> String {
    let mut blanked = text.to_owned();
    for call in calls {
        let head: String = text[call.name.start..call.open]
            .bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
            .collect();
        blanked.replace_range(call.name.start..=call.open, &format!("{head};"));
        blanked.replace_range(call.close..=call.close, ";");
    }
    blanked
}
