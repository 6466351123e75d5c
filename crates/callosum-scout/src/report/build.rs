//! Commands to build, test and run a tree, from its manifests and its build server.

use std::collections::BTreeSet;

use super::runners::runners;
use crate::{
    citation::plain,
    file_role::{self, Role},
    manifest::{Ecosystem, Manifest},
    report_layout::{Group, Section, Statement},
    survey::{Survey, file::SurveyedFile},
};

/// Lists the ways to build and test that manifests, the test setup and the build server define.
pub(super) fn build_and_run(survey: &Survey) -> Section {
    let mut section = Section::new("build", "Build, test, run", 10, "ways");
    let mut seen: BTreeSet<Ecosystem> = BTreeSet::new();
    for manifest in own_manifests(survey) {
        if !seen.insert(manifest.ecosystem) {
            continue;
        }
        for (words, line) in ways(manifest) {
            if let Some(cited) = survey.cite(&manifest.path, line) {
                section.say(Statement::at(cited).says(&format!("run {words}")));
            }
        }
    }
    for runner in runners(survey) {
        section
            .groups
            .extend(runner.statement(survey).map(Group::of));
    }
    for (line, file) in ci_commands(survey) {
        if let Some(cited) = file.cite(line) {
            section.say(Statement::at(cited).says("run by CI"));
        }
    }
    section
}

/// Returns the manifests of the product itself, those nearest to the root first: the dependencies
/// of an example say nothing about the product.
pub(super) fn own_manifests(survey: &Survey) -> Vec<&Manifest> {
    let manifests = survey.manifests.iter();
    let mut manifests: Vec<&Manifest> = manifests
        .filter(|manifest| !file_role::is_aside(manifest.folder()))
        .collect();
    manifests.sort_by_key(|manifest| (manifest.path.split('/').count(), &manifest.path));
    manifests
}

/// Returns the commands with which a manifest's tool builds and tests, each with the line that it
/// follows from.
pub(super) fn ways(manifest: &Manifest) -> Vec<(String, u32)> {
    let name_line = manifest.package.as_ref().map(|package| package.name.line);
    let line = manifest.workspace.or(name_line);
    let by_convention = |words: &str| -> Vec<(String, u32)> {
        line.map(|line| (words.to_owned(), line))
            .into_iter()
            .collect()
    };
    match manifest.ecosystem {
        Ecosystem::Cargo => by_convention("`cargo build`, `cargo test`"),
        Ecosystem::Go => by_convention("`go build ./...`, `go test ./...`"),
        Ecosystem::Maven => by_convention("`mvn verify`"),
        Ecosystem::CMake => by_convention("`cmake -B build && cmake --build build`"),
        Ecosystem::Meson => by_convention("`meson setup build && ninja -C build`"),
        Ecosystem::Autotools => by_convention("`./configure && make`"),
        Ecosystem::Python if !manifest.path.contains("requirements") => {
            by_convention("`pip install .`")
        }
        Ecosystem::Node => {
            let wanted = ["build", "test", "start", "dev", "lint", "compile", "bench"];
            let mut scripts: Vec<_> = manifest
                .scripts
                .iter()
                .filter_map(|script| {
                    let rank = wanted.iter().position(|name| *name == script.name);
                    let is_test = script.name.starts_with("test:") || script.name == "unit";
                    Some((rank.or(is_test.then_some(1))?, script))
                })
                .collect();
            scripts.sort_by_key(|(rank, _)| *rank);
            scripts
                .into_iter()
                .map(|(_, script)| {
                    (
                        format!("`npm run {}`", plain(&script.name, 30)),
                        script.line,
                    )
                })
                .collect()
        }
        Ecosystem::Make => manifest
            .scripts
            .iter()
            .take(4)
            .map(|script| (format!("`{}`", script.command), script.line))
            .collect(),
        _ => Vec::new(),
    }
}

/// Commands that the build server runs to build and test, each text once.
pub(super) fn ci_commands(survey: &Survey) -> Vec<(u32, &SurveyedFile)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for file in survey.files.iter().filter(|file| file.role == Role::Ci) {
        let Some(text) = &file.text else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            let trimmed = line.trim().trim_start_matches("- ");
            let command = trimmed.strip_prefix("run:").unwrap_or(trimmed).trim();
            let is_run = trimmed.starts_with("run:") || !trimmed.contains(": ");
            let first = command.split_whitespace().next().unwrap_or_default();
            let is_tool = [
                "cargo",
                "npm",
                "pnpm",
                "yarn",
                "make",
                "pytest",
                "tox",
                "python",
                "go",
                "mvn",
                "./gradlew",
                "./mvnw",
                "cmake",
                "ctest",
                "meson",
                "ninja",
                "uv",
                "nox",
                "bazel",
                "./configure",
                "just",
                "hatch",
                "poetry",
                "deno",
                "bun",
            ]
            .contains(&first);
            let is_word = |wanted: &[&str]| {
                let mut words = command.split(|c: char| !c.is_alphanumeric());
                words.any(|word| wanted.contains(&word))
            };
            let says_what = is_word(&[
                "test", "tests", "build", "check", "lint", "clippy", "verify", "pytest", "make",
                "tox", "nox", "ctest",
            ]);
            if is_run
                && is_tool
                && says_what
                && !is_word(&["install", "publish", "upload"])
                && seen.insert(command.to_owned())
            {
                found.push((number, file));
            }
        }
    }
    let rank = |line: &str| {
        let is_test = line.contains("test") || line.contains("check") || line.contains("verify");
        (!is_test, line.len())
    };
    found.sort_by_key(|(line, file)| rank(file.line(*line).unwrap_or_default()));
    found.truncate(5);
    found
}
