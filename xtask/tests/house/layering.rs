//! Which crate may know which: the table of `ARCHITECTURE.md` held against the manifests.
//!
//! The page is the table, so that a new edge between two rooms is a change to the page that
//! people read. Deliberately not held here: what goes on inside one room.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, Target};

use crate::{markdown, none_of, tree::Tree};

/// Libraries that belong to certain rooms, by the start of their name; in no other room may
/// they be a normal dependency.
const KEPT: &[(&str, &[&str])] = &[
    // Executors' words are stripped of what a terminal would obey where they come in.
    ("anstream", &["callosum", "callosum-executor"]),
    ("askama", &["callosum-web"]),
    // The client of NATS.
    ("async-nats", &["callosum-fleet"]),
    ("axum", &["callosum-web"]),
    ("clap", &["callosum"]),
    ("comfy-table", &["callosum"]),
    ("indicatif", &["callosum"]),
    ("landlock", &["callosum-sandbox"]),
    ("nix", &["callosum-host", "callosum-sandbox"]),
    ("owo-colors", &["callosum"]),
    ("prometheus-client", &["callosum-metrics"]),
    ("pulldown-cmark", &["callosum-source", "callosum-web"]),
    ("tracing-subscriber", &["callosum-log"]),
    ("ratatui", &["callosum-top"]),
    // Spoken to servers of tools by the processes that do, and to clients by our own server.
    ("rmcp", &["callosum-mcp", "callosum-executor"]),
    // The search index, which can be thrown away, and the recall database.
    (
        "rusqlite",
        &[
            "callosum-intervention",
            "callosum-memory",
            "callosum-search",
            "xtask",
        ],
    ),
    (
        "rustix",
        &[
            "callosum-host",
            "callosum-panes",
            "callosum-sandbox",
            "callosum-terminal",
        ],
    ),
    ("seccompiler", &["callosum-sandbox"]),
    // The program hears Ctrl-C; a guard hears that it is to end what it started; a watched terminal changes its size.
    (
        "signal-hook",
        &[
            "callosum",
            "callosum-host",
            "callosum-mcp",
            "callosum-sandbox",
            "callosum-terminal",
        ],
    ),
    ("tempfile", &["callosum-testkit"]),
    // Of use in the processes that speak for the controller, and in the one that others connect to.
    (
        "tokio",
        &[
            "callosum",
            "callosum-executor",
            "callosum-daemon",
            "callosum-fleet",
            "callosum-mcp",
            "callosum-web",
        ],
    ),
    ("tree-sitter", &["callosum-source"]),
    ("uuid", &["callosum-host"]),
];

/// A row of the table: a crate and the crates of ours that it may depend on.
#[derive(Debug, PartialEq, Eq)]
struct Room {
    name: String,
    knows: Vec<String>,
}

/// Reads the rows whose first cell is a crate's name in backticks.
fn rooms(architecture: &str) -> Vec<Room> {
    let Some(table) = markdown::section(architecture, "Crates and their dependencies") else {
        return Vec::new();
    };
    let in_backticks = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    markdown::rows(table)
        .into_iter()
        .filter_map(|cells| {
            let name = in_backticks(cells[0]).pop()?;
            Some(Room {
                name,
                knows: in_backticks(cells.get(1)?),
            })
        })
        .collect()
}

/// What one manifest says, reduced to what the rules ask.
struct Manifest {
    name: String,
    normal: Vec<String>,
    dev: Vec<String>,
}

impl From<&Package> for Manifest {
    fn from(package: &Package) -> Manifest {
        let of_kind = |wanted: fn(DependencyKind) -> bool| {
            let dependencies = package.dependencies.iter().filter(|d| wanted(d.kind));
            dependencies
                .map(|dependency| dependency.name.clone())
                .collect()
        };
        Manifest {
            name: package.name.to_string(),
            normal: of_kind(|kind| kind != DependencyKind::Development),
            dev: of_kind(|kind| kind == DependencyKind::Development),
        }
    }
}

