//! Where things are: the parts of a tree, with what each says it is and what others use of it.

use callosum_search::{
    language::Language,
    outline::{Symbol, SymbolKind},
};

use super::phrase::{about_symbol, said, size};
use crate::scout::{
    citation::plain,
    mentions::Mentions,
    modules::{Module, modules},
    page::Section,
    survey::{Survey, file::SurveyedFile},
};

/// As many parts as a reader keeps apart on one page.
const MOST_PARTS: usize = 22;

/// A tree of as many source files is small: what its files declare has room too.
const SMALL_TREE: usize = 24;

/// How much of what a file declares is told then.
const MOST_DECLARED: usize = 6;

/// The parts, largest first.
pub(super) fn where_things_are(survey: &Survey, mentions: &Mentions<'_>) -> Section {
    let mut section = Section::new("Where things are", 36, "parts");
    let mut parts = modules(survey, MOST_PARTS);
    parts.sort_by_key(|part| (std::cmp::Reverse(part.lines), part.name.clone()));
    section.lines_at_first = 0;
    for part in &parts {
        if let Some(statement) = describe(survey, mentions, part) {
            let mut lines = inside(survey, mentions, part);
            lines.retain(|line| !statement.contains(line.as_str()));
            section.say_with(statement, lines);
        }
    }
    section
}

/// The files of a part that others lean on most, with what they say they are. A part of few files
/// is told well enough by its head; in a small tree, what they declare is told too.
fn inside(survey: &Survey, mentions: &Mentions<'_>, part: &Module) -> Vec<String> {
    if part.files.len() < 3 {
        let sources = survey.files.iter().filter(|file| file.is_source()).count();
        return if sources <= SMALL_TREE {
            declared(survey, part)
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
        .filter_map(|(_, at)| {
            let file = &survey.files[at];
            let words = file.about.as_ref().and_then(|note| said(file, note));
            words.or_else(|| {
                let (_, symbol) = main_declaration(survey, mentions, &[at])?;
                Some(format!(
                    "{}{}",
                    file.cite_symbol(symbol, 88)?,
                    about_symbol(symbol, 80)
                ))
            })
        })
        .collect()
}

/// What the files of a part declare: the first few, those with words of their own before the others.
fn declared(survey: &Survey, part: &Module) -> Vec<String> {
    let mut symbols: Vec<(bool, usize, &Symbol)> = part
        .files
        .iter()
        .flat_map(|at| {
            let symbols = survey.files[*at].outline.symbols.iter();
            symbols.map(move |symbol| (symbol.about.is_none(), *at, symbol))
        })
        .filter(|(.., symbol)| !symbol.test && symbol.public)
        .filter(|(.., symbol)| !matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Module))
        .collect();
    symbols.sort_by_key(|(is_bare, at, symbol)| (*is_bare, *at, symbol.line));
    symbols
        .into_iter()
        .take(MOST_DECLARED)
        .filter_map(|(_, at, symbol)| {
            let cited = survey.files[at].cite_symbol(symbol, 88)?;
            Some(format!("{cited}{}", about_symbol(symbol, 80)))
        })
        .collect()
}

/// A part with what it says it is, and what it declares that others name most.
fn describe(survey: &Survey, mentions: &Mentions<'_>, part: &Module) -> Option<String> {
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
        .filter(|(_, symbol)| {
            !matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Module)
                && shown != symbol.name
        })
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
    let holds = if names.is_empty() {
        String::new()
    } else {
        format!("; most used from it: {}", plain(&names.join(", "), 90))
    };
    // The citation names a part of one file already.
    if part.files.len() == 1 {
        return Some(format!("{purpose} ({size}){holds}"));
    }
    Some(format!(
        "{} ({size}): {purpose}{holds}",
        plain(&part.name, 90)
    ))
}

/// What a part says it is, with its citation: the words of its README, its manifest, the file that
/// stands for it, else of its longest file; else its main declaration.
fn purpose(survey: &Survey, mentions: &Mentions<'_>, part: &Module) -> Option<(String, String)> {
    let folder = part.name.trim_end_matches(['*', '.']).trim_end_matches('/');
    let in_folder = |file: &&SurveyedFile| file.folder() == folder;
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
    // A Go package's documentation stands on top of whichever file its authors like.
    let speaks_for_all =
        |file: &SurveyedFile| named_for_folder(file) || file.language == Some(Language::Go);
    let own = files
        .iter()
        .copied()
        .filter(|file| speaks_for_all(file))
        .filter(|f| f.about.is_some());
    let own_words = own
        .into_iter()
        .min_by_key(|file| file.path.split('/').count());
    let only = files
        .first()
        .copied()
        .filter(|file| files.len() == 1 && file.about.is_some());
    if let Some(file) = own_words.or(only) {
        let words = file.about.as_ref().and_then(|note| said(file, note));
        if let Some(words) = words {
            return Some((words, String::new()));
        }
    }
    let readme =
        survey.files.iter().filter(in_folder).find(|file| {
            file.name().to_ascii_lowercase().starts_with("readme") && !folder.is_empty()
        });
    if let Some(words) = readme.and_then(|file| said(file, file.about.as_ref()?)) {
        return Some((words, String::new()));
    }
    let main = main_declaration(survey, mentions, &part.files);
    main.and_then(|(at, symbol)| {
        let cited = survey.files[at].cite_symbol(symbol, 88)?;
        Some((
            format!("{cited}{}", about_symbol(symbol, 90)),
            symbol.name.clone(),
        ))
    })
}

/// The declaration of some files that most others name, types before functions; else the main one
/// of the longest file.
pub(super) fn main_declaration<'s>(
    survey: &'s Survey,
    mentions: &Mentions<'_>,
    files: &[usize],
) -> Option<(usize, &'s Symbol)> {
    let symbols = files.iter().flat_map(|at| {
        let symbols = survey.files[*at].outline.symbols.iter();
        symbols.map(move |symbol| (*at, symbol))
    });
    let most_named = symbols
        .filter(|(_, symbol)| symbol.container.is_none() && !symbol.test)
        .filter(|(_, symbol)| !matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Module))
        .map(|(at, symbol)| {
            let is_type = matches!(symbol.kind, SymbolKind::Type | SymbolKind::Interface);
            let weight = match symbol.kind {
                _ if is_type => 6,
                SymbolKind::Macro => 1,
                _ => 2,
            };
            let named = mentions.of_symbol(at, symbol).count() * weight;
            (named, at, symbol)
        })
        .filter(|(named, ..)| *named > 0)
        .max_by_key(|(named, at, symbol)| (*named, std::cmp::Reverse((*at, symbol.line))));
    most_named.map(|(_, at, symbol)| (at, symbol)).or_else(|| {
        let longest = files.iter().max_by_key(|at| survey.files[**at].lines)?;
        Some((*longest, survey.files[*longest].main_symbol()?))
    })
}
