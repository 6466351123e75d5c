//! [`Mentions`]: uses of the tree's declarations by its files.
//!
//! A name counts only if it can be followed to its declaration: through an import, a path, an
//! imported module as receiver, or the package that files share. Functions of types are left out:
//! only a type checker knows what a receiver is. The counts are therefore a lower bound.
//! [`Mentions::possible`] is the upper one, by spelling alone, for the claim that nothing names a
//! declaration.

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::{
    language::Language,
    outline::{ImportKind, Symbol, SymbolKind},
    resolve::Target,
};

use super::{
    file_role::Role,
    survey::{Survey, file::SurveyedFile, import_graph, names::NameUse},
};

/// Uses of names by files.
pub(super) struct Mentions<'s> {
    /// For each file, the names that it declares and other files use, with those files.
    files: Vec<BTreeMap<&'s str, BTreeSet<usize>>>,
    /// For each file, the other files that import it.
    importers: Vec<BTreeSet<usize>>,
    /// Every declaration of a name, by its spelling.
    candidates: BTreeMap<&'s str, Vec<(usize, &'s Symbol)>>,
    /// The number of files that mention each name of a type's function, no matter whose it is.
    methods: BTreeMap<&'s str, usize>,
    /// For each file, the names that mean something else in it.
    foreign: Vec<BTreeSet<&'s str>>,
    survey: &'s Survey,
}

impl<'s> Mentions<'s> {
    /// Collects the names of a survey.
    pub(super) fn of(survey: &'s Survey) -> Self {
        let mut candidates: BTreeMap<&str, Vec<(usize, &Symbol)>> = BTreeMap::new();
        let mut importers = vec![BTreeSet::new(); survey.files.len()];
        for edge in survey.links.leaning() {
            importers[edge.to].insert(edge.from);
        }
        for (at, file) in survey
            .files
            .iter()
            .enumerate()
            .filter(|(_, f)| f.is_source())
        {
            let symbols = file.outline.symbols.iter().filter(|symbol| {
                is_counted(symbol) && is_nameable(file, symbol, !importers[at].is_empty())
            });
            for symbol in symbols {
                candidates
                    .entry(&symbol.name)
                    .or_default()
                    .push((at, symbol));
            }
        }
        let mut files: Vec<BTreeMap<&str, BTreeSet<usize>>> =
            vec![BTreeMap::new(); survey.files.len()];
        for used in &survey.links.names {
            if used.from != used.to {
                let users = files[used.to].entry(&used.name).or_default();
                users.insert(used.from);
            }
        }
        Self {
            files,
            importers,
            candidates,
            methods: method_names(survey),
            foreign: foreign_names(survey),
            survey,
        }
    }

    /// Counts how often files mention the name of a method. Files that use the product (documents,
    /// examples and tests) count double. Good enough to order the methods of one type, but not to list
    /// their users.
    pub(super) fn of_method(&self, name: &str) -> usize {
        self.methods.get(name).copied().unwrap_or(0)
    }

    /// The first declaration of a use, if it is one that counts here: no module, no test.
    pub(super) fn declaration(&self, used: &NameUse) -> Option<&'s Symbol> {
        let symbols = &self.survey.files[used.to].outline.symbols;
        symbols
            .iter()
            .find(|symbol| symbol.name == *used.name && is_counted(symbol))
    }

    /// The files, other than its own, that use a declaration.
    pub(super) fn of_symbol(
        &self,
        at: usize,
        symbol: &Symbol,
    ) -> impl Iterator<Item = usize> + use<'_, 's> {
        let files = self.files[at].get(symbol.name.as_str());
        let files = files.filter(|_| is_counted(symbol));
        files.into_iter().flatten().copied()
    }

    /// The other files that import a file or use anything that it declares.
    pub(super) fn of_file(&self, at: usize, file: &SurveyedFile) -> BTreeSet<usize> {
        let symbols = file.outline.symbols.iter();
        symbols
            .flat_map(|symbol| self.of_symbol(at, symbol))
            .chain(self.importers[at].iter().copied())
            .collect()
    }

    /// Returns the declarations that a name may mean in a file: those of several files with that
    /// name, and those that are reached in ways that are not followed here.
    pub(super) fn possible(
        &self,
        name: &str,
        at: usize,
    ) -> impl Iterator<Item = (usize, &'s Symbol)> {
        let is_foreign = self.foreign[at].contains(name);
        let candidates = self.candidates.get(name).filter(|_| !is_foreign);
        let language = self.survey.files[at].language;
        candidates
            .into_iter()
            .flatten()
            .copied()
            .filter(move |(declarer, _)| self.survey.files[*declarer].language == language)
    }

    /// Every declaration of the product that another file uses, with its file; of several of one
    /// name in a file the first.
    pub(super) fn declared(&self) -> impl Iterator<Item = (usize, &'s Symbol)> + '_ {
        let names = self.files.iter().enumerate();
        let names = names.flat_map(|(at, names)| names.keys().map(move |name| (at, *name)));
        names.filter_map(|(at, name)| {
            let file = &self.survey.files[at];
            let mut symbols = file.outline.symbols.iter();
            let first = symbols.find(|symbol| symbol.name == name && is_counted(symbol))?;
            file.is_source().then_some((at, first))
        })
    }
}

