//! [`SurveyedFile`]: facts about a file, kept after its text is dropped.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use callosum_source::{
    language::Language,
    outline::{self, ImportKind, Note, Outline, Symbol, SymbolKind},
    walk::SourceFile,
};

use super::{
    document, own_state,
    unlisted::{self, MacroCall},
};
use crate::{
    citation::{self, Cited},
    file_role::{self, Role},
    report_layout::Statement,
};

/// No line is kept longer than this, in bytes: a quote is far shorter.
const LONGEST_KEPT_LINE: usize = 400;

/// Facts about a file.
#[derive(Clone, Debug)]
pub(crate) struct SurveyedFile {
    /// Path from the root.
    pub(crate) path: String,
    /// Its language, if a grammar reads it.
    pub(crate) language: Option<Language>,
    /// Its purpose.
    pub(crate) role: Role,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Number of lines; 0 if it was not read.
    pub(crate) lines: u32,
    /// Whether it was read.
    pub(crate) read: bool,
    /// Its description: of code its documentation, of a document its first sentence.
    pub(crate) about: Option<Note>,
    /// The title of a document.
    pub(crate) title: Option<Note>,
    /// Its declarations; empty if no grammar reads it.
    pub(crate) outline: Outline,
    /// Its whole text, kept only for short files that are read by other means: manifests, CI.
    pub(crate) text: Option<String>,
    /// Of Rust, what paths in the code begin with (`serde_json` of `serde_json::from_str`), each
    /// with the line of its first mention: crates are used without being imported.
    pub(crate) path_heads: BTreeMap<Box<str>, u32>,
    /// The same for paths that only tests in the same file name.
    pub(crate) test_path_heads: BTreeMap<Box<str>, u32>,
    /// Of a test file that the grammar gave up, every word with its first line: it may name
    /// anything.
    pub(crate) words: BTreeMap<Box<str>, u32>,
    /// Of a document, the names that its examples use, each with the line of its first use.
    pub(crate) exemplified: BTreeMap<Box<str>, u32>,
    /// Of Rust, the calls of macros that may declare something the outline does not see.
    pub(crate) macro_calls: Vec<MacroCall>,
    /// Of Rust, the macros whose bodies declare public items.
    pub(crate) declaring_macros: BTreeSet<Box<str>>,
    /// Lines that may be quoted, trimmed.
    quotable: BTreeMap<u32, Box<str>>,
}

impl SurveyedFile {
    /// Creates a file from its name alone.
    pub(super) fn unread(file: &SourceFile) -> Self {
        Self {
            path: file.path.clone(),
            language: file.language,
            role: Role::of(&file.path, file.language),
            bytes: file.bytes,
            lines: 0,
            read: false,
            about: None,
            title: None,
            outline: Outline::default(),
            text: None,
            path_heads: BTreeMap::new(),
            test_path_heads: BTreeMap::new(),
            words: BTreeMap::new(),
            exemplified: BTreeMap::new(),
            macro_calls: Vec::new(),
            declaring_macros: BTreeSet::new(),
            quotable: BTreeMap::new(),
        }
    }

    /// Creates a file that is next to the source it was built from.
    pub(super) fn built(file: &SourceFile) -> Self {
        Self {
            role: Role::Generated,
            ..Self::unread(file)
        }
    }

