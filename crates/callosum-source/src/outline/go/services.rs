//! Interfaces of a Go program: requests of net/http and the usual routers, flags of flag and pflag.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::walker::{Page, arguments_of, cut, is_http_method, named_children};

/// Most enclosing groups of a group that are followed.
const DEEPEST: usize = 16;

/// The libraries that a file names, so that `Get("/…")` of a client is not taken for a route, and
/// the path prefixes of the groups that it makes.
pub(super) struct Services<'t> {
    serves: bool,
    has_flags: bool,
    has_pflag: bool,
    /// For each variable that holds a group or sub-router, its prefix, and the variable that it was
    /// made from.
    groups: HashMap<&'t str, (&'t str, &'t str)>,
    /// The groups whose routes are in a function given to them, with its end: chi's
    /// `r.Route("/users", func(r chi.Router) { … })`.
    open: Vec<(usize, &'t str)>,
    /// The methods that a `.Methods("GET")` names, by the beginning of the call that it refers to.
    methods: HashMap<usize, Vec<&'t str>>,
}

impl<'t> Services<'t> {
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
            groups: HashMap::new(),
            open: Vec::new(),
            methods: HashMap::new(),
        }
    }

    /// `http.HandleFunc("/users", users)`, `r.GET("/users", users)`, `flag.String("name", …)`.
    pub(super) fn call(&mut self, page: &mut Page<'t>, call: Node<'t>) {
        let Some(function) = call.child_by_field_name("function") else {
            return;
        };
        if function.kind() != "selector_expression" {
            return;
        }
        let name = page.field(function, "field");
        if self.serves && (is_http_method(name) || matches!(name, "Any" | "Handle" | "HandleFunc"))
        {
            self.route(page, call, function, name);
        } else if self.serves && name == "Methods" {
            self.methods_of(page, call, function);
        } else if self.serves && name == "Route" {
            self.opened(page, call);
        } else if self.has_flags && is_flag_function(name) {
            flag(page, call, function, name, self.has_pflag);
        }
    }

    /// `v1 := r.Group("/v1")`, `s := r.PathPrefix("/admin").Subrouter()`.
    pub(super) fn variable(&mut self, page: &Page<'t>, declaration: Node<'t>) {
        let sides = ["left", "right"].map(|side| {
            let list = declaration.child_by_field_name(side).map(named_children);
            list.and_then(|list| list.first().copied())
        });
        let [Some(name), Some(mut call)] = sides else {
            return;
        };
        for _ in 0..DEEPEST {
            let Some(function) = call.child_by_field_name("function") else {
                return;
            };
            let Some(of) = function.child_by_field_name("operand") else {
                return;
            };
            if matches!(page.field(function, "field"), "Group" | "PathPrefix") {
                let arguments = arguments_of(call);
                let prefix = arguments.first().and_then(|first| page.string(*first));
                if let Some(prefix) = prefix {
                    self.groups.insert(page.text(name), (prefix, page.text(of)));
                }
                return;
            }
            call = of;
        }
    }

    fn opened(&mut self, page: &Page<'t>, call: Node<'t>) {
        if let [prefix, body] = arguments_of(call).as_slice()
            && body.kind() == "func_literal"
            && let Some(prefix) = page.string(*prefix)
        {
            self.close(call);
            self.open.push((body.end_byte(), prefix));
        }
    }

    /// Leaves the groups that end before a call.
    fn close(&mut self, call: Node<'t>) {
        while self
            .open
            .pop_if(|(end, _)| *end <= call.start_byte())
            .is_some()
        {}
    }

    /// mux's `.Methods("GET", "POST")` behind the call that it speaks of, which comes later.
    fn methods_of(&mut self, page: &Page<'t>, call: Node<'t>, function: Node<'t>) {
        let named = arguments_of(call).into_iter().map(|argument| {
            let constant = page.text(argument).strip_prefix("http.Method");
            page.string(argument).or(constant)
        });
        let named = named.flatten().filter(|name| is_http_method(name));
        let of = function.child_by_field_name("operand");
        let of = of.filter(|of| of.kind() == "call_expression");
        if let Some(arguments) = of.and_then(|of| of.child_by_field_name("arguments")) {
            self.methods.insert(arguments.start_byte(), named.collect());
        }
    }

    /// Returns the prefix of a path that is registered with this router.
    fn prefix(&self, router: &'t str) -> String {
        let mut prefixes: Vec<&str> = Vec::new();
        let mut of = router;
        for _ in 0..DEEPEST {
            let Some((prefix, parent)) = self.groups.get(of) else {
                break;
            };
            prefixes.push(prefix);
            if *parent == of {
                break;
            }
            of = parent;
        }
        prefixes.extend(self.open.iter().rev().map(|(_, prefix)| *prefix));
        prefixes.reverse();
        cut(&prefixes.concat()).to_owned()
    }

    fn route(&mut self, page: &mut Page<'t>, call: Node<'t>, function: Node<'t>, name: &str) {
        self.close(call);
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
        if !(path.starts_with('/') || path.is_empty() && is_http_method(name)) {
            return;
        }
        let path = format!("{}{path}", self.prefix(page.field(function, "operand")));
        let handler = page.name(*handler);
        let named = handler.filter(|handler| !handler.contains('{'));
        let arguments = call.child_by_field_name("arguments");
        let methods = arguments.and_then(|arguments| self.methods.remove(&arguments.start_byte()));
        match methods.filter(|methods| !methods.is_empty()) {
            Some(methods) => {
                for method in methods {
                    page.route(method, &path, named, call);
                }
            }
            None => page.route(method, &path, named, call),
        }
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
