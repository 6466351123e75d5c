//! [`Exports`]: the public declarations of files, and what each file re-exports from others.
//!
//! Start with [`Exports::re_exported`].

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::{
    language::Language,
    outline::{Import, ImportKind, Symbol, SymbolKind},
    resolve::Target,
};

use super::survey::{
    Survey,
    file::SurveyedFile,
    import_graph::{self, Chase},
};

/// Names that a file re-exports by one import.
#[derive(Clone, Debug)]
pub(super) struct ReExport<'s> {
    /// The file.
    pub(super) file: usize,
    /// The line of the import.
    pub(super) line: u32,
    /// The package that they are from, if it is not the tree's own.
    pub(super) package: Option<&'s str>,
    /// The names.
    pub(super) names: Vec<&'s str>,
}

/// The exports of a tree. It returns each declaration once, so that facades do not repeat each other.
pub(super) struct Exports<'s> {
    survey: &'s Survey,
    chase: Chase<'s>,
    seen: BTreeSet<(usize, u32, &'s str)>,
    /// The files whose own re-exports have been followed.
    passed: BTreeSet<usize>,
    /// For each file, the names that it re-exports without a declaration in the tree.
    unknown: BTreeMap<usize, Vec<ReExport<'s>>>,
}

impl<'s> Exports<'s> {
    /// Starts with nothing taken.
    pub(super) fn new(survey: &'s Survey) -> Self {
        Self {
            survey,
            chase: Chase::new(&survey.files, &survey.links.targets),
            seen: BTreeSet::new(),
            passed: BTreeSet::new(),
            unknown: BTreeMap::new(),
        }
    }

    /// Takes the public declarations of a file that no facade has yet.
    pub(super) fn take(
        &mut self,
        at: usize,
        wanted: impl Fn(&Symbol) -> bool,
    ) -> Vec<(usize, &'s Symbol)> {
        let symbols = &self.survey.files[at].outline.symbols;
        symbols
            .iter()
            .filter(|symbol| {
                symbol.public
                    && !symbol.test
                    && symbol.container.is_none()
                    && symbol.kind != SymbolKind::Module
                    && !symbol.name.starts_with("__")
                    && wanted(symbol)
            })
            .filter(|symbol| self.seen.insert((at, symbol.line, symbol.name.as_str())))
            .map(|symbol| (at, symbol))
            .collect()
    }

    /// Takes the names that a file re-exports and the tree does not declare.
    pub(super) fn take_unknown(&mut self, file: usize) -> Vec<ReExport<'s>> {
        self.unknown.remove(&file).unwrap_or_default()
    }

    /// Returns the targets of a file's imports, in their order.
    pub(super) fn targets(&self, at: usize) -> &'s [Target] {
        self.survey.links.targets.get(at).map_or(&[], Vec::as_slice)
    }

    /// Takes the declarations that a file re-exports, and those that a Python package imports from its own
    /// modules. Also returns the files that it re-exports whole.
    pub(super) fn re_exported(&mut self, at: usize) -> (Vec<(usize, &'s Symbol)>, Vec<usize>) {
        let mut symbols = Vec::new();
        let mut whole = Vec::new();
        let mut to_pass = vec![at];
        while let Some(next) = to_pass.pop() {
            whole.extend((next != at).then_some(next));
            symbols.extend(self.re_exported_by(next, &mut to_pass));
        }
        (symbols, whole)
    }

    /// Takes the declarations that one file re-exports; adds the files that it re-exports whole to `to_pass`.
    fn re_exported_by(&mut self, at: usize, to_pass: &mut Vec<usize>) -> Vec<(usize, &'s Symbol)> {
        let file = &self.survey.files[at];
        // A declaration file imports the types that it offers something of.
        let is_package = file.name() == "__init__.py" || file.path.ends_with(".d.ts");
        let mut symbols = Vec::new();
        for (import, target) in file.outline.imports.iter().zip(self.targets(at)) {
            let passes_on = import.kind == ImportKind::ReExport || is_package;
            if let Target::Package(package) = target
                && import.kind == ImportKind::ReExport
                && is_offered_by(file, import)
            {
                let names = import_graph::names_taken(file.language, import);
                self.pass_unknown(at, import.line, Some(package), names);
            }
            let Target::File(to) = target else { continue };
            let target_is_source = self.survey.files[*to].is_source();
            if !passes_on || !target_is_source || *to == at {
                continue;
            }
            if import_graph::is_glob(import) {
                symbols.extend(self.take(*to, |symbol| !is_inner(file.language, symbol)));
                // A file that is re-exported whole may have its names from others.
                if self.passed.insert(*to) {
                    to_pass.push(*to);
                }
                continue;
            }
            for name in import_graph::names_taken(file.language, import) {
                let declarer = self.chase.declarer(*to, name);
                let is_module = || self.is_module(name, *to);
                if declarer.is_none()
                    && import.kind == ImportKind::ReExport
                    && is_offered_by(file, import)
                    && !is_module()
                {
                    self.pass_unknown(at, import.line, None, vec![name]);
                }
                if let Some(declarer) = declarer {
                    let declared = &self.survey.files[declarer].outline.symbols;
                    let means = meant(declared, import, name);
                    symbols.extend(self.take(declarer, |symbol| {
                        symbol.name == name && means.is_none_or(|module| symbol.module == *module)
                    }));
                }
            }
        }
        symbols
    }

    /// Whether a name that leads to a file is that of a module rather than of a declaration in it.
    fn is_module(&self, name: &str, to: usize) -> bool {
        let file = &self.survey.files[to];
        let stem = file.name().split('.').next().unwrap_or_default();
        stem == name || file.folder().rsplit('/').next() == Some(name)
    }

    /// Stores names that a file re-exports and nothing in the tree declares.
    fn pass_unknown(
        &mut self,
        file: usize,
        line: u32,
        package: Option<&'s str>,
        names: Vec<&'s str>,
    ) {
        let names = names
            .into_iter()
            .filter(|name| *name != "*" && *name != "self");
        let names: Vec<&str> = names.collect();
        if names.is_empty() {
            return;
        }
        let passed = self.unknown.entry(file).or_default();
        let same = |passed: &&mut ReExport<'_>| passed.line == line && passed.package == package;
        match passed.iter_mut().find(same) {
            Some(known) => known.names.extend(names),
            None => passed.push(ReExport {
                file,
                line,
                package,
                names,
            }),
        }
    }
}

