//! `tests`: the tests, the code that they mention, and the code that they never mention.

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::outline::{Symbol, SymbolKind};

use super::{
    build::{ci_commands, own_manifests, ways},
    modules::{main_declaration, represent},
    plural::{count, declared, thousands},
    runners::runners,
    test_references::Reach,
};
use crate::{
    citation::plain,
    file_role::Role,
    manifest::Use,
    modules::{Module, module_of_file, modules},
    references::Mentions,
    report_layout::{Group, Page, Section, Statement},
    survey::{Survey, file::SurveyedFile},
};

/// As many areas as a reader keeps apart.
const MOST_AREAS: usize = 20;

/// Most tests of a whole tree that are listed one by one.
const FEW_TESTS: usize = 60;

/// The page of tests.
pub(super) fn page(survey: &Survey) -> Page {
    let mentions = Mentions::of(survey);
    let reach = Reach::of(survey, &mentions);
    let modules = modules(survey, MOST_AREAS);
    let tests = with_tests(survey, &reach);
    Page {
        head: Vec::new(),
        sections: vec![
            in_short(survey, &reach, &mentions, &tests),
            how_to_run(survey),
            areas(&tests),
            most_tested(survey, &reach),
            by_part(survey, &reach, &mentions, &modules),
            never_named(survey, &reach, &mentions),
            by_name(survey, &tests),
        ],
    }
}

/// The files with tests of what was asked about: those in it, and those that reach code in it.
fn with_tests<'s>(survey: &'s Survey, reach: &Reach) -> Vec<&'s SurveyedFile> {
    let focused = (0..survey.files.len()).filter(|at| survey.is_in_focus(*at));
    let testers: BTreeSet<usize> = focused
        .flat_map(|at| reach.testers[at].iter().copied().chain([at]))
        .collect();
    let testers = testers.into_iter().map(|at| &survey.files[at]);
    testers
        .filter(|file| file.tests().next().is_some())
        .collect()
}

/// Code of the product that could be tested: files that declare functions.
fn testable(survey: &Survey) -> impl Iterator<Item = (usize, &SurveyedFile)> {
    let files = survey.files.iter().enumerate();
    let focused = files.filter(|(at, _)| survey.is_in_focus(*at));
    focused.filter(|(_, file)| {
        file.is_source()
            && file.outline.symbols.iter().any(|symbol| {
                !symbol.test
                    && matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method)
                    && symbol.last_line > symbol.line
            })
    })
}

fn in_short(
    survey: &Survey,
    reach: &Reach,
    mentions: &Mentions<'_>,
    with_tests: &[&SurveyedFile],
) -> Section {
    let mut section = Section::new("in-short", "In short", 8, "statements");
    let tests: usize = with_tests.iter().map(|file| file.tests().count()).sum();
    let fullest = with_tests
        .iter()
        .max_by_key(|file| (file.tests().count(), std::cmp::Reverse(&file.path)));
    let Some((file, first)) = fullest.and_then(|file| Some((file, file.tests().next()?))) else {
        if !survey.files.is_empty() {
            section.say(Statement::text(match survey.focus.as_slice() {
                [] => "no test function recognized in this tree".to_owned(),
                paths => format!(
                    "no test function recognized that names anything below {}",
                    plain(&paths.join(", "), 120)
                ),
            }));
        }
        section.groups.extend(unread_tests(survey).map(Group::of));
        return section;
    };
    if let Some(cited) = file.cite(first.line) {
        let inside = with_tests.iter().filter(|file| file.is_source()).count();
        section.say(Statement::at(cited).says(&format!(
            "{} in {}{}; most of them here ({})",
            count(tests, "test"),
            count(with_tests.len(), "file"),
            match inside {
                0 => String::new(),
                inside => format!(
                    ", {} of them also with the tested code",
                    thousands(inside as u64)
                ),
            },
            thousands(file.tests().count() as u64),
        )));
    }
    let testable: Vec<(usize, &SurveyedFile)> = testable(survey).collect();
    let reached = testable
        .iter()
        .filter(|(at, _)| reach.is_reached(*at))
        .count();
    let most = testable
        .iter()
        .max_by_key(|(at, file)| (reach.testers[*at].len(), std::cmp::Reverse(&file.path)));
    if reached == 0 {
        section.say(Statement::text(format!(
            "0 of {} with functions are reached by name from a test",
            count(testable.len(), "source file")
        )));
    } else if let Some((at, _)) = most
        && let Some(statement) = represent(survey, mentions, *at)
    {
        section.say(statement.says(&format!(
            "{} of {} with functions are reached by name from a test, this one most often: from {}",
            thousands(reached as u64),
            count(testable.len(), "source file"),
            count(reach.testers[*at].len(), "test file"),
        )));
    }
    section
}

