//! [`Links`]: dependencies among the files of a tree, and on packages from outside.
//!
//! An import is followed through re-exports to the file that declares what it names, so that a
//! crate's root or a package's `__init__` is not taken for the thing itself. Files of one Go or
//! Java package see each other without an import; there a use of a name counts instead, as
//! [`Names`] follows it.

use std::collections::{BTreeMap, BTreeSet};

use callosum_source::{
    language::Language,
    outline::{Import, ImportKind, Purpose},
    resolve::{Packages, Resolver, Target},
    walk::SourceTree,
};

use super::{
    file::SurveyedFile,
    names::{NameUse, Names, Resolved, placed, purpose_in},
};
use crate::file_role::Role;

/// Most re-exports that are followed for one import.
const LONGEST_CHASE: usize = 6;

/// One file leaning on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    /// The file that leans.
    pub(crate) from: usize,
    /// The file that it leans on.
    pub(crate) to: usize,
    /// The line of the dependency, in `from`.
    pub(crate) line: u32,
    /// Whether it only declares that the other belongs to it (`mod x;`).
    pub(crate) declares: bool,
    /// When it is needed.
    pub(crate) purpose: Purpose,
}

/// One file using a package from outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Outside {
    /// The package, by its name in the registry if a manifest of the tree has it.
    pub(crate) package: String,
    /// The file.
    pub(crate) from: usize,
    /// The line that imports it.
    pub(crate) line: u32,
    /// When it is needed.
    pub(crate) purpose: Purpose,
}

/// Dependencies among files and packages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// Within the tree: each pair of files once, with the first line of the dependency.
    pub(crate) edges: Vec<Edge>,
    /// On packages from outside: each pair of package and file once.
    pub(crate) outside: Vec<Outside>,
    /// For each file, what each of its imports means.
    pub(crate) targets: Vec<Vec<Target>>,
    /// The uses of declarations by other files.
    pub(crate) names: Vec<NameUse>,
}

impl Links {
    /// Resolves every import of the files.
    ///
    /// `tree` lists the whole tree, even if `files` are only a part of it: the meaning of an import
    /// depends on folders outside of that part. Files that only tests declare become tests.
    pub(super) fn of(tree: &SourceTree, packages: &Packages, files: &mut [SurveyedFile]) -> Self {
        let resolver = Resolver::new(tree, packages);
        let places: Vec<Option<usize>> = tree
            .files
            .iter()
            .map(|known| {
                files
                    .binary_search_by(|file| file.path.cmp(&known.path))
                    .ok()
            })
            .collect();
        let meant: Vec<Vec<(Target, usize)>> = files
            .iter()
            .map(|file| {
                let resolve = |import: &Import| match file.language {
                    Some(Language::Rust) if import.kind != ImportKind::DeclareModule => {
                        resolver.follow_import(&file.path, import)
                    }
                    Some(language) => (resolver.resolve(&file.path, language, import), 0),
                    None => (Target::Unknown, 0),
                };
                file.outline.imports.iter().map(resolve).collect()
            })
            .collect();
        let mut targets = Vec::with_capacity(meant.len());
        let mut left = Vec::with_capacity(meant.len());
        for imports in meant {
            let (found, rest): (Vec<Target>, Vec<usize>) = imports.into_iter().unzip();
            let found = found.into_iter().map(|target| placed(&places, target));
            targets.push(found.collect::<Vec<_>>());
            left.push(rest);
        }
        mark_test_modules(files, &targets);
        let files = &*files;
        let resolved = Resolved {
            resolver: &resolver,
            places: &places,
            targets: &targets,
            left: &left,
        };
        let names = Names::of(files, &resolved);
        let uses = names.uses();
        let mut edges = Edges::default();
        let mut outside: BTreeMap<(String, usize), (Purpose, u32)> = BTreeMap::new();
        let chase = Chase::new(files, &targets);
        for (from, file) in files.iter().enumerate() {
            for (at, (import, target)) in
                file.outline.imports.iter().zip(&targets[from]).enumerate()
            {
                let needed = (import.purpose, import.line);
                match target {
                    Target::File(to) => {
                        let declares = import.kind == ImportKind::DeclareModule;
                        // `mod sum;` alone only builds the tree; with a use such as
                        // `sum::total(..)` it is a dependency.
                        if declares && let Some(line) = file.path_heads.get(&*import.target) {
                            edges.add(from, *to, false, (Purpose::Run, *line));
                        }
                        let named = names.destinations(from, at);
                        let all = named.unwrap_or_else(|| {
                            chase.destinations(*to, import).into_iter().collect()
                        });
                        for to in all {
                            let purpose = purpose_in(&files[to], import.purpose);
                            edges.add(from, to, declares, (purpose, import.line));
                        }
                        // TypeScript reads the declaration file, and the script next to it runs.
                        let script = script_of(files, *to);
                        if let Some(script) = script.filter(|_| import.purpose == Purpose::Run) {
                            edges.add(from, script, false, needed);
                        }
                    }
                    // Some names of a Python import may be files where the first is none.
                    Target::Unknown if file.language == Some(Language::Python) => {
                        for to in names.destinations(from, at).unwrap_or_default() {
                            edges.add(from, to, false, needed);
                        }
                    }
                    Target::Package(package) => {
                        let first = outside.entry((package.clone(), from)).or_insert(needed);
                        *first = needed.min(*first);
                    }
                    Target::Standard | Target::Unknown => {}
                }
            }
        }
        for used in &uses {
            if let Some(Language::Go | Language::Java) = files[used.from].language {
                edges.add(used.from, used.to, false, (used.purpose, used.line));
            }
        }
        Self {
            edges: edges.finish(),
            outside: outside
                .into_iter()
                .map(|((package, from), (purpose, line))| Outside {
                    package,
                    from,
                    line,
                    purpose,
                })
                .collect(),
            names: uses,
            targets,
        }
    }

