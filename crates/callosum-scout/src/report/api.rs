//! `api`: interface of the tree for code outside of it, for HTTP clients, and on the command line.

use std::{borrow::Cow, collections::BTreeSet};

use callosum_source::{
    language::Language,
    outline::{Symbol, SymbolKind},
};

use super::{
    identity,
    plural::{Names, about_symbol, count, declared, note_statement},
};
use crate::{
    citation::{plain, sentence},
    exports::{ReExport, methods_of},
    file_role::{self, Role},
    public_api::{Facade, Surface, surface},
    references::Mentions,
    report_layout::{Group, Page, Section, Statement},
    survey::{Survey, file::SurveyedFile},
};

/// Returns the page of the interface.
pub(super) fn page(survey: &Survey, names: Names) -> Page {
    let mentions = Mentions::of(survey);
    let mut surface = surface(survey);
    // Request handlers are listed with their routes.
    for facade in &mut surface.facades {
        facade
            .symbols
            .retain(|(at, symbol)| !is_handler(&survey.files[*at], symbol));
    }
    surface
        .facades
        .retain(|facade| !facade.symbols.is_empty() || !facade.passed.is_empty());
    let facades = &surface.facades;
    Page {
        head: Vec::new(),
        sections: vec![
            offered(survey, &mentions, facades, names),
            macros(survey),
            routes(survey),
            commands(survey),
            inside(survey, &mentions, facades, names),
            methods(survey, &mentions, facades),
            internal(survey, &mentions, &surface),
        ],
    }
}

fn is_handler(file: &SurveyedFile, symbol: &Symbol) -> bool {
    let mut routes = file.outline.routes.iter();
    routes.any(|route| route.handler.as_ref() == Some(&symbol.name))
}

fn offered(
    survey: &Survey,
    mentions: &Mentions<'_>,
    facades: &[Facade<'_>],
    names: Names,
) -> Section {
    let symbols: usize = facades.iter().map(|facade| facade.symbols.len()).sum();
    let passed = facades.iter().flat_map(|facade| &facade.passed);
    let passed: usize = passed.map(|passed| passed.names.len()).sum();
    let re_exports = match passed {
        0 => String::new(),
        more => format!(" and {}", count(more, "re-export")),
    };
    let title = format!(
        "Offered to other code: {}{re_exports} in {}",
        count(symbols, "declaration"),
        count(facades.len(), "module")
    );
    let mut section = Section::new("offered", title, 70, "modules");
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
            Some(module) => declared(file, module),
            None => file
                .about
                .as_ref()
                .and_then(|note| note_statement(file, note)),
        };
        let mut lines = declarations(survey, mentions, &facade.symbols, names);
        let size = count(lines.len(), "declaration");
        let passed = facade.passed.iter();
        let passed = passed.filter_map(|passed| re_exported(survey, passed));
        // Behind the first declarations: a long list would hide them.
        let behind = lines.len().min(2);
        lines.splice(behind..behind, passed);
        section
            .groups
            .extend(module(&facade.name, &size, about, lines));
    }
    section
}

/// States the names that a facade re-exports and the tree does not declare.
fn re_exported(survey: &Survey, passed: &ReExport<'_>) -> Option<Statement> {
    let cited = survey.files[passed.file].cite_briefly(passed.line, 60)?;
    let names = plain(&passed.names.join(", "), 400);
    let is_rust = survey.files[passed.file].language == Some(Language::Rust);
    Some(Statement::at(cited).says(&match passed.package {
        Some(package) => format!("re-exports {names} of {}", plain(package, 60)),
        None if is_rust => {
            format!("re-exports {names}; the declaration was not found, a macro may hold it")
        }
        None => format!("re-exports {names}; the declaration was not found"),
    }))
}

/// Lists a module's name and size with its description of itself, else with the first of its
/// declarations; under it the declarations that are left.
fn module(
    name: &str,
    size: &str,
    about: Option<Statement>,
    lines: Vec<Statement>,
) -> Option<Group> {
    let mut lines = lines.into_iter();
    let head = about.or_else(|| lines.next())?;
    let says = format!("{}, {size}", plain(name, 90));
    Some(Group {
        head: head.led_by(&says),
        lines: lines.collect(),
    })
}

