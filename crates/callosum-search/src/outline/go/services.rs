//! What a Go program serves: requests of net/http and the usual routers, commands of cobra, flag
//! and urfave/cli.

use tree_sitter::Node;

use super::super::page::{Page, arguments_of, cut, is_http_method, named_children};

/// Which libraries a file names, so that `Get("/…")` of a client is not taken for a route.
pub(super) struct Libraries {
    serves: bool,
    has_flags: bool,
    has_pflag: bool,
}

impl Libraries {
    pub(super) fn named_in(text: &str) -> Self {
        let any = |names: &[&str]| names.iter().any(|name| text.contains(name));
        Self {
            serves: any(&[
                "net/http\"",
                "gin-gonic/gin",
                "labstack/echo",
                "go-chi/chi",
                "gorilla/mux",
                "gofiber/fiber",
                "julienschmidt/httprouter",
            ]) || text.contains("package gin"),
            has_flags: any(&["\"flag\"", "spf13/"]),
            has_pflag: any(&["spf13/"]),
        }
    }

    /// `http.HandleFunc("/users", users)`, `r.GET("/users", users)`, `flag.String("name", …)`.
    pub(super) fn call<'t>(&self, page: &mut Page<'t>, call: Node<'t>) {
        let Some(function) = call.child_by_field_name("function") else {
            return;
        };
        if function.kind() != "selector_expression" {
            return;
        }
        let name = page.field(function, "field");
        if self.serves && (is_http_method(name) || matches!(name, "Any" | "Handle" | "HandleFunc"))
        {
            route(page, call, name);
        } else if self.has_flags && is_flag_function(name) {
            flag(page, call, function, name, self.has_pflag);
        }
    }
}

/// `cobra.Command{Use: "serve", Short: "…"}`, `cli.Command{Name: "serve", Usage: "…"}`.
pub(super) fn command_literal<'t>(page: &mut Page<'t>, literal: Node<'t>) {
    let (name, about) = match page.field(literal, "type") {
        "cobra.Command" => ("Use", "Short"),
        "cli.Command" => ("Name", "Usage"),
        _ => return,
    };
    let Some(body) = literal.child_by_field_name("body") else {
        return;
    };
    let value = |key: &str| {
        named_children(body).into_iter().find_map(|element| {
            let (named, value) = cut(page.text(element)).split_once(':')?;
            let value = value.trim();
            (named.trim() == key).then(|| value.strip_prefix('"')?.split('"').next())?
        })
    };
    if let Some(word) = value(name).and_then(|usage| usage.split_whitespace().next()) {
        page.command(word, value(about), literal);
    }
}

fn route<'t>(page: &mut Page<'t>, call: Node<'t>, name: &str) {
    let arguments = arguments_of(call);
    let [first, .., handler] = arguments.as_slice() else {
        return;
    };
    // gin's and httprouter's `Handle` name the method first.
    let (method, path, handler) = match (page.string(*first), arguments.get(1)) {
        (Some(method), Some(second)) if arguments.len() > 2 && is_http_method(method) => {
            (method, page.string(*second), handler)
        }
        (first, _) => {
            let method = if is_http_method(name) { name } else { "ANY" };
            (method, first, handler)
        }
    };
    let Some(path) = path else { return };
    // net/http takes `GET /users` since Go 1.22.
    let (method, path) = match path.split_once(' ') {
        Some((method, path)) if is_http_method(method) => (method, path.trim()),
        _ => (method, path),
    };
    if path.starts_with('/') || path.is_empty() && is_http_method(name) {
        let handler = page.name(*handler);
        let named = handler.filter(|handler| !handler.contains('{'));
        page.route(method, path, named, call);
    }
}

fn is_flag_function(name: &str) -> bool {
    let name = name.strip_suffix('P').unwrap_or(name);
    let name = name.strip_suffix("Var").unwrap_or(name);
    matches!(
        name,
        "String"
            | "Bool"
            | "Int"
            | "Int64"
            | "Uint"
            | "Float64"
            | "Duration"
            | "StringSlice"
            | "StringArray"
            | "Count"
            | "Func"
    )
}

fn flag<'t>(page: &mut Page<'t>, call: Node<'t>, function: Node<'t>, name: &str, has_pflag: bool) {
    let owner = page.field(function, "operand");
    let owner = owner.rsplit('.').next().unwrap_or(owner);
    let is_flags = [
        "flag",
        "fs",
        "flags",
        "flagset",
        "flags()",
        "persistentflags()",
        "pflag",
    ]
    .contains(&owner.to_lowercase().as_str());
    let arguments = arguments_of(call);
    let at = usize::from(name.contains("Var"));
    let (Some(flag), true) = (
        arguments.get(at).and_then(|flag| page.string(*flag)),
        is_flags,
    ) else {
        return;
    };
    let about = arguments
        .iter()
        .skip(at + 1)
        .rev()
        .find_map(|about| page.string(*about));
    let of_pflag = owner != "flag" && has_pflag;
    let dashes = if of_pflag { "--" } else { "-" };
    page.command(&format!("{dashes}{flag}"), about, call);
}
