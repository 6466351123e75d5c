//! Go's declarations, their visibility, documentation and tests.

use tree_sitter::Node;

use super::{
    super::{
        contents::{ImportKind, SymbolKind},
        page::{Found, Grammar, Next, Page, child_of_kind, line_of},
        places::PlaceKind,
        sentence,
    },
    services,
};

/// Reads Go.
pub(in crate::outline) struct Go {
    is_test_file: bool,
    is_main_package: bool,
    services: services::Libraries,
}

impl Go {
    pub(in crate::outline) fn new(path: &str, text: &str) -> Self {
        Self {
            is_test_file: path.ends_with("_test.go"),
            is_main_package: false,
            services: services::Libraries::named_in(text),
        }
    }
}

impl<'t> Grammar<'t> for Go {
    fn leads(&self, kind: &str) -> bool {
        kind == "comment"
    }

    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next {
        match node.kind() {
            "comment" | "interpreted_string_literal" | "raw_string_literal" => return Next::Past,
            "identifier" | "type_identifier" | "field_identifier" | "package_identifier" => {
                page.mention(node);
                return Next::Past;
            }
            "package_clause" => {
                self.is_main_package = node
                    .named_child(0)
                    .is_some_and(|name| page.text(name) == "main");
                about_package(page, node, lead);
                return Next::Past;
            }
            "import_spec" => {
                let path = node
                    .child_by_field_name("path")
                    .and_then(|path| page.string(path));
                if let Some(path) = path {
                    page.import(ImportKind::Use, path, node);
                }
                return Next::Past;
            }
            "function_declaration" | "method_declaration" => self.function(page, node, lead),
            "func_literal" => page.open(PlaceKind::Function, None, false),
            "type_spec" | "type_alias" | "const_spec" | "var_spec" => {
                declared(page, node, lead);
                interface(page, node);
            }
            "method_elem" => method_of_interface(page, node, lead),
            // In a group each member has its own comment; alone, the comment stands before the
            // keyword.
            "type_declaration" | "const_declaration" | "var_declaration" => {
                if let Some(only) = only_member(node)
                    && !lead.is_empty()
                {
                    declared(page, only, lead);
                }
            }
            "call_expression" => self.services.call(page, node),
            "composite_literal" => services::command_literal(page, node),
            _ => {}
        }
        Next::Into
    }
}

impl Go {
    fn function<'t>(&self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let receiver = node
            .child_by_field_name("receiver")
            .and_then(|receiver| receiver_type(page.text(receiver)));
        let text = page.text(name);
        if text == "main" && self.is_main_package && receiver.is_none() {
            page.outline.entry_point = Some(line_of(name));
        }
        let about = page.comment_above(lead, node);
        let symbol = page.add(Found {
            kind: if receiver.is_some() {
                SymbolKind::Method
            } else {
                SymbolKind::Function
            },
            name,
            whole: node,
            public: is_exported(text) && receiver.is_none_or(is_exported),
            about,
        });
        symbol.test = self.is_test_file && receiver.is_none() && is_test(text);
        symbol.container = receiver.map(str::to_owned);
        page.open(PlaceKind::Function, None, false);
    }
}

fn declared<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
    if page.places.in_function() {
        return;
    }
    let of = node.child_by_field_name("type").map(|of| of.kind());
    let kind = match (node.kind(), of) {
        ("type_spec", Some("interface_type")) => SymbolKind::Interface,
        ("type_spec" | "type_alias", _) => SymbolKind::Type,
        _ => SymbolKind::Constant,
    };
    let about = page.comment_above(lead, node);
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        let text = page.text(name);
        if name.is_named() && text != "_" && !page.is_declared(name) {
            page.add(Found {
                kind,
                name,
                whole: node,
                public: is_exported(text),
                about: about.clone(),
            });
        }
    }
}

/// Gives the methods of an interface its name.
fn interface<'t>(page: &mut Page<'t>, spec: Node<'t>) {
    let of = spec.child_by_field_name("type");
    if of.is_some_and(|of| of.kind() == "interface_type") {
        let name = page.field(spec, "name");
        page.open(PlaceKind::Interface, Some(name), is_exported(name));
    }
}

fn method_of_interface<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
    let Some(name) = node.child_by_field_name("name") else {
        return;
    };
    // `var x interface{ Read() }` names a method, but nothing that has it.
    if page.places.in_type() && !page.places.in_function() {
        let public = is_exported(page.text(name));
        let about = page.comment_above(lead, node);
        page.add(Found {
            kind: SymbolKind::Method,
            name,
            whole: node,
            public,
            about,
        });
    }
}

/// The one member of a declaration without parentheses.
fn only_member(declaration: Node<'_>) -> Option<Node<'_>> {
    if declaration
        .child(1)
        .is_some_and(|second| second.kind() == "(")
    {
        return None;
    }
    ["type_spec", "type_alias", "const_spec", "var_spec"]
        .into_iter()
        .find_map(|kind| child_of_kind(declaration, kind))
}

fn about_package<'t>(page: &mut Page<'t>, clause: Node<'t>, lead: &[Node<'t>]) {
    let comment = lead.iter().rfind(|comment| comment.kind() == "comment");
    let (Some(about), Some(_)) = (page.comment_above(lead, clause), comment) else {
        return;
    };
    let first_words: Vec<_> = about.split_whitespace().take(2).collect();
    let says = lead.iter().find(|comment| {
        let bare = sentence::bare(page.text(**comment));
        let words: Vec<_> = bare.split_whitespace().take(2).collect();
        words == first_words
    });
    if let Some(at) = says.or(comment) {
        page.about_file(&about, *at);
    }
}

/// `Tree` of `(t *Tree[K, V])`.
fn receiver_type(receiver: &str) -> Option<&str> {
    let inner = receiver.trim_matches(['(', ')']);
    let name = inner.split('[').next()?;
    name.rsplit([' ', '*']).find(|part| !part.is_empty())
}

fn is_exported(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

/// Whether `go test` calls a function of this name.
fn is_test(name: &str) -> bool {
    ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|kind| {
        name.strip_prefix(kind)
            .is_some_and(|rest| !rest.starts_with(char::is_lowercase))
            && name != "TestMain"
    })
}
