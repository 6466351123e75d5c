//! JavaScript's and TypeScript's declarations, their visibility, documentation and tests.

use std::collections::HashSet;

use tree_sitter::Node;

use super::{
    super::{
        scopes::PlaceKind,
        sentence,
        symbol::SymbolKind,
        uses::Purpose,
        walker::{
            Grammar, Next, Page, SymbolNode, arguments_of, child_of_kind, cut, line_of,
            named_children,
        },
    },
    modules::{self, Exports},
    names, pages,
    services::Services,
};

/// Reads JavaScript and TypeScript.
pub(in crate::outline) struct JavaScript<'t> {
    exports: Exports<'t>,
    services: Services<'t>,
    /// The `export` before a declaration, for the declaration that follows.
    exported: Option<Exported<'t>>,
    /// The lines of objects that may get methods one by one, and the names that got some.
    objects: HashSet<u32>,
    /// The other variables at the top level: those that are exported apart are declarations.
    variables: Vec<SymbolNode<'t>>,
    owners: HashSet<String>,
    /// The names of parameters and of variables inside functions.
    locals: HashSet<&'t str>,
    required: names::Required,
}

struct Exported<'t> {
    lead: Vec<Node<'t>>,
    declaration: usize,
}

impl<'t> JavaScript<'t> {
    pub(in crate::outline) fn new(text: &'t str) -> Self {
        Self {
            exports: Exports::default(),
            services: Services::named_in(text),
            exported: None,
            objects: HashSet::new(),
            variables: Vec::new(),
            owners: HashSet::new(),
            locals: HashSet::new(),
            required: names::Required::new(),
        }
    }
}

impl<'t> Grammar<'t> for JavaScript<'t> {
    fn leads(&self, kind: &str) -> bool {
        matches!(kind, "comment" | "decorator")
    }

    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next {
        let exported = self
            .exported
            .take_if(|exported| exported.declaration == node.start_byte());
        let public = exported.is_some();
        let lead = exported.as_ref().map_or(lead, |exported| &exported.lead);
        names::enter(page, &mut self.required, node);
        match node.kind() {
            "comment" | "string" | "regex" => return Next::Past,
            "hash_bang_line" => page.outline.entry_point = Some(line_of(node)),
            "program" => {
                let is_declaration = [".d.ts", ".d.mts", ".d.cts"]
                    .iter()
                    .any(|ending| page.path.ends_with(ending));
                if is_declaration {
                    page.uses.set_apart(node.byte_range(), Purpose::Types);
                }
                about_file(page, node);
            }
            "identifier"
            | "type_identifier"
            | "property_identifier"
            | "shorthand_property_identifier" => {
                page.mention(node);
                return Next::Past;
            }
            "import_statement" => {
                modules::import(page, node);
                return Next::Past;
            }
            "export_statement" => {
                self.exports.statement(page, node, &mut self.required);
                let declaration = node
                    .child_by_field_name("declaration")
                    .or_else(|| node.child_by_field_name("value"));
                if let Some(declaration) = declaration {
                    let inside = named_children(node);
                    let decorators = inside.into_iter().filter(|one| one.kind() == "decorator");
                    self.exported = Some(Exported {
                        lead: lead.iter().copied().chain(decorators).collect(),
                        declaration: declaration.start_byte(),
                    });
                }
                if node.child_by_field_name("source").is_some() {
                    return Next::Past;
                }
            }
            // `export abstract class`, `declare function`: the words before are separate nodes.
            "ambient_declaration" => {
                let first = node.named_child(0);
                self.exported = first.map(|declaration| Exported {
                    lead: lead.to_vec(),
                    declaration: declaration.start_byte(),
                });
            }
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                declared(page, node, lead, SymbolKind::Function, public);
                page.open(PlaceKind::Function, None, false);
            }
            "class_declaration" | "abstract_class_declaration" | "class" => {
                declared(page, node, lead, SymbolKind::Type, public);
                self.services.controller(page, node, lead);
                let name = page.field(node, "name");
                page.open(PlaceKind::Type, Some(name), public && !name.is_empty());
            }
            "interface_declaration" => {
                declared(page, node, lead, SymbolKind::Interface, public);
            }
            "type_alias_declaration" | "enum_declaration" => {
                declared(page, node, lead, SymbolKind::Type, public);
            }
            "internal_module" | "module" => {
                declared(page, node, lead, SymbolKind::Module, public);
                page.open(PlaceKind::Module, Some(page.field(node, "name")), true);
            }
            "method_definition" | "abstract_method_signature" => {
                self.services.handler(page, node, lead);
                method(page, node, lead);
                page.open(PlaceKind::Function, None, false);
            }
            "public_field_definition" | "field_definition"
                if node.child_by_field_name("value").is_some_and(is_function) =>
            {
                method(page, node, lead);
            }
            "formal_parameters" => {
                let names = named_children(node).into_iter().map(|parameter| {
                    parameter
                        .child_by_field_name("pattern")
                        .unwrap_or(parameter)
                });
                let names = names.filter(|name| name.kind() == "identifier");
                self.locals.extend(names.map(|name| page.text(name)));
            }
            "variable_declarator" if page.places.in_function() => {
                let name = node.child_by_field_name("name");
                let name = name.filter(|name| name.kind() == "identifier");
                self.locals.extend(name.map(|name| page.text(name)));
            }
            "lexical_declaration" | "variable_declaration" => {
                self.exported_value(page, node);
                self.variables(page, node, lead, public);
            }
            "arrow_function" | "function_expression" | "function" => {
                page.open(PlaceKind::Function, None, false);
            }
            "expression_statement" => self.assigned(page, node, lead),
            "call_expression" => {
                modules::required(page, node, &mut self.required);
                self.services.call(page, node);
                if let Some(name) = suite(page, node) {
                    page.open(PlaceKind::Module, Some(name), false);
                } else {
                    test(page, node);
                }
            }
            "if_statement" => {
                let condition = cut(page.field(node, "condition"));
                if condition.contains("require.main") && condition.contains("module") {
                    page.outline.entry_point = Some(line_of(node));
                }
            }
            _ => {}
        }
        Next::Into
    }

    fn finish(&mut self, page: &mut Page<'t>, _root: Node<'t>) {
        self.forget_bare_objects(page);
        self.add_exported_variables(page);
        self.exports.finish(page);
        pages::served(page);
        page.never_bare(self.locals.drain());
    }
}