    /// Looks at a file's text.
    pub(super) fn of(file: &SourceFile, text: String) -> Self {
        let mut surveyed = Self::unread(file);
        surveyed.read = true;
        surveyed.bytes = text.len() as u64;
        surveyed.lines = text.lines().count() as u32;
        let is_code = file.language.is_some();
        let made_by = file_role::line_of_maker(&text).filter(|_| is_code);
        if made_by.is_some() {
            surveyed.role = Role::Generated;
        }
        if let Some(language) = file.language
            && surveyed.role != Role::Generated
        {
            surveyed.outline = outline::outline(language, &file.path, &text);
            let outline = &surveyed.outline;
            let is_given_up = outline.has_errors
                && outline.symbols.is_empty()
                && outline.imports.is_empty()
                && outline.references.is_empty();
            if is_given_up && surveyed.role == Role::Test {
                surveyed.words = words(&text);
            }
            lift_out_of_namespaces(language, &mut surveyed.outline.symbols);
            let about = surveyed.outline.about.clone();
            surveyed.about = about.filter(|note| !is_legal(&note.text));
            if language == Language::Python {
                unlisted::add_python_variables(&text, &mut surveyed.outline.symbols);
            }
            if matches!(language, Language::TypeScript | Language::Tsx) {
                unlisted::add_interface_members(&text, &mut surveyed.outline.symbols);
            }
            if language == Language::Rust {
                surveyed.macro_calls = unlisted::macro_calls(&text, &surveyed.outline);
                surveyed.declaring_macros = unlisted::declaring_macros(&text, &surveyed.outline);
            }
        }
        if surveyed.role == Role::Document {
            let theirs = own_state::blanked(&text);
            (surveyed.title, surveyed.about) = document::title_and_first_sentence(&theirs);
            surveyed.exemplified = document::names_in_examples(&text);
        }
        if file.language == Some(Language::Rust) {
            let by_name = |heads: Vec<Note>| {
                let heads = heads.into_iter();
                heads.map(|head| (head.text.into(), head.line)).collect()
            };
            let outline = &mut surveyed.outline;
            surveyed.path_heads = by_name(std::mem::take(&mut outline.path_heads));
            surveyed.test_path_heads = by_name(std::mem::take(&mut outline.test_path_heads));
        }
        surveyed.keep_lines(&text, made_by);
        if matches!(surveyed.role, Role::Manifest | Role::Ci) || is_read_as_a_whole(surveyed.name())
        {
            surveyed.text = Some(text);
        }
        surveyed
    }

    /// Keeps the lines that something was found on.
    fn keep_lines(&mut self, text: &str, made_by: Option<u32>) {
        let outline = &self.outline;
        // Where files see each other without an import, a mention is what says so.
        let mentions_say = self.role == Role::Test
            || matches!(self.language, Some(Language::Go | Language::Java))
            || outline.symbols.iter().any(|symbol| symbol.test);
        let mentions = outline.uses.iter().filter(|_| mentions_say);
        let mentions = mentions.flat_map(|used| [used.line, used.last_line]);
        let mut wanted: Vec<u32> = outline
            .symbols
            .iter()
            .map(|symbol| symbol.line)
            .chain(outline.imports.iter().map(|import| import.line))
            .chain(outline.routes.iter().map(|route| route.line))
            .chain(outline.commands.iter().map(|command| command.line))
            .chain(outline.entry_point)
            .chain(self.about.iter().chain(&self.title).map(|note| note.line))
            .chain(mentions)
            .chain(made_by)
            .chain(self.path_heads.values().copied())
            .chain(self.macro_calls.iter().map(|call| call.line))
            .chain(self.test_path_heads.values().copied())
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut wanted = wanted.into_iter().peekable();
        let mut first_telling = None;
        for (number, line) in (1..).zip(text.lines()) {
            let is_wanted = wanted.next_if_eq(&number).is_some();
            let tells = first_telling.is_none()
                && made_by.is_none()
                && !is_comment(line)
                && !is_preamble(line)
                && Cited::of_line("x", 1, line).is_some();
            if is_wanted || tells {
                self.quotable.insert(number, kept(line));
            }
            if tells {
                first_telling = Some(number);
            }
            if wanted.peek().is_none() && (first_telling.is_some() || made_by.is_some()) {
                break;
            }
        }
        if self.quotable.is_empty() {
            let first = (1..)
                .zip(text.lines())
                .find(|(_, line)| Cited::of_line("x", 1, line).is_some());
            self.quotable
                .extend(first.map(|(number, line)| (number, kept(line))));
        }
    }

    /// The name of the file, without its folder.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The folder of the file; empty for the root.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The text of a line, trimmed, if it was kept.
    pub(crate) fn line(&self, line: u32) -> Option<&str> {
        match &self.text {
            Some(text) => text
                .lines()
                .nth((line as usize).checked_sub(1)?)
                .map(str::trim),
            None => self.quotable.get(&line).map(AsRef::as_ref),
        }
    }

