//! [`Facade`]s: what a tree offers to code outside of it, as each language says so.
//!
//! Rust: what can be reached from a crate's root by `pub mod` and `pub use`. Python: modules
//! without a leading underscore, and what a package's `__init__` passes on. JavaScript and
//! TypeScript: exports, those of the package's entry first. Go: exported names outside `internal`
//! and `main`. Java: public types. C and C++: headers, those under `include` first.

use std::collections::{BTreeMap, BTreeSet};

use callosum_search::{
    language::Language,
    outline::{Import, ImportKind, Symbol, SymbolKind},
    resolve::Target,
};

use super::{
    manifest::Ecosystem,
    survey::{
        Survey,
        file::SurveyedFile,
        links::{self, Chase},
    },
};

/// A module as others see it.
#[derive(Clone, Debug)]
pub(super) struct Facade<'s> {
    /// How others name it: `serde::de`, `flask.views`, a folder, a header.
    pub(super) name: String,
    /// The file that stands for it.
    pub(super) file: usize,
    /// Whether others meet it first: a crate's root, a package's entry.
    pub(super) is_root: bool,
    /// What declares it, where it is only a part of its file: `pub mod inner { … }`.
    pub(super) module: Option<&'s Symbol>,
    /// What it offers, and the file that declares each.
    pub(super) symbols: Vec<(usize, &'s Symbol)>,
    /// What it passes on that the tree does not declare, or not where a grammar sees it.
    pub(super) passed: Vec<Passed<'s>>,
}

/// Names that a file passes on by one import.
#[derive(Clone, Debug)]
pub(super) struct Passed<'s> {
    /// The file.
    pub(super) file: usize,
    /// The line of the import.
    pub(super) line: u32,
    /// The package that they are from, if it is not the tree's own.
    pub(super) package: Option<&'s str>,
    /// The names.
    pub(super) names: Vec<&'s str>,
}

/// What a tree offers, and what it keeps to itself.
#[derive(Clone, Debug)]
pub(super) struct Surface<'s> {
    /// The modules as others see them, in order of path; each declaration appears once, where it is met first.
    pub(super) facades: Vec<Facade<'s>>,
    /// The files with public declarations that no package's entry leads to.
    pub(super) internal: Vec<usize>,
}

