//! Requests that a Python server answers: flask's and fastapi's decorators, django's `urlpatterns`.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::walker::{Page, arguments_of, cut, is_http_method, named_children};

/// The path prefixes of blueprints and routers, by variable, and the routes that are registered
/// with them.
#[derive(Default)]
pub(super) struct Prefixes<'t> {
    of: HashMap<&'t str, &'t str>,
    /// The prefix that is added when a blueprint is made part of an application.
    at: HashMap<&'t str, &'t str>,
    registered: Vec<(usize, &'t str)>,
}

impl<'t> Prefixes<'t> {
    /// `users = Blueprint("users", __name__, url_prefix="/users")`, `APIRouter(prefix="/users")`.
    pub(super) fn assigned(&mut self, page: &Page<'t>, name: Node<'t>, value: Node<'t>) {
        let function = page.field(value, "function");
        let key = match function.rsplit('.').next() {
            Some("Blueprint" | "APIBlueprint") => "url_prefix",
            Some("APIRouter") => "prefix",
            _ => return,
        };
        let prefix = keyword(page, &arguments_of(value), key).and_then(|value| page.string(value));
        if let Some(prefix) = prefix {
            self.of.insert(page.text(name), prefix);
        }
    }

    /// `app.register_blueprint(users, url_prefix="/users")`, `app.include_router(users,
    /// prefix="/v1")`.
    pub(super) fn included(&mut self, page: &Page<'t>, call: Node<'t>) {
        let Some(function) = call.child_by_field_name("function") else {
            return;
        };
        let key = match page.field(function, "attribute") {
            "register_blueprint" => "url_prefix",
            "include_router" => "prefix",
            _ => return,
        };
        let arguments = arguments_of(call);
        let prefix = keyword(page, &arguments, key).and_then(|value| page.string(value));
        if let (Some(router), Some(prefix)) = (arguments.first(), prefix) {
            let name = page.text(*router);
            // flask's takes the place of the blueprint's own, FastAPI's goes before it.
            if key == "url_prefix" {
                self.of.insert(name, prefix);
            } else {
                self.at.insert(name, prefix);
            }
        }
    }

    /// Takes note of the routes from `known` on as registered with `router`.
    fn register(&mut self, page: &Page<'t>, known: usize, router: &'t str) {
        let new = known..page.outline.routes.len();
        self.registered.extend(new.map(|at| (at, router)));
    }

    /// Puts before each path what its router begins with.
    pub(super) fn finish(&self, page: &mut Page<'t>) {
        for (at, router) in &self.registered {
            let of = self.of.get(router).copied().unwrap_or_default();
            let around = self.at.get(router).copied().unwrap_or_default();
            let route = &mut page.outline.routes[*at];
            let full = format!("{around}{of}{}", route.path);
            cut(&full).clone_into(&mut route.path);
        }
    }
}

/// `@app.get("/users")`, `@app.route("/users", methods=["GET", "POST"])` before a function.
pub(super) fn decorated<'t>(
    page: &mut Page<'t>,
    prefixes: &mut Prefixes<'t>,
    decorator: Node<'t>,
    handler: &str,
) {
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
    let known = page.outline.routes.len();
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
            // flask answers GET by default.
            let method = if name == "route" { "GET" } else { "ANY" };
            page.route(method, path, Some(handler), decorator);
        }
        for method in methods {
            page.route(method, path, Some(handler), decorator);
        }
    }
    prefixes.register(page, known, page.field(function, "object"));
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
