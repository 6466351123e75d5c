//! `package.json`.

use serde_json::{Map, Value};

use super::{
    aliases,
    model::{Dependency, Ecosystem, Manifest, Package, Placed, Program, Script, Use},
    place::numbered,
};

/// Reads one `package.json`.
pub(super) fn read(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Node);
    let root: Map<String, Value> = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) => {
            manifest.unread = Some(error.to_string());
            return manifest;
        }
    };
    let placed = |key: &str| {
        Some(Placed {
            text: root.get(key)?.as_str()?.to_owned(),
            line: line_of(text, &[key]),
        })
    };
    manifest.package = placed("name").map(|name| Package {
        name,
        version: placed("version"),
        about: placed("description"),
    });
    if root.contains_key("workspaces") {
        manifest.workspace = Some(line_of(text, &["workspaces"]));
    }
    manifest.entry = ["source", "module", "main"]
        .iter()
        .find_map(|key| root.get(*key)?.as_str())
        .map(|path| manifest.rooted(path));
    let mut entries = Vec::new();
    for key in ["main", "types", "typings", "exports"] {
        collect_paths(root.get(key), &mut entries);
    }
    manifest.entries = entries.iter().map(|path| manifest.rooted(path)).collect();
    manifest.exports = aliases::exports(&root)
        .into_iter()
        .map(|(subpath, path)| (subpath, manifest.rooted(&path)))
        .collect();
    manifest.programs = programs(&root, text, &manifest);
    manifest.scripts = pairs(&root, "scripts")
        .map(|(name, command)| Script {
            name: name.clone(),
            command: command.to_owned(),
            line: line_of(text, &["scripts", name]),
        })
        .collect();
    for (section, role, optional) in [
        ("dependencies", Use::Normal, false),
        ("peerDependencies", Use::Normal, false),
        ("optionalDependencies", Use::Normal, true),
        ("devDependencies", Use::Dev, false),
    ] {
        let found = pairs(&root, section).map(|(name, requirement)| Dependency {
            optional,
            local: ["workspace:", "file:", "link:"]
                .iter()
                .any(|scheme| requirement.starts_with(scheme)),
            ..Dependency::new(
                name,
                Some(requirement.to_owned()),
                line_of(text, &[section, name]),
            )
            .used_for(role)
        });
        manifest.dependencies.extend(found);
    }
    manifest
}

/// The paths in a value of `main`, `types` or `exports`: the latter nests subpaths and conditions.
fn collect_paths<'v>(value: Option<&'v Value>, paths: &mut Vec<&'v str>) {
    match value {
        Some(Value::String(path)) if !paths.contains(&path.as_str()) => paths.push(path),
        Some(Value::Array(values)) => {
            for value in values {
                collect_paths(Some(value), paths);
            }
        }
        Some(Value::Object(conditions)) => {
            for value in conditions.values() {
                collect_paths(Some(value), paths);
            }
        }
        _ => {}
    }
}

fn pairs<'r>(
    root: &'r Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'r String, &'r str)> {
    root.get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name, value.as_str()?)))
}

fn programs(root: &Map<String, Value>, text: &str, manifest: &Manifest) -> Vec<Program> {
    let rooted = |path: &str| manifest.rooted(path);
    match root.get("bin") {
        Some(Value::String(path)) => {
            let name = manifest.package.as_ref().map(|package| &package.name.text);
            name.map(|name| Program {
                name: name.rsplit('/').next().unwrap_or(name).to_owned(),
                starts: Some(rooted(path)),
                line: line_of(text, &["bin"]),
            })
            .into_iter()
            .collect()
        }
        Some(Value::Object(_)) => pairs(root, "bin")
            .map(|(name, path)| Program {
                name: name.clone(),
                starts: Some(rooted(path)),
                line: line_of(text, &["bin", name]),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the line of a key, by searching for each key of the path after the one before it. People
/// and tools write one key a line; if all keys are on one line, the result is that line.
pub(super) fn line_of(text: &str, path: &[&str]) -> u32 {
    let mut line = 1;
    for key in path {
        let quoted = Value::from(*key).to_string();
        let found = numbered(text).skip(line as usize - 1).find(|(_, content)| {
            let content = content.trim_start().trim_start_matches(['{', ' ']);
            content
                .strip_prefix(&quoted)
                .is_some_and(|rest| rest.trim_start().starts_with(':'))
        });
        if let Some((at, _)) = found {
            line = at;
        }
    }
    line
}