/// Lists the files with declarations by macros, whose names are in no outline.
fn macros(survey: &Survey) -> Section {
    let title = "Declared by macros: not listed";
    let mut section = Section::new("macros", title, 6, "files");
    let sources = || survey.files.iter().filter(|file| file.is_source());
    let declaring: BTreeSet<&str> = sources()
        .flat_map(|file| &file.declaring_macros)
        .map(AsRef::as_ref)
        .chain(["bitflags", "lazy_static"])
        .collect();
    for file in sources() {
        let calls = file.macro_calls.iter();
        let calls: Vec<_> = calls
            .filter(|call| declaring.contains(&*call.name))
            .collect();
        let Some(cited) = calls.first().and_then(|call| file.cite(call.line)) else {
            continue;
        };
        let names: BTreeSet<&str> = calls.iter().map(|call| &*call.name).collect();
        let names: Vec<String> = names.iter().map(|name| format!("{name}!")).collect();
        section.say(Statement::at(cited).says(&format!(
            "{} of {}",
            count(calls.len(), "call"),
            plain(&names.join(", "), 120)
        )));
    }
    section
}

/// The modules that the packages' entries do not lead to, most used first.
fn internal(survey: &Survey, mentions: &Mentions<'_>, surface: &Surface<'_>) -> Section {
    let title = "Internal modules: not reached from a package's entry";
    let mut section = Section::new("internal", title, 3, "modules");
    let mut files: Vec<(usize, usize)> = surface
        .internal
        .iter()
        .map(|at| (mentions.of_file(*at, &survey.files[*at]).len(), *at))
        .collect();
    files.sort_by_key(|(users, at)| (std::cmp::Reverse(*users), *at));
    for (_, at) in files {
        let statement = super::modules::represent(survey, mentions, at);
        section.groups.extend(statement.map(Group::of));
    }
    section
}

/// Lists the purposes of types' methods, as far as the page has room left.
fn methods(survey: &Survey, mentions: &Mentions<'_>, facades: &[Facade<'_>]) -> Section {
    let mut section = Section::new("methods", "Methods", 1, "types");
    section.lines_at_first = 0;
    let offered: Vec<(usize, &Symbol)> = match facades {
        [] => parts(survey).flat_map(|(_, symbols)| symbols).collect(),
        facades => facades.iter().flat_map(|f| f.symbols.clone()).collect(),
    };
    for (at, symbol) in offered {
        let file = &survey.files[at];
        let methods = by_use(survey, mentions, methods_of(file, symbol));
        let total = count(methods.len(), "method");
        let mut lines = methods.into_iter().filter_map(|method| {
            let cited = file.cite_briefly(method.line, 60)?;
            Some(Statement::at(cited).described(about_symbol(method)))
        });
        let of = plain(&full_name(file, symbol), 60);
        if let Some(head) = lines.next() {
            section.say_with(head.says(&format!("{of}; {total}")), lines.collect());
        }
    }
    section
}

/// Methods, those of the README's examples first, then those that most files mention.
fn by_use<'s>(
    survey: &Survey,
    mentions: &Mentions<'_>,
    mut methods: Vec<&'s Symbol>,
) -> Vec<&'s Symbol> {
    let readme = identity::readme(survey);
    methods.sort_by_key(|method| {
        let shown = readme.and_then(|readme| readme.exemplified.get(method.name.as_str()));
        (
            shown.copied().unwrap_or(u32::MAX),
            std::cmp::Reverse(mentions.of_method(&method.name)),
            method.line,
        )
    });
    methods
}

