//! Commands of a Go program: cobra's and urfave/cli's, with those that they belong to.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::super::walker::{Page, arguments_of, cut, named_children};

/// Most enclosing commands of a command that are followed.
const DEEPEST: usize = 8;

/// The parents of commands, as far as one file shows them.
#[derive(Default)]
pub(super) struct Commands<'t> {
    /// cobra's commands by the variable that holds each: their places in the outline.
    held: HashMap<&'t str, usize>,
    /// For each variable, the one that it was added to.
    parents: HashMap<&'t str, &'t str>,
    /// Positions of literals that have been read as part of another.
    read: HashSet<usize>,
    /// The variable that the literal at this place is given to.
    variable: Option<(usize, &'t str)>,
}

impl<'t> Commands<'t> {
    /// `var serve = &cobra.Command{…}`, `serve := &cobra.Command{…}`.
    pub(super) fn variable(&mut self, page: &Page<'t>, name: Node<'t>, value: Node<'t>) {
        if let Some(literal) = literal_in(value) {
            self.variable = Some((literal.start_byte(), page.text(name)));
        }
    }

    /// `cobra.Command{Use: "serve", Short: "…"}`, `cli.Command{Name: "serve", Usage: "…"}`.
    pub(super) fn literal(&mut self, page: &mut Page<'t>, literal: Node<'t>) {
        if self.read.contains(&literal.start_byte()) {
            return;
        }
        let Some(body) = literal.child_by_field_name("body") else {
            return;
        };
        match page.field(literal, "type") {
            "cobra.Command" => {
                let words = string(page, body, "Use");
                if let Some(word) = words.and_then(|usage| usage.split_whitespace().next()) {
                    if let Some((_, name)) =
                        self.variable.filter(|(at, _)| *at == literal.start_byte())
                    {
                        self.held.insert(name, page.outline.commands.len());
                    }
                    page.command(word, string(page, body, "Short"), literal);
                }
            }
            "cli.Command" => self.nested(page, body, literal, None),
            "cli.App" => self.members(page, body, ""),
            _ => {}
        }
    }

    /// `root.AddCommand(serve, list)`.
    pub(super) fn added(&mut self, page: &Page<'t>, call: Node<'t>) {
        let Some(function) = call.child_by_field_name("function") else {
            return;
        };
        if page.field(function, "field") == "AddCommand" {
            let parent = page.field(function, "operand");
            for child in arguments_of(call) {
                self.parents.insert(page.text(child), parent);
            }
        }
    }

    /// Puts before cobra's commands those that they were added to, but for the program itself:
    /// the one that is called root, or was added to none.
    pub(super) fn finish(&self, page: &mut Page<'t>) {
        let names: HashMap<&str, String> = self
            .held
            .iter()
            .map(|(variable, at)| (*variable, page.outline.commands[*at].name.clone()))
            .collect();
        for (variable, at) in &self.held {
            let mut of = *variable;
            for _ in 0..DEEPEST {
                let Some(parent) = self.parents.get(of).copied() else {
                    break;
                };
                let is_program =
                    parent.to_lowercase().contains("root") || !self.parents.contains_key(parent);
                let Some(name) = names.get(parent).filter(|_| !is_program) else {
                    break;
                };
                let command = &mut page.outline.commands[*at];
                let full = format!("{name} {}", command.name);
                cut(&full).clone_into(&mut command.name);
                of = parent;
            }
        }
    }

    /// Reads a command of urfave/cli with its flags and subcommands; in a loop, since literals may
    /// nest to any depth.
    fn nested(&mut self, page: &mut Page<'t>, body: Node<'t>, at: Node<'t>, around: Option<&str>) {
        let mut open = vec![(body, at, around.unwrap_or_default().to_owned(), 0)];
        while let Some((body, at, around, depth)) = open.pop() {
            let Some(own) = string(page, body, "Name") else {
                continue;
            };
            let name = if around.is_empty() {
                own.to_owned()
            } else {
                format!("{around} {own}")
            };
            let name = cut(&name).to_owned();
            page.command(&name, string(page, body, "Usage"), at);
            self.flags(page, body, &name);
            if depth < DEEPEST {
                for (inner, at) in self.listed(page, body, &["Subcommands", "Commands"]) {
                    open.push((inner, at, name.clone(), depth + 1));
                }
            }
        }
    }

    /// The commands and flags of an application.
    fn members(&mut self, page: &mut Page<'t>, body: Node<'t>, around: &str) {
        self.flags(page, body, around);
        for (inner, at) in self.listed(page, body, &["Commands"]) {
            self.nested(page, inner, at, None);
        }
    }

    /// `Flags: []cli.Flag{&cli.StringFlag{Name: "lang", Usage: "…"}}`.
    fn flags(&mut self, page: &mut Page<'t>, body: Node<'t>, around: &str) {
        for (flag, at) in self.listed(page, body, &["Flags"]) {
            if let Some(own) = string(page, flag, "Name") {
                let own = own.split(',').next().unwrap_or(own);
                let name = format!("{around} --{own}");
                page.command(name.trim_start(), string(page, flag, "Usage"), at);
            }
        }
    }

    /// The literals in the list that a field holds, with or without their types: the bodies, and
    /// where each begins.
    fn listed(
        &mut self,
        page: &Page<'t>,
        body: Node<'t>,
        fields: &[&str],
    ) -> Vec<(Node<'t>, Node<'t>)> {
        let list = fields.iter().find_map(|field| value(page, body, field));
        let list = list.and_then(|list| list.child_by_field_name("body"));
        let elements = list.map(named_children).unwrap_or_default();
        let mut found = Vec::new();
        for element in elements {
            let Some(element) = element.named_child(0) else {
                continue;
            };
            match literal_in(element) {
                Some(literal) => {
                    self.read.insert(literal.start_byte());
                    found.extend(literal.child_by_field_name("body").map(|b| (b, literal)));
                }
                None if element.kind() == "literal_value" => found.push((element, element)),
                None => {}
            }
        }
        found
    }
}

/// The literal in `&cobra.Command{…}` or `cobra.Command{…}`.
fn literal_in(value: Node<'_>) -> Option<Node<'_>> {
    match value.kind() {
        "composite_literal" => Some(value),
        "unary_expression" => value
            .child_by_field_name("operand")
            .filter(|operand| operand.kind() == "composite_literal"),
        _ => None,
    }
}

/// Returns the value of a field in a literal.
fn value<'t>(page: &Page<'t>, body: Node<'t>, field: &str) -> Option<Node<'t>> {
    named_children(body)
        .into_iter()
        .filter(|element| element.kind() == "keyed_element")
        .find_map(|element| {
            let [key, value] = named_children(element).try_into().ok()?;
            (page.text(key) == field).then(|| value.named_child(0))?
        })
}

fn string<'t>(page: &Page<'t>, body: Node<'t>, field: &str) -> Option<&'t str> {
    page.string(value(page, body, field)?)
}
