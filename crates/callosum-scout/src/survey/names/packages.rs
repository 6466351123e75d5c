//! Names of Go, Java, C and C++, where files see names of other files without naming these files.
//!
//! Go: the files of a package; what is imported is a package. Java: the types of a package. C and
//! C++: what the included headers declare, those that they include among them.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, HashSet},
};

use callosum_source::{
    language::Language,
    outline::{Import, Symbol, SymbolKind, Use},
    resolve::Target,
};

use super::{Landing, Names, parts};
use crate::survey::file::SurveyedFile;

/// The declarations of each name, in order of the files.
type Declared<'a> = HashMap<&'a str, Vec<(usize, &'a Symbol)>>;

/// Declarations that files share without an import.
pub(super) struct Shared<'a> {
    /// By folder and the name in the `package` clause: `x_test` may be in the same folder as `x`.
    go: HashMap<(&'a str, &'a str), Declared<'a>>,
    /// By package.
    java: HashMap<&'a str, Declared<'a>>,
    /// The declarations of headers.
    headers: Declared<'a>,
    /// By the folder of the crate.
    macros: HashMap<&'a str, Declared<'a>>,
    crates: Vec<Option<&'a str>>,
    /// The headers that the file asked about last includes.
    included: RefCell<Option<(usize, HashSet<usize>)>>,
}

impl<'a> Shared<'a> {
    pub(super) fn of(files: &'a [SurveyedFile]) -> Self {
        let mut shared = Self {
            go: HashMap::new(),
            java: HashMap::new(),
            headers: HashMap::new(),
            macros: HashMap::new(),
            crates: files.iter().map(crate_folder).collect(),
            included: RefCell::new(None),
        };
        for (at, file) in files.iter().enumerate() {
            let package = file.outline.package.as_deref().unwrap_or_default();
            let is_header = is_header(file);
            for symbol in &file.outline.symbols {
                if symbol.test || symbol.container.is_some() || symbol.kind == SymbolKind::Module {
                    continue;
                }
                let declared = match file.language {
                    Some(Language::Go) => shared.go.entry((file.folder(), package)).or_default(),
                    Some(Language::Java) => shared.java.entry(package).or_default(),
                    Some(Language::C | Language::Cpp) if is_header => &mut shared.headers,
                    Some(Language::Rust) if symbol.kind == SymbolKind::Macro => {
                        let Some(folder) = shared.crates[at] else {
                            continue;
                        };
                        shared.macros.entry(folder).or_default()
                    }
                    _ => continue,
                };
                declared.entry(&symbol.name).or_default().push((at, symbol));
            }
        }
        shared
    }

    /// A macro that code of the same crate calls by its bare name.
    pub(super) fn macro_in_crate(&self, at: usize, name: &str) -> Option<Landing<'a>> {
        let declared = self.macros.get(self.crates[at]?)?.get(name)?;
        let first = landing(*declared.first()?);
        // Of two macros of one name, only the order of the text tells which is meant.
        let is_only = declared.iter().all(|(file, _)| *file == first.file);
        is_only.then_some(first)
    }

    /// An exported macro, which is a name in the root of its crate.
    pub(super) fn exported_macro(&self, root: usize, name: &str) -> Option<Landing<'a>> {
        let declared = self.macros.get(self.crates[root]?)?.get(name)?;
        let mut exported = declared.iter().filter(|(_, symbol)| symbol.public);
        exported.next().copied().map(landing)
    }
}

impl<'a> Names<'a> {
    /// Follows a Go name: behind an imported package, or in the file's own package.
    pub(super) fn go_use(&self, at: usize, used: &'a Use) -> Option<Landing<'a>> {
        let file = &self.files[at];
        if used.qualifier.is_empty() {
            let package = file.outline.package.as_deref()?;
            if let Some(own) = self.own(at, &used.name) {
                return Some(own);
            }
            let found = self.go_declared(file.folder(), package, &used.name, file);
            return found.or_else(|| {
                let globs = file.outline.imports.iter().enumerate();
                let mut globs = globs.filter(|(_, import)| import.names.iter().any(|n| n == "*"));
                globs.find_map(|(index, _)| self.go_member(at, index, &used.name))
            });
        }
        let mut imports = file.outline.imports.iter().enumerate();
        let (index, _) = imports.find(|(index, import)| {
            self.go_local(at, *index, import).as_deref() == Some(used.qualifier.as_str())
        })?;
        self.go_member(at, index, &used.name)
    }

    /// Returns the name of an imported package in a file; `None` for one outside of the tree whose
    /// name is unknown here.
    fn go_local(&self, at: usize, index: usize, import: &Import) -> Option<String> {
        if let Some(binding) = import.bindings.first() {
            return Some(binding.local.clone());
        }
        match &self.resolved.targets[at][index] {
            Target::File(to) => self.files[*to].outline.package.clone(),
            _ => None,
        }
    }

    /// Returns the declaration of a name in an imported package of the tree.
    fn go_member(&self, at: usize, index: usize, name: &str) -> Option<Landing<'a>> {
        let Target::File(to) = self.resolved.targets[at][index] else {
            return None;
        };
        let target = &self.files[to];
        let package = target.outline.package.as_deref()?;
        self.go_declared(target.folder(), package, name, target)
    }