    /// Cites a line of this file.
    pub(crate) fn cite(&self, line: u32) -> Option<Cited> {
        Cited::of_line(&self.path, line, self.line(line)?)
    }

    /// Cites a line of this file with a short quote.
    pub(crate) fn cite_briefly(&self, line: u32, longest: usize) -> Option<Cited> {
        Cited::of_line_at_most(&self.path, line, self.line(line)?, longest)
    }

    /// Cites a line of this file with a short quote, which is longer if one of these names would be cut off; at most 120
    /// characters.
    pub(crate) fn cite_showing(&self, line: u32, longest: usize, names: &[&str]) -> Option<Cited> {
        const LONGEST: usize = 120;
        let text = self.line(line)?.trim();
        let ends = names
            .iter()
            .filter_map(|name| Some(text.find(name)? + name.len()));
        // The mark of what is cut off counts as well.
        let shown = ends.map(|end| text[..end].chars().count() + 1).min();
        let needed = shown.filter(|shown| *shown <= LONGEST).unwrap_or(0);
        self.cite_briefly(line, longest.max(needed))
    }

    /// Cites the line that best represents the file: its documentation, its weightiest public symbol, a
    /// re-export, else the first line with text. An import represents a file only if the file has
    /// nothing else.
    pub(crate) fn cite_itself(&self) -> Option<Cited> {
        let about = self
            .about
            .iter()
            .find_map(|note| self.cite_briefly(note.line, 60));
        let symbol = self.main_symbol().filter(|symbol| symbol.public);
        about
            .or_else(|| self.cite_briefly(symbol?.line, 60))
            .or_else(|| self.cite_briefly(self.first_constant()?.line, 60))
            .or_else(|| self.cite_briefly(self.re_export()?, 60))
            .or_else(|| self.cite_briefly(self.main_symbol()?.line, 60))
            .or_else(|| self.cite_text())
    }

    /// Cites the first line with content that is no import, else an import.
    fn cite_text(&self) -> Option<Cited> {
        let mut lines = self.quotable.keys().copied();
        let line = lines.find(|line| !self.imports_on(*line));
        let line = line.or_else(|| self.quotable.keys().next().copied());
        line.and_then(|line| self.cite_briefly(line, 60))
            .or_else(|| {
                let count = self.text.as_ref()?.lines().count() as u32;
                (1..=count).find_map(|line| self.cite_briefly(line, 60))
            })
    }

    /// States what declares a symbol, with its name if the quote does not hold it: a C type may
    /// have its name behind its body.
    pub(crate) fn declares(&self, symbol: &Symbol, longest: usize) -> Option<Statement> {
        let cited = self.cite_briefly(symbol.line, longest)?;
        let statement = Statement::at(cited);
        if symbol.declaration.contains(&symbol.name) || symbol.test {
            return Some(statement);
        }
        Some(statement.says(&citation::plain(&symbol.name, 60)))
    }

    /// The line of the first import that the file passes on to others.
    pub(crate) fn re_export(&self) -> Option<u32> {
        let mut imports = self.outline.imports.iter();
        let passes_on = imports.find(|import| import.kind == ImportKind::ReExport);
        passes_on.map(|import| import.line)
    }

    fn imports_on(&self, line: u32) -> bool {
        let mut imports = self.outline.imports.iter();
        imports.any(|import| import.line == line)
    }

    /// The first public constant.
    fn first_constant(&self) -> Option<&Symbol> {
        let mut symbols = self.outline.symbols.iter();
        symbols.find(|symbol| symbol.kind == SymbolKind::Constant && symbol.public)
    }

    /// The public symbol with the longest body, types before functions.
    pub(crate) fn main_symbol(&self) -> Option<&Symbol> {
        self.outline
            .symbols
            .iter()
            .filter(|symbol| !symbol.test && !symbol.name.starts_with("__"))
            .filter(|symbol| !matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Module))
            .max_by_key(|symbol| {
                let is_type = matches!(symbol.kind, SymbolKind::Type | SymbolKind::Interface);
                let length = symbol.last_line.saturating_sub(symbol.line);
                (
                    symbol.public,
                    symbol.container.is_none(),
                    is_type,
                    length,
                    std::cmp::Reverse(symbol.line),
                )
            })
    }

    /// Its tests.
    pub(crate) fn tests(&self) -> impl Iterator<Item = &Symbol> {
        self.outline.symbols.iter().filter(|symbol| symbol.test)
    }

    /// Whether it is code of the product itself.
    pub(crate) fn is_source(&self) -> bool {
        self.role == Role::Source && self.language.is_some()
    }
}