/// One line for each declaration: those that the README's examples use first, in their order, then those
/// that most files name.
fn declarations(
    survey: &Survey,
    mentions: &Mentions<'_>,
    symbols: &[(usize, &Symbol)],
    most: Names,
) -> Vec<Statement> {
    let readme = identity::readme(survey);
    let exemplified = |symbol: &Symbol| {
        let line = readme.and_then(|readme| readme.exemplified.get(symbol.name.as_str()));
        line.copied().unwrap_or(u32::MAX)
    };
    let mut ranked: Vec<&(usize, &Symbol)> = symbols.iter().collect();
    ranked.sort_by_key(|(at, symbol)| {
        let named = mentions.of_symbol(*at, symbol).count();
        let kind = match symbol.kind {
            SymbolKind::Constant if named == 0 => 1,
            _ => 0,
        };
        (
            exemplified(symbol),
            kind,
            std::cmp::Reverse(named),
            symbol.about.is_none(),
            *at,
            symbol.line,
        )
    });
    ranked
        .into_iter()
        .filter_map(|(at, symbol)| {
            let file = &survey.files[*at];
            let mut statement = declared(file, symbol)?;
            let name = full_name(file, symbol);
            if *name != symbol.name {
                statement.words = plain(&name, 60);
            }
            let methods = by_use(survey, mentions, methods_of(file, symbol));
            let mut names: Vec<&str> = methods.iter().map(|m| m.name.as_str()).collect();
            let mut seen = BTreeSet::new();
            names.retain(|name| seen.insert(*name));
            if !names.is_empty() {
                let longest = if most == Names::All { 8192 } else { 400 };
                let names = plain(&most.list(&names, 10), longest);
                statement = statement.says(&format!("has {names}"));
            }
            Some(statement)
        })
        .collect()
}

/// Returns a declaration's name; in Rust after the names of the modules with a body around it.
fn full_name<'s>(file: &SurveyedFile, symbol: &'s Symbol) -> Cow<'s, str> {
    match &symbol.module {
        Some(module) if file.language == Some(Language::Rust) => {
            format!("{module}::{}", symbol.name).into()
        }
        _ => symbol.name.as_str().into(),
    }
}

fn routes(survey: &Survey) -> Section {
    let mut section = Section::new("routes", "HTTP routes", 25, "routes");
    for file in own_files(survey) {
        for route in &file.outline.routes {
            let handler = route
                .handler
                .as_ref()
                .map(|handler| format!(" → {}", plain(handler, 60)))
                .unwrap_or_default();
            if let Some(cited) = file.cite_briefly(route.line, 60) {
                section.say(Statement::at(cited).says(&format!(
                    "{} {}{handler}",
                    plain(&route.method, 12),
                    plain(&route.path, 80)
                )));
            }
        }
    }
    section
}

fn commands(survey: &Survey) -> Section {
    let mut section = Section::new("commands", "Command line", 25, "files");
    let manifests = survey.manifests.iter();
    for manifest in manifests.filter(|manifest| !file_role::is_aside(manifest.folder())) {
        for program in &manifest.programs {
            if let Some(cited) = survey.cite(&manifest.path, program.line) {
                let words = format!("program {}", plain(&program.name, 60));
                section.say(Statement::at(cited).says(&words));
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
        let mut seen: BTreeSet<(&str, u32)> = BTreeSet::new();
        let lines: Vec<Statement> = file
            .outline
            .commands
            .iter()
            .filter(|command| seen.insert((&command.name, command.line)))
            .filter_map(|command| {
                let about = command.about.as_deref().map(sentence);
                let cited = file.cite_briefly(command.line, 40)?;
                let statement = Statement::at(cited).says(&plain(&command.name, 50));
                Some(statement.described(about.unwrap_or_default()))
            })
            .collect();
        let Some(begins) = file.cite_itself() else {
            continue;
        };
        section.say_with(
            Statement::at(begins).says(&match lines.len() {
                1 => "defines 1 command or flag".to_owned(),
                more => format!("defines {more} commands and flags"),
            }),
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

/// Lists the internal interface: in a program, the declarations that its parts use from each other;
/// if only parts were read, what those make public, for any user.
fn inside(
    survey: &Survey,
    mentions: &Mentions<'_>,
    facades: &[Facade<'_>],
    names: Names,
) -> Section {
    let title = match survey.scope.as_slice() {
        [] => "Nothing is offered to other code; what the parts offer each other",
        _ => {
            "Public declarations here; who else may reach them is decided in files that were not read"
        }
    };
    let mut section = Section::new("inside", title, 70, "files");
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
        let about = file
            .about
            .as_ref()
            .and_then(|note| note_statement(file, note));
        let size = count(symbols.len(), "declaration");
        let lines = declarations(survey, mentions, &symbols, names);
        section
            .groups
            .extend(module(&file.path, &size, about, lines));
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