/// Whether uses of a declaration are followed: it is at the top level, no module, no test.
fn is_counted(symbol: &Symbol) -> bool {
    !symbol.test && symbol.container.is_none() && symbol.kind != SymbolKind::Module
}

/// For each file, the names that it takes from outside of the tree, and those that a test file
/// declares for itself or has as macros from its folder.
fn foreign_names(survey: &Survey) -> Vec<BTreeSet<&str>> {
    let mut macros: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in survey.files.iter().filter(|file| file.role == Role::Test) {
        let own = file.outline.symbols.iter();
        let own = own.filter(|symbol| symbol.kind == SymbolKind::Macro);
        macros
            .entry(file.folder())
            .or_default()
            .extend(own.map(|symbol| symbol.name.as_str()));
    }
    let foreign = survey.files.iter().enumerate().map(|(at, file)| {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut ours: BTreeSet<&str> = BTreeSet::new();
        let targets = survey.links.targets.get(at).map_or(&[][..], Vec::as_slice);
        for (import, target) in file.outline.imports.iter().zip(targets) {
            let taken = import_graph::names_taken(file.language, import);
            match target {
                Target::File(_) => ours.extend(taken),
                Target::Package(_) | Target::Standard if import.kind != ImportKind::Path => {
                    names.extend(taken);
                }
                _ => {}
            }
        }
        if file.role == Role::Test {
            let own = file.outline.symbols.iter();
            let own = own.filter(|symbol| symbol.container.is_none());
            names.extend(own.map(|symbol| symbol.name.as_str()));
            names.extend(macros.get(file.folder()).into_iter().flatten());
        }
        &names - &ours
    });
    foreign.collect()
}

/// The names of the functions of types, with how often files mention each.
fn method_names(survey: &Survey) -> BTreeMap<&str, usize> {
    let symbols = survey.files.iter().flat_map(|file| &file.outline.symbols);
    let mut methods: BTreeMap<&str, usize> = symbols
        .filter(|symbol| symbol.container.is_some())
        .map(|symbol| (symbol.name.as_str(), 0))
        .collect();
    for file in &survey.files {
        let weight = if file.is_source() { 1 } else { 2 };
        let references = file.outline.references.iter().map(|r| r.name.as_str());
        let shown = file.exemplified.keys().map(AsRef::as_ref);
        for name in references.chain(shown) {
            if let Some(files) = methods.get_mut(name) {
                *files += weight;
            }
        }
    }
    methods
}

/// Whether code of another file can name a declaration at all. In a C file that no other file
/// includes, only functions can be used elsewhere.
fn is_nameable(file: &SurveyedFile, symbol: &Symbol, is_included: bool) -> bool {
    match file.language {
        Some(Language::Rust) => {
            symbol.public
                || symbol.declaration.starts_with("pub")
                || symbol.kind == SymbolKind::Macro
        }
        Some(Language::C | Language::Cpp) => {
            let is_linked = symbol.kind == SymbolKind::Function;
            !symbol.declaration.starts_with("static ") && (is_linked || is_included)
        }
        Some(Language::Go | Language::Java) => true,
        _ => symbol.public,
    }
}
