//! `api`: what the tree offers to code outside of it, to HTTP clients, and on the command line.

use std::{borrow::Cow, collections::BTreeSet};

use callosum_search::{
    language::Language,
    outline::{Symbol, SymbolKind},
};

use super::{
    identity,
    phrase::{about_symbol, count, list, said},
};
use crate::scout::{
    citation::plain,
    mentions::Mentions,
    page::{Page, Section},
    role::{self, Role},
    surface::{Facade, facades, methods_of},
    survey::{Survey, file::SurveyedFile},
};

/// The page of what is offered.
pub(super) fn page(survey: &Survey) -> Page {
    let mentions = Mentions::of(survey);
    let mut facades = facades(survey);
    // What answers a request is told with its route.
    for facade in &mut facades {
        facade
            .symbols
            .retain(|(at, symbol)| !is_handler(&survey.files[*at], symbol));
    }
    facades.retain(|facade| !facade.symbols.is_empty());
    Page {
        head: Vec::new(),
        sections: vec![
            offered(survey, &mentions, &facades),
            routes(survey),
            commands(survey),
            inside(survey, &mentions, &facades),
            methods(survey, &facades),
        ],
    }
}

fn is_handler(file: &SurveyedFile, symbol: &Symbol) -> bool {
    let mut routes = file.outline.routes.iter();
    routes.any(|route| route.handler.as_ref() == Some(&symbol.name))
}

fn offered(survey: &Survey, mentions: &Mentions<'_>, facades: &[Facade<'_>]) -> Section {
    let symbols: usize = facades.iter().map(|facade| facade.symbols.len()).sum();
    let title = format!(
        "Offered to other code: {} in {}",
        count(symbols, "declaration"),
        count(facades.len(), "module")
    );
    let mut section = Section::new(title, 70, "modules");
    section.lines_at_first = 4;
    let mut order: Vec<&Facade<'_>> = facades.iter().collect();
    order.sort_by_key(|facade| {
        let users: BTreeSet<usize> = facade
            .symbols
            .iter()
            .flat_map(|(at, symbol)| mentions.of_symbol(*at, symbol))
            .collect();
        (
            !facade.is_root,
            std::cmp::Reverse(users.len()),
            facade.name.clone(),
        )
    });
    for facade in order {
        let file = &survey.files[facade.file];
        let about = match facade.module {
            Some(module) => file
                .cite_symbol(module, 60)
                .map(|cited| format!("{cited}{}", about_symbol(module, 100))),
            None => file.about.as_ref().and_then(|note| said(file, note)),
        };
        let lines = declarations(survey, mentions, &facade.symbols);
        let (head, lines) = module(&facade.name, about, lines);
        section.say_with(head, lines);
    }
    section
}

/// A module's name, and what it says of itself or else the first of its declarations; with the
/// declarations that are left.
fn module(name: &str, about: Option<String>, mut lines: Vec<String>) -> (String, Vec<String>) {
    let total = count(lines.len(), "declaration");
    let about = match about {
        None if !lines.is_empty() => Some(lines.remove(0)),
        about => about,
    };
    let about = about.map(|about| format!(": {about}")).unwrap_or_default();
    (format!("{} ({total}){about}", plain(name, 90)), lines)
}

/// What the methods of the types are for, as far as the page has room left.
fn methods(survey: &Survey, facades: &[Facade<'_>]) -> Section {
    let mut section = Section::new("Methods", 1, "types");
    section.lines_at_first = 0;
    let offered: Vec<(usize, &Symbol)> = match facades {
        [] => parts(survey).flat_map(|(_, symbols)| symbols).collect(),
        facades => facades.iter().flat_map(|f| f.symbols.clone()).collect(),
    };
    for (at, symbol) in offered {
        let file = &survey.files[at];
        let methods = methods_of(file, symbol).into_iter();
        let mut lines: Vec<String> = methods
            .filter_map(|method| {
                let cited = file.cite_briefly(method.line, 60)?;
                Some(format!("{cited}{}", about_symbol(method, 90)))
            })
            .collect();
        if lines.is_empty() {
            continue;
        }
        let of = plain(&full_name(file, symbol), 60);
        let total = count(lines.len(), "method");
        let head = format!("{of} ({total}): {}", lines.remove(0));
        section.say_with(head, lines);
    }
    section
}

/// One line for each declaration: those that the README's examples use first, in their order, then those
/// that most files name.
fn declarations(
    survey: &Survey,
    mentions: &Mentions<'_>,
    symbols: &[(usize, &Symbol)],
) -> Vec<String> {
    let readme = identity::readme(survey);
    let exemplified = |symbol: &Symbol| {
        let line = readme.and_then(|readme| readme.exemplified.get(symbol.name.as_str()));
        line.copied().unwrap_or(u32::MAX)
    };
    let mut ranked: Vec<&(usize, &Symbol)> = symbols.iter().collect();
    ranked.sort_by_key(|(at, symbol)| {
        let kind = match symbol.kind {
            SymbolKind::Constant => 1,
            _ => 0,
        };
        (
            exemplified(symbol),
            kind,
            std::cmp::Reverse(mentions.of_symbol(*at, symbol).count()),
            symbol.about.is_none(),
            *at,
            symbol.line,
        )
    });
    ranked
        .into_iter()
        .filter_map(|(at, symbol)| {
            let file = &survey.files[*at];
            let mut cited = file.cite_symbol(symbol, 88)?;
            let name = full_name(file, symbol);
            if *name != symbol.name {
                cited = format!("{} in {cited}", plain(&name, 60));
            }
            let mut names: Vec<&str> = methods_of(file, symbol)
                .into_iter()
                .map(|method| method.name.as_str())
                .collect();
            let mut seen = BTreeSet::new();
            names.retain(|name| seen.insert(*name));
            let methods = if names.is_empty() {
                String::new()
            } else {
                format!("; has {}", plain(&list(&names, 6), 110))
            };
            Some(format!("{cited}{}{methods}", about_symbol(symbol, 100)))
        })
        .collect()
}

/// A declaration's name, in Rust behind the modules with a body that it stands in.
fn full_name<'s>(file: &SurveyedFile, symbol: &'s Symbol) -> Cow<'s, str> {
    match &symbol.module {
        Some(module) if file.language == Some(Language::Rust) => {
            format!("{module}::{}", symbol.name).into()
        }
        _ => symbol.name.as_str().into(),
    }
}