    /// The first file of a package that declares a name: variants for several systems count once.
    fn go_declared(
        &self,
        folder: &str,
        package: &str,
        name: &str,
        user: &SurveyedFile,
    ) -> Option<Landing<'a>> {
        let declared = self.shared.go.get(&(folder, package))?.get(name)?;
        let is_test = |file: &SurveyedFile| file.name().ends_with("_test.go");
        let mut seen = declared
            .iter()
            .filter(|(file, _)| is_test(user) || !is_test(&self.files[*file]));
        seen.next().copied().map(landing)
    }

    /// Returns the files of a Go package that an import leads to: those that declare the names that
    /// are used.
    pub(super) fn go_destinations(&self, at: usize, import: &Import) -> Option<Vec<usize>> {
        let file = &self.files[at];
        let index = file
            .outline
            .imports
            .iter()
            .position(|other| std::ptr::eq(other, import))?;
        // A dot import makes the names of the package bare ones.
        let is_dot = import.names.iter().any(|name| name == "*");
        let local = if is_dot {
            String::new()
        } else {
            self.go_local(at, index, import)?
        };
        let used = file.outline.uses.iter();
        let used = used.filter(|used| used.qualifier == local);
        let files: BTreeSet<usize> = used
            .filter_map(|used| self.go_member(at, index, &used.name))
            .map(|landing| landing.file)
            .collect();
        (!files.is_empty()).then(|| files.into_iter().collect())
    }

    /// Follows the name of a Java type: imported, or of the file's own package.
    pub(super) fn java_use(&self, at: usize, used: &'a Use) -> Option<Landing<'a>> {
        let file = &self.files[at];
        let name = used.name.as_str();
        if let Some(own) = self.own(at, name) {
            return Some(own);
        }
        let scope = &self.scopes[at];
        if scope.binds(name) {
            return self.bound(at, name);
        }
        // A type inside of this file hides one of the package.
        if file
            .outline
            .symbols
            .iter()
            .any(|symbol| symbol.name == name)
        {
            return None;
        }
        let package = file.outline.package.as_deref().unwrap_or_default();
        self.java_type(at, package, name).or_else(|| {
            let imports = file.outline.imports.iter();
            let globs = imports.filter_map(|import| import.target.strip_suffix(".*"));
            let mut found = globs.filter_map(|package| self.java_type(at, package, name));
            found.next()
        })
    }

    fn java_type(&self, at: usize, package: &str, name: &str) -> Option<Landing<'a>> {
        let declared = self.shared.java.get(package)?.get(name)?;
        // Two modules of a build may each have a type of that name: the nearer one is meant.
        let folder = self.files[at].folder();
        let nearness = |path: &str| {
            let shared = folder.split('/').zip(path.split('/'));
            shared.take_while(|(a, b)| a == b).count()
        };
        declared
            .iter()
            .max_by_key(|(file, _)| {
                (
                    nearness(self.files[*file].folder()),
                    std::cmp::Reverse(*file),
                )
            })
            .copied()
            .map(landing)
    }

    /// Resolves a name that is imported from a Java file to its type, also for an item inside of
    /// that.
    pub(super) fn land_in_java(&self, file: usize, path: &[&'a str]) -> Option<Landing<'a>> {
        let name = path.first()?;
        let stem = self.files[file].name().trim_end_matches(".java");
        self.own(file, name).or_else(|| self.own(file, stem))
    }

    /// Follows a name of C or C++ to the header that declares it, if the file includes that.
    pub(super) fn c_use(&self, at: usize, used: &'a Use) -> Option<Landing<'a>> {
        let path = parts(used, "::");
        if let [name] = path.as_slice() {
            return self
                .own(at, name)
                .or_else(|| self.in_headers(at, name, |_| true));
        }
        let [.., scope, name] = path.as_slice() else {
            return None;
        };
        let is_in_scope = |symbol: &Symbol| {
            let module = symbol.module.as_deref().unwrap_or_default();
            module.rsplit("::").next() == Some(*scope)
        };
        let is_type = |symbol: &Symbol| symbol.kind == SymbolKind::Type;
        self.in_headers(at, name, is_in_scope)
            .or_else(|| self.in_headers(at, scope, is_type))
    }

    /// The declaration of a name in the headers that a file includes.
    fn in_headers(
        &self,
        at: usize,
        name: &str,
        is_meant: impl Fn(&Symbol) -> bool,
    ) -> Option<Landing<'a>> {
        let declared = self.shared.headers.get(name)?;
        let mut included = self.shared.included.borrow_mut();
        let known = included.take_if(|(file, _)| *file == at);
        let (_, headers) = included.insert(known.unwrap_or_else(|| (at, self.includes(at))));
        let mut seen = declared
            .iter()
            .filter(|(file, symbol)| headers.contains(file) && is_meant(symbol));
        seen.next().copied().map(landing)
    }

    /// The headers that a file includes, at any depth.
    fn includes(&self, at: usize) -> HashSet<usize> {
        let mut open = vec![at];
        let mut seen = HashSet::new();
        while let Some(next) = open.pop() {
            for target in &self.resolved.targets[next] {
                if let Target::File(to) = target
                    && seen.insert(*to)
                {
                    open.push(*to);
                }
            }
        }
        seen
    }
}

fn landing((file, symbol): (usize, &Symbol)) -> Landing<'_> {
    Landing {
        file,
        symbol: Some(symbol),
    }
}

fn is_header(file: &SurveyedFile) -> bool {
    let extension = file.name().rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| extension.starts_with('h') || extension == "ipp")
}

/// The folder above `src` of a Rust file.
fn crate_folder(file: &SurveyedFile) -> Option<&str> {
    if file.language != Some(Language::Rust) {
        return None;
    }
    if file.path.starts_with("src/") {
        return Some("");
    }
    file.path.rfind("/src/").map(|at| &file.path[..at])
}