impl<'t> JavaScript<'t> {
    /// `var app = exports = module.exports = {}`.
    fn exported_value(&mut self, page: &mut Page<'t>, declaration: Node<'t>) {
        for declarator in named_children(declaration) {
            let (Some(name), Some(value)) = (
                declarator.child_by_field_name("name"),
                declarator.child_by_field_name("value"),
            ) else {
                continue;
            };
            let target = value.child_by_field_name("left");
            if value.kind() == "assignment_expression"
                && target.is_some_and(|target| {
                    page.text(target) == "exports" || is_exports(page, target)
                })
            {
                self.exports.value(page, name);
                Exports::export(page, "=", name, &mut self.required);
            }
        }
    }

    /// Functions under a name, objects that methods are given to, and what is exported or spelt as
    /// a constant.
    fn variables(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>], public: bool) {
        if page.places.in_function() || page.places.in_type() {
            return;
        }
        let about = page.comment_above(lead, node);
        let mut cursor = node.walk();
        for declarator in node.named_children(&mut cursor) {
            let Some(name) = declarator.child_by_field_name("name") else {
                continue;
            };
            let value = declarator.child_by_field_name("value").map(last_value);
            let text = page.text(name);
            let is_object = |value: Node<'_>| {
                matches!(
                    value.kind(),
                    "object" | "call_expression" | "new_expression"
                )
            };
            let kind = if value.is_some_and(is_function) {
                SymbolKind::Function
            } else if value.is_some_and(|value| value.kind() == "class") {
                SymbolKind::Type
            } else if public || text.len() > 1 && !text.chars().any(char::is_lowercase) {
                SymbolKind::Constant
            } else if value.is_some_and(is_object) {
                self.objects.insert(line_of(name));
                SymbolKind::Type
            } else {
                if name.kind() == "identifier" {
                    self.variables.push(SymbolNode {
                        kind: SymbolKind::Constant,
                        name,
                        whole: node,
                        public: true,
                        about: about.clone(),
                    });
                }
                continue;
            };
            if name.kind() == "identifier" {
                page.add(SymbolNode {
                    kind,
                    name,
                    whole: node,
                    public,
                    about: about.clone(),
                });
            }
        }
    }

    /// `exports.a = function …`, `Queue.prototype.push = function …`, `module.exports = a`.
    fn assigned(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
        let Some(first) = node.named_child(0) else {
            return;
        };
        if first.kind() == "call_expression" {
            self.defined(page, first, lead, node);
            return;
        }
        // `exports = module.exports = …` and `a.b = a.c = function …`
        let mut targets = Vec::new();
        let mut right = first;
        while right.kind() == "assignment_expression" {
            let (Some(left), Some(inner)) = (
                right.child_by_field_name("left"),
                right.child_by_field_name("right"),
            ) else {
                return;
            };
            targets.push(left);
            right = inner;
        }
        if targets.is_empty() || page.places.in_function() {
            return;
        }
        if targets.iter().any(|target| is_exports(page, *target)) {
            modules::passed_on(page, right);
        }
        for target in &targets {
            if is_exports(page, *target) || page.text(*target) == "exports" {
                self.exports
                    .assigned(page, *target, right, &mut self.required);
            }
        }
        for (at, target) in targets.iter().enumerate() {
            // Only the last name is next to its value.
            let whole = if at + 1 == targets.len() {
                node
            } else {
                *target
            };
            self.member(page, *target, right, whole, page.comment_above(lead, node));
        }
    }

    /// One `owner.name` that is given a value.
    fn member(
        &mut self,
        page: &mut Page<'t>,
        target: Node<'t>,
        value: Node<'t>,
        whole: Node<'t>,
        about: Option<String>,
    ) {
        if target.kind() != "member_expression" {
            return;
        }
        // `module.exports = …` is a name that says nothing, but the function may have its own.
        if page.text(target) == "module.exports" {
            let name = value.child_by_field_name("name");
            if let Some(name) = name.filter(|_| is_function(value)) {
                page.add(SymbolNode {
                    kind: SymbolKind::Function,
                    name,
                    whole,
                    public: true,
                    about,
                });
            }
            return;
        }
        let Some(name) = target.child_by_field_name("property") else {
            return;
        };
        let owner = page.field(target, "object");
        if matches!(owner, "exports" | "module.exports") {
            let kind = match value.kind() {
                _ if is_function(value) => SymbolKind::Function,
                "class" => SymbolKind::Type,
                // What has a name of its own is known by that; `exports.a = void 0` comes before.
                "identifier" | "unary_expression" => return,
                _ => SymbolKind::Constant,
            };
            page.add(SymbolNode {
                kind,
                name,
                whole,
                public: true,
                about,
            });
        } else if is_function(value) {
            self.method(page, owner, name, whole, about);
        }
    }

    /// `Object.defineProperty(req, "fresh", { … })`, `defineGetter(req, "fresh", function () { … })`.
    fn defined(&mut self, page: &mut Page<'t>, call: Node<'t>, lead: &[Node<'t>], whole: Node<'t>) {
        let function = cut(page.field(call, "function")).to_ascii_lowercase();
        let arguments = arguments_of(call);
        let [owner, name, value, ..] = arguments.as_slice() else {
            return;
        };
        let is_named = page.string(*name).is_some_and(|name| name != "__esModule");
        let is_value = is_function(*value) || value.kind() == "object";
        if page.places.in_function() || !function.contains("define") || !is_named || !is_value {
            return;
        }
        let about = page.comment_above(lead, whole);
        match page.text(*owner) {
            "exports" | "module.exports" => {
                let words = page.string(*name).unwrap_or_default();
                page.add_named(
                    words,
                    SymbolNode {
                        kind: SymbolKind::Constant,
                        name: *name,
                        whole,
                        public: true,
                        about,
                    },
                );
            }
            owner => self.method(page, owner, *name, whole, about),
        }
    }

    fn method(
        &mut self,
        page: &mut Page<'t>,
        owner: &str,
        name: Node<'t>,
        whole: Node<'t>,
        about: Option<String>,
    ) {
        let owner = cut(owner.split(".prototype").next().unwrap_or(owner));
        let words = page.string(name).unwrap_or_else(|| page.text(name));
        let found = SymbolNode {
            kind: SymbolKind::Method,
            name,
            whole,
            public: false,
            about,
        };
        page.add_named(words, found).container = Some(owner.to_owned());
        self.owners.insert(owner.to_owned());
    }

    /// Objects that got no methods of their own are mere variables.
    fn forget_bare_objects(&mut self, page: &mut Page<'t>) {
        let (objects, owners) = (&self.objects, &self.owners);
        let exports = &self.exports;
        page.outline.symbols.retain_mut(|symbol| {
            let is_object = symbol.kind == SymbolKind::Type
                && symbol.container.is_none()
                && objects.contains(&symbol.line);
            if !is_object || owners.contains(&symbol.name) {
                return true;
            }
            symbol.kind = SymbolKind::Constant;
            exports.names(&symbol.name)
        });
    }

    /// `const names = …; export default names`: a variable that is exported apart.
    fn add_exported_variables(&mut self, page: &mut Page<'t>) {
        let variables = std::mem::take(&mut self.variables);
        let before = page.outline.symbols.len();
        for variable in variables {
            let name = page.text(variable.name);
            let known = page.outline.symbols.iter();
            let mut known = known.filter(|symbol| symbol.container.is_none());
            if self.exports.names(name) && !known.any(|symbol| symbol.name == name) {
                page.add(variable);
            }
        }
        if page.outline.symbols.len() > before {
            page.outline.symbols.sort_by_key(|symbol| symbol.line);
        }
    }
}

