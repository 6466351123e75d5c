//! Commands of a Rust program: clap's derived parsers and its builders.

use std::collections::HashSet;

use tree_sitter::Node;

use super::{
    super::page::{Page, arguments_of, child_of_kind, kebab},
    items::documentation,
    routes::method_name,
};

/// How many calls of a builder's chain are followed.
const LONGEST_CHAIN: usize = 64;

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

/// A file as far as clap is concerned.
pub(super) struct Clap {
    /// Whether the file names clap, and whether `Command` is rather the standard library's.
    is_named: bool,
    has_process: bool,
    /// The starts of the chains that have been read, from their last call.
    read: HashSet<usize>,
}

impl Clap {
    pub(super) fn new(text: &str) -> Self {
        Self {
            is_named: text.contains("clap"),
            has_process: text.contains("process::Command"),
            read: HashSet::new(),
        }
    }

    /// `#[derive(Parser)]`, `#[derive(Args)]` and `#[derive(Subcommand)]`.
    pub(super) fn derived<'t>(&self, page: &mut Page<'t>, item: Node<'t>, lead: &[Node<'t>]) {
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
        if derives("Parser") && self.is_named {
            if let Some(name) =
                option(page, lead, "name").or_else(|| option(page, lead, "bin_name"))
            {
                let about = documentation(page, lead).or_else(|| option(page, lead, "about"));
                page.command(&name, about.as_deref(), item);
            }
            flags(page, body);
        } else if derives("Args") && self.is_named {
            flags(page, body);
        } else if derives("Subcommand") {
            each_member(body, "enum_variant", |variant, lead| {
                let name = option(page, lead, "name")
                    .unwrap_or_else(|| kebab(page.field(variant, "name")));
                let about = documentation(page, lead).or_else(|| option(page, lead, "about"));
                page.command(&name, about.as_deref(), variant);
                if let Some(fields) = variant.child_by_field_name("body") {
                    flags(page, fields);
                }
            });
        }
    }

    /// `Command::new("name").about("…")` and `Arg::new("name").long("flag").help("…")`.
    pub(super) fn call<'t>(&mut self, page: &mut Page<'t>, call: Node<'t>) {
        if !self.is_named || !self.read.insert(call.start_byte()) {
            return;
        }
        let (mut about, mut long) = (None, None);
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
                    Some(Builder::Command) => page.command(name, about, link),
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
                _ => {}
            }
            let Some(value) = function.child_by_field_name("value") else {
                return;
            };
            link = value;
        }
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
