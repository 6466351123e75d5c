//! Python's definitions, their visibility, docstrings and tests.

use std::{collections::HashSet, path::Path};

use tree_sitter::Node;

use super::{
    super::{
        scopes::PlaceKind,
        sentence,
        symbol::{ImportKind, SymbolKind},
        uses::{Binding, Purpose},
        walker::{Grammar, Next, Page, SymbolNode, child_of_kind, cut, line_of, named_children},
    },
    commands, names, routes,
};

/// Reads Python.
pub(in crate::outline) struct Python<'t> {
    /// Whether pytest would collect tests from this file.
    is_test_file: bool,
    /// Whether importing the file's folder means this file.
    is_package: bool,
    /// Whether the file names a library for command lines.
    has_click: bool,
    /// Whether the file names the library whose routes are made like any object.
    names_starlette: bool,
    /// The names in `__all__`, if the file has one.
    all: Option<Vec<&'t str>>,
    commands: commands::Commands<'t>,
    prefixes: routes::Prefixes<'t>,
}

impl Python<'_> {
    pub(in crate::outline) fn new(path: &str, text: &str) -> Self {
        let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str());
        let stem = stem.unwrap_or_default();
        Self {
            is_test_file: stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests",
            is_package: stem == "__init__",
            has_click: ["click", "typer"].iter().any(|name| text.contains(name)),
            names_starlette: text.contains("starlette"),
            all: None,
            commands: commands::Commands::default(),
            prefixes: routes::Prefixes::default(),
        }
    }
}

impl<'t> Grammar<'t> for Python<'t> {
    fn leads(&self, kind: &str) -> bool {
        matches!(kind, "comment" | "decorator")
    }

    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next {
        names::enter(page, node);
        match node.kind() {
            "comment" | "future_import_statement" => return Next::Past,
            "string" => {
                // Only an f-string holds code.
                return match child_of_kind(node, "interpolation") {
                    Some(_) => Next::Into,
                    None => Next::Past,
                };
            }
            "identifier" => {
                page.mention(node);
                page.use_name(node);
                return Next::Past;
            }
            "module" => {
                if Path::new(page.path).extension() == Some("pyi".as_ref()) {
                    page.uses.set_apart(node.byte_range(), Purpose::Types);
                }
                if let Some(docstring) = docstring(node)
                    && let Some(text) = page.string(docstring)
                {
                    page.about_file(text, docstring);
                }
            }
            "import_statement" => {
                for name in named_children(node) {
                    let target = page.text(unaliased(name));
                    let local = page.field(name, "alias");
                    let local = if local.is_empty() { target } else { local };
                    page.import(ImportKind::Use, target, name).bindings = vec![Binding {
                        local: local.to_owned(),
                        name: String::new(),
                    }];
                }
                return Next::Past;
            }
            "import_from_statement" => {
                self.import_from(page, node);
                return Next::Past;
            }
            "function_definition" => self.function(page, node, lead),
            "class_definition" => class(page, node),
            "type_alias_statement" if page.places.is_empty() => {
                let name = node.named_child(0).and_then(|left| left.named_child(0));
                if let Some(name) = name.filter(|name| name.kind() == "identifier") {
                    page.add(SymbolNode {
                        kind: SymbolKind::Type,
                        name,
                        whole: node,
                        public: is_public(page.text(name)),
                        about: None,
                    });
                }
            }
            "assignment" | "augmented_assignment" => {
                if let (Some(name), Some(value)) = (
                    node.child_by_field_name("left"),
                    node.child_by_field_name("right")
                        .filter(|value| value.kind() == "call"),
                ) {
                    self.commands.assigned(page, name, value);
                    self.prefixes.assigned(page, name, value);
                }
                if page.places.is_empty() {
                    self.assignment(page, node);
                }
            }
            "if_statement" if page.places.is_empty() => {
                let condition = page.field(node, "condition");
                if condition.contains("__name__") && condition.contains("__main__") {
                    page.outline.entry_point = Some(line_of(node));
                }
            }
            "call" => {
                self.commands.call(page, node);
                self.prefixes.included(page, node);
                routes::registered(page, node, self.names_starlette);
            }
            _ => {}
        }
        Next::Into
    }

    fn finish(&mut self, page: &mut Page<'t>, root: Node<'t>) {
        self.commands.finish(page);
        self.prefixes.finish(page);
        if let Some(all) = &self.all {
            let all: HashSet<_> = all.iter().copied().collect();
            for symbol in &mut page.outline.symbols {
                if symbol.container.is_none() {
                    symbol.public = all.contains(symbol.name.as_str());
                }
            }
        }
        let is_main = Path::new(page.path)
            .file_name()
            .is_some_and(|name| name == "__main__.py");
        if is_main && page.outline.entry_point.is_none() {
            page.outline.entry_point = named_children(root).last().map(|last| line_of(*last));
        }
    }
}

impl<'t> Python<'t> {
    fn import_from(&self, page: &mut Page<'t>, node: Node<'t>) {
        let Some(module) = node.child_by_field_name("module_name") else {
            return;
        };
        let target: String = page.text(module).split_whitespace().collect();
        let kind = if self.is_package && target.starts_with('.') {
            ImportKind::ReExport
        } else {
            ImportKind::Use
        };
        let mut cursor = node.walk();
        let names: Vec<_> = node
            .children_by_field_name("name", &mut cursor)
            .map(|name| page.text(unaliased(name)).to_owned())
            .chain(child_of_kind(node, "wildcard_import").map(|_| "*".to_owned()))
            .collect();
        let mut cursor = node.walk();
        let bindings = node
            .children_by_field_name("name", &mut cursor)
            .map(|name| {
                let (taken, alias) = (page.text(unaliased(name)), page.field(name, "alias"));
                let local = if alias.is_empty() { taken } else { alias };
                Binding {
                    local: local.to_owned(),
                    name: taken.to_owned(),
                }
            })
            .collect();
        let import = page.import(kind, &target, node);
        import.names = names;
        import.bindings = bindings;
    }

