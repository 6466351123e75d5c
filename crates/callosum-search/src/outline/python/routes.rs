//! Requests that a Python server answers: flask's and fastapi's decorators, django's `urlpatterns`.

use tree_sitter::Node;

use super::super::page::{Page, arguments_of, is_http_method, named_children};

/// `@app.get("/users")`, `@app.route("/users", methods=["GET", "POST"])` before a function.
pub(super) fn decorated<'t>(page: &mut Page<'t>, decorator: Node<'t>, handler: &str) {
    let Some(call) = decorator
        .named_child(0)
        .filter(|call| call.kind() == "call")
    else {
        return;
    };
    let function = call.child_by_field_name("function");
    let Some(function) = function.filter(|function| function.kind() == "attribute") else {
        return;
    };
    let arguments = arguments_of(call);
    let path = arguments.first().and_then(|first| page.string(*first));
    let Some(path) = path.filter(|path| path.is_empty() || path.starts_with('/')) else {
        return;
    };
    let name = page.field(function, "attribute");
    if is_http_method(name) {
        page.route(name, path, Some(handler), decorator);
    } else if matches!(name, "route" | "websocket" | "api_route") {
        let methods = keyword(page, &arguments, "methods").map(named_children);
        let methods: Vec<_> = methods
            .iter()
            .flatten()
            .filter_map(|method| page.string(*method))
            .collect();
        if methods.is_empty() {
            // flask answers GET where nothing else is said.
            let method = if name == "route" { "GET" } else { "ANY" };
            page.route(method, path, Some(handler), decorator);
        }
        for method in methods {
            page.route(method, path, Some(handler), decorator);
        }
    }
}

/// `path("users/", views.users)` in a `urls.py`, `app.add_url_rule("/users", …)`.
pub(super) fn registered<'t>(page: &mut Page<'t>, call: Node<'t>, names_starlette: bool) {
    let Some(function) = call.child_by_field_name("function") else {
        return;
    };
    let is_method = function.kind() == "attribute";
    let name = match function.kind() {
        "attribute" => page.field(function, "attribute"),
        "identifier" => page.text(function),
        _ => return,
    };
    let in_urls = page.path.ends_with("urls.py");
    let known = match name {
        "path" | "re_path" | "url" => in_urls && !is_method,
        "register" => in_urls,
        "add_url_rule" | "add_api_route" | "add_route" => true,
        "Route" | "WebSocketRoute" => names_starlette,
        _ => false,
    };
    if !known {
        return;
    }
    let arguments = arguments_of(call);
    let Some(path) = arguments.first().and_then(|first| page.string(*first)) else {
        return;
    };
    let handler = keyword(page, &arguments, "view_func")
        .or_else(|| keyword(page, &arguments, "endpoint"))
        .or_else(|| arguments.get(1).copied())
        .filter(|handler| matches!(handler.kind(), "identifier" | "attribute" | "call"))
        .and_then(|handler| page.name(handler));
    page.route("ANY", path, handler, call);
}

/// The value of a keyword argument.
pub(super) fn keyword<'t>(page: &Page<'t>, arguments: &[Node<'t>], name: &str) -> Option<Node<'t>> {
    arguments
        .iter()
        .filter(|argument| argument.kind() == "keyword_argument")
        .find(|argument| page.field(**argument, "name") == name)
        .and_then(|argument| argument.child_by_field_name("value"))
}