/// Reads what a tree offers to code outside of it.
pub(super) fn surface(survey: &Survey) -> Surface<'_> {
    let mut collected = Collected {
        survey,
        chase: Chase::new(&survey.files, &survey.links.targets),
        seen: BTreeSet::new(),
        visited: BTreeSet::new(),
        passed: BTreeSet::new(),
        unknown: BTreeMap::new(),
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

/// A module with a body: how others name it, its file, its declaration, and what it holds.
type Part<'s> = (String, usize, Option<&'s Symbol>, Vec<(usize, &'s Symbol)>);

struct Collected<'s> {
    survey: &'s Survey,
    chase: Chase<'s>,
    seen: BTreeSet<(usize, u32, &'s str)>,
    visited: BTreeSet<usize>,
    /// The files whose own re-exports have been followed.
    passed: BTreeSet<usize>,
    /// For each file, what it passes on without a declaration.
    unknown: BTreeMap<usize, Vec<Passed<'s>>>,
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

    /// The public declarations of a file that no facade has yet.
    fn take(&mut self, at: usize, wanted: impl Fn(&Symbol) -> bool) -> Vec<(usize, &'s Symbol)> {
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

    /// Adds a facade. What is declared once for each platform, or once for each set of arguments,
    /// is offered once.
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
            None => self.unknown.remove(&file).unwrap_or_default(),
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

    /// Visits a module and those below it that are public; iterative, since modules may nest as
    /// deep as somebody likes.
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
            let (passed_on, whole) = self.passed_on(at);
            symbols.extend(passed_on);
            symbols.extend(self.take(at, |symbol| symbol.module.is_none()));
            let file = &self.survey.files[at];
            let mut below = Vec::new();
            for (import, target) in file.outline.imports.iter().zip(self.targets(at)) {
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

    /// What the modules with a body in a file declare, each under its own path.
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
            let held = self.take(at, |symbol| symbol.module.as_deref() == Some(path));
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
            for (import, target) in imports.zip(self.targets(at)) {
                if let (ImportKind::DeclareModule, Target::File(to)) = (import.kind, target) {
                    to_visit.push(*to);
                }
            }
        }
        seen.into_iter()
            .flat_map(|at| self.take(at, |symbol| symbol.kind == SymbolKind::Macro))
            .collect()
    }

    fn targets(&self, at: usize) -> &'s [Target] {
        self.survey.links.targets.get(at).map_or(&[], Vec::as_slice)
    }

    /// What a file passes on from others: its re-exports, and all that a Python package imports
    /// from its own modules; and the files that it passes on whole.
    fn passed_on(&mut self, at: usize) -> (Vec<(usize, &'s Symbol)>, Vec<usize>) {
        let mut symbols = Vec::new();
        let mut whole = Vec::new();
        let mut to_pass = vec![at];
        while let Some(next) = to_pass.pop() {
            whole.extend((next != at).then_some(next));
            symbols.extend(self.passed_on_by(next, &mut to_pass));
        }
        (symbols, whole)
    }

    /// What one file passes on; `to_pass` gets those that it takes from whole.
    fn passed_on_by(&mut self, at: usize, to_pass: &mut Vec<usize>) -> Vec<(usize, &'s Symbol)> {
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
                let names = links::names_taken(file.language, import);
                self.pass_unknown(at, import.line, Some(package), names);
            }
            let Target::File(to) = target else { continue };
            let target_is_source = self.survey.files[*to].is_source();
            if !passes_on || !target_is_source || *to == at {
                continue;
            }
            if links::is_glob(import) {
                symbols.extend(self.take(*to, |symbol| !is_inner(file.language, symbol)));
                // What a file passes on whole, it may itself have from others.
                if self.passed.insert(*to) {
                    to_pass.push(*to);
                }
                continue;
            }
            for name in links::names_taken(file.language, import) {
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

    /// Remembers names that a file passes on and nothing in the tree declares.
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
        let same = |passed: &&mut Passed<'_>| passed.line == line && passed.package == package;
        match passed.iter_mut().find(same) {
            Some(known) => known.names.extend(names),
            None => passed.push(Passed {
                file,
                line,
                package,
                names,
            }),
        }
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
            let (mut symbols, _) = self.passed_on(at);
            symbols.extend(self.take(at, |symbol| symbol.kind != SymbolKind::Constant));
            let name = python_name(&self.survey.files[at].path);
            let is_root = !name.contains('.');
            self.add(name, at, is_root, symbols);
        }
        for at in modules {
            let symbols = self.take(at, |symbol| symbol.kind != SymbolKind::Constant);
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
            let mut symbols = self.take(at, |_| true);
            symbols.extend(self.passed_on(at).0);
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
            let symbols = self.take(at, |_| true);
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
                .flat_map(|at| self.take(*at, |_| true))
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
            let symbols = self.take(at, |symbol| symbol.kind != SymbolKind::Constant);
            self.add(self.survey.files[at].path.clone(), at, false, symbols);
        }
    }
}

/// What a script is built from and to have in common: `dist/index.js`, `src/index.ts` and
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

/// Whether what an import passes on can be named by code outside: in Rust it is `pub use`, not
/// `pub(crate) use`.
fn is_offered_by(file: &SurveyedFile, import: &Import) -> bool {
    let line = file.line(import.line).unwrap_or_default();
    file.language != Some(Language::Rust) || !line.contains("pub(")
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

/// Whether a declaration of Rust stands in a module with a body.
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

/// Whether a function in what `method` calls its container is one of this type's: those of a
/// module are of its own types, and of those outside of it where it has none of that name.
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

/// The public functions of a type, as far as they stand in its own file; not those that every type
/// has under a name of the language's.
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