/// Moves declarations out of namespaces and modules to the level of the file: those whose container
/// has a name but is no type of this file.
fn lift_out_of_namespaces(language: Language, symbols: &mut [Symbol]) {
    let named = |kinds: &[SymbolKind]| -> BTreeSet<String> {
        let of_kind = symbols.iter().filter(|symbol| kinds.contains(&symbol.kind));
        of_kind.map(|symbol| symbol.name.clone()).collect()
    };
    let namespaces = named(&[SymbolKind::Module]);
    let types = named(&[SymbolKind::Type, SymbolKind::Interface]);
    for symbol in symbols {
        let Some(container) = &symbol.container else {
            continue;
        };
        let inner = container.rsplit("::").next().unwrap_or(container);
        let is_namespace = namespaces.contains(inner)
            || (language == Language::Cpp
                && symbol.kind != SymbolKind::Method
                && !types.contains(inner));
        if is_namespace {
            symbol.container = None;
        }
    }
}

/// Returns the words of a text that may be names, each with its first line.
fn words(text: &str) -> BTreeMap<Box<str>, u32> {
    let mut words = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let parts = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in parts.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_')) {
            words.entry(word.into()).or_insert(number);
        }
    }
    words
}

fn is_comment(line: &str) -> bool {
    ["//", "#!", "/*", "*", "\"\"\"", "--", "<!--"]
        .iter()
        .any(|mark| line.trim_start().starts_with(mark))
}

/// Whether a line may be at the top of any file of its language: Go's `package x`, `'use strict'`,
/// the guard of a header.
fn is_preamble(line: &str) -> bool {
    let line = line.trim_matches([' ', '\t', ';', '"', '\'']);
    let is_guard = |name: &str| {
        let name = name.trim();
        [
            "_H",
            "_H_",
            "_H__",
            "_HPP",
            "_HPP_",
            "_HH",
            "_HH_",
            "_INCLUDED",
        ]
        .iter()
        .any(|end| name.to_ascii_uppercase().ends_with(end))
            && !name.contains(char::is_whitespace)
    };
    line == "use strict"
        || line.starts_with("# -*-")
        || line == "#pragma once"
        || line
            .strip_prefix("package ")
            .is_some_and(|name| !name.contains(' '))
        || line.strip_prefix("#ifndef ").is_some_and(is_guard)
        || line.strip_prefix("#define ").is_some_and(is_guard)
}

/// Whether the words on top of a file are a licence's rather than its author's.
fn is_legal(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    [
        "copyright",
        "redistribution",
        "licensed under",
        "all rights reserved",
        "spdx-",
        "this source code is",
        "use of this source code",
        "permission is hereby",
        "license:",
        "licensed to the",
    ]
    .iter()
    .any(|mark| words.contains(mark))
}

/// Names of code and settings that are also read as manifests.
fn is_read_as_a_whole(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "setup.py",
        "tox.ini",
        "pytest.ini",
        "noxfile.py",
        "justfile",
        "Justfile",
        ".justfile",
    ];
    let is_json = Path::new(name).extension() == Some("json".as_ref());
    let is_config = |stem: &str| {
        name.strip_prefix(stem)
            .is_some_and(|rest| is_json && rest.starts_with('.'))
    };
    NAMES.contains(&name) || is_config("tsconfig") || is_config("jsconfig")
}

fn kept(line: &str) -> Box<str> {
    let line = line.trim();
    let mut end = line.len().min(LONGEST_KEPT_LINE);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    // Never half a word: it would not stand on the line word for word.
    if end < line.len() {
        end = line[..end].rfind(char::is_whitespace).unwrap_or(0);
    }
    line[..end].into()
}
