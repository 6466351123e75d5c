//! Interfaces of a JavaScript program: requests of express, koa, fastify and Nest, commands of
//! commander and yargs.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::walker::{Page, arguments_of, cut, is_http_method, line_of, named_children};

/// Most calls of a chain that are followed.
const LONGEST_CHAIN: usize = 64;

/// Whether a file names a library for commands, and what its controllers' paths begin with.
pub(super) struct Services<'t> {
    has_commands: bool,
    /// The text of a `.description("…")`, by the end of the call that it describes.
    descriptions: HashMap<usize, &'t str>,
    base_path: String,
}

impl<'t> Services<'t> {
    pub(super) fn named_in(text: &'t str) -> Self {
        let libraries = ["commander", "yargs", "'cac'", "\"cac\"", "sade"];
        Self {
            has_commands: libraries.iter().any(|name| text.contains(name)),
            descriptions: HashMap::new(),
            base_path: String::new(),
        }
    }

    pub(super) fn call(&mut self, page: &mut Page<'t>, call: Node<'t>) {
        let Some(function) = call.child_by_field_name("function") else {
            return;
        };
        if function.kind() != "member_expression" {
            return;
        }
        let name = page.field(function, "property");
        let owner = page.field(function, "object");
        if is_router(owner) {
            if is_http_method(name) || name == "all" {
                route(page, call, name);
            } else if name == "route" {
                route_object(page, call);
            } else if name == "listen" && page.outline.entry_point.is_none() {
                page.outline.entry_point = Some(line_of(call));
            }
        }
        if self.has_commands && matches!(name, "command" | "option" | "requiredOption") {
            let about = self.descriptions.get(&call.end_byte()).copied();
            command(page, call, name, about);
        } else if self.has_commands && name == "description" {
            let mut described = function.child_by_field_name("object");
            // Arguments and flags may come between a command and its description.
            for _ in 0..LONGEST_CHAIN {
                let Some(link) = described.filter(|link| link.kind() == "call_expression") else {
                    break;
                };
                let Some(called) = link.child_by_field_name("function") else {
                    break;
                };
                if page.field(called, "property") == "command" {
                    let about = arguments_of(call)
                        .first()
                        .and_then(|about| page.string(*about));
                    self.descriptions
                        .extend(about.map(|about| (link.end_byte(), about)));
                    break;
                }
                described = called.child_by_field_name("object");
            }
        }
    }

    /// Nest's `@Controller("users")` before a class.
    pub(super) fn controller(&mut self, page: &Page<'t>, class: Node<'t>, lead: &[Node<'t>]) {
        let decorators = decorators(page, class, lead);
        let controller = decorators
            .into_iter()
            .find(|(name, _)| *name == "Controller");
        let path = controller.and_then(|(_, call)| page.string(*arguments_of(call).first()?));
        cut(path.unwrap_or_default()).clone_into(&mut self.base_path);
    }

    /// Nest's `@Get(":id")` before a method.
    pub(super) fn handler(&self, page: &mut Page<'t>, method: Node<'t>, lead: &[Node<'t>]) {
        let handler = page.field(method, "name");
        for (name, call) in decorators(page, method, lead) {
            if is_http_method(name) && name.starts_with(char::is_uppercase) {
                let first = arguments_of(call)
                    .first()
                    .and_then(|path| page.string(*path));
                let parts = [self.base_path.as_str(), first.unwrap_or_default()];
                let path = parts.map(|part| part.trim_matches('/')).join("/");
                let path = format!("/{}", path.trim_matches('/'));
                page.route(name, &path, Some(handler), call);
            }
        }
    }
}

/// The calls among the decorators of a class or method, with the names that are called.
fn decorators<'t>(page: &Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Vec<(&'t str, Node<'t>)> {
    let inner = named_children(node);
    lead.iter()
        .chain(&inner)
        .filter(|child| child.kind() == "decorator")
        .filter_map(|decorator| decorator.named_child(0))
        .filter(|call| call.kind() == "call_expression")
        .map(|call| (page.field(call, "function"), call))
        .collect()
}

/// Whether a variable of this name is one that requests are registered with; a client has the
/// same methods.
fn is_router(owner: &str) -> bool {
    let last = owner.rsplit('.').next().unwrap_or(owner).to_lowercase();
    ["app", "router", "server", "fastify", "routes"]
        .iter()
        .any(|end| last.ends_with(end))
        || matches!(
            last.as_str(),
            "api" | "route" | "koa" | "hono" | "express()"
        )
}

fn route<'t>(page: &mut Page<'t>, call: Node<'t>, method: &str) {
    let arguments = arguments_of(call);
    let [path, .., handler] = arguments.as_slice() else {
        return;
    };
    let Some(path) = page
        .string(*path)
        .filter(|path| path.starts_with(['/', '*']))
    else {
        return;
    };
    let named = matches!(handler.kind(), "identifier" | "member_expression");
    let handler = page.name(*handler).filter(|_| named);
    let method = if method == "all" { "ANY" } else { method };
    page.route(method, path, handler, call);
}

/// fastify's `route({ method: "GET", url: "/users", handler })`.
fn route_object<'t>(page: &mut Page<'t>, call: Node<'t>) {
    let arguments = arguments_of(call);
    let Some(object) = arguments.first().filter(|first| first.kind() == "object") else {
        return;
    };
    let value = |keys: [&str; 2]| {
        named_children(*object)
            .into_iter()
            .filter(|pair| keys.contains(&page.field(*pair, "key")))
            .find_map(|pair| pair.child_by_field_name("value"))
    };
    let method = value(["method", "method"]).and_then(|method| page.string(method));
    let path = value(["url", "path"]).and_then(|path| page.string(path));
    let handler = value(["handler", "handler"])
        .filter(|handler| handler.kind() == "identifier")
        .map(|handler| page.text(handler));
    if let Some(path) = path {
        page.route(method.unwrap_or("ANY"), path, handler, call);
    }
}

/// commander's `.command("add <name>")` and `.option("-f, --force", "…")`, yargs' alike.
fn command<'t>(page: &mut Page<'t>, call: Node<'t>, kind: &str, described: Option<&str>) {
    let arguments = arguments_of(call);
    let Some(usage) = arguments.first().and_then(|usage| page.string(*usage)) else {
        return;
    };
    let about = arguments.get(1).and_then(|second| match second.kind() {
        "object" => named_children(*second)
            .into_iter()
            .filter(|pair| matches!(page.field(*pair, "key"), "describe" | "description"))
            .find_map(|pair| page.string(pair.child_by_field_name("value")?)),
        _ => page.string(*second),
    });
    let about = about.or(described);
    let mut words = cut(usage)
        .split([' ', ',', '|', '='])
        .filter(|word| !word.is_empty());
    if kind == "command" {
        if let Some(name) = words
            .next()
            .filter(|name| !name.starts_with(['<', '[', '$', '*']))
        {
            page.command(name, about, call);
        }
        return;
    }
    let long = words.clone().find(|word| word.starts_with("--"));
    let name = match long.or_else(|| words.next()) {
        Some(name) if name.starts_with('-') => name.to_owned(),
        Some(name) => format!("--{name}"),
        None => return,
    };
    page.command(&name, about, call);
}
