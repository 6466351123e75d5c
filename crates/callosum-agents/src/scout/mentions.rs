//! [`Mentions`]: which files name which declarations of the tree.
//!
//! Names are compared, not meanings. A name that several files declare belongs to none of them
//! here, since nobody could tell which one is meant; and a mention counts only in a file that
//! leans on the declaring file or its folder, since `Display` may well be somebody else's. Functions
//! of types are left out altogether: too many types have an `open`. What is counted is therefore a
//! lower bound; [`Mentions::possible`] is the upper one. What a file imports from elsewhere, or a
//! test file declares for itself, is never a mention.

use std::collections::{BTreeMap, BTreeSet};

use callosum_search::{
    language::Language,
    outline::{ImportKind, Symbol, SymbolKind},
    resolve::Target,
};

use super::{
    role::Role,
    survey::{Survey, file::SurveyedFile, links},
};

/// Names so common that a mention says nothing.
const COMMON_NAMES: [&str; 23] = [
    "new", "New", "main", "get", "set", "run", "from", "default", "len", "next", "build", "read",
    "write", "name", "id", "value", "data", "test", "init", "add", "T", "close", "open",
];

/// Who names what.
pub(super) struct Mentions<'s> {
    declarers: BTreeMap<&'s str, Option<(usize, &'s Symbol)>>,
    files: BTreeMap<&'s str, BTreeSet<usize>>,
    /// Every declaration of a name, common names too.
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
        let mut declarers: BTreeMap<&str, Option<(usize, &Symbol)>> = BTreeMap::new();
        let mut candidates: BTreeMap<&str, Vec<(usize, &Symbol)>> = BTreeMap::new();
        let leaned_on: BTreeSet<usize> = survey.links.uses().map(|edge| edge.to).collect();
        for (at, file) in survey
            .files
            .iter()
            .enumerate()
            .filter(|(_, f)| f.is_source())
        {
            let symbols = file.outline.symbols.iter().filter(|symbol| {
                !symbol.test
                    && symbol.container.is_none()
                    && symbol.kind != SymbolKind::Module
                    && is_nameable(file, symbol, leaned_on.contains(&at))
            });
            for symbol in symbols {
                candidates
                    .entry(&symbol.name)
                    .or_default()
                    .push((at, symbol));
                if COMMON_NAMES.contains(&symbol.name.as_str()) {
                    continue;
                }
                declarers
                    .entry(&symbol.name)
                    .and_modify(|declarer| *declarer = joined(survey, *declarer, (at, symbol)))
                    .or_insert(Some((at, symbol)));
            }
        }
        for name in go_methods(survey) {
            if let Some(declarer) = declarers.get_mut(name)
                && declarer.is_some_and(|(at, _)| survey.files[at].language == Some(Language::Go))
            {
                *declarer = None;
            }
        }
        let mut files: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let sight = Sight::of(survey);
        let foreign = foreign_names(survey);
        for (at, file) in survey.files.iter().enumerate() {
            let imported = file
                .outline
                .imports
                .iter()
                .flat_map(|import| links::names_taken(file.language, import));
            let mentioned = file.outline.references.iter();
            let mentioned = mentioned
                .filter(|r| r.bare.is_some())
                .map(|r| r.name.as_str());
            for name in imported.chain(mentioned) {
                if let Some(Some((declarer, _))) = declarers.get(name)
                    && sight.sees(at, *declarer)
                    && !foreign[at].contains(name)
                {
                    files.entry(name).or_default().insert(at);
                }
            }
        }
        Self {
            declarers,
            files,
            candidates,
            methods: method_names(survey),
            foreign,
            survey,
        }
    }

    /// How often files mention a name that a type's function has: those that use the product count double,
    /// its documents, examples and tests. Good enough to order the functions of one type, and not to
    /// say who uses them.
    pub(super) fn of_method(&self, name: &str) -> usize {
        self.methods.get(name).copied().unwrap_or(0)
    }

    /// The one declaration of a name, and the file it stands in.
    pub(super) fn declarer(&self, name: &str) -> Option<(usize, &'s Symbol)> {
        *self.declarers.get(name)?
    }

    /// The files, other than its own, that name what one file alone declares.
    pub(super) fn of_symbol(&self, at: usize, symbol: &Symbol) -> impl Iterator<Item = usize> + '_ {
        let is_its = self
            .declarer(&symbol.name)
            .is_some_and(|(declarer, _)| declarer == at);
        let files = is_its
            .then(|| self.files.get(symbol.name.as_str()))
            .flatten();
        files
            .into_iter()
            .flatten()
            .copied()
            .filter(move |file| *file != at)
    }

    /// The other files that name anything that a file alone declares.
    pub(super) fn of_file(&self, at: usize, file: &SurveyedFile) -> BTreeSet<usize> {
        let symbols = file.outline.symbols.iter();
        symbols
            .flat_map(|symbol| self.of_symbol(at, symbol))
            .collect()
    }

    /// Whether a file names what one file alone declares under this name, itself included.
    pub(super) fn is_named_in(&self, name: &str, at: usize) -> bool {
        let declarer = self
            .declarer(name)
            .is_some_and(|(declarer, _)| declarer == at);
        declarer
            || self
                .files
                .get(name)
                .is_some_and(|files| files.contains(&at))
    }

    /// The declarations that a name may mean where it is mentioned in a file: what several files
    /// declare, and what is reached in ways that are not followed here.
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

    /// Every name that one file alone declares, with that file and its declaration.
    pub(super) fn declared(&self) -> impl Iterator<Item = (usize, &'s Symbol)> + '_ {
        self.declarers.values().filter_map(|declarer| *declarer)
    }
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
            let taken = links::names_taken(file.language, import);
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

/// The names of Go's methods, which look like those of its functions and types where they are
/// mentioned.
fn go_methods(survey: &Survey) -> impl Iterator<Item = &str> {
    let go = survey
        .files
        .iter()
        .filter(|file| file.language == Some(Language::Go));
    go.flat_map(|file| &file.outline.symbols)
        .filter(|symbol| symbol.container.is_some())
        .map(|symbol| symbol.name.as_str())
}

/// Whether code of another file can name a declaration at all. Of a C file that nobody includes,
/// only functions can be meant elsewhere.
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

/// What is left of a name's declaration when another one is found: in C and C++ the one in a
/// header stands for both, else nobody can tell.
fn joined<'s>(
    survey: &Survey,
    first: Option<(usize, &'s Symbol)>,
    second: (usize, &'s Symbol),
) -> Option<(usize, &'s Symbol)> {
    let first = first?;
    if first.0 == second.0 {
        return Some(first);
    }
    let is_native =
        |at: usize| matches!(survey.files[at].language, Some(Language::C | Language::Cpp));
    let is_header = |at: usize| {
        let name = survey.files[at].name();
        name.rsplit_once('.')
            .is_some_and(|(_, ending)| ending.starts_with('h'))
    };
    match (is_header(first.0), is_header(second.0)) {
        (true, false) if is_native(second.0) => Some(first),
        (false, true) if is_native(first.0) => Some(second),
        _ => None,
    }
}

/// Which files can mean which others by a name.
struct Sight<'s> {
    survey: &'s Survey,
    /// For each file, those it leans on, and the folders of these.
    files: Vec<BTreeSet<usize>>,
    folders: Vec<BTreeSet<&'s str>>,
}

impl<'s> Sight<'s> {
    fn of(survey: &'s Survey) -> Self {
        let mut files = vec![BTreeSet::new(); survey.files.len()];
        let mut folders = vec![BTreeSet::new(); survey.files.len()];
        for edge in survey.links.uses() {
            files[edge.from].insert(edge.to);
            // A Rust module is a file; elsewhere a folder's files come together.
            if survey.files[edge.to].language != Some(Language::Rust) {
                folders[edge.from].insert(survey.files[edge.to].folder());
            }
        }
        Self {
            survey,
            files,
            folders,
        }
    }

    fn sees(&self, from: usize, to: usize) -> bool {
        let (mine, theirs) = (&self.survey.files[from], &self.survey.files[to]);
        let shares_folder = mine.folder() == theirs.folder()
            && matches!(theirs.language, Some(Language::Go | Language::Java));
        shares_folder
            || from == to
            || matches!(theirs.language, Some(Language::C | Language::Cpp))
            || self.files[from].contains(&to)
            || self.folders[from].contains(theirs.folder())
    }
}
