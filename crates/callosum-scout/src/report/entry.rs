//! Entry points of programs, and the files that other code gets when it imports a package.

use std::collections::BTreeSet;

use callosum_source::language::Language;

use super::modules::represent;
use crate::{
    citation::{plain, sentence},
    file_role::{self, Role},
    manifest::Ecosystem,
    references::Mentions,
    report_layout::{Group, Section, Statement},
    survey::{Survey, file::SurveyedFile},
};

/// Lists the programs and libraries of packages first, then other programs and scripts, and examples
/// last.
pub(super) fn entry_points(survey: &Survey, mentions: &Mentions<'_>) -> Section {
    let mut section = Section::new("entry-points", "Entry points", 12, "entry points");
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    let mut manifests: Vec<_> = survey
        .manifests
        .iter()
        .filter(|manifest| !file_role::is_aside(manifest.folder()))
        .collect();
    manifests.sort_by_key(|manifest| (depth(manifest.folder()), &manifest.path));
    for manifest in manifests {
        for program in &manifest.programs {
            let Some(cited) = survey.cite(&manifest.path, program.line) else {
                continue;
            };
            let starts = program.starts.as_deref().unwrap_or_default();
            let file = survey.file(starts);
            let begins = file.and_then(|file| file.cite(file.outline.entry_point?));
            listed.extend(file.map(|file| file.path.as_str()));
            let mut words = format!("program {}", plain(&program.name, 60));
            if begins.is_none() && !starts.is_empty() {
                words = format!("{words}, begins at {}", plain(starts, 80));
            }
            let statement = Statement::at(cited).says(&words);
            section.say(statement.shown_by(", begins at", begins));
        }
    }
    for (what, at) in library_roots(survey) {
        let statement = represent(survey, mentions, at);
        section
            .groups
            .extend(statement.map(|statement| Group::of(statement.says(&what))));
    }
    let used: BTreeSet<usize> = survey
        .links
        .uses()
        .filter(|edge| survey.files[edge.from].is_source())
        .map(|edge| edge.to)
        .collect();
    let mut begins: Vec<&SurveyedFile> = survey
        .files
        .iter()
        .enumerate()
        .filter(|(at, file)| begins_a_program(file, used.contains(at)))
        .map(|(_, file)| file)
        .filter(|file| !listed.contains(file.path.as_str()))
        .filter(|file| matches!(file.role, Role::Source | Role::Tool | Role::Example))
        .collect();
    begins.sort_by_key(|file| {
        (
            file.role == Role::Example || file_role::is_aside(file.folder()),
            file.role,
            file.path.split('/').count(),
            std::cmp::Reverse(file.lines),
            &file.path,
        )
    });
    for file in begins {
        let Some(cited) = file.outline.entry_point.and_then(|line| file.cite(line)) else {
            continue;
        };
        let about = file.about.as_ref().map(|note| sentence(&note.text));
        let what = match file.role {
            _ if file_role::is_aside(file.folder()) => "example",
            Role::Source => "program",
            Role::Tool => "script",
            _ => "example",
        };
        let statement = Statement::at(cited).says(what);
        section.say(statement.described(about.unwrap_or_default()));
    }
    section
}

fn depth(folder: &str) -> usize {
    folder.split('/').filter(|part| !part.is_empty()).count()
}

/// Whether a program begins in a file. A script that listens and that other code imports is part of a
/// library: fastify's `server.listen` starts nothing by itself.
fn begins_a_program(file: &SurveyedFile, is_used: bool) -> bool {
    let is_script = matches!(
        file.language,
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx)
    );
    file.outline.entry_point.is_some() && !(is_script && is_used)
}

/// The files that others get when they import a package of the tree.
fn library_roots(survey: &Survey) -> Vec<(String, usize)> {
    let mut roots: Vec<(String, usize)> = Vec::new();
    for manifest in &survey.manifests {
        let Some(package) = &manifest.package else {
            continue;
        };
        if file_role::is_aside(manifest.folder()) {
            continue;
        }
        let at = |path: &str| manifest.rooted(path);
        let import = package.name.text.replace('-', "_").to_ascii_lowercase();
        let candidates = match manifest.ecosystem {
            Ecosystem::Cargo => vec![at("src/lib.rs")],
            Ecosystem::Python => vec![
                at(&format!("src/{import}/__init__.py")),
                at(&format!("{import}/__init__.py")),
                at(&format!("{import}.py")),
            ],
            Ecosystem::Node => vec![
                at("src/index.ts"),
                at("index.ts"),
                at("index.js"),
                at("src/index.js"),
                at("lib/index.js"),
            ],
            _ => Vec::new(),
        };
        let mut paths = manifest.entry.iter().chain(&candidates);
        let source = |path: &String| {
            let mut files = survey.files.iter();
            files.position(|file| file.path == *path && file.is_source())
        };
        if let Some(at) = paths.find_map(source) {
            let what = format!("library {}", plain(&package.name.text, 60));
            // Several manifests may describe one package, as pyproject.toml next to setup.cfg.
            if !roots.contains(&(what.clone(), at)) {
                roots.push((what, at));
            }
        }
    }
    roots
}
