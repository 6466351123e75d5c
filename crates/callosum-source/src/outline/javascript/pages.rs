//! Requests that a file answers because of its path: Next's `app/**/route.ts`, `app/**/page.tsx`,
//! `pages/api/**` and `pages/**`.

use super::super::{
    symbol::Route,
    walker::{Page, cut, is_http_method},
};

/// Adds the routes that a file answers because of its path.
pub(super) fn served(page: &mut Page<'_>) {
    let Some(place) = PagePosition::of(page.path, page.text) else {
        return;
    };
    let mut routes = Vec::new();
    let mut add = |method: &str, handler: Option<&str>, line: u32| {
        routes.push(Route {
            method: method.to_ascii_uppercase(),
            path: cut(&place.path).to_owned(),
            handler: handler.map(str::to_owned),
            line,
        });
    };
    match place.kind {
        Kind::Handlers => {
            for symbol in &page.outline.symbols {
                if symbol.public && symbol.container.is_none() && is_http_method(&symbol.name) {
                    add(&symbol.name, Some(&symbol.name), symbol.line);
                }
            }
        }
        Kind::Page | Kind::Api => {
            let mut lines = (1..).zip(page.text.lines());
            let default =
                lines.find_map(|(line, text)| Some((line, text.strip_prefix("export default")?)));
            if let Some((line, rest)) = default {
                let known = ["async", "function", "class"];
                let name = rest
                    .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
                    .find(|word| !word.is_empty() && !known.contains(word));
                let method = match place.kind {
                    Kind::Api => "ANY",
                    _ => "GET",
                };
                add(method, name.map(cut), line);
            }
        }
    }
    page.outline.routes.extend(routes);
}

/// A file in a place whose files answer requests.
struct PagePosition {
    kind: Kind,
    path: String,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Functions named for the methods that they answer.
    Handlers,
    /// A page for a browser.
    Page,
    /// One function for all methods.
    Api,
}

impl PagePosition {
    fn of(path: &str, text: &str) -> Option<Self> {
        let (rest, ending) = path.rsplit_once('.')?;
        if !matches!(ending, "ts" | "tsx" | "js" | "jsx") {
            return None;
        }
        let parts: Vec<&str> = rest.split('/').collect();
        let (stem, folders) = parts.split_last()?;
        if let Some(at) = folders.iter().position(|part| *part == "app")
            && matches!(*stem, "route" | "page")
        {
            let kind = if *stem == "route" {
                Kind::Handlers
            } else {
                Kind::Page
            };
            let path = pattern(&folders[at + 1..]);
            return Some(Self { kind, path });
        }
        let at = folders.iter().position(|part| *part == "pages")?;
        let is_api = folders.get(at + 1) == Some(&"api");
        // `pages` alone is a folder that many other things are kept in.
        let is_next = || {
            ["next/", "NextPage", "getServerSideProps", "getStaticProps"]
                .iter()
                .any(|word| text.contains(word))
        };
        if stem.starts_with('_') || !is_api && !is_next() {
            return None;
        }
        let kind = if is_api { Kind::Api } else { Kind::Page };
        let mut named = folders[at + 1..].to_vec();
        named.extend((*stem != "index").then_some(*stem));
        let path = pattern(&named);
        Some(Self { kind, path })
    }
}

/// Returns the path that folders of these names serve. `(group)` and `@slot` only sort files.
fn pattern(parts: &[&str]) -> String {
    let shown = parts
        .iter()
        .filter(|part| !part.starts_with(['(', '@']))
        .copied();
    format!("/{}", shown.collect::<Vec<_>>().join("/"))
}
