//! Where programs begin, and what others get when they import a package.

use std::collections::BTreeSet;

use crate::scout::{
    citation::plain,
    manifest::Ecosystem,
    page::Section,
    role::{self, Role},
    survey::{Survey, file::SurveyedFile},
};

/// Programs, libraries, scripts and examples, in this order.
pub(super) fn entry_points(survey: &Survey) -> Section {
    let mut section = Section::new("Entry points", 12, "entry points");
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let manifests = survey.manifests.iter();
    for manifest in manifests.filter(|manifest| !role::is_for_tests(manifest.folder())) {
        for program in &manifest.programs {
            let Some(cited) = survey.cite(&manifest.path, program.line) else {
                continue;
            };
            let starts = program.starts.as_deref().unwrap_or_default();
            let file = survey.file(starts);
            let begins = file.and_then(|file| file.cite(file.outline.entry_point?));
            if begins.is_some() {
                told.extend(file.map(|file| file.path.as_str()));
            }
            let place = begins
                .or_else(|| (!starts.is_empty()).then(|| plain(starts, 80)))
                .map(|begins| format!(", begins at {begins}"))
                .unwrap_or_default();
            section.say(format!(
                "program {}: {cited}{place}",
                plain(&program.name, 60)
            ));
        }
    }
    let mut begins: Vec<&SurveyedFile> = survey
        .files
        .iter()
        .filter(|file| file.outline.entry_point.is_some() && !told.contains(file.path.as_str()))
        .filter(|file| matches!(file.role, Role::Source | Role::Tool | Role::Example))
        .collect();
    begins.sort_by_key(|file| {
        (
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
        let about = file
            .about
            .as_ref()
            .map(|note| format!(": {}", plain(&note.text, 90)));
        let what = match file.role {
            Role::Source => "program",
            Role::Tool => "script",
            _ => "example",
        };
        section.say(format!("{what} {cited}{}", about.unwrap_or_default()));
    }
    for (what, file) in library_roots(survey) {
        if let Some(cited) = file.cite_itself() {
            section.say(format!("{what} {cited}"));
        }
    }
    // Programs come first, but a library's root must not drown among a hundred examples.
    section
        .groups
        .sort_by_key(|group| group.head.starts_with("example"));
    section
}

/// The files that others get when they import a package of the tree.
fn library_roots(survey: &Survey) -> Vec<(String, &SurveyedFile)> {
    let mut roots = Vec::new();
    for manifest in &survey.manifests {
        let Some(package) = &manifest.package else {
            continue;
        };
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
        let found = paths.find_map(|path| survey.file(path).filter(|file| file.is_source()));
        if let Some(file) = found {
            let what = format!("library {}", plain(&package.name.text, 60));
            // Several manifests may describe one package, as pyproject.toml beside setup.cfg.
            let is_told =
                |(other, root): &(String, &SurveyedFile)| *other == what && root.path == file.path;
            if !roots.iter().any(is_told) {
                roots.push((what, file));
            }
        }
    }
    roots
}
