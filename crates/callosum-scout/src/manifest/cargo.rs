//! `Cargo.toml`, with what members inherit from their workspace.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::{
    model::{Dependency, Ecosystem, Manifest, Package, Placed, Program, Use},
    place::{Lines, document, entry, table},
};

/// Reads one `Cargo.toml`. Inherited values are filled in by [`inherit`].
pub(super) fn read(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Cargo);
    let Some(document) = document(text, &mut manifest) else {
        return manifest;
    };
    let root = document.get_ref();
    let lines = Lines::of(text);
    manifest.package = package(root, &lines, text);
    if let Some((at, DeValue::Table(workspace))) = entry(root, "workspace") {
        manifest.workspace = Some(lines.line_of(at));
        manifest.shared_version =
            table(workspace, &["package"]).and_then(|package| placed(package, "version", &lines));
        manifest.shared = section(workspace, "dependencies", Use::Normal, &lines);
    }
    manifest.dependencies = all_dependencies(root, &lines);
    manifest.entry = table(root, &["lib"])
        .and_then(|lib| placed(lib, "path", &lines))
        .map(|path| manifest.rooted(&path.text));
    manifest.programs = programs(root, &lines, &manifest);
    manifest
}

fn package(root: &DeTable<'_>, lines: &Lines, text: &str) -> Option<Package> {
    let package = table(root, &["package"])?;
    Some(Package {
        name: placed(package, "name", lines)?,
        version: placed(package, "version", lines),
        about: description(package, lines, text),
    })
}

/// Returns the description with the line of its first word: TOML drops the line break after an
/// opening `"""`.
fn description(package: &DeTable<'_>, lines: &Lines, text: &str) -> Option<Placed> {
    let (_, value) = package
        .iter()
        .find(|(name, _)| name.get_ref() == "description")?;
    let written = &text[value.span()];
    let opening = written.len()
        - written
            .trim_start_matches(['"', '\'', ' ', '\r', '\n'])
            .len();
    Some(Placed {
        text: value.get_ref().as_str()?.to_owned(),
        line: lines.line_of(value.span().start + opening),
    })
}

fn placed(table: &DeTable<'_>, key: &str, lines: &Lines) -> Option<Placed> {
    let (at, value) = entry(table, key)?;
    Some(Placed {
        text: value.as_str()?.to_owned(),
        line: lines.line_of(at),
    })
}

const SECTIONS: [(&str, Use); 3] = [
    ("dependencies", Use::Normal),
    ("build-dependencies", Use::Build),
    ("dev-dependencies", Use::Dev),
];

fn all_dependencies(root: &DeTable<'_>, lines: &Lines) -> Vec<Dependency> {
    let per_target = table(root, &["target"])
        .into_iter()
        .flat_map(|targets| targets.values())
        .filter_map(|target| target.get_ref().as_table());
    let mut found: Vec<Dependency> = std::iter::once(root)
        .chain(per_target)
        .flat_map(|table| SECTIONS.map(|(key, role)| section(table, key, role, lines)))
        .flatten()
        .collect();
    found.sort_by_key(|dependency| dependency.line);
    found
}

fn section(from: &DeTable<'_>, key: &str, role: Use, lines: &Lines) -> Vec<Dependency> {
    let Some(section) = table(from, &[key]) else {
        return Vec::new();
    };
    section
        .iter()
        .map(|(name, value)| {
            let line = lines.line_of(name.span().start);
            dependency(name.get_ref(), value.get_ref(), line).used_for(role)
        })
        .collect()
}

fn dependency(key: &str, value: &DeValue<'_>, line: u32) -> Dependency {
    let DeValue::Table(table) = value else {
        return Dependency::new(key, value.as_str().map(str::to_owned), line);
    };
    let text = |field: &str| entry(table, field)?.1.as_str().map(str::to_owned);
    let is_set = |field: &str| entry(table, field).and_then(|(_, v)| v.as_bool()) == Some(true);
    let package = text("package");
    let git = text("git").map(|url| format!("git {url}"));
    Dependency {
        alias: package.is_some().then(|| key.to_owned()),
        optional: is_set("optional"),
        local: text("path").is_some(),
        inherited: is_set("workspace"),
        ..Dependency::new(
            package.as_deref().unwrap_or(key),
            text("version").or(git),
            line,
        )
    }
}

fn programs(root: &DeTable<'_>, lines: &Lines, manifest: &Manifest) -> Vec<Program> {
    let Some((_, DeValue::Array(bins))) = entry(root, "bin") else {
        return Vec::new();
    };
    let mut programs: Vec<Program> = bins
        .iter()
        .filter_map(|bin| {
            let bin = bin.get_ref().as_table()?;
            let name = placed(bin, "name", lines)?;
            let starts = placed(bin, "path", lines).map(|path| manifest.rooted(&path.text));
            Some(Program {
                name: name.text,
                starts,
                line: name.line,
            })
        })
        .collect();
    programs.sort_by_key(|program| program.line);
    programs
}

/// Fills in the values that Cargo packages inherit from the nearest workspace above them: their
/// version, and the versions and places of their dependencies.
pub(crate) fn inherit(manifests: &mut [Manifest]) {
    let workspaces: BTreeMap<String, (Vec<Dependency>, Option<Placed>)> = manifests
        .iter()
        .filter(|manifest| manifest.ecosystem == Ecosystem::Cargo && manifest.workspace.is_some())
        .map(|manifest| {
            let shared = (manifest.shared.clone(), manifest.shared_version.clone());
            (manifest.folder().to_owned(), shared)
        })
        .collect();
    for manifest in manifests
        .iter_mut()
        .filter(|m| m.ecosystem == Ecosystem::Cargo)
    {
        let Some((shared, _)) = nearest(&workspaces, manifest.folder()) else {
            continue;
        };
        for dependency in manifest.dependencies.iter_mut().filter(|d| d.inherited) {
            let key = dependency.alias.as_ref().unwrap_or(&dependency.name);
            let source = shared
                .iter()
                .find(|shared| shared.alias.as_ref().unwrap_or(&shared.name) == key);
            if let Some(source) = source {
                dependency.requirement.clone_from(&source.requirement);
                dependency.local |= source.local;
                if source.alias.is_some() {
                    dependency.alias.clone_from(&source.alias);
                    dependency.name.clone_from(&source.name);
                }
            }
        }
    }
}

fn nearest<'w, T>(workspaces: &'w BTreeMap<String, T>, folder: &str) -> Option<&'w T> {
    let mut folder = folder;
    loop {
        if let Some(found) = workspaces.get(folder) {
            return Some(found);
        }
        if folder.is_empty() {
            return None;
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
}