fn routes(survey: &Survey) -> Section {
    let mut section = Section::new("HTTP routes", 25, "routes");
    for file in own_files(survey) {
        for route in &file.outline.routes {
            let handler = route
                .handler
                .as_ref()
                .map(|handler| format!(" → {}", plain(handler, 60)))
                .unwrap_or_default();
            if let Some(cited) = file.cite_briefly(route.line, 60) {
                section.say(format!(
                    "{} {}{handler}: {cited}",
                    plain(&route.method, 12),
                    plain(&route.path, 80)
                ));
            }
        }
    }
    section
}

fn commands(survey: &Survey) -> Section {
    let mut section = Section::new("Command line", 25, "files");
    let manifests = survey.manifests.iter();
    for manifest in manifests.filter(|manifest| !role::is_for_tests(manifest.folder())) {
        for program in &manifest.programs {
            if let Some(cited) = survey.cite(&manifest.path, program.line) {
                section.say(format!("program {}: {cited}", plain(&program.name, 60)));
            }
        }
    }
    let mut files: Vec<&SurveyedFile> = own_files(survey)
        .filter(|file| !file.outline.commands.is_empty())
        .collect();
    files.sort_by_key(|file| {
        (
            file.role,
            std::cmp::Reverse(file.outline.commands.len()),
            &file.path,
        )
    });
    for file in files {
        let mut told: BTreeSet<(&str, u32)> = BTreeSet::new();
        let lines: Vec<String> = file
            .outline
            .commands
            .iter()
            .filter(|command| told.insert((&command.name, command.line)))
            .filter_map(|command| {
                let about = command
                    .about
                    .as_ref()
                    .map(|about| format!(": {}", plain(about, 90)))
                    .unwrap_or_default();
                let cited = file.cite_briefly(command.line, 40)?;
                Some(format!("{}{about} {cited}", plain(&command.name, 50)))
            })
            .collect();
        let Some(begins) = file.cite_itself() else {
            continue;
        };
        section.say_with(
            format!(
                "{begins} defines {}",
                match lines.len() {
                    1 => "1 command or flag".to_owned(),
                    more => format!("{more} commands and flags"),
                }
            ),
            lines,
        );
    }
    section
}

fn own_files(survey: &Survey) -> impl Iterator<Item = &SurveyedFile> {
    survey
        .files
        .iter()
        .filter(|file| matches!(file.role, Role::Source | Role::Tool))
}

/// Where nothing is offered to other code, as in a program, what its own parts offer each other;
/// where only parts were read, what those make public, whoever may reach it.
fn inside(survey: &Survey, mentions: &Mentions<'_>, facades: &[Facade<'_>]) -> Section {
    let title = match survey.scope.as_slice() {
        [] => "Nothing is offered to other code; what the parts offer each other",
        _ => {
            "Public declarations here; who else may reach them is decided in files that were not read"
        }
    };
    let mut section = Section::new(title, 70, "files");
    if !facades.is_empty() {
        return section;
    }
    let mut files: Vec<_> = parts(survey)
        .map(|(at, symbols)| {
            let file = &survey.files[at];
            (mentions.of_file(at, file).len(), at, file, symbols)
        })
        .collect();
    files.sort_by_key(|(users, at, ..)| (std::cmp::Reverse(*users), *at));
    for (_, _, file, symbols) in files {
        let about = file.about.as_ref().and_then(|note| said(file, note));
        let lines = declarations(survey, mentions, &symbols);
        let (head, lines) = module(&file.path, about, lines);
        section.say_with(head, lines);
    }
    section
}

/// The source files that make something public, and what.
fn parts(survey: &Survey) -> impl Iterator<Item = (usize, Vec<(usize, &Symbol)>)> {
    let sources = survey.files.iter().enumerate();
    sources
        .filter(|(_, file)| file.is_source())
        .map(|(at, file)| {
            let symbols = file.outline.symbols.iter();
            let public = symbols
                .filter(|symbol| !symbol.test && symbol.container.is_none())
                .filter(|symbol| symbol.public || symbol.declaration.starts_with("pub"))
                .filter(|symbol| symbol.kind != SymbolKind::Module)
                .map(|symbol| (at, symbol))
                .collect::<Vec<_>>();
            (at, public)
        })
        .filter(|(_, symbols)| !symbols.is_empty())
}
