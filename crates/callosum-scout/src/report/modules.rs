//! Layout: the parts of a tree, with each one's description and the declarations that other parts
//! use.

use callosum_source::{
    language::Language,
    outline::{Symbol, SymbolKind},
};

use super::{
    identity,
    plural::{declared, list, note_statement, size},
};
use crate::{
    citation::plain,
    modules::{Module, modules},
    references::Mentions,
    report_layout::{Section, Statement},
    survey::{Survey, file::SurveyedFile},
};

/// As many parts as a reader keeps apart on one page.
const MOST_PARTS: usize = 22;

/// A tree of as many source files is small: what its files declare has room too.
const SMALL_TREE: usize = 24;

/// The parts, largest first.
pub(super) fn where_things_are(survey: &Survey, mentions: &Mentions<'_>) -> Section {
    let mut section = Section::new("where", "Where things are", 36, "parts");
    let mut parts = modules(survey, MOST_PARTS);
    parts.sort_by_key(|part| (std::cmp::Reverse(part.lines), part.name.clone()));
    section.lines_at_first = 0;
    for part in &parts {
        if let Some(statement) = describe(survey, mentions, part) {
            section.say_with(statement, inside(survey, mentions, part));
        }
    }
    section
}

/// Lists the files of a part that other files use most, with their descriptions. The head of a part
/// is enough if it has few files; in a small tree, it also lists their declarations.
fn inside(survey: &Survey, mentions: &Mentions<'_>, part: &Module) -> Vec<Statement> {
    if part.files.len() < 3 {
        let sources = survey.files.iter().filter(|file| file.is_source()).count();
        return if sources <= SMALL_TREE {
            declared_in(survey, mentions, part)
        } else {
            Vec::new()
        };
    }
    let users = |at: usize| mentions.of_file(at, &survey.files[at]);
    let mut files: Vec<(usize, usize)> = part
        .files
        .iter()
        .map(|at| (users(*at).len(), *at))
        .collect();
    files.sort_by_key(|(users, at)| {
        (
            std::cmp::Reverse(*users),
            std::cmp::Reverse(survey.files[*at].lines),
            *at,
        )
    });
    files
        .into_iter()
        .filter_map(|(_, at)| represent(survey, mentions, at))
        .collect()
}

/// Lists the declarations of a part, most used first.
fn declared_in(survey: &Survey, mentions: &Mentions<'_>, part: &Module) -> Vec<Statement> {
    let readme = identity::readme(survey);
    let mut symbols: Vec<(usize, &Symbol)> = part
        .files
        .iter()
        .flat_map(|at| {
            let symbols = survey.files[*at].outline.symbols.iter();
            symbols.map(move |symbol| (*at, symbol))
        })
        .filter(|(_, symbol)| !symbol.test && symbol.public && !symbol.name.starts_with("__"))
        .filter(|(_, symbol)| !matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Module))
        .collect();
    symbols.sort_by_key(|(at, symbol)| {
        let shown = readme.and_then(|readme| readme.exemplified.get(symbol.name.as_str()));
        let used = match symbol.container {
            Some(_) => mentions.of_method(&symbol.name),
            None => mentions.of_symbol(*at, symbol).count(),
        };
        (
            symbol.container.is_some(),
            shown.copied().unwrap_or(u32::MAX),
            std::cmp::Reverse(used),
            symbol.about.is_none(),
            *at,
            symbol.line,
        )
    });
    symbols
        .into_iter()
        .filter_map(|(at, symbol)| declared(&survey.files[at], symbol))
        .collect()
}

/// Describes a part, with its declarations that other parts name most.
fn describe(survey: &Survey, mentions: &Mentions<'_>, part: &Module) -> Option<Statement> {
    let size = size(part);
    let (purpose, shown) = purpose(survey, mentions, part)?;
    let mut names: Vec<(usize, u32, &str)> = part
        .files
        .iter()
        .flat_map(|at| {
            let symbols = survey.files[*at].outline.symbols.iter();
            symbols.map(move |symbol| (*at, symbol))
        })
        .filter(|(_, symbol)| symbol.container.is_none() && !symbol.test)
        .filter(|(_, symbol)| symbol.kind != SymbolKind::Module && shown != symbol.name)
        .filter(|(_, symbol)| is_offered(symbol))
        .map(|(at, symbol)| {
            (
                mentions.of_symbol(at, symbol).count(),
                symbol.line,
                symbol.name.as_str(),
            )
        })
        .filter(|(named, ..)| *named > 0)
        .collect();
    names.sort_by_key(|(named, line, name)| (std::cmp::Reverse(*named), *line, *name));
    names.dedup_by_key(|(_, _, name)| *name);
    let names: Vec<&str> = names.into_iter().map(|(_, _, name)| name).take(4).collect();
    let mut words = if part.files.len() == 1 {
        // The place names a part of one file already.
        size
    } else {
        format!("{} ({size})", plain(&part.name, 90))
    };
    if !names.is_empty() {
        words = format!("{words}; most used: {}", plain(&names.join(", "), 400));
    }
    Some(purpose.says(&words))
}

