//! Commands of a Rust program: clap's derived parsers and its builders.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::Range,
};

use tree_sitter::Node;

use super::{
    super::walker::{Page, arguments_of, child_of_kind, cut, kebab, named_children},
    items::documentation,
    routes::method_name,
};

/// Most calls of a builder's chain that are followed.
const LONGEST_CHAIN: usize = 64;

/// Most enclosing commands of a command that are followed.
const DEEPEST: usize = 8;

/// Most arguments of builders that are searched for the enclosing ones.
const MOST_AROUND: usize = 512;

/// The fields that are flags: those with `long`, or `short` alone.
fn flags<'t>(page: &mut Page<'t>, body: Node<'t>) {
    each_member(body, "field_declaration", |field, lead| {
        let words: Vec<_> = lead
            .iter()
            .filter_map(|node| child_of_kind(*node, "attribute"))
            .filter_map(|attribute| attribute.child_by_field_name("arguments"))
            .flat_map(|tokens| named(page, tokens))
            .collect();
        let name = page.field(field, "name");
        let flag = if words.contains(&"long") {
            let long = option(page, lead, "long").unwrap_or_else(|| kebab(name));
            format!("--{long}")
        } else if words.contains(&"short") {
            let letter = name.chars().next().map(String::from).unwrap_or_default();
            format!("-{}", option(page, lead, "short").unwrap_or(letter))
        } else {
            return;
        };
        let about = documentation(page, lead).or_else(|| option(page, lead, "help"));
        page.command(&flag, about.as_deref(), field);
    });
}

fn named<'t>(page: &Page<'t>, tokens: Node<'t>) -> Vec<&'t str> {
    let mut cursor = tokens.walk();
    tokens
        .named_children(&mut cursor)
        .filter(|token| token.kind() == "identifier")
        .map(|token| page.text(token))
        .collect()
}

/// Gives each member of a body, with the comments and attributes before it.
fn each_member<'t>(body: Node<'t>, kind: &str, mut take: impl FnMut(Node<'t>, &[Node<'t>])) {
    let mut lead = Vec::new();
    let mut cursor = body.walk();
    for child in body.named_children(&mut cursor) {
        if child.kind() == kind {
            take(child, &lead);
            lead.clear();
        } else {
            lead.push(child);
        }
    }
}

/// The value of `key = "value"` in an attribute of clap's.
fn option(page: &Page<'_>, lead: &[Node<'_>], key: &str) -> Option<String> {
    lead.iter()
        .filter_map(|node| child_of_kind(*node, "attribute"))
        .filter(|attribute| {
            attribute
                .named_child(0)
                .is_some_and(|path| matches!(page.text(path), "command" | "arg" | "clap"))
        })
        .filter_map(|attribute| attribute.child_by_field_name("arguments"))
        .find_map(|tokens| {
            let mut cursor = tokens.walk();
            let tokens: Vec<_> = tokens.children(&mut cursor).collect();
            let at = tokens
                .windows(2)
                .position(|pair| page.text(pair[0]) == key && page.text(pair[1]) == "=")?;
            let value = *tokens.get(at + 2)?;
            Some(match value.kind() {
                "char_literal" => page.text(value).trim_matches('\'').to_owned(),
                _ => page.string(value)?.to_owned(),
            })
        })
}

/// The commands of a derived type, and the types of its fields, which may be derived too.
#[derive(Default)]
struct Derived<'t> {
    /// Whether it is a `Subcommand`.
    is_verbs: bool,
    /// The commands that its variants name, by place in the outline, each with the types of its
    /// fields.
    offered: Vec<(usize, Vec<&'t str>)>,
    /// The types of a struct's fields.
    fields: Vec<&'t str>,
}

/// The names of the types in a body.
fn type_names<'t>(page: &Page<'t>, body: Node<'t>) -> Vec<&'t str> {
    let mut open = vec![body];
    let mut names = Vec::new();
    while let Some(node) = open.pop() {
        match node.kind() {
            "type_identifier" => names.push(page.text(node)),
            "attribute_item" => {}
            _ => open.extend(named_children(node)),
        }
    }
    names
}

/// A file as far as clap is concerned.
pub(super) struct Clap<'t> {
    /// Whether the file names clap, and whether `Command` is rather the standard library's.
    is_named: bool,
    has_process: bool,
    /// The starts of the chains that have been read, from their last call.
    read: HashSet<usize>,
    /// The derived types, by name.
    types: BTreeMap<&'t str, Derived<'t>>,
    /// The arguments of a builder's `subcommand(…)`: their range, and the enclosing command.
    around: Vec<(Range<usize>, &'t str)>,
}

impl<'t> Clap<'t> {
    pub(super) fn new(text: &str) -> Self {
        Self {
            is_named: text.contains("clap"),
            has_process: text.contains("process::Command"),
            read: HashSet::new(),
            types: BTreeMap::new(),
            around: Vec::new(),
        }
    }

