//! Commands of a Python program: argparse, click and typer.

use tree_sitter::Node;

use super::{
    super::page::{Page, arguments_of, cut},
    routes::keyword,
};

/// argparse's `add_argument("--flag", help="…")` and `add_parser("name", help="…")`.
pub(super) fn added<'t>(page: &mut Page<'t>, call: Node<'t>) {
    let function = page.field(call, "function");
    let is_flag = function.ends_with(".add_argument");
    if !is_flag && !function.ends_with(".add_parser") {
        return;
    }
    let arguments = arguments_of(call);
    if let Some(name) = longest_name(page, &arguments)
        && (!is_flag || name.starts_with('-'))
    {
        page.command(name, help(page, &arguments), call);
    }
}

/// The command that `@click.command()` makes of a function.
pub(super) fn decorated<'t>(
    page: &mut Page<'t>,
    decorator: Node<'t>,
    function: Node<'t>,
    about: Option<&str>,
) {
    let Some((path, arguments)) = called(page, decorator) else {
        return;
    };
    if !matches!(path.rsplit('.').next(), Some("command" | "group")) {
        return;
    }
    let first = arguments.first().copied();
    let named = first
        .and_then(|first| page.string(first))
        .or_else(|| page.string(keyword(page, &arguments, "name")?));
    let name = named.map_or_else(|| page.text(function).replace('_', "-"), str::to_owned);
    page.command(&name, about, function);
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
