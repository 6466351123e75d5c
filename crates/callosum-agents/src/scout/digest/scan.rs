//! `scan`: what is where, where it starts, and what matters most.

use std::collections::BTreeMap;

use callosum_search::{
    language::Language,
    outline::{Symbol, SymbolKind},
    walk::Why,
};

use super::{
    building::build_and_run,
    entry::entry_points,
    identity,
    parts::{main_declaration, where_things_are},
    phrase::{about_symbol, count, list, said, thousands},
};
use crate::scout::{
    citation::{self, plain},
    graph::Graph,
    mentions::Mentions,
    page::{Group, Page, Section},
    role::Role,
    survey::{Survey, file::SurveyedFile},
};

/// The page of a scan.
pub(super) fn page(survey: &Survey) -> Page {
    let mentions = Mentions::of(survey);
    let graph = file_graph(survey);
    Page {
        head: Vec::new(),
        sections: vec![
            what_it_is(survey),
            entry_points(survey),
            where_things_are(survey, &mentions),
            most_connected(survey, &mentions, &graph),
            key_types(survey, &mentions),
            build_and_run(survey),
            languages(survey),
            around_the_code(survey),
            not_read(survey),
        ],
    }
}

/// Files leaning on files, test code included.
fn file_graph(survey: &Survey) -> Graph {
    let mut graph = Graph::new(survey.files.len());
    for edge in survey.links.uses() {
        graph.add(edge.from, edge.to);
    }
    graph
}

fn what_it_is(survey: &Survey) -> Section {
    let mut section = Section::new("What it is", 8, "statements");
    if let Some(manifest) = identity::main_manifest(survey)
        && let Some(package) = &manifest.package
    {
        let placed = package.about.as_ref().unwrap_or(&package.name);
        if let Some(cited) = survey.cite(&manifest.path, placed.line) {
            section.say(format!("{} package: {cited}", manifest.ecosystem.name()));
        }
    }
    if let Some(readme) = identity::readme(survey)
        && let Some(about) = &readme.about
        && let Some(said) = said(readme, about)
    {
        section.say(format!("README: {said}"));
    }
    section
}

fn most_connected(survey: &Survey, mentions: &Mentions<'_>, graph: &Graph) -> Section {
    let mut section = Section::new("Files that most others lean on", 16, "files");
    let mut files: Vec<(usize, usize, usize)> = (0..survey.files.len())
        .filter(|at| survey.files[*at].is_source())
        .map(|at| {
            let tests = graph
                .into(at)
                .filter(|(from, _)| !survey.files[*from].is_source())
                .count();
            (graph.in_degree(at) - tests, tests, at)
        })
        .filter(|(sources, ..)| *sources >= 2)
        .collect();
    files.sort_by_key(|(sources, tests, at)| {
        (std::cmp::Reverse(*sources), std::cmp::Reverse(*tests), *at)
    });
    for (sources, tests, at) in files.into_iter().take(24) {
        let file = &survey.files[at];
        let symbol = main_declaration(survey, mentions, &[at])
            .and_then(|(_, symbol)| file.cite_symbol(symbol, 88));
        let Some(cited) = symbol.or_else(|| file.cite_itself()) else {
            continue;
        };
        let from_tests = if tests > 0 {
            format!(
                ", and {} of tests, examples or tools",
                thousands(tests as u64)
            )
        } else {
            String::new()
        };
        section.say(format!(
            "{cited}: {} lean on it{from_tests}; it leans on {}",
            count(sources, "source file"),
            thousands(graph.out_degree(at) as u64),
        ));
    }
    section
}

fn key_types(survey: &Survey, mentions: &Mentions<'_>) -> Section {
    let mut section = Section::new("Declarations that most files name", 16, "declarations");
    let mut ranked: Vec<(bool, usize, usize, &Symbol)> = mentions
        .declared()
        .filter(|(_, symbol)| symbol.container.is_none())
        .filter(|(_, symbol)| {
            matches!(
                symbol.kind,
                SymbolKind::Type | SymbolKind::Interface | SymbolKind::Function | SymbolKind::Macro
            )
        })
        .map(|(at, symbol)| {
            let named = mentions
                .of_symbol(at, symbol)
                .filter(|file| survey.files[*file].is_source())
                .count();
            let is_type = matches!(symbol.kind, SymbolKind::Type | SymbolKind::Interface);
            (is_type, named, at, symbol)
        })
        .filter(|(_, named, ..)| *named >= 2)
        .collect();
    // A type says more about a tree than a function that as many files call.
    ranked.sort_by_key(|(is_type, named, at, symbol)| {
        (
            std::cmp::Reverse(named * if *is_type { 3 } else { 2 }),
            *at,
            symbol.line,
        )
    });
    for (_, named, at, symbol) in ranked.into_iter().take(24) {
        let Some(cited) = survey.files[at].cite_symbol(symbol, 88) else {
            continue;
        };
        section.say(format!(
            "{cited} named in {}{}",
            count(named, "other file"),
            about_symbol(symbol, 100),
        ));
    }
    section
}