    /// `#[derive(Parser)]`, `#[derive(Args)]` and `#[derive(Subcommand)]`.
    pub(super) fn derived(&mut self, page: &mut Page<'t>, item: Node<'t>, lead: &[Node<'t>]) {
        let text = lead.iter().map(|node| page.text(*node));
        let derives: String = text.filter(|text| text.starts_with("#[derive")).collect();
        let derives = |name: &str| {
            derives
                .split(|c: char| !c.is_alphanumeric())
                .any(|derived| derived == name)
        };
        let Some(body) = item.child_by_field_name("body") else {
            return;
        };
        let mut found = Derived::default();
        if (derives("Parser") || derives("Args")) && self.is_named {
            if derives("Parser")
                && let Some(name) =
                    option(page, lead, "name").or_else(|| option(page, lead, "bin_name"))
            {
                let about = documentation(page, lead).or_else(|| option(page, lead, "about"));
                page.command(&name, about.as_deref(), item);
            }
            flags(page, body);
            found.fields = type_names(page, body);
        } else if derives("Subcommand") {
            found.is_verbs = true;
            each_member(body, "enum_variant", |variant, lead| {
                let name = option(page, lead, "name")
                    .unwrap_or_else(|| kebab(page.field(variant, "name")));
                let about = documentation(page, lead).or_else(|| option(page, lead, "about"));
                let at = page.outline.commands.len();
                page.command(&name, about.as_deref(), variant);
                let mut fields = Vec::new();
                if let Some(body) = variant.child_by_field_name("body") {
                    flags(page, body);
                    fields = type_names(page, body);
                }
                found.offered.push((at, fields));
            });
        } else {
            return;
        }
        self.types.insert(page.field(item, "name"), found);
    }

    /// Puts before the commands of a derived type the one whose field it is.
    pub(super) fn finish(&self, page: &mut Page<'t>) {
        let verbs = || self.types.iter().filter(|(_, derived)| derived.is_verbs);
        // For each type of verbs, the one around it and the verb that leads to it.
        let mut around: BTreeMap<&str, (&str, String)> = BTreeMap::new();
        for (holder, derived) in verbs() {
            for (at, fields) in &derived.offered {
                for below in self.verbs_below(fields) {
                    if below != *holder {
                        let name = page.outline.commands[*at].name.clone();
                        around.entry(below).or_insert((holder, name));
                    }
                }
            }
        }
        for (of, derived) in verbs() {
            let mut before = Vec::new();
            let mut next = around.get(of);
            while let Some((holder, name)) = next.filter(|_| before.len() < DEEPEST) {
                before.insert(0, name.as_str());
                next = around.get(holder);
            }
            if before.is_empty() {
                continue;
            }
            let before = before.join(" ");
            for (at, _) in &derived.offered {
                let command = &mut page.outline.commands[*at];
                let full = format!("{before} {}", command.name);
                cut(&full).clone_into(&mut command.name);
            }
        }
    }

    /// The types of verbs that fields of these types lead to, by way of structs.
    fn verbs_below(&self, fields: &[&'t str]) -> BTreeSet<&'t str> {
        let mut open = fields.to_vec();
        let mut seen = BTreeSet::new();
        while let Some(of) = open.pop() {
            if let Some(derived) = self.types.get(of)
                && seen.insert(of)
                && !derived.is_verbs
            {
                open.extend(&derived.fields);
            }
        }
        seen.retain(|of| self.types.get(of).is_some_and(|derived| derived.is_verbs));
        seen
    }

    /// `Command::new("name").about("…")` and `Arg::new("name").long("flag").help("…")`.
    pub(super) fn call(&mut self, page: &mut Page<'t>, call: Node<'t>) {
        if !self.is_named || !self.read.insert(call.start_byte()) {
            return;
        }
        let (mut about, mut long) = (None, None);
        let mut below = Vec::new();
        let mut link = call;
        for _ in 0..LONGEST_CHAIN {
            let Some(function) = link.child_by_field_name("function") else {
                return;
            };
            let argument = arguments_of(link)
                .first()
                .and_then(|first| page.string(*first));
            if function.kind() == "scoped_identifier" {
                let Some(name) = argument else { return };
                match self.builder(page, function) {
                    Some(Builder::Command) => {
                        let before = self.around(link.start_byte());
                        let full = before
                            .into_iter()
                            .chain([name])
                            .collect::<Vec<_>>()
                            .join(" ");
                        page.command(&full, about, link);
                        self.around
                            .extend(below.into_iter().map(|range| (range, name)));
                    }
                    Some(Builder::Flag) => {
                        if let Some(long) = long {
                            page.command(&format!("--{long}"), about, link);
                        }
                    }
                    None => {}
                }
                return;
            }
            match method_name(page, link) {
                Some("about" | "help") => about = about.or(argument),
                Some("long") => long = long.or(argument),
                Some("subcommand" | "subcommands") => {
                    below.extend(arguments_of(link).first().map(Node::byte_range));
                }
                _ => {}
            }
            let Some(value) = function.child_by_field_name("value") else {
                return;
            };
            link = value;
        }
    }

    /// The commands around a place, outermost first, but for the program's own.
    fn around(&mut self, at: usize) -> Vec<&'t str> {
        while self.around.pop_if(|(range, _)| range.end <= at).is_some() {}
        let around = self.around.iter().rev().take(MOST_AROUND);
        let mut names: Vec<_> = around
            .filter(|(range, _)| range.contains(&at))
            .map(|(_, name)| *name)
            .collect();
        names.pop();
        names.reverse();
        names
    }

    fn builder(&self, page: &Page<'_>, function: Node<'_>) -> Option<Builder> {
        let path = page.text(function);
        let mut parts = path.rsplit("::");
        let (call, of) = (parts.next()?, parts.next()?);
        match (of, call) {
            ("Command", "new") if path.starts_with("clap::") || !self.has_process => {
                Some(Builder::Command)
            }
            ("App", "new") | ("SubCommand", "with_name") => Some(Builder::Command),
            ("Arg", "new" | "with_name") => Some(Builder::Flag),
            _ => None,
        }
    }
}

enum Builder {
    Command,
    Flag,
}
