//! `scan`: the layout, the entry points, and the most important parts.

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::{
    language::Language,
    outline::{Symbol, SymbolKind},
    walk::Why,
};

use super::{
    build::build_and_run,
    entry::entry_points,
    identity,
    modules::{is_offered, main_declaration, represent, where_things_are},
    plural::{Names, count, declared, note_statement, thousands},
};
use crate::{
    citation::{self, plain},
    dependency_graph::Graph,
    file_role::Role,
    references::Mentions,
    report_layout::{Page, Section, Statement},
    survey::{Survey, file::SurveyedFile},
};

/// The page of a scan.
pub(super) fn page(survey: &Survey, names: Names) -> Page {
    let mentions = Mentions::of(survey);
    let graph = file_graph(survey);
    let (most_used, listed) = most_used(survey, &mentions, &graph);
    Page {
        head: Vec::new(),
        sections: vec![
            what_it_is(survey),
            entry_points(survey, &mentions),
            where_things_are(survey, &mentions),
            most_used,
            most_named(survey, &mentions, &listed),
            build_and_run(survey),
            languages(survey),
            around_the_code(survey),
            not_read(survey, names),
        ],
    }
}

/// Files using files, test code included.
fn file_graph(survey: &Survey) -> Graph {
    let mut graph = Graph::new(survey.files.len());
    for edge in survey.links.uses() {
        graph.add(edge.from, edge.to);
    }
    graph
}

fn what_it_is(survey: &Survey) -> Section {
    let mut section = Section::new("what-it-is", "What it is", 8, "statements");
    if let Some(manifest) = identity::main_manifest(survey)
        && let Some(package) = &manifest.package
    {
        let placed = package.about.as_ref().unwrap_or(&package.name);
        if let Some(cited) = survey.cite(&manifest.path, placed.line) {
            let kind = format!("{} package", manifest.ecosystem.name());
            section.say(Statement::at(cited).says(&kind));
        }
    }
    if let Some(readme) = identity::readme(survey)
        && let Some(about) = &readme.about
        && let Some(statement) = note_statement(readme, about)
    {
        section.say(statement);
    }
    section
}

/// The files that most others use, each by its most used declaration; with the places of these.
fn most_used(
    survey: &Survey,
    mentions: &Mentions<'_>,
    graph: &Graph,
) -> (Section, BTreeSet<(usize, u32)>) {
    let mut section = Section::new("most-used", "Files that most others use", 16, "files");
    let mut listed = BTreeSet::new();
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
    for (sources, tests, at) in files {
        let main = main_declaration(survey, mentions, &[at]);
        let statement = match main {
            Some((_, symbol)) => {
                listed.insert((at, symbol.line));
                declared(&survey.files[at], symbol)
            }
            None => represent(survey, mentions, at),
        };
        let Some(statement) = statement else { continue };
        let others = match tests {
            0 => String::new(),
            _ => format!(
                " and {} of tests, examples or tools",
                thousands(tests as u64)
            ),
        };
        section.say(statement.says(&format!(
            "used by {}{others}; uses {}",
            count(sources, "source file"),
            thousands(graph.out_degree(at) as u64),
        )));
    }
    (section, listed)
}

/// The declarations that most files name, without those in `listed`.
fn most_named(
    survey: &Survey,
    mentions: &Mentions<'_>,
    listed: &BTreeSet<(usize, u32)>,
) -> Section {
    let title = "Other declarations that most files name";
    let mut section = Section::new("most-named", title, 16, "declarations");
    let mut ranked: Vec<(bool, usize, usize, &Symbol)> = mentions
        .declared()
        .filter(|(at, symbol)| symbol.container.is_none() && !listed.contains(&(*at, symbol.line)))
        .filter(|(_, symbol)| is_offered(symbol))
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
    for (_, named, at, symbol) in ranked {
        if let Some(statement) = declared(&survey.files[at], symbol) {
            let files = count(named, "other file");
            section.say(statement.says(&format!("named in {files}")));
        }
    }
    section
}

fn languages(survey: &Survey) -> Section {
    let mut section = Section::new("languages", "Languages and size", 8, "languages");
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
        let Some(largest) = largest else { continue };
        let product: Vec<&SurveyedFile> = files.iter().copied().filter(|f| f.is_source()).collect();
        section.say(Statement::text(format!(
            "{name}: {}, {} ({} of source); the longest is {} ({})",
            count(files.len(), "file"),
            count(total(&files) as usize, "line"),
            thousands(total(&product)),
            plain(&largest.path, 90),
            thousands(u64::from(largest.lines)),
        )));
    }
    section
}

fn around_the_code(survey: &Survey) -> Section {
    let mut section = Section::new("around", "Around the code", 10, "statements");
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
        section.say(Statement::at(cited).says(&format!(
            "{} in {}, {} of them here",
            count(tests, "test"),
            count(with_tests.len(), "file"),
            thousands(file.tests().count() as u64),
        )));
    } else if !survey.files.is_empty() {
        section.say(Statement::text("no test function recognized"));
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
    let total = documents.len();
    let mut titles = documents
        .iter()
        .filter_map(|file| Some(Statement::at(file.cite(file.title.as_ref()?.line)?)));
    if let Some(first) = titles.next() {
        let head = first.says(&format!("{} of documentation", count(total, "file")));
        section.say_with(head, titles.collect());
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
            section.say(Statement::at(cited).says(&format!(
                "{}: {}, this one the longest",
                role.name(),
                count(files.len(), "file")
            )));
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

fn not_read(survey: &Survey, most: Names) -> Section {
    let mut section = Section::new("not-read", "Not read", 4, "kinds");
    for role in [Role::Vendored, Role::Generated, Role::Fixture, Role::Asset] {
        let files: Vec<&SurveyedFile> = survey.files.iter().filter(|f| f.role == role).collect();
        if !files.is_empty() {
            let names: Vec<String> = files.iter().map(|file| plain(&file.path, 90)).collect();
            let words = format!(
                "{}: {} ({})",
                role.name(),
                count(files.len(), "file"),
                most.list(&names, 2),
            );
            // What was opened to learn what it is can be quoted for it.
            let says_so = files.iter().find_map(|file| file.cite_itself());
            section.say(match says_so {
                Some(cited) => Statement::at(cited).says(&words),
                None => Statement::text(words),
            });
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
            .push(plain(&skipped.path, 90));
    }
    for (reason, paths) in by_reason {
        section.say(Statement::text(format!(
            "{reason}: {} ({})",
            count(paths.len(), "file"),
            most.list(&paths, 3)
        )));
    }
    let uncitable = survey
        .files
        .iter()
        .filter(|file| !citation::is_citable(&file.path));
    let uncitable: Vec<String> = uncitable.map(|file| plain(&file.path, 90)).collect();
    if !uncitable.is_empty() {
        section.say(Statement::text(format!(
            "read, but named so that a citation cannot hold it: {} ({})",
            count(uncitable.len(), "file"),
            most.list(&uncitable, 3)
        )));
    }
    section
}
