//! Java's declarations, their visibility, documentation and tests.

use tree_sitter::Node;

use super::{
    super::{
        scopes::PlaceKind,
        sentence,
        symbol::{ImportKind, SymbolKind},
        uses::Binding,
        walker::{Grammar, Next, Page, SymbolNode, child_of_kind, line_of},
    },
    annotations::Annotations,
    names,
};

/// Reads Java.
#[derive(Default)]
pub(in crate::outline) struct Java {
    /// The path before those of the methods, for each type around.
    base_paths: Vec<String>,
}

impl<'t> Grammar<'t> for Java {
    fn leads(&self, kind: &str) -> bool {
        matches!(kind, "line_comment" | "block_comment")
    }

    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next {
        names::enter(page, node);
        match node.kind() {
            "program" => page.uses.keeps_unbound = true,
            "line_comment" | "block_comment" | "string_literal" => return Next::Past,
            "identifier" | "type_identifier" => {
                page.mention(node);
                return Next::Past;
            }
            "package_declaration" => {
                let name = node
                    .named_children(&mut node.walk())
                    .find(|child| matches!(child.kind(), "identifier" | "scoped_identifier"))
                    .map(|name| page.text(name).to_owned());
                page.outline.package = name;
                if page.path.ends_with("package-info.java")
                    && let Some(comment) = javadoc_node(page, lead)
                {
                    let text = sentence::bare(page.text(comment));
                    page.about_file(&text, comment);
                }
                return Next::Past;
            }
            "import_declaration" => {
                import(page, node);
                return Next::Past;
            }
            "class_declaration" | "record_declaration" | "enum_declaration" => {
                self.type_(page, node, lead, SymbolKind::Type);
            }
            "interface_declaration" | "annotation_type_declaration" => {
                self.type_(page, node, lead, SymbolKind::Interface);
            }
            "method_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration" => {
                self.method(page, node, lead);
            }
            // Declarations of an unnamed class cannot be used elsewhere either.
            "lambda_expression" | "object_creation_expression" | "enum_constant" => {
                page.open(PlaceKind::Function, None, false);
            }
            "field_declaration" | "constant_declaration" => field(page, node, lead),
            _ => {}
        }
        Next::Into
    }
}

impl Java {
    fn type_<'t>(
        &mut self,
        page: &mut Page<'t>,
        node: Node<'t>,
        lead: &[Node<'t>],
        kind: SymbolKind,
    ) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let annotations = Annotations::of(page, node);
        annotations.commands(page);
        let javadoc = javadoc_node(page, lead);
        if let (Some(comment), true) = (javadoc, page.places.is_empty()) {
            let text = sentence::bare(page.text(comment));
            page.about_file(&text, comment);
        }
        let public = is_public(page, node);
        if page.places.in_function() {
            page.add_local(kind, node);
        } else {
            self.base_paths.truncate(page.places.len());
            self.base_paths.push(annotations.base_path(page));
            page.add(SymbolNode {
                kind,
                name,
                whole: node,
                public,
                about: about(page, lead),
            });
        }
        let place = match kind {
            SymbolKind::Interface => PlaceKind::Interface,
            _ if extends_test_case(page, node) => PlaceKind::TestCase,
            _ => PlaceKind::Type,
        };
        page.open(place, Some(page.text(name)), public);
    }

    fn method<'t>(&self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let text = page.text(name);
        if !page.places.in_function() {
            let annotations = Annotations::of(page, node);
            let of_test_case = page
                .places
                .innermost()
                .is_some_and(|place| place.kind == PlaceKind::TestCase);
            let test = annotations.make_a_test() || of_test_case && text.starts_with("test");
            let modifiers = modifiers(page, node);
            if text == "main" && modifiers.contains(&"static") && page.outline.entry_point.is_none()
            {
                page.outline.entry_point = Some(line_of(name));
            }
            let innermost = page.places.len().checked_sub(1);
            let base = innermost.and_then(|at| self.base_paths.get(at));
            let base = base.map_or("", String::as_str);
            annotations.routes(page, base, text);
            annotations.commands(page);
            let public = is_public(page, node);
            let symbol = page.add(SymbolNode {
                kind: SymbolKind::Method,
                name,
                whole: node,
                public,
                about: about(page, lead),
            });
            symbol.test = test;
        }
        page.open(PlaceKind::Function, None, false);
    }
}

fn import<'t>(page: &mut Page<'t>, node: Node<'t>) {
    let Some(name) = node.named_child(0) else {
        return;
    };
    let all = child_of_kind(node, "asterisk").map_or("", |_| ".*");
    let target = format!("{}{all}", page.text(name));
    let last = target.rsplit('.').next().unwrap_or(&target).to_owned();
    let import = page.import(ImportKind::Use, &target, node);
    if last != "*" {
        import.bindings.push(Binding {
            local: last.clone(),
            name: last,
        });
    }
}

/// Constants, and the options of picocli.
fn field<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
    if page.places.in_function() {
        return;
    }
    Annotations::of(page, node).commands(page);
    let modifiers = modifiers(page, node);
    let constant = node.kind() == "constant_declaration"
        || modifiers.contains(&"static") && modifiers.contains(&"final");
    if !constant {
        return;
    }
    let (public, about) = (is_public(page, node), about(page, lead));
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        if let Some(name) = declarator.child_by_field_name("name") {
            page.add(SymbolNode {
                kind: SymbolKind::Constant,
                name,
                whole: node,
                public,
                about: about.clone(),
            });
        }
    }
}

fn modifiers<'t>(page: &Page<'t>, declaration: Node<'t>) -> Vec<&'t str> {
    let Some(modifiers) = child_of_kind(declaration, "modifiers") else {
        return Vec::new();
    };
    let mut cursor = modifiers.walk();
    modifiers
        .children(&mut cursor)
        .filter(|child| !child.is_named())
        .map(|child| page.text(child))
        .collect()
}

/// Whether code of other packages may use it; what an interface holds is public unasked.
fn is_public(page: &Page<'_>, declaration: Node<'_>) -> bool {
    let modifiers = modifiers(page, declaration);
    let unasked = page
        .places
        .innermost()
        .is_some_and(|place| place.kind == PlaceKind::Interface);
    modifiers.contains(&"public")
        || modifiers.contains(&"protected")
        || unasked && !modifiers.contains(&"private")
}

fn extends_test_case(page: &Page<'_>, class: Node<'_>) -> bool {
    page.field(class, "superclass").ends_with("TestCase")
}

fn javadoc_node<'t>(page: &Page<'t>, lead: &[Node<'t>]) -> Option<Node<'t>> {
    let comment = lead.last()?;
    page.text(*comment).starts_with("/**").then_some(*comment)
}

fn about(page: &Page<'_>, lead: &[Node<'_>]) -> Option<String> {
    sentence::first(&sentence::bare(page.text(javadoc_node(page, lead)?)))
}
