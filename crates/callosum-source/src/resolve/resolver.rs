//! [`Resolver`]: turns an import and its file into a [`Target`].

use super::{
    c, go, java, javascript,
    names::{Names, is_within},
    packages::{Dependency, Ecosystem, Package, Packages},
    python, rust,
};
use crate::{
    language::Language,
    outline::{Import, ImportKind},
    walk::SourceTree,
};

/// Knows every file of a tree by its path, and its packages by their names.
pub struct Resolver<'a> {
    pub(super) packages: &'a Packages,
    pub(super) names: Names<'a>,
    pub(super) python_roots: Vec<String>,
}

/// The meaning of an import.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A file of the tree: its place in [`SourceTree::files`].
    File(usize),
    /// A package from outside, by the name in its manifest's registry if a manifest of the tree
    /// names it, else by the name in the source.
    Package(String),
    /// The language's own library.
    Standard,
    /// Unknown.
    Unknown,
}

impl<'a> Resolver<'a> {
    /// Learns the files and packages of a tree.
    pub fn new(tree: &'a SourceTree, packages: &'a Packages) -> Self {
        let names = Names::of(tree);
        let python_roots = python::roots(&names, packages);
        Self {
            packages,
            names,
            python_roots,
        }
    }

    /// Resolves `import` in the file `from` (a path from the root).
    ///
    /// Looks at names only, so that the answer is the same on every machine. A folder that is
    /// imported as a whole (a Go package) is represented by its first file. If the names of a
    /// Python import are files of their own, the first counts; [`Self::resolve_all`] returns them
    /// all.
    pub fn resolve(&self, from: &str, language: Language, import: &Import) -> Target {
        let mut targets = self.resolve_all(from, language, import).into_iter();
        targets.next().unwrap_or(Target::Unknown)
    }

    /// Says everything that `import` means, each once: `from . import a, b` may be two files.
    pub fn resolve_all(&self, from: &str, language: Language, import: &Import) -> Vec<Target> {
        let one = match language {
            Language::Python => return python::resolve(self, from, import, &import.names),
            Language::Rust => rust::resolve(self, from, import),
            Language::TypeScript | Language::Tsx | Language::JavaScript => {
                javascript::resolve(self, from, import)
            }
            Language::Go => go::resolve(self, from, import),
            Language::Java => java::resolve(self, import),
            Language::C | Language::Cpp => c::resolve(self, from, import),
        };
        vec![one]
    }

    /// Follows a Rust path as the file `from` would write it. Returns the file of the deepest module
    /// on the way and the number of parts that are left: those name items in that file.
    pub fn follow(&self, from: &str, path: &str) -> (Target, usize) {
        rust::follow(self, from, path, ImportKind::Path)
    }

    /// Resolves a Rust `use` or path in the same way.
    pub fn follow_import(&self, from: &str, import: &Import) -> (Target, usize) {
        rust::follow(self, from, &import.target, import.kind)
    }

    /// Returns what one name of a Python `from … import …` means: a module of its own, or a name
    /// in the module; `None` for `name` asks for the module itself.
    pub fn resolve_name(&self, from: &str, import: &Import, name: Option<&str>) -> Target {
        let names: Vec<String> = name.into_iter().map(str::to_owned).collect();
        let targets = python::resolve(self, from, import, &names).into_iter();
        targets.into_iter().next().unwrap_or(Target::Unknown)
    }

    /// The package of an ecosystem that `from` belongs to: the one deepest in the tree.
    pub(super) fn owner(&self, from: &str, ecosystem: Ecosystem) -> Option<&'a Package> {
        self.of(ecosystem)
            .filter(|package| is_within(from, &package.folder))
            .max_by_key(|package| package.folder.len())
    }

    /// The packages of an ecosystem.
    pub(super) fn of(&self, ecosystem: Ecosystem) -> impl Iterator<Item = &'a Package> + use<'a> {
        let all = self.packages.packages.iter();
        all.filter(move |package| package.ecosystem == ecosystem)
    }

    /// The dependency that a test picks: of the package that `from` belongs to, else of any.
    pub(super) fn dependency(
        &self,
        from: &str,
        ecosystem: Ecosystem,
        is_it: impl Fn(&Dependency) -> bool,
    ) -> Option<&'a Dependency> {
        self.owner(from, ecosystem)
            .into_iter()
            .chain(self.of(ecosystem))
            .flat_map(|package| &package.dependencies)
            .find(|dependency| is_it(dependency))
    }
}
