//! Rust's items, their visibility, documentation and tests.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use tree_sitter::Node;

use super::{
    super::{
        scopes::PlaceKind,
        sentence,
        symbol::{Import, ImportKind, SymbolKind},
        uses::Binding,
        walker::{Grammar, Next, Page, SymbolNode, child_of_kind, line_of, named_children},
    },
    commands,
    names::{self, TEST_ATTRIBUTES},
    paths, routes,
};

/// Reads Rust.
pub(in crate::outline) struct Rust<'t> {
    commands: commands::Clap<'t>,
    paths: paths::Paths,
    /// The row after the last `//!` that was read.
    about_read_to: usize,
    /// Positions of later names that mean a declaration and no variable.
    named_at: HashSet<usize>,
    /// Ranges of macro names that the tree does not hold: their calls were opened.
    opened: Vec<Range<usize>>,
}

impl Rust<'_> {
    pub(in crate::outline) fn new(text: &str, opened: Vec<Range<usize>>) -> Self {
        Self {
            commands: commands::Clap::new(text),
            paths: paths::Paths::default(),
            about_read_to: 0,
            named_at: HashSet::new(),
            opened,
        }
    }

    fn means_itself(&mut self, name: Option<Node<'_>>) {
        let name = name.filter(|name| name.kind() == "identifier");
        self.named_at.extend(name.map(|name| name.start_byte()));
    }

    /// Takes note of what is called among a macro's arguments, which the grammar sees as mere
    /// tokens: `total` of `assert_eq!(total(&items), 3)` and of `sum::total`.
    fn calls_among<'t>(&mut self, page: &mut Page<'t>, tokens: Node<'t>) {
        let mut cursor = tokens.walk();
        let mut before = "";
        let mut name: Option<(Node<'_>, bool)> = None;
        for token in tokens.children(&mut cursor) {
            let kind = token.kind();
            if let Some((name, in_path)) = name.take() {
                let is_called = kind == "token_tree" && page.text(token).starts_with('(');
                if in_path || kind == "!" {
                    page.uses.pass_over(name.start_byte());
                }
                if kind == "!" && !in_path {
                    names::note_macro(page, name);
                }
                if is_called || kind == "!" || in_path && kind != "::" {
                    self.named_at.insert(name.start_byte());
                }
            }
            if kind == "identifier" && !matches!(before, "." | "fn") {
                name = Some((token, before == "::"));
            }
            before = kind;
        }
        let last = name.filter(|(_, in_path)| *in_path);
        if let Some((name, _)) = last {
            page.uses.pass_over(name.start_byte());
        }
        self.named_at
            .extend(last.map(|(name, _)| name.start_byte()));
    }

    /// Joins the lines of `//!` that follow one another.
    fn about_crate_or_module(&mut self, page: &mut Page<'_>, first: Node<'_>) {
        let row = first.start_position().row;
        if page.outline.about.is_some() || row < self.about_read_to {
            return;
        }
        let rest = &page.text[first.start_byte()..];
        let text: Vec<_> = if rest.starts_with("/*") {
            vec![sentence::bare(page.text(first))]
        } else {
            rest.lines()
                .map_while(|line| line.trim().strip_prefix("//!").map(str::to_owned))
                .collect()
        };
        self.about_read_to = row + text.len();
        page.about_file(&text.join("\n"), first);
    }
}

