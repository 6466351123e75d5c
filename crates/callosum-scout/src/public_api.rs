//! [`Facade`]s: what a tree offers to code outside of it, as each language says so.
//!
//! Rust: what can be reached from a crate's root by `pub mod` and `pub use`. Python: modules
//! without a leading underscore, and what a package's `__init__` passes on. JavaScript and
//! TypeScript: exports, those of the package's entry first. Go: exported names outside `internal`
//! and `main`. Java: public types. C and C++: headers, those under `include` first.

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::{
    language::Language,
    outline::{ImportKind, Symbol, SymbolKind},
    resolve::Target,
};

use super::{
    exports::{Exports, ReExport},
    manifest::Ecosystem,
    survey::{Survey, file::SurveyedFile},
};

/// A module as others see it.
#[derive(Clone, Debug)]
pub(super) struct Facade<'s> {
    /// Its name for other code: `serde::de`, `flask.views`, a folder, a header.
    pub(super) name: String,
    /// The file that represents it.
    pub(super) file: usize,
    /// Whether others meet it first: a crate's root, a package's entry.
    pub(super) is_root: bool,
    /// Its declaration, if it is only a part of its file: `pub mod inner { … }`.
    pub(super) module: Option<&'s Symbol>,
    /// Its public symbols, and the file that declares each.
    pub(super) symbols: Vec<(usize, &'s Symbol)>,
    /// The names that it re-exports and the outline of no file declares.
    pub(super) passed: Vec<ReExport<'s>>,
}

/// The public and internal parts of a tree.
#[derive(Clone, Debug)]
pub(super) struct Surface<'s> {
    /// The modules as other code sees them, in order of path; each declaration appears once, at its
    /// first occurrence.
    pub(super) facades: Vec<Facade<'s>>,
    /// The files with public declarations that no package's entry leads to.
    pub(super) internal: Vec<usize>,
}

/// Collects the interface of a tree for code outside of it.
pub(super) fn surface(survey: &Survey) -> Surface<'_> {
    let mut collected = Collected {
        survey,
        exports: Exports::new(survey),
        visited: BTreeSet::new(),
        facades: Vec::new(),
    };
    collected.rust();
    collected.python();
    collected.javascript();
    collected.by_folder(Language::Go, is_offered_go);
    collected.by_folder(Language::Java, SurveyedFile::is_source);
    collected.headers();
    collected
        .facades
        .retain(|facade| !facade.symbols.is_empty() || !facade.passed.is_empty());
    let internal = collected.internal();
    Surface {
        facades: collected.facades,
        internal,
    }
}

/// A module with a body: its name for other code, its file, its declaration, and its content.
type Part<'s> = (String, usize, Option<&'s Symbol>, Vec<(usize, &'s Symbol)>);

struct Collected<'s> {
    survey: &'s Survey,
    exports: Exports<'s>,
    visited: BTreeSet<usize>,
    facades: Vec<Facade<'s>>,
}

impl<'s> Collected<'s> {
    /// The source files with public declarations that no facade offers anything of. A tree that offers
    /// nothing to others has no such files.
    fn internal(&self) -> Vec<usize> {
        if self.facades.is_empty() {
            return Vec::new();
        }
        let offered: BTreeSet<usize> = self
            .facades
            .iter()
            .flat_map(|facade| {
                facade
                    .symbols
                    .iter()
                    .map(|(at, _)| *at)
                    .chain([facade.file])
            })
            .collect();
        self.files()
            .filter(|(at, file)| {
                let mut symbols = file.outline.symbols.iter();
                let is_public = |symbol: &Symbol| {
                    !symbol.test && (symbol.public || symbol.declaration.starts_with("pub"))
                };
                !offered.contains(at) && symbols.any(is_public)
            })
            .map(|(at, _)| at)
            .collect()
    }

    fn files(&self) -> impl Iterator<Item = (usize, &'s SurveyedFile)> + use<'s> {
        self.survey
            .files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.is_source())
    }

