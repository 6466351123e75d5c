//! The name that a C declarator declares, inside the pointers, parentheses and parameters.

use tree_sitter::Node;

/// Most layers of pointers, arrays and parentheses that are looked through.
const MAX_LAYERS: usize = 64;

/// A name and what its declarator makes of it.
pub(super) struct Declarator<'t> {
    /// The node of the name; qualified for what is defined outside its class.
    pub(super) name: Node<'t>,
    /// Whether it is a function, and not a pointer to one.
    pub(super) function: bool,
}

impl<'t> Declarator<'t> {
    /// Looks through a declarator.
    pub(super) fn of(declarator: Node<'t>) -> Option<Self> {
        let mut node = declarator;
        let mut function = false;
        for _ in 0..MAX_LAYERS {
            match node.kind() {
                "function_declarator" => function = true,
                // `int (*callback)(void)` is a variable.
                "parenthesized_declarator" if function => {
                    let inner = node.named_child(0)?;
                    function = inner.kind() != "pointer_declarator";
                }
                "identifier"
                | "field_identifier"
                | "type_identifier"
                | "qualified_identifier"
                | "destructor_name"
                | "operator_name"
                | "operator_cast"
                | "template_function" => {
                    return Some(Self {
                        name: node,
                        function,
                    });
                }
                _ => {}
            }
            node = node
                .child_by_field_name("declarator")
                .or_else(|| node.named_child(0))?;
        }
        None
    }
}