/// Whether there is nothing that could name anything: a published package often leaves its tests
/// out.
fn has_no_tests(survey: &Survey) -> bool {
    let is_test = |file: &SurveyedFile| file.role == Role::Test && file.language.is_some();
    let mut files = survey.files.iter();
    !files.any(|file| is_test(file) || file.tests().next().is_some())
}

/// Files in test folders that no grammar here reads.
fn unread_tests(survey: &Survey) -> Option<Statement> {
    let is_test = |file: &&SurveyedFile| {
        file.read
            && file.language.is_none()
            && matches!(file.role, Role::Other | Role::Tool)
            && file
                .path
                .split('/')
                .any(|part| matches!(part, "test" | "tests" | "spec"))
    };
    let files: Vec<&SurveyedFile> = survey.files.iter().filter(is_test).collect();
    let longest = files
        .iter()
        .max_by_key(|file| (file.lines, std::cmp::Reverse(&file.path)))?;
    Some(Statement::at(longest.cite_itself()?).says(&format!(
        "{} in test folders, in languages that are not read here; this is the longest",
        count(files.len(), "file"),
    )))
}

fn how_to_run(survey: &Survey) -> Section {
    let mut section = Section::new("run", "How to run them", 12, "ways");
    for (line, file) in ci_commands(survey) {
        let is_test = ["test", "tox", "nox", "check", "verify"]
            .iter()
            .any(|word| file.line(line).is_some_and(|text| text.contains(word)));
        if is_test && let Some(cited) = file.cite(line) {
            section.say(Statement::at(cited).says("run by CI"));
        }
    }
    for runner in runners(survey) {
        section
            .groups
            .extend(runner.statement(survey).map(Group::of));
    }
    let mut seen = BTreeSet::new();
    let manifests = own_manifests(survey);
    for manifest in &manifests {
        for (words, line) in ways(manifest) {
            let is_test = ["test", "verify", "check", "unit"]
                .iter()
                .any(|word| words.contains(word));
            if is_test
                && seen.insert(words.clone())
                && let Some(cited) = survey.cite(&manifest.path, line)
            {
                section.say(Statement::at(cited).says(&format!("run {words}")));
            }
        }
    }
    for manifest in manifests {
        for dependency in manifest
            .dependencies
            .iter()
            .filter(|d| is_framework(&d.name))
        {
            if dependency.role != Use::Build
                && seen.insert(dependency.name.clone())
                && let Some(cited) = survey.cite(&manifest.path, dependency.line)
            {
                let version = dependency.requirement.as_deref().unwrap_or_default();
                let version = plain(version, 30);
                let name = plain(&dependency.name, 60);
                let with = format!("with {name} {version}");
                section.say(Statement::at(cited).says(with.trim_end()));
            }
        }
    }
    section
}