fn languages(survey: &Survey) -> Section {
    let mut section = Section::new("Languages and size", 8, "languages");
    let mut by_language: BTreeMap<&str, Vec<&SurveyedFile>> = BTreeMap::new();
    let code = survey
        .files
        .iter()
        .filter(|file| file.read && file.role != Role::Generated);
    for file in code {
        if let Some(language) = file.language {
            by_language
                .entry(Language::name(language))
                .or_default()
                .push(file);
        }
    }
    let total = |files: &[&SurveyedFile]| files.iter().map(|f| u64::from(f.lines)).sum::<u64>();
    let mut languages: Vec<_> = by_language.into_iter().collect();
    languages.sort_by_key(|(name, files)| (std::cmp::Reverse(total(files)), *name));
    for (name, files) in languages {
        let largest = files
            .iter()
            .max_by_key(|file| (file.is_source(), file.lines, &file.path));
        let Some((largest, cited)) = largest.and_then(|file| Some((file, file.cite_itself()?)))
        else {
            continue;
        };
        let product: Vec<&SurveyedFile> = files.iter().copied().filter(|f| f.is_source()).collect();
        section.say(format!(
            "{name}: {}, {} ({} of them the product's own); the longest has {}: {cited}",
            count(files.len(), "file"),
            count(total(&files) as usize, "line"),
            thousands(total(&product)),
            thousands(u64::from(largest.lines)),
        ));
    }
    section
}

fn around_the_code(survey: &Survey) -> Section {
    let mut section = Section::new("Around the code", 10, "statements");
    let tests: usize = survey.files.iter().map(|file| file.tests().count()).sum();
    let with_tests: Vec<&SurveyedFile> = survey
        .files
        .iter()
        .filter(|file| file.tests().next().is_some())
        .collect();
    let fullest = with_tests
        .iter()
        .max_by_key(|file| (file.tests().count(), std::cmp::Reverse(&file.path)));
    if let Some((file, line)) = fullest.and_then(|file| Some((file, file.tests().next()?.line)))
        && let Some(cited) = file.cite(line)
    {
        section.say(format!(
            "{} in {}, most of them in {}: {cited}",
            count(tests, "test"),
            count(with_tests.len(), "file"),
            plain(&file.path, 80),
        ));
    } else if !survey.files.is_empty() {
        section.say("No test function was recognised.".to_owned());
    }
    let mut documents: Vec<&SurveyedFile> = survey
        .files
        .iter()
        .filter(|file| file.role == Role::Document && file.read && !is_paper(file.name()))
        .filter(|file| file.title.is_some())
        .collect();
    documents.sort_by_key(|file| (file.path.split('/').count(), std::cmp::Reverse(file.lines)));
    let readme = identity::readme(survey).map(|file| &file.path);
    documents.retain(|file| Some(&file.path) != readme);
    if !documents.is_empty() {
        let mut lines: Vec<String> = documents
            .iter()
            .take(8)
            .filter_map(|file| file.cite(file.title.as_ref()?.line))
            .collect();
        if !lines.is_empty() {
            let first = lines.remove(0);
            let head = format!(
                "{} of documentation: {first}",
                count(documents.len(), "file")
            );
            let beyond = documents.len() - lines.len() - 1;
            section.groups.push(Group {
                head,
                lines,
                beyond,
            });
        }
    }
    for role in [Role::Bench, Role::Example, Role::Ci, Role::Tool] {
        let files: Vec<&SurveyedFile> = survey
            .files
            .iter()
            .filter(|file| file.role == role && file.read)
            .collect();
        let first = files
            .iter()
            .max_by_key(|file| (file.lines, std::cmp::Reverse(&file.path)));
        if let Some(cited) = first.and_then(|file| file.cite_itself()) {
            section.say(format!(
                "{}: {}, e.g. {cited}",
                role.name(),
                count(files.len(), "file")
            ));
        }
    }
    section
}

fn is_paper(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "license",
        "licence",
        "copying",
        "changelog",
        "changes",
        "history",
        "news",
        "notice",
        "code_of_conduct",
        "authors",
        "security",
    ]
    .iter()
    .any(|paper| name.starts_with(paper))
}

fn not_read(survey: &Survey) -> Section {
    let mut section = Section::new("Not read", 4, "kinds");
    for role in [Role::Vendored, Role::Generated, Role::Fixture, Role::Asset] {
        let files: Vec<&SurveyedFile> = survey.files.iter().filter(|f| f.role == role).collect();
        if !files.is_empty() {
            let names: Vec<String> = files.iter().map(|file| plain(&file.path, 60)).collect();
            // What was opened to learn what it is can be quoted for it.
            let says_so = files.iter().find_map(|file| file.cite_itself());
            section.say(format!(
                "{}: {} ({}){}",
                role.name(),
                count(files.len(), "file"),
                list(&names, 2),
                says_so
                    .map(|cited| format!(", as in {cited}"))
                    .unwrap_or_default(),
            ));
        }
    }
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for skipped in &survey.skipped {
        let reason = match &skipped.why {
            Why::TooLarge(_) => "too large to read".to_owned(),
            why => plain(&why.to_string(), 80),
        };
        by_reason
            .entry(reason)
            .or_default()
            .push(plain(&skipped.path, 60));
    }
    for (reason, paths) in by_reason {
        section.say(format!(
            "{reason}: {} ({})",
            count(paths.len(), "file"),
            list(&paths, 3)
        ));
    }
    let uncitable = survey
        .files
        .iter()
        .filter(|file| !citation::is_citable(&file.path));
    let uncitable: Vec<String> = uncitable.map(|file| plain(&file.path, 60)).collect();
    if !uncitable.is_empty() {
        section.say(format!(
            "read, but named so that a citation cannot hold it: {} ({})",
            count(uncitable.len(), "file"),
            list(&uncitable, 3)
        ));
    }
    section
}