/// Returns the description of a part with its place: from the main file of its folder, its README or
/// its only file; else its most used declaration, with the name of it.
fn purpose(survey: &Survey, mentions: &Mentions<'_>, part: &Module) -> Option<(Statement, String)> {
    let folder = part.name.trim_end_matches(['*', '.']).trim_end_matches('/');
    let in_folder = |file: &&SurveyedFile| file.folder() == folder;
    // What a file far below says is about that file: the first crate of a hundred speaks for none.
    let is_near = |file: &SurveyedFile| {
        let below = file.folder().strip_prefix(folder).unwrap_or("..");
        let below = below.trim_start_matches('/');
        let is_beside = file
            .path
            .rsplit_once('.')
            .is_some_and(|(stem, _)| stem == folder);
        is_beside || below.is_empty() || below == "src"
    };
    let named_for_folder = |file: &SurveyedFile| {
        let stem = file.name().split('.').next().unwrap_or_default();
        matches!(
            stem,
            "mod" | "lib" | "main" | "index" | "__init__" | "package-info" | "doc"
        ) || file
            .path
            .rsplit_once('.')
            .is_some_and(|(stem, _)| stem == folder)
            || Some(stem) == folder.rsplit('/').next()
    };
    let files: Vec<&SurveyedFile> = part.files.iter().map(|at| &survey.files[*at]).collect();
    if let [only] = part.files.as_slice() {
        let main = main_declaration(survey, mentions, &[*only]);
        let name = match &survey.files[*only].about {
            None => main.map(|(_, symbol)| symbol.name.clone()),
            Some(_) => None,
        };
        return Some((
            represent(survey, mentions, *only)?,
            name.unwrap_or_default(),
        ));
    }
    // A Go package's documentation may be at the top of any of its files.
    let speaks_for_all =
        |file: &SurveyedFile| named_for_folder(file) || file.language == Some(Language::Go);
    let own = files
        .iter()
        .copied()
        .filter(|file| is_near(file) && speaks_for_all(file))
        .filter(|f| f.about.is_some());
    let own_words = own.min_by_key(|file| file.path.split('/').count());
    if let Some(file) = own_words {
        let words = file
            .about
            .as_ref()
            .and_then(|note| note_statement(file, note));
        if let Some(words) = words {
            return Some((words, String::new()));
        }
    }
    let readme =
        survey.files.iter().filter(in_folder).find(|file| {
            file.name().to_ascii_lowercase().starts_with("readme") && !folder.is_empty()
        });
    if let Some(words) = readme.and_then(|file| note_statement(file, file.about.as_ref()?)) {
        return Some((words, String::new()));
    }
    if let Some((at, symbol)) = main_declaration(survey, mentions, &part.files) {
        let statement = declared(&survey.files[at], symbol)?;
        return Some((statement, symbol.name.clone()));
    }
    let longest = part
        .files
        .iter()
        .max_by_key(|at| survey.files[**at].lines)?;
    Some((represent(survey, mentions, *longest)?, String::new()))
}

/// Whether other files may use a declaration.
pub(super) fn is_offered(symbol: &Symbol) -> bool {
    symbol.public || symbol.declaration.starts_with("pub")
}

/// Whether a declaration is for other files of its own crate only: `pub(crate)`, `pub(super)`.
fn is_restricted(symbol: &Symbol) -> bool {
    symbol.declaration.starts_with("pub(")
}