/// Packages whose purpose is testing.
fn is_framework(name: &str) -> bool {
    const NAMES: [&str; 40] = [
        "pytest",
        "hypothesis",
        "tox",
        "nose",
        "coverage",
        "jest",
        "vitest",
        "mocha",
        "chai",
        "ava",
        "tap",
        "jasmine",
        "supertest",
        "sinon",
        "nyc",
        "c8",
        "cypress",
        "playwright",
        "@playwright/test",
        "proptest",
        "quickcheck",
        "insta",
        "rstest",
        "trybuild",
        "criterion",
        "divan",
        "mockall",
        "wiremock",
        "assert_cmd",
        "expect-test",
        "loom",
        "github.com/stretchr/testify",
        "github.com/onsi/ginkgo/v2",
        "github.com/google/go-cmp",
        "GTest",
        "Catch2",
        "doctest",
        "junit:junit",
        "Check",
        "ginkgo",
    ];
    let key = name.to_ascii_lowercase();
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
        || [
            "pytest-",
            "org.junit",
            "org.mockito",
            "org.assertj",
            "@testing-library/",
            "org.hamcrest",
        ]
        .iter()
        .any(|prefix| key.starts_with(prefix))
}

fn areas(with_tests: &[&SurveyedFile]) -> Section {
    let title = "Where they are, and what they are called";
    let mut section = Section::new("areas", title, 24, "areas");
    let mut by_area: BTreeMap<&str, Vec<&SurveyedFile>> = BTreeMap::new();
    for file in with_tests {
        by_area.entry(file.folder()).or_default().push(file);
    }
    let tests = |files: &[&SurveyedFile]| files.iter().map(|f| f.tests().count()).sum::<usize>();
    let mut areas: Vec<_> = by_area.into_iter().collect();
    areas.sort_by_key(|(folder, files)| (std::cmp::Reverse(tests(files)), *folder));
    for (folder, mut files) in areas {
        files.sort_by_key(|file| (std::cmp::Reverse(file.tests().count()), &file.path));
        let folder = if folder.is_empty() { "." } else { folder };
        let area = format!(
            "{}/: {} in {}",
            plain(folder, 90),
            count(tests(&files), "test"),
            count(files.len(), "file")
        );
        let mut lines = files.iter().filter_map(|file| {
            let tests: Vec<&Symbol> = file.tests().collect();
            let test = tests.get(tests.len() / 2)?;
            let cited = file.cite_briefly(test.line, 80)?;
            Some((Statement::at(cited), count(tests.len(), "test")))
        });
        let Some((first, _)) = lines.next() else {
            continue;
        };
        let lines = lines.map(|(line, tests)| line.says(&format!("one of {tests}")));
        section.say_with(first.says(&area), lines.collect());
    }
    section
}

/// Every test, as far as the page has room left: of the parts that were asked for, or where a tree
/// has few.
fn by_name(survey: &Survey, with_tests: &[&SurveyedFile]) -> Section {
    let mut section = Section::new("names", "All tests by name", 1, "files");
    section.lines_at_first = 0;
    let all: usize = with_tests.iter().map(|file| file.tests().count()).sum();
    if survey.scope.is_empty() && survey.focus.is_empty() && all > FEW_TESTS {
        return section;
    }
    for file in with_tests {
        let mut lines = file
            .tests()
            .filter_map(|test| Some(Statement::at(file.cite_briefly(test.line, 80)?)));
        let tests = file.tests().count();
        let total = count(tests, "test");
        if tests > 1
            && let Some(head) = lines.next()
        {
            section.say_with(head.says(&format!("first of {total}")), lines.collect());
        }
    }
    section
}

fn most_tested(survey: &Survey, reach: &Reach) -> Section {
    let title = "What tests name most";
    let mut section = Section::new("most-tested", title, 14, "declarations");
    let mut ranked: Vec<(usize, usize, u32)> = reach
        .named
        .iter()
        .map(|((at, line), files)| (files.len(), *at, *line))
        .filter(|(files, at, _)| *files >= 2 && survey.is_in_focus(*at))
        .collect();
    ranked.sort_by_key(|(files, at, line)| (std::cmp::Reverse(*files), *at, *line));
    for (files, at, line) in ranked {
        let file = &survey.files[at];
        let first = reach.named[&(at, line)].iter().next();
        let used = first.and_then(|(test, line)| survey.files[*test].cite_briefly(*line, 50));
        if let (Some(cited), Some(used)) = (file.cite_briefly(line, 60), used) {
            let statement = Statement::at(cited).says(&format!("in {}", count(files, "test file")));
            section.say(statement.shown_by(", as in", Some(used)));
        }
    }
    section
}

