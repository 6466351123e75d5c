//! [`Links`]: which file of a tree leans on which, and on what from outside.
//!
//! An import is followed through re-exports to the file that declares what it names, so that a
//! crate's root or a package's `__init__` is not taken for the thing itself. Files of one Go or
//! Java package see each other without an import; there a mention of a name that only one of them
//! declares counts instead.

use std::collections::{BTreeMap, BTreeSet};

use callosum_search::{
    language::Language,
    outline::{Import, ImportKind, SymbolKind},
    resolve::{Packages, Resolver, Target},
    walk::SourceTree,
};

use super::file::SurveyedFile;

/// How many re-exports are followed for one import.
const LONGEST_CHASE: usize = 6;

/// One file leaning on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scout) struct Edge {
    /// The file that leans.
    pub(in crate::scout) from: usize,
    /// The file that it leans on.
    pub(in crate::scout) to: usize,
    /// The line that says so, in `from`.
    pub(in crate::scout) line: u32,
    /// Whether it only says that the other belongs to it (`mod x;`).
    pub(in crate::scout) declares: bool,
}

/// One file using a package from outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scout) struct Outside {
    /// The package, by the name its registry knows where a manifest of the tree says it.
    pub(in crate::scout) package: String,
    /// The file.
    pub(in crate::scout) from: usize,
    /// The line that imports it.
    pub(in crate::scout) line: u32,
}

/// Who leans on whom.
#[derive(Clone, Debug, Default)]
pub(in crate::scout) struct Links {
    /// Within the tree: each pair of files once, with the first line that says so.
    pub(in crate::scout) edges: Vec<Edge>,
    /// On what is outside: each pair of package and file once.
    pub(in crate::scout) outside: Vec<Outside>,
    /// For each file, what each of its imports means.
    pub(in crate::scout) targets: Vec<Vec<Target>>,
}

impl Links {
    /// Resolves every import of the files, which are those of `tree` in its order.
    pub(super) fn of(tree: &SourceTree, packages: &Packages, files: &[SurveyedFile]) -> Self {
        let resolver = Resolver::new(tree, packages);
        let targets: Vec<Vec<Target>> = files
            .iter()
            .map(|file| {
                let language = file.language;
                let resolve = |import: &Import| {
                    language.map_or(Target::Unknown, |l| resolver.resolve(&file.path, l, import))
                };
                file.outline.imports.iter().map(resolve).collect()
            })
            .collect();
        let chase = Chase::new(files, &targets);
        let packages_of_go = GoPackages::of(files);
        let mut edges = BTreeMap::new();
        let mut outside = BTreeMap::new();
        for (from, file) in files.iter().enumerate() {
            for (import, target) in file.outline.imports.iter().zip(&targets[from]) {
                match target {
                    Target::File(to) => {
                        let declares = import.kind == ImportKind::DeclareModule;
                        // `mod sum;` alone builds the tree; `sum::total(..)` beside it leans.
                        if declares && let Some(line) = file.path_heads.get(&*import.target) {
                            edges.entry((from, *to, false)).or_insert(*line);
                        }
                        let go = packages_of_go.destinations(file, *to);
                        for to in go.unwrap_or_else(|| chase.destinations(*to, import)) {
                            if to != from {
                                edges.entry((from, to, declares)).or_insert(import.line);
                            }
                        }
                    }
                    Target::Package(package) => {
                        outside
                            .entry((package.clone(), from))
                            .or_insert(import.line);
                    }
                    Target::Standard | Target::Unknown => {}
                }
            }
        }
        for (from, to, line) in mentions_within_packages(files) {
            edges.entry((from, to, false)).or_insert(line);
        }
        Self {
            edges: edges
                .into_iter()
                .map(|((from, to, declares), line)| Edge {
                    from,
                    to,
                    line,
                    declares,
                })
                .collect(),
            outside: outside
                .into_iter()
                .map(|((package, from), line)| Outside {
                    package,
                    from,
                    line,
                })
                .collect(),
            targets,
        }
    }

