//! Facts from Java's annotations: tests, requests (Spring, JAX-RS), commands (picocli).

use tree_sitter::Node;

use super::super::walker::{Page, child_of_kind, cut, named_children};

/// Names of a request's path in Spring and JAX-RS.
const PATH_KEYS: [&str; 2] = ["value", "path"];

/// Most annotations of a declaration that are read; each request of a method has all its paths.
const MOST_ANNOTATIONS: usize = 64;

/// The annotations of a declaration, by name.
pub(super) struct Annotations<'t>(Vec<(&'t str, Node<'t>)>);

impl<'t> Annotations<'t> {
    pub(super) fn of(page: &Page<'t>, declaration: Node<'t>) -> Self {
        let modifiers = child_of_kind(declaration, "modifiers").map(named_children);
        let annotations = modifiers.into_iter().flatten().filter_map(|node| {
            let name = page.field(node, "name");
            let last = name.rsplit('.').next()?;
            (!last.is_empty()).then_some((last, node))
        });
        Self(annotations.take(MOST_ANNOTATIONS).collect())
    }

    pub(super) fn make_a_test(&self) -> bool {
        self.0.iter().any(|(name, _)| {
            matches!(
                *name,
                "Test"
                    | "ParameterizedTest"
                    | "RepeatedTest"
                    | "TestFactory"
                    | "TestTemplate"
                    | "Property"
                    | "Theory"
            )
        })
    }

    /// The path that a class puts before those of its methods.
    pub(super) fn base_path(&self, page: &Page<'t>) -> String {
        let named = self.get(&["RequestMapping", "Path"]);
        let path = named.and_then(|node| value(page, node, &PATH_KEYS));
        // Micronaut's; Spring's has the name of a bean.
        let controller = self.get(&["Controller"]);
        let of_controller = controller
            .and_then(|node| value(page, node, &PATH_KEYS))
            .filter(|path| path.starts_with('/'));
        cut(path.or(of_controller).unwrap_or_default()).to_owned()
    }

    /// The requests that a method answers.
    pub(super) fn routes(&self, page: &mut Page<'t>, base: &str, handler: &str) {
        for (name, node) in &self.0 {
            let (method, paths) = match *name {
                "RequestMapping" => (request_method(page.text(*node)), paths(page, Some(*node))),
                // JAX-RS: a bare @GET, and perhaps a @Path.
                "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD" => {
                    (*name, paths(page, self.get(&["Path"])))
                }
                _ => match name.strip_suffix("Mapping") {
                    Some(method @ ("Get" | "Post" | "Put" | "Delete" | "Patch")) => {
                        (method, paths(page, Some(*node)))
                    }
                    _ => continue,
                },
            };
            for path in paths {
                page.route(method, &joined(base, path), Some(handler), *node);
            }
        }
    }

    /// picocli's `@Command(name = "…")` and `@Option(names = "--…")`.
    pub(super) fn commands(&self, page: &mut Page<'t>) {
        for (name, node) in &self.0 {
            let key = match *name {
                "Command" => "name",
                "Option" | "Parameter" => "names",
                _ => continue,
            };
            let about = value(page, *node, &["description"]);
            let named = longest_value(page, *node, key);
            if let Some(named) = named.filter(|named| *name == "Command" || named.starts_with('-'))
            {
                page.command(named, about, *node);
            }
        }
    }

    fn get(&self, names: &[&str]) -> Option<Node<'t>> {
        let mut found = self.0.iter();
        found
            .find(|(name, _)| names.contains(name))
            .map(|(_, node)| *node)
    }
}

/// The method of a `@RequestMapping`.
fn request_method(annotation: &str) -> &str {
    let named = annotation.split_once("RequestMethod.");
    named.map_or("ANY", |(_, rest)| {
        let end = rest.find(|c: char| !c.is_alphabetic());
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Returns the paths that an annotation adds: an empty one if it has none, and none if a constant
/// names it.
fn paths<'t>(page: &Page<'t>, annotation: Option<Node<'t>>) -> Vec<&'t str> {
    let given = annotation.and_then(|node| node.child_by_field_name("arguments"));
    let names_one = given.is_some_and(|arguments| {
        named_children(arguments).into_iter().any(|argument| {
            argument.kind() != "element_value_pair"
                || PATH_KEYS.contains(&page.field(argument, "key"))
        })
    });
    match annotation {
        Some(annotation) if names_one => values(page, annotation, &PATH_KEYS),
        _ => vec![""],
    }
}

/// The first string given to one of these keys, or given alone.
fn value<'t>(page: &Page<'t>, annotation: Node<'t>, keys: &[&str]) -> Option<&'t str> {
    values(page, annotation, keys).into_iter().next()
}

fn longest_value<'t>(page: &Page<'t>, annotation: Node<'t>, key: &str) -> Option<&'t str> {
    values(page, annotation, &[key])
        .into_iter()
        .max_by_key(|text| text.len())
}

fn values<'t>(page: &Page<'t>, annotation: Node<'t>, keys: &[&str]) -> Vec<&'t str> {
    let Some(arguments) = annotation.child_by_field_name("arguments") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for argument in named_children(arguments) {
        let given = match argument.kind() {
            "element_value_pair" if keys.contains(&page.field(argument, "key")) => {
                argument.child_by_field_name("value")
            }
            "element_value_pair" => None,
            _ => Some(argument),
        };
        let Some(given) = given else { continue };
        match given.kind() {
            "element_value_array_initializer" => {
                found.extend(
                    named_children(given)
                        .into_iter()
                        .filter_map(|one| page.string(one)),
                );
            }
            _ => found.extend(page.string(given)),
        }
    }
    found
}

fn joined(base: &str, path: &str) -> String {
    let parts = [base, path].map(|part| part.trim_matches('/')).join("/");
    format!("/{}", parts.trim_matches('/'))
}
