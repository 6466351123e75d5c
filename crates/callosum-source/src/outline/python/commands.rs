//! Commands of a Python program: argparse, click and typer.

use std::collections::HashMap;

use tree_sitter::Node;

use super::{
    super::walker::{Page, arguments_of, cut},
    routes::keyword,
};

/// Most enclosing groups of a command that are followed.
const DEEPEST: usize = 8;

/// The parents of commands, as far as one file shows them.
#[derive(Default)]
pub(super) struct Commands<'t> {
    /// For argparse's parsers and subparsers, by variable, the command that they speak of.
    parsers: HashMap<&'t str, String>,
    /// For click's groups, by function, and typer's apps, by variable: the group around, and the
    /// name in it. The outermost has neither.
    groups: HashMap<&'t str, (&'t str, String)>,
    /// Commands by their place in the outline, with what they were added to.
    added: Vec<(usize, &'t str)>,
}

impl<'t> Commands<'t> {
    /// `sub = parser.add_subparsers()`, `add = sub.add_parser("add")`.
    pub(super) fn assigned(&mut self, page: &Page<'t>, name: Node<'t>, value: Node<'t>) {
        let Some((owner, method)) = method_of(page, value) else {
            return;
        };
        let around = self.parsers.get(owner).cloned().unwrap_or_default();
        let command = match method {
            "add_subparsers" | "add_argument_group" | "add_mutually_exclusive_group" => around,
            "add_parser" => {
                let arguments = arguments_of(value);
                let Some(own) = longest_name(page, &arguments) else {
                    return;
                };
                within(&around, own)
            }
            _ => return,
        };
        self.parsers.insert(page.text(name), command);
    }

    /// argparse's `add_argument("--flag", help="…")` and `add_parser("name", help="…")`, typer's
    /// `app.add_typer(users, name="users")`.
    pub(super) fn call(&mut self, page: &mut Page<'t>, call: Node<'t>) {
        let Some((owner, method)) = method_of(page, call) else {
            return;
        };
        let arguments = arguments_of(call);
        match method {
            "add_argument" => {
                if let Some(name) = longest_name(page, &arguments)
                    && name.starts_with('-')
                {
                    let command = self.parsers.get(owner).map_or("", String::as_str);
                    page.command(&within(command, name), help(page, &arguments), call);
                }
            }
            "add_parser" => {
                if let Some(name) = longest_name(page, &arguments) {
                    let around = self.parsers.get(owner).map_or("", String::as_str);
                    page.command(&within(around, name), help(page, &arguments), call);
                }
            }
            "add_typer" | "add_command" => {
                let name = keyword(page, &arguments, "name").and_then(|name| page.string(name));
                if let (Some(member), Some(name)) = (arguments.first(), name) {
                    let group = (owner, name.to_owned());
                    self.groups.insert(page.text(*member), group);
                }
            }
            _ => {}
        }
    }

    /// The command that `@click.command()` makes of a function.
    pub(super) fn decorated(
        &mut self,
        page: &mut Page<'t>,
        decorator: Node<'t>,
        function: Node<'t>,
        about: Option<&str>,
    ) {
        let Some((path, arguments)) = called(page, decorator) else {
            return;
        };
        let (owner, kind) = path.rsplit_once('.').unwrap_or(("", path));
        if !matches!(kind, "command" | "group") {
            return;
        }
        let first = arguments.first().copied();
        let named = first
            .and_then(|first| page.string(first))
            .or_else(|| page.string(keyword(page, &arguments, "name")?));
        let own = page.text(function);
        let name = named.map_or_else(|| own.replace('_', "-"), str::to_owned);
        let is_inner = !matches!(owner, "" | "click" | "typer" | "rich_click");
        if kind == "group" && is_inner {
            self.groups.insert(own, (owner, name.clone()));
        }
        if is_inner {
            self.added.push((page.outline.commands.len(), owner));
        }
        page.command(&name, about, function);
    }

    /// Puts what a command belongs to before its name.
    pub(super) fn finish(&self, page: &mut Page<'t>) {
        for (at, owner) in &self.added {
            let command = &mut page.outline.commands[*at];
            let mut of = *owner;
            for _ in 0..DEEPEST {
                let Some((around, name)) = self.groups.get(of) else {
                    break;
                };
                command.name = within(cut(name), &command.name);
                of = around;
            }
        }
    }
}

/// The object and the name of a method that is called.
fn method_of<'t>(page: &Page<'t>, call: Node<'t>) -> Option<(&'t str, &'t str)> {
    let function = call.child_by_field_name("function")?;
    (function.kind() == "attribute").then(|| {
        let owner = page.field(function, "object");
        (owner, page.field(function, "attribute"))
    })
}

fn within(around: &str, name: &str) -> String {
    match around {
        "" => name.to_owned(),
        around => format!("{around} {name}"),
    }
}

/// `@click.option("--flag", help="…")`.
pub(super) fn option<'t>(page: &mut Page<'t>, decorator: Node<'t>) {
    if let Some((path, arguments)) = called(page, decorator)
        && path.rsplit('.').next() == Some("option")
        && let Some(name) = longest_name(page, &arguments)
    {
        page.command(name, help(page, &arguments), decorator);
    }
}

/// The path that a decorator names, and its arguments if it has any.
fn called<'t>(page: &Page<'t>, decorator: Node<'t>) -> Option<(&'t str, Vec<Node<'t>>)> {
    let named = decorator.named_child(0)?;
    Some(match named.kind() {
        "call" => (page.field(named, "function"), arguments_of(named)),
        _ => (page.text(named), Vec::new()),
    })
}

/// Of `"-v", "--verbose"` the longer one.
fn longest_name<'t>(page: &Page<'t>, arguments: &[Node<'t>]) -> Option<&'t str> {
    let names = arguments.iter().map_while(|name| page.string(*name));
    let name = names.max_by_key(|name| (name.starts_with("--"), name.len()))?;
    cut(name).split('/').next()
}

fn help<'t>(page: &Page<'t>, arguments: &[Node<'t>]) -> Option<&'t str> {
    page.string(keyword(page, arguments, "help")?)
}