/// Whether what an import passes on can be named by code outside: in Rust it is `pub use`, not
/// `pub(crate) use`.
fn is_offered_by(file: &SurveyedFile, import: &Import) -> bool {
    let line = file.line(import.line).unwrap_or_default();
    file.language != Some(Language::Rust) || !line.contains("pub(")
}

/// Returns true if a Rust declaration is in a module with a body.
fn is_inner(language: Option<Language>, symbol: &Symbol) -> bool {
    language == Some(Language::Rust) && symbol.module.is_some()
}

/// The module that an import takes `name` from, of those in a Rust file that declare it: the one
/// that its path ends with, else the file itself; `None` where neither does.
fn meant<'s>(declared: &'s [Symbol], import: &Import, name: &str) -> Option<&'s Option<String>> {
    let (around, _) = import.target.rsplit_once("::")?;
    let mut modules: Vec<&Option<String>> = declared
        .iter()
        .filter(|symbol| symbol.name == name && symbol.container.is_none())
        .map(|symbol| &symbol.module)
        .collect();
    modules.sort_by_key(|module| std::cmp::Reverse(module.as_ref().map(String::len)));
    modules.into_iter().find(|module| {
        module
            .as_ref()
            .is_none_or(|module| format!("::{around}").ends_with(&format!("::{module}")))
    })
}

/// Whether a function is a method of this type, by the name of its container: methods in a module
/// belong to its own types, and to those outside of it if it has none of that name.
fn is_method_of(file: &SurveyedFile, method: &Symbol, of: &Symbol) -> bool {
    if method.container.as_ref() != Some(&of.name) {
        return false;
    }
    let is_rust = file.language == Some(Language::Rust);
    !is_rust
        || method.module == of.module
        || of.module.is_none()
            && !file.outline.symbols.iter().any(|other| {
                other.name == of.name
                    && other.module == method.module
                    && matches!(other.kind, SymbolKind::Type | SymbolKind::Interface)
            })
}

/// Returns the public functions of a type in its own file, without those that every type has under
/// a name of the language's.
pub(super) fn methods_of<'s>(file: &'s SurveyedFile, symbol: &Symbol) -> Vec<&'s Symbol> {
    let is_type = matches!(symbol.kind, SymbolKind::Type | SymbolKind::Interface);
    let methods = file.outline.symbols.iter().filter(|method| {
        is_type
            && is_method_of(file, method, symbol)
            && matches!(method.kind, SymbolKind::Method | SymbolKind::Function)
            && (method.public || symbol.kind == SymbolKind::Interface)
            && method.name != symbol.name
            && !["__", "~", "operator"]
                .iter()
                .any(|start| method.name.starts_with(start))
    });
    methods.collect()
}