impl<'t> Grammar<'t> for Rust<'t> {
    fn leads(&self, kind: &str) -> bool {
        matches!(kind, "line_comment" | "block_comment" | "attribute_item")
    }

    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next {
        names::enter(page, node, lead);
        match node.kind() {
            "source_file" => {
                page.uses.keeps_paths = true;
                for name in self.opened.drain(..) {
                    let call = &page.text[name.start..(name.end + 1).min(page.text.len())];
                    page.uses.note("", call, name.start);
                    page.mention_at(name);
                }
            }
            "line_comment" | "block_comment" => {
                let text = page.text(node);
                if page.places.is_empty() && (text.starts_with("//!") || text.starts_with("/*!")) {
                    self.about_crate_or_module(page, node);
                }
                return Next::Past;
            }
            "identifier" => {
                // In small letters it is a variable, unless it is called or ends a path.
                let is_small = page.text(node).starts_with(char::is_lowercase);
                let bare = self.named_at.remove(&node.start_byte()) || !is_small;
                page.mention_as(node, bare);
                if bare {
                    page.use_name(node);
                }
                return Next::Past;
            }
            "type_identifier" => {
                page.mention(node);
                page.use_name(node);
                return Next::Past;
            }
            "field_identifier" => {
                page.mention_as(node, false);
                return Next::Past;
            }
            "string_literal" | "char_literal" | "raw_string_literal" => return Next::Past,
            "use_declaration" => {
                let kind = if is_public(node) {
                    ImportKind::ReExport
                } else {
                    ImportKind::Use
                };
                if let Some(argument) = node.child_by_field_name("argument") {
                    for (target, at, alias) in paths::leaves(page, argument) {
                        let target = paths::from_file(page, target);
                        self.paths.announce(&target);
                        let name = target.rsplit("::").next().unwrap_or(&target).to_owned();
                        let local = alias.map_or_else(|| name.clone(), str::to_owned);
                        let import = page.import(kind, &target, at);
                        if name != "*" && local != "_" {
                            import.bindings = vec![Binding { local, name }];
                        }
                    }
                }
                return Next::Past;
            }
            "extern_crate_declaration" => {
                let name = page.field(node, "name");
                self.paths.announce(name);
                let alias = page.field(node, "alias");
                let local = if alias.is_empty() { name } else { alias };
                page.import(ImportKind::Use, name, node).bindings = vec![Binding {
                    local: local.to_owned(),
                    name: name.to_owned(),
                }];
                return Next::Past;
            }
            "scoped_identifier" | "scoped_type_identifier" => {
                self.means_itself(node.child_by_field_name("name"));
                self.paths.note(page, node);
            }
            "attribute_item" | "inner_attribute_item" => self.paths.enter_attribute(node),
            "token_tree" => {
                self.paths.note_tokens(page, node);
                self.calls_among(page, node);
            }
            "generic_function" => self.means_itself(node.child_by_field_name("function")),
            "mod_item" => module(page, node, lead, &mut self.paths),
            "impl_item" => {
                let name = node
                    .child_by_field_name("type")
                    .and_then(|of| base(page, of));
                let implements_trait = node.child_by_field_name("trait").is_some();
                let kind = if implements_trait {
                    PlaceKind::Interface
                } else {
                    PlaceKind::Type
                };
                page.open(kind, name, !implements_trait);
            }
            "function_item" | "function_signature_item" => function(page, node, lead),
            "struct_item" | "enum_item" | "union_item" | "type_item" | "associated_type" => {
                item(page, node, lead, SymbolKind::Type);
                self.commands.derived(page, node, lead);
            }
            "trait_item" => {
                item(page, node, lead, SymbolKind::Interface);
                let name = page.field(node, "name");
                page.open(PlaceKind::Interface, Some(name), is_public(node));
            }
            "const_item" | "static_item" if page.field(node, "name") != "_" => {
                item(page, node, lead, SymbolKind::Constant);
            }
            "macro_definition" => {
                self.paths.enter_macro(node);
                if let Some(found) = found(page, node, lead, SymbolKind::Macro) {
                    let exported = attributes(page, lead).any(|path| path == "macro_export")
                        && !is_hidden(page, lead);
                    // An exported macro is at the crate's root, in any module.
                    let macro_ = page.add(found);
                    macro_.public = exported;
                }
            }
            "macro_invocation" => {
                self.means_itself(node.child_by_field_name("macro"));
                if page.field(node, "macro").ends_with("proptest") {
                    property_tests(page, node);
                }
            }
            "call_expression" => {
                self.means_itself(node.child_by_field_name("function"));
                routes::registered(page, node);
                self.commands.call(page, node);
            }
            _ => {}
        }
        Next::Into
    }

    fn finish(&mut self, page: &mut Page<'t>, _root: Node<'t>) {
        self.paths.finish(page);
        self.commands.finish(page);
        hide_methods_of_private_types(page);
    }
}

fn module<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>], paths: &mut paths::Paths) {
    let name = page.field(node, "name");
    paths.announce(name);
    if node.child_by_field_name("body").is_some() {
        item(page, node, lead, SymbolKind::Module);
        page.open(PlaceKind::Module, Some(name), is_public(node));
        return;
    }
    let file = lead
        .iter()
        .filter_map(|attribute| page.text(*attribute).strip_prefix("#[path"))
        .find_map(|rest| rest.split('"').nth(1));
    let Import { names, .. } = page.import(ImportKind::DeclareModule, name, node);
    names.extend(file.map(str::to_owned));
}

fn function<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) {
    let in_type = page.places.in_type();
    if let Some(mut found) = found(page, node, lead, SymbolKind::Function)
        && !page.places.in_function()
    {
        let test = attributes(page, lead)
            .any(|path| TEST_ATTRIBUTES.contains(&path.rsplit(':').next().unwrap_or(path)));
        let is_main = page.places.is_empty() && !found.public && page.text(found.name) == "main";
        if is_main {
            page.outline.entry_point = Some(line_of(found.name));
        }
        // A trait's methods are as visible as the trait.
        found.public |= is_trait(page);
        let symbol = page.add(found);
        symbol.test = test;
        if in_type {
            symbol.kind = SymbolKind::Method;
        }
    }
    routes::attributed(page, node, lead);
    page.open(PlaceKind::Function, None, false);
}