    /// Lists the edges of running code that are more than a declaration of a module. Needs of a
    /// type checker, or of tests in the same file, are left out.
    pub(crate) fn uses(&self) -> impl Iterator<Item = &Edge> {
        let leaning = self.leaning();
        leaning.filter(|edge| edge.purpose == Purpose::Run)
    }

    /// Lists the same with the needs of a type checker, and of tests in the same file.
    pub(crate) fn leaning(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(|edge| !edge.declares)
    }
}

/// Finds the script that a declaration file describes, if it is in the same folder.
fn script_of(files: &[SurveyedFile], declaration: usize) -> Option<usize> {
    let path = &files[declaration].path;
    let endings = [(".d.ts", ".js"), (".d.mts", ".mjs"), (".d.cts", ".cjs")];
    endings.iter().find_map(|(declares, runs)| {
        let script = format!("{}{runs}", path.strip_suffix(declares)?);
        let found = files.binary_search_by(|file| file.path.cmp(&script));
        found.ok()
    })
}

/// Edges while they are collected: each pair of files once, with its first purpose and line.
#[derive(Default)]
struct Edges {
    first: BTreeMap<(usize, usize, bool), (Purpose, u32)>,
}

impl Edges {
    fn add(&mut self, from: usize, to: usize, declares: bool, needed: (Purpose, u32)) {
        if from != to {
            let first = self.first.entry((from, to, declares)).or_insert(needed);
            *first = needed.min(*first);
        }
    }

    fn finish(self) -> Vec<Edge> {
        let edges = self.first.into_iter();
        edges
            .map(|((from, to, declares), (purpose, line))| Edge {
                from,
                to,
                line,
                declares,
                purpose,
            })
            .collect()
    }
}

/// Files that `#[cfg(test)] mod x;` declares, and those below them, are tests.
fn mark_test_modules(files: &mut [SurveyedFile], targets: &[Vec<Target>]) {
    let modules = |at: usize, is_wanted: &dyn Fn(&Import) -> bool| -> Vec<usize> {
        let imports = files[at].outline.imports.iter().zip(&targets[at]);
        imports
            .filter(|(import, _)| import.kind == ImportKind::DeclareModule && is_wanted(import))
            .filter_map(|(_, target)| match target {
                Target::File(to) => Some(*to),
                _ => None,
            })
            .collect()
    };
    let is_for_tests = |import: &Import| import.purpose == Purpose::Tests;
    let mut open: Vec<usize> = (0..files.len())
        .filter(|at| files[*at].language == Some(Language::Rust))
        .flat_map(|at| modules(at, &is_for_tests))
        .collect();
    let mut tests = BTreeSet::new();
    while let Some(at) = open.pop() {
        if tests.insert(at) {
            open.extend(modules(at, &|_| true));
        }
    }
    for at in tests {
        if files[at].role == Role::Source {
            files[at].role = Role::Test;
        }
    }
}

