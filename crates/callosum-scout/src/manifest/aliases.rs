//! Short names in JavaScript and TypeScript imports: `paths`, `baseUrl` and `extends` of a
//! `tsconfig.json`, `imports` and `exports` of a `package.json`.
//!
//! Start with [`aliases`] and [`exports`].

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::resolve::{Alias, join};
use serde_json::{Map, Value};

/// Conditions of `exports` and `imports` that hold for code that runs; the first of them that an
/// object lists decides.
const CONDITIONS: [&str; 7] = [
    "node",
    "import",
    "require",
    "default",
    "module",
    "source",
    "module-sync",
];

/// The number of `extends` that are followed at most.
const LONGEST_CHAIN: usize = 8;

/// Whether a file may give short names.
pub(crate) fn gives_aliases(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "package.json" | "go.mod")
        || name.starts_with("tsconfig.")
        || name.starts_with("jsconfig.")
}

/// The short names that these files give, by their paths from the root. A file that cannot be read
/// gives none.
pub(crate) fn aliases(texts: &BTreeMap<&str, &str>) -> Vec<Alias> {
    let mut found = Vec::new();
    for (path, text) in texts {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match name {
            "package.json" => found.extend(subpath_imports(folder, text)),
            "go.mod" => found.extend(super::go::replacements(folder, text)),
            "tsconfig.json" | "jsconfig.json" => found.extend(compiler_paths(texts, path)),
            _ => {}
        }
    }
    found
}

/// The `imports` of a `package.json`: names that begin with `#`.
fn subpath_imports(folder: &str, text: &str) -> Vec<Alias> {
    let Ok(root) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let imports = root["imports"].as_object().into_iter().flatten();
    let pairs = imports.flat_map(|(pattern, target)| {
        let targets = targets(target);
        targets.into_iter().map(move |target| (pattern, target))
    });
    pairs
        .filter(|(pattern, target)| pattern.starts_with('#') && target.starts_with("./"))
        .filter_map(|(pattern, target)| {
            Some(Alias {
                folder: folder.to_owned(),
                pattern: pattern.clone(),
                target: join(folder, target)?,
            })
        })
        .collect()
}

/// The `paths` and `baseUrl` that hold for the folder of a `tsconfig.json`, its own or those of a
/// file that it extends.
fn compiler_paths(texts: &BTreeMap<&str, &str>, path: &str) -> Vec<Alias> {
    let holds_in = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    let (mut has_paths, mut has_base) = (false, false);
    let mut open = vec![path.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        let known = texts.get(path.as_str());
        let Some(root) = known.and_then(|text| relaxed_json(text)) else {
            continue;
        };
        if seen.len() >= LONGEST_CHAIN || !seen.insert(path.clone()) {
            continue;
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let options = &root["compilerOptions"];
        let base_url = options["baseUrl"].as_str();
        let alias = |pattern: &str, target: &str| {
            let base = join(folder, base_url.unwrap_or("."))?;
            Some(Alias {
                folder: holds_in.to_owned(),
                pattern: pattern.to_owned(),
                target: join(&base, target)?,
            })
        };
        if let Some(paths) = options["paths"].as_object().filter(|_| !has_paths) {
            has_paths = true;
            for (pattern, targets) in paths {
                let targets = targets.as_array().into_iter().flatten();
                let targets = targets.filter_map(Value::as_str);
                found.extend(targets.filter_map(|target| alias(pattern, target)));
            }
        }
        if base_url.is_some() && !has_base {
            has_base = true;
            found.extend(alias("*", "*"));
        }
        let extended: Vec<&str> = match &root["extends"] {
            Value::String(one) => vec![one],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        // Later ones win; the last is looked at first. A package's file is not in the tree.
        for written in extended
            .into_iter()
            .filter(|written| written.starts_with('.'))
        {
            if let Some(target) = join(folder, written) {
                let named = [
                    target.clone(),
                    format!("{target}.json"),
                    format!("{target}/tsconfig.json"),
                ];
                open.extend(
                    named
                        .into_iter()
                        .find(|path| texts.contains_key(path.as_str())),
                );
            }
        }
    }
    found
}

/// Returns the files that an import of a package means: its `exports`, else its `main`, then the entries
/// that bundlers prefer. Paths are as written.
pub(super) fn exports(root: &Map<String, Value>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    match root.get("exports") {
        Some(Value::Object(object)) if object.keys().any(|key| key.starts_with('.')) => {
            let mut exact: Vec<_> = object
                .iter()
                .filter(|(key, _)| !key.contains('*'))
                .collect();
            let mut patterns: Vec<_> = object.iter().filter(|(key, _)| key.contains('*')).collect();
            patterns.sort_by_key(|(key, _)| std::cmp::Reverse(key.len()));
            exact.append(&mut patterns);
            for (subpath, target) in exact {
                for target in targets(target) {
                    found.push((subpath.clone(), target.to_owned()));
                }
            }
        }
        Some(value) => {
            let targets = targets(value).into_iter();
            found.extend(targets.map(|target| (".".to_owned(), target.to_owned())));
        }
        None => {}
    }
    for key in ["main", "module", "source"] {
        let entry = root.get(key).and_then(Value::as_str);
        found.extend(entry.map(|path| (".".to_owned(), path.to_owned())));
    }
    found
}

/// The files that a value of `exports` or `imports` names for running code, in the order to try.
/// Iterative, since conditions nest as deep as an author likes.
fn targets(value: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(path) => found.push(path.as_str()),
            Value::Array(several) => open.extend(several.iter().rev()),
            Value::Object(conditions) => {
                let holding = CONDITIONS.iter().rev();
                open.extend(holding.filter_map(|condition| conditions.get(*condition)));
                // `@scope/source` is the file that the others are built from, for work in this tree.
                let sources = conditions.iter();
                let sources = sources.filter(|(condition, _)| condition.ends_with("/source"));
                open.extend(sources.map(|(_, target)| target));
            }
            _ => {}
        }
    }
    found
}

/// JSON that may hold comments and commas before a closing bracket, as compilers accept it.
fn relaxed_json(text: &str) -> Option<Value> {
    let mut strict = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            ']' | '}' => {
                let kept = strict.trim_end();
                if let Some(without) = kept.strip_suffix(',') {
                    strict.truncate(without.len());
                }
                1
            }
            other => other.len_utf8(),
        };
        strict.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    serde_json::from_str(&strict).ok()
}

/// The bytes of the string that a text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