fn by_part(survey: &Survey, reach: &Reach, mentions: &Mentions<'_>, modules: &[Module]) -> Section {
    let title = "Public declarations that tests name, by part";
    let mut section = Section::new("by-part", title, 22, "parts");
    if has_no_tests(survey) {
        return section;
    }
    let of_file = module_of_file(modules, survey.files.len());
    let mut tally = vec![(0_usize, Vec::new()); modules.len()];
    for (at, file) in survey.files.iter().enumerate() {
        let Some(module) = of_file[at].filter(|_| survey.is_in_focus(at)) else {
            continue;
        };
        for symbol in file
            .outline
            .symbols
            .iter()
            .filter(|symbol| is_public_code(symbol))
        {
            if reach.is_named(at, symbol.line) {
                tally[module].0 += 1;
            } else {
                tally[module].1.push((at, symbol));
            }
        }
    }
    let mut order: Vec<usize> = (0..modules.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(modules[*at].lines), *at));
    for module in order {
        let (named, unnamed) = &tally[module];
        let total = named + unnamed.len();
        let longest = unnamed.iter().max_by_key(|(at, symbol)| {
            (
                symbol.last_line.saturating_sub(symbol.line),
                std::cmp::Reverse((*at, symbol.line)),
            )
        });
        // The place names a part of one file already.
        let name = match modules[module].files.len() {
            1 => String::new(),
            _ => format!("{}: ", plain(&modules[module].name, 80)),
        };
        let statement = match longest {
            Some((at, symbol)) => {
                let cited = survey.files[*at].cite_briefly(symbol.line, 60);
                cited.map(|cited| {
                    Statement::at(cited).says(&format!(
                        "{name}{named} of {total}; this is the longest that none names"
                    ))
                })
            }
            None if total > 0 => represent(survey, mentions, modules[module].files[0])
                .map(|statement| statement.says(&format!("{name}all {total}"))),
            None => None,
        };
        section.groups.extend(statement.map(Group::of));
    }
    section
}

fn is_public_code(symbol: &Symbol) -> bool {
    symbol.public
        && !symbol.test
        && symbol.container.is_none()
        && matches!(
            symbol.kind,
            SymbolKind::Function | SymbolKind::Type | SymbolKind::Interface | SymbolKind::Macro
        )
}

fn never_named(survey: &Survey, reach: &Reach, mentions: &Mentions<'_>) -> Section {
    let title = "Code that no test reaches by name (it may still run under one)";
    let mut section = Section::new("unreached", title, 20, "files");
    if has_no_tests(survey) {
        return section;
    }
    let mut ranked: Vec<(u64, usize, usize, &SurveyedFile)> = testable(survey)
        .filter(|(at, _)| !reach.is_reached(*at))
        .map(|(at, file)| {
            let users = mentions.of_file(at, file).len();
            let weight = u64::from(file.lines) * (2 + users as u64);
            (weight, users, at, file)
        })
        .collect();
    ranked.sort_by_key(|(weight, .., file)| (std::cmp::Reverse(*weight), &file.path));
    for (_, users, at, file) in ranked {
        let main = main_declaration(survey, mentions, &[at]);
        let statement = match main {
            Some((_, symbol)) => declared(file, symbol),
            None => represent(survey, mentions, at),
        };
        section.groups.extend(statement.map(|statement| {
            Group::of(statement.says(&format!(
                "{}, named by {}",
                count(file.lines as usize, "line"),
                count(users, "other file"),
            )))
        }));
    }
    section
}