/// Hides each `pub fn` of a type that no other code can name.
fn hide_methods_of_private_types(page: &mut Page<'_>) {
    let mut types: HashMap<(Option<String>, String), bool> = HashMap::new();
    for symbol in &page.outline.symbols {
        if symbol.kind == SymbolKind::Type {
            let name = (symbol.module.clone(), symbol.name.clone());
            *types.entry(name).or_default() |= symbol.public;
        }
    }
    for symbol in &mut page.outline.symbols {
        let Some(of) = &symbol.container else {
            continue;
        };
        // A module may implement the methods of a type outside of it.
        let in_module = types.get(&(symbol.module.clone(), of.clone()));
        let of = in_module.or_else(|| types.get(&(None, of.clone())));
        symbol.public &= of.copied().unwrap_or(true);
    }
}

/// Whether the innermost place is a trait, or an `impl` of one.
fn is_trait(page: &Page<'_>) -> bool {
    page.places
        .innermost()
        .is_some_and(|place| place.kind == PlaceKind::Interface)
}

fn item<'t>(page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>], kind: SymbolKind) {
    let belongs_to_trait = is_trait(page);
    let is_type = matches!(kind, SymbolKind::Type | SymbolKind::Interface);
    if page.places.in_function() && is_type && node.kind() != "associated_type" {
        page.add_local(kind, node);
    }
    if !page.places.in_function()
        && !belongs_to_trait
        && let Some(found) = found(page, node, lead, kind)
    {
        page.add(found);
    }
}

fn found<'t>(
    page: &Page<'t>,
    node: Node<'t>,
    lead: &[Node<'t>],
    kind: SymbolKind,
) -> Option<SymbolNode<'t>> {
    Some(SymbolNode {
        kind,
        name: node.child_by_field_name("name")?,
        whole: node,
        public: is_public(node),
        about: documentation(page, lead),
    })
}

/// The first sentence of the `///` and `/** */` before an item.
pub(super) fn documentation(page: &Page<'_>, lead: &[Node<'_>]) -> Option<String> {
    let lines: Vec<_> = lead
        .iter()
        .map(|node| page.text(*node))
        .filter_map(|text| {
            let block = text.starts_with("/**") && !text.starts_with("/***");
            let line = text.starts_with("///") && !text.starts_with("////");
            if block || line {
                return Some(sentence::bare(text));
            }
            let written = text.strip_prefix("#[doc")?.trim_start().strip_prefix('=')?;
            Some(written.split('"').nth(1)?.to_owned())
        })
        .collect();
    sentence::first(&lines.join("\n"))
}

/// The paths of the attributes before an item: `tokio::test`.
fn attributes<'t>(page: &Page<'t>, lead: &[Node<'t>]) -> impl Iterator<Item = &'t str> {
    lead.iter()
        .filter_map(|node| child_of_kind(*node, "attribute"))
        .filter_map(|attribute| attribute.named_child(0))
        .map(|path| page.text(path))
}

/// Whether an item is `#[doc(hidden)]`: public for the sake of other macros only.
fn is_hidden(page: &Page<'_>, lead: &[Node<'_>]) -> bool {
    let mut attributes = lead.iter().map(|node| page.text(*node));
    attributes.any(|text| text.starts_with("#[doc(hidden"))
}

/// Whether an item is `pub` without a restriction.
fn is_public(node: Node<'_>) -> bool {
    child_of_kind(node, "visibility_modifier").is_some_and(|visible| visible.child_count() == 1)
}

/// The name of the type that an `impl` is about: `Disk` of `&'a mut disk::Disk<T>`.
fn base<'t>(page: &Page<'t>, of: Node<'t>) -> Option<&'t str> {
    let mut node = of;
    loop {
        node = match node.kind() {
            "type_identifier" | "primitive_type" => return Some(page.text(node)),
            "generic_type" | "reference_type" | "pointer_type" => {
                node.child_by_field_name("type")?
            }
            "scoped_type_identifier" => node.child_by_field_name("name")?,
            _ => return None,
        }
    }
}

/// The functions inside `proptest! { … }`, which the grammar sees as mere tokens.
fn property_tests<'t>(page: &mut Page<'t>, invocation: Node<'t>) {
    let Some(tokens) = child_of_kind(invocation, "token_tree") else {
        return;
    };
    let mut after_test = false;
    let mut after_fn = false;
    let mut cursor = tokens.walk();
    for token in tokens.children(&mut cursor) {
        match token.kind() {
            "token_tree" => {
                let names_test = named_children(token)
                    .iter()
                    .any(|name| TEST_ATTRIBUTES.contains(&page.text(*name)));
                after_test |= page.text(token).starts_with('[') && names_test;
            }
            "fn" => after_fn = true,
            "identifier" if after_fn => {
                let found = SymbolNode {
                    kind: SymbolKind::Function,
                    name: token,
                    whole: token,
                    public: false,
                    about: None,
                };
                page.add(found).test = after_test;
                (after_fn, after_test) = (false, false);
            }
            _ => after_fn = false,
        }
    }
}