fn declared_names(file: &SurveyedFile) -> BTreeSet<&str> {
    file.outline
        .symbols
        .iter()
        .filter(|symbol| symbol.container.is_none())
        .map(|symbol| symbol.name.as_str())
        .collect()
}

/// The names that an import takes.
pub(crate) fn names_taken(language: Option<Language>, import: &Import) -> Vec<&str> {
    if !import.names.is_empty() {
        return import.names.iter().map(String::as_str).collect();
    }
    match language {
        Some(Language::Rust) => import.target.rsplit("::").next().into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Follows names through re-exports to the files that declare them.
pub(crate) struct Chase<'a> {
    files: &'a [SurveyedFile],
    targets: &'a [Vec<Target>],
    declared: Vec<BTreeSet<&'a str>>,
}

impl<'a> Chase<'a> {
    /// Creates one; `targets` has the target of each import of each file.
    pub(crate) fn new(files: &'a [SurveyedFile], targets: &'a [Vec<Target>]) -> Self {
        Self {
            files,
            targets,
            declared: files.iter().map(declared_names).collect(),
        }
    }

    /// The files that declare what `import`, resolved to `to`, names; `to` itself for what cannot
    /// be followed.
    fn destinations(&self, to: usize, import: &Import) -> BTreeSet<usize> {
        let names = names_taken(self.files[to].language, import);
        if names.is_empty() || import.kind == ImportKind::DeclareModule {
            return BTreeSet::from([to]);
        }
        // `Notify::notified` is a matter of `Notify`.
        let of_type = || {
            let (path, _) = import.target.rsplit_once("::")?;
            let holder = path.rsplit("::").next()?;
            let is_type = self.files[to].language == Some(Language::Rust)
                && holder.starts_with(char::is_uppercase);
            is_type.then(|| self.declarer(to, holder)).flatten()
        };
        names
            .into_iter()
            .map(|name| self.declarer(to, name).or_else(of_type).unwrap_or(to))
            .collect()
    }

    /// Returns the file that declares `name`, searched in the file `at` and then along its
    /// re-exports.
    pub(crate) fn declarer(&self, at: usize, name: &str) -> Option<usize> {
        self.declarer_within(at, name, LONGEST_CHASE)
    }

    fn declarer_within(&self, at: usize, name: &str, steps: usize) -> Option<usize> {
        if self.declared[at].contains(name) {
            return Some(at);
        }
        let steps = steps.checked_sub(1)?;
        let file = &self.files[at];
        let passes_on =
            |import: &Import| import.kind == ImportKind::ReExport || file.name() == "__init__.py";
        let targets = self.targets.get(at)?;
        let next = file
            .outline
            .imports
            .iter()
            .zip(targets)
            .filter_map(|(import, target)| match target {
                Target::File(next) if passes_on(import) && *next != at => Some((import, *next)),
                _ => None,
            });
        let (named, globs): (Vec<_>, Vec<_>) = next.partition(|(import, _)| {
            !is_glob(import) && names_taken(file.language, import).contains(&name)
        });
        named
            .into_iter()
            .chain(globs.into_iter().filter(|(import, _)| is_glob(import)))
            .find_map(|(_, next)| self.declarer_within(next, name, steps))
    }
}

/// Whether an import takes everything its target has.
pub(crate) fn is_glob(import: &Import) -> bool {
    import.target.ends_with('*')
        || import.names.iter().any(|name| name == "*")
        || (import.kind == ImportKind::ReExport
            && import.names.is_empty()
            && !import.target.contains("::"))
}