/// Whether `module.exports`, or a name in it, is given a value.
fn is_exports(page: &Page<'_>, target: Node<'_>) -> bool {
    page.text(target) == "module.exports"
        || matches!(page.field(target, "object"), "exports" | "module.exports")
}

/// Reads the first comment, if it is about the file and not about the next declaration.
fn about_file<'t>(page: &mut Page<'t>, program: Node<'t>) {
    let mut cursor = program.walk();
    let mut comments = Vec::new();
    for child in program.named_children(&mut cursor) {
        match child.kind() {
            "comment" => comments.push(child),
            "hash_bang_line" => {}
            "expression_statement" if page.text(child).contains("use strict") => {}
            kind => {
                // A comment that touches a declaration is the declaration's.
                let last = comments.last().map(|last| last.end_position().row + 1);
                if last == Some(child.start_position().row) && kind != "import_statement" {
                    comments.pop_if(|last| !page.text(*last).contains("@file"));
                }
                break;
            }
        }
    }
    for comment in comments {
        let text = page.text(comment);
        if text.starts_with("/*") || text.starts_with("// ") {
            page.about_file(&sentence::bare(text), comment);
        }
    }
}

fn declared<'t>(
    page: &mut Page<'t>,
    node: Node<'t>,
    lead: &[Node<'t>],
    kind: SymbolKind,
    public: bool,
) {
    let Some(name) = node.child_by_field_name("name") else {
        return;
    };
    let text = page.text(name);
    // Each overload of a function says the same name again.
    let repeats = page.outline.symbols.last().is_some_and(|last| {
        last.name == text && last.kind == SymbolKind::Function && kind == last.kind
    });
    if page.places.in_function() && matches!(kind, SymbolKind::Type | SymbolKind::Interface) {
        page.add_local(kind, node);
    }
    if page.places.in_function() || repeats {
        return;
    }
    let about = page.comment_above(lead, node);
    page.add_named(
        text.trim_matches(['"', '\'']),
        SymbolNode {
            kind,
            name,
            whole: node,
            public,
            about,
        },
    );
}