    /// Adds a facade. A declaration that exists once for each platform, or once for each set of
    /// arguments, is offered once.
    fn add(&mut self, name: String, file: usize, is_root: bool, symbols: Vec<(usize, &'s Symbol)>) {
        self.add_part(name, file, is_root, None, symbols);
    }

    /// Adds a facade that may be a module with a body in its file.
    fn add_part(
        &mut self,
        name: String,
        file: usize,
        is_root: bool,
        module: Option<&'s Symbol>,
        mut symbols: Vec<(usize, &'s Symbol)>,
    ) {
        let mut names = BTreeSet::new();
        symbols.retain(|(_, symbol)| names.insert(symbol.name.as_str()));
        // `typedef struct a { … } b` is one type of two names; that of the `typedef` comes first.
        let mut types = BTreeSet::new();
        symbols.retain(|(at, symbol)| {
            let is_native = matches!(
                self.survey.files[*at].language,
                Some(Language::C | Language::Cpp)
            );
            !is_native || symbol.kind != SymbolKind::Type || types.insert((*at, symbol.line))
        });
        let passed = match module {
            None => self.exports.take_unknown(file),
            Some(_) => Vec::new(),
        };
        self.facades.push(Facade {
            name,
            file,
            is_root,
            module,
            symbols,
            passed,
        });
    }

    fn rust(&mut self) {
        let survey = self.survey;
        let roots = survey
            .manifests
            .iter()
            .filter(|m| m.ecosystem == Ecosystem::Cargo);
        for manifest in roots {
            let Some(package) = &manifest.package else {
                continue;
            };
            let default = || manifest.rooted("src/lib.rs");
            let path = manifest.entry.clone().unwrap_or_else(default);
            let root = survey
                .files
                .iter()
                .position(|file| file.path == path && file.is_source());
            if let Some(root) = root {
                self.rust_module(root, package.name.text.replace('-', "_"), true);
            }
        }
    }

    /// Visits a module and those below it that are public; iterative, since modules may nest to any
    /// depth.
    fn rust_module(&mut self, root: usize, name: String, is_root: bool) {
        let mut to_visit = vec![(root, name, is_root)];
        while let Some((at, name, is_root)) = to_visit.pop() {
            if !self.visited.insert(at) {
                continue;
            }
            let mut symbols = if is_root {
                self.exported_macros(at)
            } else {
                Vec::new()
            };
            let (re_exported, whole) = self.exports.re_exported(at);
            symbols.extend(re_exported);
            symbols.extend(self.exports.take(at, |symbol| symbol.module.is_none()));
            let file = &self.survey.files[at];
            let mut below = Vec::new();
            for (import, target) in file.outline.imports.iter().zip(self.exports.targets(at)) {
                let declared = format!("pub mod {};", import.target);
                let is_public = file
                    .line(import.line)
                    .is_some_and(|line| line.contains(&declared));
                if let (ImportKind::DeclareModule, Target::File(to), true) =
                    (import.kind, target, is_public)
                {
                    let last = import.target.rsplit("::").next().unwrap_or_default();
                    below.push((*to, format!("{name}::{last}"), false));
                }
            }
            to_visit.extend(below.into_iter().rev());
            let parts: Vec<_> = std::iter::once(at)
                .chain(whole)
                .flat_map(|at| self.modules_within(&name, at))
                .collect();
            self.add(name, at, is_root, symbols);
            for (name, at, module, symbols) in parts {
                self.add_part(name, at, false, module, symbols);
            }
        }
    }

    /// Lists the declarations of the modules with a body in a file, each under its own path.
    fn modules_within(&mut self, name: &str, at: usize) -> Vec<Part<'s>> {
        let symbols = &self.survey.files[at].outline.symbols;
        let paths: BTreeSet<&str> = symbols
            .iter()
            .filter_map(|symbol| symbol.module.as_deref())
            .collect();
        let parts = paths.into_iter().map(|path| {
            let declares =
                |symbol: &&Symbol| symbol.kind == SymbolKind::Module && path_of(symbol) == path;
            let module = symbols.iter().find(declares);
            let held = self
                .exports
                .take(at, |symbol| symbol.module.as_deref() == Some(path));
            (format!("{name}::{path}"), at, module, held)
        });
        parts.collect()
    }

    /// The exported macros of a crate, which stand at its root wherever they are written.
    fn exported_macros(&mut self, root: usize) -> Vec<(usize, &'s Symbol)> {
        let mut to_visit = vec![root];
        let mut seen = BTreeSet::new();
        while let Some(at) = to_visit.pop() {
            if !self.survey.files[at].is_source() || !seen.insert(at) {
                continue;
            }
            let imports = self.survey.files[at].outline.imports.iter();
            for (import, target) in imports.zip(self.exports.targets(at)) {
                if let (ImportKind::DeclareModule, Target::File(to)) = (import.kind, target) {
                    to_visit.push(*to);
                }
            }
        }
        seen.into_iter()
            .flat_map(|at| {
                self.exports
                    .take(at, |symbol| symbol.kind == SymbolKind::Macro)
            })
            .collect()
    }

    fn python(&mut self) {
        let offered: Vec<usize> = self
            .files()
            .filter(|(_, file)| file.language == Some(Language::Python))
            .filter(|(_, file)| file.path.split('/').all(is_public_python))
            .map(|(at, _)| at)
            .collect();
        let (packages, modules): (Vec<usize>, Vec<usize>) = offered
            .into_iter()
            .partition(|at| self.survey.files[*at].name() == "__init__.py");
        for at in packages {
            let (mut symbols, _) = self.exports.re_exported(at);
            symbols.extend(
                self.exports
                    .take(at, |symbol| symbol.kind != SymbolKind::Constant),
            );
            let name = python_name(&self.survey.files[at].path);
            let is_root = !name.contains('.');
            self.add(name, at, is_root, symbols);
        }
        for at in modules {
            let symbols = self
                .exports
                .take(at, |symbol| symbol.kind != SymbolKind::Constant);
            self.add(python_name(&self.survey.files[at].path), at, false, symbols);
        }
    }

    fn javascript(&mut self) {
        let is_script = |file: &SurveyedFile| {
            matches!(
                file.language,
                Some(Language::JavaScript | Language::TypeScript | Language::Tsx)
            )
        };
        let mut entries: Vec<usize> = self
            .files()
            .filter(|(_, file)| is_script(file) && self.is_entry(file))
            .map(|(at, _)| at)
            .collect();
        entries.sort_by_key(|at| self.survey.files[*at].path.split('/').count());
        let has_entry = !entries.is_empty();
        for at in entries {
            let mut symbols = self.exports.take(at, |_| true);
            symbols.extend(self.exports.re_exported(at).0);
            self.add(self.survey.files[at].path.clone(), at, true, symbols);
        }
        // What the package's entry does not pass on, its users cannot import.
        if has_entry {
            return;
        }
        let others: Vec<usize> = self
            .files()
            .filter(|(_, f)| is_script(f))
            .map(|(at, _)| at)
            .collect();
        for at in others {
            let symbols = self.exports.take(at, |_| true);
            self.add(self.survey.files[at].path.clone(), at, false, symbols);
        }
    }

    fn is_entry(&self, file: &SurveyedFile) -> bool {
        let stem = file.name().split('.').next().unwrap_or_default();
        self.survey
            .manifests
            .iter()
            .filter(|manifest| manifest.ecosystem == Ecosystem::Node)
            .any(|manifest| {
                let mut entries = manifest.entry.iter().chain(&manifest.entries);
                let named = entries.any(|entry| {
                    let is_built = self.survey.file(entry).is_none_or(|file| !file.is_source());
                    *entry == file.path
                        || file.path.strip_suffix(".js") == Some(entry)
                        || is_built && source_stem(entry) == source_stem(&file.path)
                });
                let folder = manifest.folder();
                let inside = file
                    .folder()
                    .strip_prefix(folder)
                    .map(|f| f.trim_start_matches('/'));
                let by_name = stem == "index" && inside.is_some_and(|f| f.is_empty() || f == "src");
                named || by_name
            })
    }

    fn by_folder(&mut self, language: Language, is_offered: fn(&SurveyedFile) -> bool) {
        let mut folders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, file) in self.files() {
            if file.language == Some(language) && is_offered(file) {
                folders.entry(file.folder()).or_default().push(at);
            }
        }
        for (folder, files) in folders {
            let is_main = language == Language::Go
                && files
                    .iter()
                    .any(|at| self.survey.files[*at].outline.entry_point.is_some());
            if is_main {
                continue;
            }
            let symbols: Vec<_> = files
                .iter()
                .flat_map(|at| self.exports.take(*at, |_| true))
                .collect();
            let name = if folder.is_empty() { "./" } else { folder };
            let first = files
                .iter()
                .copied()
                .find(|at| self.survey.files[*at].about.is_some())
                .unwrap_or_else(|| self.weightiest(&files));
            self.add(name.to_owned(), first, folder.is_empty(), symbols);
        }
    }