    fn function(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
        let (Some(name), false) = (node.child_by_field_name("name"), page.places.in_function())
        else {
            page.open(PlaceKind::Function, None, false);
            return;
        };
        let text = page.text(name);
        let test = text.starts_with("test") && self.is_test_place(page);
        let about = docstring_of(page, node);
        let in_class = !page.places.is_empty();
        for decorator in lead {
            routes::decorated(page, &mut self.prefixes, *decorator, text);
            if self.has_click {
                self.commands
                    .decorated(page, *decorator, name, about.as_deref());
                commands::option(page, *decorator);
            }
        }
        let overload_or_setter = lead.iter().any(|decorator| {
            let text = page.text(*decorator);
            text.ends_with("overload") || text.ends_with(".setter") || text.ends_with(".deleter")
        });
        if !overload_or_setter {
            let symbol = page.add(SymbolNode {
                kind: if in_class {
                    SymbolKind::Method
                } else {
                    SymbolKind::Function
                },
                name,
                whole: node,
                public: is_public(text),
                about,
            });
            symbol.test = test;
        }
        page.open(PlaceKind::Function, None, false);
    }

    /// Whether pytest would collect a function here: a method of a unittest class in any file, a
    /// function or a method of a `Test…` class in a test file.
    fn is_test_place(&self, page: &Page<'t>) -> bool {
        let Some(place) = page.places.innermost() else {
            return self.is_test_file;
        };
        let is_test_class = place
            .name
            .as_deref()
            .is_some_and(|name| name.starts_with("Test"));
        place.kind == PlaceKind::TestCase || is_test_class && self.is_test_file
    }

    fn assignment(&mut self, page: &mut Page<'t>, node: Node<'t>) {
        let Some(left) = node.child_by_field_name("left") else {
            return;
        };
        let name = page.text(left);
        if name == "__all__" {
            if let Some(right) = node.child_by_field_name("right") {
                let listed = named_children(right).into_iter();
                let names = listed.filter_map(|item| page.string(item));
                self.all.get_or_insert_default().extend(names);
            }
        } else if left.kind() == "identifier"
            && is_constant(name)
            && node.kind() == "assignment"
            && !is_type_variable(page, node)
        {
            page.add(SymbolNode {
                kind: SymbolKind::Constant,
                name: left,
                whole: node,
                public: is_public(name),
                about: None,
            });
        }
    }
}

fn class<'t>(page: &mut Page<'t>, node: Node<'t>) {
    let Some(name) = node.child_by_field_name("name") else {
        return;
    };
    let bases = node
        .child_by_field_name("superclasses")
        .map(named_children)
        .unwrap_or_default();
    let bases: Vec<_> = bases.into_iter().map(|base| page.text(base)).collect();
    let last = |base: &str| {
        let base = cut(base);
        let base = base.split('[').next().unwrap_or_default();
        base.rsplit(['.', '='])
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let is_interface = bases
        .iter()
        .any(|base| matches!(last(base).as_str(), "Protocol" | "ABC" | "ABCMeta"));
    let is_test_case = bases.iter().any(|base| last(base).ends_with("TestCase"));
    let text = page.text(name);
    let public = is_public(text);
    let about = docstring_of(page, node);
    let kind = if is_interface {
        SymbolKind::Interface
    } else {
        SymbolKind::Type
    };
    if page.places.in_function() {
        page.add_local(kind, node);
    } else {
        page.add(SymbolNode {
            kind,
            name,
            whole: node,
            public,
            about,
        });
    }
    let place = if is_test_case {
        PlaceKind::TestCase
    } else {
        PlaceKind::Type
    };
    page.open(place, Some(text), public);
}

fn unaliased(name: Node<'_>) -> Node<'_> {
    match name.kind() {
        "aliased_import" => name.child_by_field_name("name").unwrap_or(name),
        _ => name,
    }
}

/// The string that begins a module or body.
fn docstring(body: Node<'_>) -> Option<Node<'_>> {
    let first = named_children(body).into_iter().next()?;
    let string = match first.kind() {
        "expression_statement" => first.named_child(0)?,
        _ => first,
    };
    (string.kind() == "string").then_some(string)
}

fn docstring_of(page: &Page<'_>, definition: Node<'_>) -> Option<String> {
    let text = docstring(definition.child_by_field_name("body")?)?;
    sentence::first(page.string(text)?)
}

/// Whether others call it by its name; `__len__` is called by the language.
fn is_public(name: &str) -> bool {
    !name.starts_with('_')
}

fn is_type_variable(page: &Page<'_>, assignment: Node<'_>) -> bool {
    let value = assignment.child_by_field_name("right");
    let Some(call) = value.filter(|value| value.kind() == "call") else {
        return false;
    };
    let made = cut(page.field(call, "function"));
    let made = made.rsplit('.').next().unwrap_or(made);
    matches!(made, "TypeVar" | "ParamSpec" | "TypeVarTuple")
}

fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_alphabetic) && !name.chars().any(char::is_lowercase)
}