fn findings(rooms: &[Room], manifests: &[Manifest]) -> Vec<String> {
    let mut findings = Vec::new();
    let ours = |name: &str| manifests.iter().any(|manifest| manifest.name == name);
    for room in rooms.iter().filter(|room| !ours(&room.name)) {
        findings.push(format!(
            "ARCHITECTURE.md has a room that is no crate: {}",
            room.name
        ));
    }
    for manifest in manifests {
        let name = &manifest.name;
        let Some(room) = rooms.iter().find(|room| &room.name == name) else {
            findings.push(format!("{name} has no row in ARCHITECTURE.md"));
            continue;
        };
        for other in manifest.normal.iter().filter(|other| ours(other)) {
            if !room.knows.contains(other) {
                findings.push(format!("{name} may not depend on {other}"));
            }
        }
        for other in manifest.dev.iter().filter(|other| ours(other)) {
            if other != "callosum-testkit" && !room.knows.contains(other) {
                findings.push(format!(
                    "{name} may not depend on {other}, not even in tests"
                ));
            }
        }
        for library in &manifest.normal {
            for (start, rooms) in KEPT {
                if library.starts_with(start) && !rooms.contains(&name.as_str()) {
                    findings.push(format!("{name} may not use {library}: kept in {rooms:?}"));
                }
            }
        }
    }
    findings
}

/// Asks cargo for the manifests of the workspace alone, which needs no network.
fn workspace() -> Metadata {
    let manifest = Tree::read().root().join("Cargo.toml");
    MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .exec()
        .unwrap()
}

#[test]
fn every_crate_knows_only_the_rooms_that_the_table_allows() {
    let rooms = rooms(&Tree::read().text("ARCHITECTURE.md"));
    let manifests: Vec<Manifest> = workspace().packages.iter().map(Manifest::from).collect();
    none_of(&findings(&rooms, &manifests));
}

#[test]
fn every_manifest_takes_the_lints_of_the_workspace() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for package in workspace().packages {
        let path = package
            .manifest_path
            .strip_prefix(tree.root())
            .unwrap()
            .as_str()
            .to_owned();
        let manifest: toml::Table = tree.text(&path).parse().unwrap();
        let lints = manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"));
        if lints != Some(&toml::Value::Boolean(true)) {
            findings.push(format!("{path}: `[lints] workspace = true` is missing"));
        }
    }
    none_of(&findings);
}

/// `host` and `sandbox` each need a call that no library wraps; the workspace's `deny` makes them
/// name each such line. The testkit's fake programs are held to the same.
#[test]
fn every_library_but_host_and_sandbox_and_the_program_forbid_unsafe_code() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for package in workspace().packages {
        let has_library = package.targets.iter().any(Target::is_lib);
        for target in package
            .targets
            .iter()
            .filter(|target| target.is_lib() || target.is_bin() && !has_library)
        {
            let path = target.src_path.strip_prefix(tree.root()).unwrap().as_str();
            let forbids = tree
                .text(path)
                .lines()
                .any(|line| line == "#![forbid(unsafe_code)]");
            if !forbids && !matches!(package.name.as_str(), "callosum-host" | "callosum-sandbox") {
                findings.push(format!("{path}: `#![forbid(unsafe_code)]` is missing"));
            }
        }
    }
    none_of(&findings);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, normal: &[&str], dev: &[&str]) -> Manifest {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Manifest {
            name: name.to_owned(),
            normal: owned(normal),
            dev: owned(dev),
        }
    }

    fn check(rows: &str, manifests: &[Manifest], expected: &[&str]) {
        let page = format!("## Crates and their dependencies\n| room | knows |\n|---|---|\n{rows}");
        assert_eq!(findings(&rooms(&page), manifests), expected);
    }

    #[test]
    fn an_edge_that_the_table_does_not_have_is_found() {
        check(
            "| `a` | nothing |\n| `b` | nothing |\n",
            &[manifest("a", &[], &[]), manifest("b", &["a", "serde"], &[])],
            &["b may not depend on a"],
        );
    }

    #[test]
    fn tests_may_know_the_testkit_and_nothing_else_new() {
        check(
            "| `a` | nothing |\n| `b` | nothing |\n| `callosum-testkit` | nothing |\n",
            &[
                manifest("a", &[], &[]),
                manifest("b", &[], &["a", "callosum-testkit"]),
                manifest("callosum-testkit", &[], &[]),
            ],
            &["b may not depend on a, not even in tests"],
        );
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_found() {
        check(
            "| `gone` | nothing |\n",
            &[manifest("new", &[], &[])],
            &[
                "ARCHITECTURE.md has a room that is no crate: gone",
                "new has no row in ARCHITECTURE.md",
            ],
        );
    }

    #[test]
    fn a_terminal_library_below_the_bin_is_found() {
        check(
            "| `a` | nothing |\n",
            &[manifest("a", &["clap_complete"], &[])],
            &["a may not use clap_complete: kept in [\"callosum\"]"],
        );
    }
}