    /// The file whose main declaration is the longest, types before functions.
    fn weightiest(&self, files: &[usize]) -> usize {
        let weight = |at: &usize| {
            let symbol = self.survey.files[*at].main_symbol();
            symbol.map(|symbol| {
                let is_type = matches!(symbol.kind, SymbolKind::Type | SymbolKind::Interface);
                let length = symbol.last_line.saturating_sub(symbol.line);
                (symbol.public, is_type, length)
            })
        };
        let heaviest = files.iter().rev().max_by_key(|at| weight(at));
        heaviest.copied().unwrap_or_default()
    }

    fn headers(&mut self) {
        let is_header = |file: &SurveyedFile| {
            matches!(file.language, Some(Language::C | Language::Cpp))
                && [".h", ".hh", ".hpp", ".hxx"]
                    .iter()
                    .any(|ending| file.path.ends_with(ending))
        };
        let headers: Vec<usize> = self
            .files()
            .filter(|(_, file)| is_header(file))
            .map(|(at, _)| at)
            .collect();
        let is_included = |at: &usize| {
            self.survey.files[*at]
                .folder()
                .split('/')
                .any(|part| part == "include")
        };
        let offered: Vec<usize> = if headers.iter().any(is_included) {
            headers.into_iter().filter(is_included).collect()
        } else {
            headers
        };
        for at in offered {
            let symbols = self
                .exports
                .take(at, |symbol| symbol.kind != SymbolKind::Constant);
            self.add(self.survey.files[at].path.clone(), at, false, symbols);
        }
    }
}

/// Returns the path that a source file and its build output have in common: `dist/index.js`, `src/index.ts` and
/// `dist/index.d.ts` are all `src/index`.
fn source_stem(path: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "dist" | "build" | "out" => "src",
        part => part,
    });
    let path = parts.collect::<Vec<_>>().join("/");
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    format!("{folder}/{}", name.split('.').next().unwrap_or_default())
}

fn is_public_python(part: &str) -> bool {
    !part.starts_with('_') || part.starts_with("__init__")
}

fn is_offered_go(file: &SurveyedFile) -> bool {
    file.is_source()
        && !file
            .path
            .split('/')
            .any(|part| part == "internal" || part == "cmd")
}

/// `src/flask/views.py` as others import it: `flask.views`.
fn python_name(path: &str) -> String {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let stem = path
        .strip_suffix(".py")
        .or(path.strip_suffix(".pyi"))
        .unwrap_or(path);
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    stem.replace('/', ".")
}

/// A module with a body as its file names it: `inner`, `outer::inner`.
fn path_of(module: &Symbol) -> String {
    match &module.module {
        Some(around) => format!("{around}::{}", module.name),
        None => module.name.clone(),
    }
}
