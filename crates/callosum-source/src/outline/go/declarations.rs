//! Go's declarations, their visibility, documentation and tests.

use std::collections::HashSet;

use tree_sitter::Node;

use super::{
    super::{
        scopes::PlaceKind,
        sentence,
        symbol::{ImportKind, SymbolKind},
        uses::Binding,
        walker::{Grammar, Next, Page, SymbolNode, child_of_kind, line_of, named_children},
    },
    commands, names, services,
};

/// Reads Go.
pub(in crate::outline) struct Go<'t> {
    is_test_file: bool,
    is_main_package: bool,
    services: services::Services<'t>,
    commands: commands::Commands<'t>,
    /// The names of parameters and variables.
    locals: HashSet<&'t str>,
    /// The names of the packages that are imported.
    packages: HashSet<&'t str>,
    /// Position of the key of a literal's element, and of a name that a package qualifies.
    key_at: Option<usize>,
    qualified_at: Option<usize>,
}

impl Go<'_> {
    pub(in crate::outline) fn new(path: &str, text: &str) -> Self {
        Self {
            is_test_file: path.ends_with("_test.go"),
            is_main_package: false,
            services: services::Services::named_in(text),
            commands: commands::Commands::default(),
            locals: HashSet::new(),
            packages: HashSet::new(),
            key_at: None,
            qualified_at: None,
        }
    }
}

impl<'t> Grammar<'t> for Go<'t> {
    fn leads(&self, kind: &str) -> bool {
        kind == "comment"
    }

    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next {
        names::enter(page, node);
        match node.kind() {
            "source_file" => page.uses.keeps_unbound = true,
            "comment" | "interpreted_string_literal" | "raw_string_literal" => return Next::Past,
            "identifier" | "type_identifier" | "package_identifier" => {
                page.mention_as(node, self.key_at != Some(node.start_byte()));
                return Next::Past;
            }
            "field_identifier" => {
                page.mention_as(node, self.qualified_at == Some(node.start_byte()));
                return Next::Past;
            }
            "selector_expression" => {
                let of = node.child_by_field_name("operand");
                let of_package = of.is_some_and(|of| self.packages.contains(page.text(of)));
                let field = node.child_by_field_name("field").filter(|_| of_package);
                self.qualified_at = field.map(|field| field.start_byte());
            }
            // `Type{name: value}`: the name is a field's, or a key.
            "keyed_element" => self.key_at = Some(node.start_byte()),
            "parameter_declaration" | "variadic_parameter_declaration" => {
                let mut cursor = node.walk();
                let names = node.children_by_field_name("name", &mut cursor);
                self.locals.extend(names.map(|name| page.text(name)));
            }
            "short_var_declaration" | "range_clause" => {
                self.services.variable(page, node);
                self.held(page, node, "left", "right");
                let left = node.child_by_field_name("left");
                let names = left.map(named_children).unwrap_or_default();
                let names = names.into_iter().filter(|name| name.kind() == "identifier");
                self.locals.extend(names.map(|name| page.text(name)));
            }
            "package_clause" => {
                self.is_main_package = node
                    .named_child(0)
                    .is_some_and(|name| page.text(name) == "main");
                let name = node.named_child(0).map(|name| page.text(name).to_owned());
                page.outline.package = name;
                about_package(page, node, lead);
                return Next::Past;
            }
            "import_spec" => {
                let path = node
                    .child_by_field_name("path")
                    .and_then(|path| page.string(path));
                if let Some(path) = path {
                    let alias = page.field(node, "name");
                    let import = page.import(ImportKind::Use, path, node);
                    match alias {
                        // The package itself says what it is called.
                        "" => {}
                        "." => import.names.push("*".to_owned()),
                        alias => import.bindings.push(Binding {
                            local: alias.to_owned(),
                            name: String::new(),
                        }),
                    }
                    self.packages.insert(match page.field(node, "name") {
                        "" => package_name(path),
                        alias => alias,
                    });
                }
                return Next::Past;
            }
            "function_declaration" | "method_declaration" => self.function(page, node, lead),
            "func_literal" => page.open(PlaceKind::Function, None, false),
            "type_spec" | "type_alias" | "const_spec" | "var_spec" => {
                declared(page, node, lead);
                interface(page, node);
                self.held(page, node, "name", "value");
            }
            "method_elem" => method_of_interface(page, node, lead),
            // In a group each member has its own comment; alone, the comment precedes the keyword.
            "type_declaration" | "const_declaration" | "var_declaration" => {
                if let Some(only) = only_member(node)
                    && !lead.is_empty()
                {
                    declared(page, only, lead);
                }
            }
            "call_expression" => {
                self.services.call(page, node);
                self.commands.added(page, node);
            }
            "composite_literal" => self.commands.literal(page, node),
            _ => {}
        }
        Next::Into
    }

    fn finish(&mut self, page: &mut Page<'t>, _root: Node<'t>) {
        page.never_bare(self.locals.drain());
        self.commands.finish(page);
    }
}

impl<'t> Go<'t> {
    /// Takes note of the variable that a literal is given to.
    fn held(&mut self, page: &Page<'t>, node: Node<'t>, name: &str, value: &str) {
        let first = |field: &str| {
            let of = node.child_by_field_name(field)?;
            match of.kind() {
                "expression_list" => of.named_child(0),
                _ => Some(of),
            }
        };
        if let (Some(name), Some(value)) = (first(name), first(value)) {
            self.commands.variable(page, name, value);
        }
    }

    fn function(&self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
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
        let symbol = page.add(SymbolNode {
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
    let of = node.child_by_field_name("type").map(|of| of.kind());
    let kind = match (node.kind(), of) {
        ("type_spec", Some("interface_type")) => SymbolKind::Interface,
        ("type_spec" | "type_alias", _) => SymbolKind::Type,
        _ => SymbolKind::Constant,
    };
    if page.places.in_function() {
        if kind != SymbolKind::Constant {
            page.add_local(kind, node);
        }
        return;
    }
    let about = page.comment_above(lead, node);
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        let text = page.text(name);
        if name.is_named() && text != "_" && !page.is_declared(name) {
            page.add(SymbolNode {
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
        page.add(SymbolNode {
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

/// The name that a package most likely has: `yaml` of `gopkg.in/yaml.v2`, `mux` of `shop/mux/v2`.
fn package_name(path: &str) -> &str {
    let is_version = |part: &str| {
        let digits = part.strip_prefix('v').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    let name = match parts.next() {
        Some(before) if is_version(last) => before,
        _ => last,
    };
    match name.rsplit_once('.') {
        Some((name, version)) if is_version(version) => name,
        _ => name,
    }
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