fn method<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
    let name = node
        .child_by_field_name("name")
        .or_else(|| node.child_by_field_name("property"));
    let (Some(name), true, false) = (name, page.places.in_type(), page.places.in_function()) else {
        return;
    };
    let text = page.text(name);
    let access = child_of_kind(node, "accessibility_modifier").map_or("public", |of| page.text(of));
    let about = page.comment_above(lead, node);
    page.add(SymbolNode {
        kind: SymbolKind::Method,
        name,
        whole: node,
        public: access == "public" && !text.starts_with(['#', '_']),
        about,
    });
}

/// Returns the last value of `a = b = value`.
fn last_value(value: Node<'_>) -> Node<'_> {
    let mut last = value;
    while last.kind() == "assignment_expression" {
        match last.child_by_field_name("right") {
            Some(right) => last = right,
            None => break,
        }
    }
    last
}

fn is_function(value: Node<'_>) -> bool {
    matches!(
        value.kind(),
        "arrow_function" | "function_expression" | "function" | "generator_function"
    )
}

/// The words of `describe("…", () => …)`.
fn suite<'t>(page: &Page<'t>, call: Node<'t>) -> Option<&'t str> {
    let function = cut(page.field(call, "function"));
    let function = function.split('.').next()?;
    if !matches!(
        function,
        "describe" | "suite" | "context" | "fdescribe" | "xdescribe"
    ) {
        return None;
    }
    page.string(*arguments_of(call).first()?)
}

/// `it("adds", () => …)`, `test.only("adds", …)`, `Deno.test("adds", …)`, `it.each(…)("adds", …)`.
fn test<'t>(page: &mut Page<'t>, call: Node<'t>) {
    let Some(mut function) = call.child_by_field_name("function") else {
        return;
    };
    if function.kind() == "call_expression" {
        match function.child_by_field_name("function") {
            Some(inner) if page.field(inner, "property") == "each" => function = inner,
            _ => return,
        }
    }
    let words = cut(page.text(function));
    let known = matches!(
        words,
        "it" | "test" | "fit" | "xit" | "specify" | "Deno.test" | "QUnit.test" | "bench"
    ) || ["it.", "test."]
        .iter()
        .any(|start| words.starts_with(start));
    if !known || words.contains('(') {
        return;
    }
    let arguments = arguments_of(call);
    if let [title, rest @ ..] = arguments.as_slice()
        && rest.iter().any(|argument| is_function(*argument))
        && let Some(text) = page.string(*title)
        && !text.is_empty()
    {
        let name = cut(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let found = SymbolNode {
            kind: SymbolKind::Function,
            name: *title,
            whole: call,
            public: false,
            about: None,
        };
        page.add_named(&name, found).test = true;
    }
}