/// States one fact that represents a file: its own documentation, its most used public declaration, a
/// re-export, or the start of a program; if it has nothing public, its private declarations.
pub(super) fn represent(survey: &Survey, mentions: &Mentions<'_>, at: usize) -> Option<Statement> {
    let file = &survey.files[at];
    let words = file
        .about
        .as_ref()
        .and_then(|note| note_statement(file, note));
    let main = main_declaration(survey, mentions, &[at]).map(|(_, symbol)| symbol);
    let offered = |restricted: bool| {
        let symbol = main.filter(|symbol| is_restricted(symbol) == restricted)?;
        declared(file, symbol)
    };
    let at_line = |line: Option<u32>| Some(Statement::at(file.cite_briefly(line?, 88)?));
    words
        .or_else(|| offered(false))
        .or_else(|| at_line(passed_on(survey, mentions, at).or_else(|| file.re_export())))
        .or_else(|| at_line(file.outline.entry_point))
        .or_else(|| offered(true))
        .or_else(|| kept_to_itself(mentions, at, file))
        .or_else(|| Some(Statement::at(file.cite_itself()?)))
}

/// Returns the line of a Python package that re-exports what the README shows, else what most files
/// name.
fn passed_on(survey: &Survey, mentions: &Mentions<'_>, at: usize) -> Option<u32> {
    let file = &survey.files[at];
    if file.name() != "__init__.py" {
        return None;
    }
    let readme = identity::readme(survey);
    let imports = file.outline.imports.iter();
    let names = imports.flat_map(|import| import.names.iter().map(move |name| (name, import.line)));
    let best = names.max_by_key(|(name, line)| {
        let is_shown = readme.is_some_and(|readme| readme.exemplified.contains_key(name.as_str()));
        let possible = mentions.possible(name, at);
        let named = possible.map(|(at, symbol)| mentions.of_symbol(at, symbol).count());
        let named = named.max();
        (is_shown, named, std::cmp::Reverse(*line))
    });
    best.map(|(_, line)| line)
}

/// States what a file without anything public declares: its names, most used first.
fn kept_to_itself(mentions: &Mentions<'_>, at: usize, file: &SurveyedFile) -> Option<Statement> {
    let mut symbols: Vec<&Symbol> = file
        .outline
        .symbols
        .iter()
        .filter(|symbol| symbol.container.is_none() && !symbol.test)
        .filter(|symbol| matches!(symbol.kind, SymbolKind::Function | SymbolKind::Type))
        .collect();
    symbols.sort_by_key(|symbol| {
        let length = symbol.last_line.saturating_sub(symbol.line);
        (
            std::cmp::Reverse(mentions.of_symbol(at, symbol).count()),
            std::cmp::Reverse(length),
            symbol.line,
        )
    });
    let first = symbols
        .iter()
        .find(|symbol| symbol.kind == SymbolKind::Function);
    let first = first.or(symbols.first())?;
    let names: Vec<&str> = symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    let words = match names.len() {
        1 => "private".to_owned(),
        _ => format!("nothing public; declares {}", plain(&list(&names, 5), 120)),
    };
    Some(file.declares(first, 88)?.says(&words))
}

/// The public declaration of some files that most others name, types before functions; else the
/// public one with the longest body.
pub(super) fn main_declaration<'s>(
    survey: &'s Survey,
    mentions: &Mentions<'_>,
    files: &[usize],
) -> Option<(usize, &'s Symbol)> {
    let symbols = files.iter().flat_map(|at| {
        let symbols = survey.files[*at].outline.symbols.iter();
        symbols.map(move |symbol| (*at, symbol))
    });
    let offered = symbols
        .filter(|(_, symbol)| !symbol.test && is_offered(symbol))
        .filter(|(_, symbol)| symbol.kind != SymbolKind::Module && !symbol.name.starts_with("__"));
    offered.max_by_key(|(at, symbol)| {
        let weight = match symbol.kind {
            SymbolKind::Type | SymbolKind::Interface => 6,
            SymbolKind::Macro | SymbolKind::Constant => 1,
            _ => 2,
        };
        let is_free = symbol.container.is_none();
        let named = if is_free {
            mentions.of_symbol(*at, symbol).count() * weight
        } else {
            0
        };
        let length = symbol.last_line.saturating_sub(symbol.line);
        (
            !is_restricted(symbol),
            symbol.kind != SymbolKind::Constant,
            named,
            is_free,
            weight,
            survey.files[*at].lines,
            length,
            std::cmp::Reverse((*at, symbol.line)),
        )
    })
}