    /// The edges that say more than that a module is there.
    pub(in crate::scout) fn uses(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(|edge| !edge.declares)
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
pub(in crate::scout) fn names_taken(language: Option<Language>, import: &Import) -> Vec<&str> {
    if !import.names.is_empty() {
        return import.names.iter().map(String::as_str).collect();
    }
    match language {
        Some(Language::Rust) => import.target.rsplit("::").next().into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Follows names through re-exports to the files that declare them.
pub(in crate::scout) struct Chase<'a> {
    files: &'a [SurveyedFile],
    targets: &'a [Vec<Target>],
    declared: Vec<BTreeSet<&'a str>>,
}

impl<'a> Chase<'a> {
    /// Ready to follow; `targets` says what each import of each file means.
    pub(in crate::scout) fn new(files: &'a [SurveyedFile], targets: &'a [Vec<Target>]) -> Self {
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

    /// The file that declares `name`, looked for in the file `at` and then where that passes it
    /// on from.
    pub(in crate::scout) fn declarer(&self, at: usize, name: &str) -> Option<usize> {
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

/// Which file of a Go package declares a name: a package is imported as a whole, but leaned on by
/// what is mentioned of it.
struct GoPackages<'a> {
    files: &'a [SurveyedFile],
    /// For each folder, the files that declare each exported name.
    declarers: BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
}

impl<'a> GoPackages<'a> {
    fn of(files: &'a [SurveyedFile]) -> Self {
        let mut declarers: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        let go = files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.language == Some(Language::Go) && file.is_source());
        for (at, file) in go {
            let names = declarers.entry(file.folder()).or_default();
            for name in declared_names(file) {
                names.entry(name).or_insert(at);
            }
        }
        Self { files, declarers }
    }

    /// The files that `from` leans on by importing the package of the file `to`; `None` where
    /// that is not Go.
    fn destinations(&self, from: &SurveyedFile, to: usize) -> Option<BTreeSet<usize>> {
        if from.language != Some(Language::Go) {
            return None;
        }
        let names = self.declarers.get(self.files[to].folder())?;
        let named: BTreeSet<usize> = from
            .outline
            .references
            .iter()
            .filter(|reference| reference.bare.is_some())
            .filter(|reference| reference.name.starts_with(char::is_uppercase))
            .filter_map(|reference| names.get(reference.name.as_str()).copied())
            .collect();
        Some(if named.is_empty() {
            BTreeSet::from([to])
        } else {
            named
        })
    }
}

/// Whether an import takes everything its target has.
pub(in crate::scout) fn is_glob(import: &Import) -> bool {
    import.target.ends_with('*')
        || import.names.iter().any(|name| name == "*")
        || (import.kind == ImportKind::ReExport
            && import.names.is_empty()
            && !import.target.contains("::"))
}

/// Mentions across files of one Go or Java package, of names that one file alone declares.
fn mentions_within_packages(files: &[SurveyedFile]) -> Vec<(usize, usize, u32)> {
    let mut folders: BTreeMap<(&str, Language), Vec<usize>> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        if let Some(language @ (Language::Go | Language::Java)) = file.language {
            folders
                .entry((file.folder(), language))
                .or_default()
                .push(at);
        }
    }
    let mut mentions = Vec::new();
    for members in folders.values() {
        let mut declarers: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for &at in members {
            let symbols = files[at].outline.symbols.iter().filter(|symbol| {
                symbol.container.is_none() && !symbol.test && symbol.kind != SymbolKind::Module
            });
            for symbol in symbols {
                declarers
                    .entry(&symbol.name)
                    .and_modify(|declarer| {
                        if *declarer != Some(at) {
                            *declarer = None;
                        }
                    })
                    .or_insert(Some(at));
            }
        }
        for &from in members {
            for reference in &files[from].outline.references {
                if let Some(Some(to)) = declarers.get(reference.name.as_str())
                    && let Some(line) = reference.bare
                    && *to != from
                {
                    mentions.push((from, *to, line));
                }
            }
        }
    }
    mentions
}
