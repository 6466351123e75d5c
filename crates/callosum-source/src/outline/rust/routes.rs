//! Requests that a Rust server answers: axum's `.route(…)`, actix's and rocket's attributes.

use tree_sitter::Node;

use super::super::walker::{Page, arguments_of, child_of_kind, is_http_method};

/// `#[get("/users")]` before a function.
pub(super) fn attributed<'t>(page: &mut Page<'t>, function: Node<'t>, lead: &[Node<'t>]) {
    let handler = page.field(function, "name");
    for attribute in lead
        .iter()
        .filter_map(|node| child_of_kind(*node, "attribute"))
    {
        let Some(path) = attribute.named_child(0).map(|path| page.text(path)) else {
            continue;
        };
        let name = path.rsplit(':').next().unwrap_or(path);
        let Some(tokens) = attribute.child_by_field_name("arguments") else {
            continue;
        };
        let first = tokens.named_child(0).and_then(|first| page.string(first));
        let Some(route) = first.filter(|route| route.starts_with('/')) else {
            continue;
        };
        if is_http_method(name) {
            page.route(name, route, Some(handler), attribute);
        } else if name == "route" {
            let text = page.text(tokens);
            let method = text
                .split_once("method")
                .and_then(|(_, rest)| rest.split('"').nth(1));
            page.route(method.unwrap_or("ANY"), route, Some(handler), attribute);
        }
    }
}

/// `.route("/users", get(list).post(create))`, `.route("/users", web::get().to(list))`.
pub(super) fn registered<'t>(page: &mut Page<'t>, call: Node<'t>) {
    if method_name(page, call) != Some("route") {
        return;
    }
    let arguments = arguments_of(call);
    let [path, answer, ..] = arguments.as_slice() else {
        return;
    };
    let Some(route) = page.string(*path) else {
        return;
    };
    // The chain is read from its last call to its first.
    let mut found = Vec::new();
    let mut next = Some(*answer);
    let mut handler_of_to = None;
    while let Some(link) = next.filter(|link| link.kind() == "call_expression") {
        let Some(function) = link.child_by_field_name("function") else {
            break;
        };
        let name = page.text(function);
        let name = name.rsplit(['.', ':']).next().unwrap_or(name).trim();
        let argument = arguments_of(link)
            .first()
            .map(|handler| page.text(*handler));
        let argument = argument.filter(|handler| is_path(handler));
        if name == "to" {
            handler_of_to = argument;
        } else if is_http_method(name) || name == "any" {
            found.push((name, argument.or(handler_of_to), link));
        }
        next = function.child_by_field_name("value");
    }
    for (method, handler, _) in found.into_iter().rev() {
        page.route(method, route, handler, *path);
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte))
}

/// The name of the method that is called: `route` of `router.route(…)`.
pub(super) fn method_name<'t>(page: &Page<'t>, call: Node<'t>) -> Option<&'t str> {
    let function = call.child_by_field_name("function")?;
    (function.kind() == "field_expression").then(|| page.field(function, "field"))
}
