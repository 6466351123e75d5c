//! [`Survey`]: reading a tree once, on every core.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use callosum_citation::tokens::{self, TextKind};
use callosum_host::Disk;
use callosum_source::{
    resolve::{self, Packages},
    walk::{Scope, Skipped, SourceFile, SourceTree, WalkError},
};

use super::{file::SurveyedFile, import_graph::Links, own_state};
use crate::{
    citation::Cited,
    file_role::Role,
    manifest::{self, Ecosystem, Manifest},
    progress::{Phase, Progress},
};

/// Number of files between two reports of progress.
const FILES_PER_PROGRESS: usize = 16;

/// Everything that a digest may speak of.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The files of the tree that are in scope, sorted by path.
    pub(crate) files: Vec<SurveyedFile>,
    /// The manifests in the folders above the scope, which is not what was asked about: quoted,
    /// and never counted.
    above: Vec<SurveyedFile>,
    /// The files that could not be read, with reasons; sorted by path.
    pub(crate) skipped: Vec<Skipped>,
    /// The manifests, sorted by path.
    pub(crate) manifests: Vec<Manifest>,
    /// The dependencies.
    pub(crate) links: Links,
    /// The requested parts of the tree; empty for all of it.
    pub(crate) scope: Vec<String>,
    /// The parts of the tree that the request is about, if more than them was read; empty for all
    /// of it.
    pub(crate) focus: Vec<String>,
    /// The name of the root's folder; empty if it has none that can be written.
    pub(crate) folder: String,
}

/// A tree that cannot be surveyed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SurveyError(#[from] pub WalkError);

impl Survey {
    /// Reads the part of the tree below `root` that `scope` means.
    ///
    /// Opens every text file of that part once, on every core. Calls `progress` now and then, from
    /// several threads in turn. A file that cannot be read is kept by name and reason and stops
    /// nothing.
    pub fn read(
        disk: &Disk,
        root: &Path,
        scope: &Scope,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Self, SurveyError> {
        progress(Progress {
            phase: Phase::Listing,
            files_read: 0,
            files_total: 0,
        });
        let mut tree = SourceTree::read(disk, root, scope)?;
        own_state::leave_out(disk, &mut tree);
        let mut skipped = tree.skipped.clone();
        let mut files = read_files(disk, &tree, &mut skipped, progress);
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        progress(Progress {
            phase: Phase::Linking,
            files_read: files.iter().filter(|file| file.read).count(),
            files_total: files.len(),
        });
        let above = manifests_above(disk, root, scope);
        let manifests = read_manifests(files.iter().chain(&above));
        let packages = packages(&manifests, &files, &above);
        // What an import means also depends on what lies outside of the scope.
        let links = if scope.paths.is_empty() {
            Links::of(&tree, &packages, &mut files)
        } else {
            let whole = SourceTree::read(disk, root, &Scope::WHOLE)?;
            Links::of(&whole, &packages, &mut files)
        };
        Ok(Self {
            files,
            above,
            skipped,
            manifests,
            links,
            scope: scope.paths.iter().map(ToString::to_string).collect(),
            focus: Vec::new(),
            folder: folder_name(root),
        })
    }

    /// Returns the number of files that were read.
    pub fn files_read(&self) -> usize {
        self.files.iter().filter(|file| file.read).count()
    }

    /// Returns the number of files that could not be read.
    pub fn files_skipped(&self) -> usize {
        self.skipped.len()
    }

    /// Returns the tokens that reading all of these files would have cost a model; an estimate by
    /// [`tokens::METHOD`].
    pub fn tokens_read(&self) -> u64 {
        let bytes_of = |kind: TextKind| -> u64 {
            let read = self.files.iter().filter(|file| file.read);
            read.filter(|file| text_kind(file) == kind)
                .map(|file| file.bytes)
                .sum()
        };
        [TextKind::Code, TextKind::Prose, TextKind::Json]
            .into_iter()
            .map(|kind| tokens::estimate_bytes(kind, bytes_of(kind)))
            .sum()
    }

    /// The file of the scope at this path.
    pub(crate) fn file(&self, path: &str) -> Option<&SurveyedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Cites a line of the file at this path, also of a manifest above the scope.
    pub(crate) fn cite(&self, path: &str, line: u32) -> Option<Cited> {
        let above = || self.above.iter().find(|file| file.path == path);
        self.file(path).or_else(above)?.cite(line)
    }
}

/// Returns the name of the folder at `root`.
fn folder_name(root: &Path) -> String {
    let name = root.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default().to_owned()
}

fn text_kind(file: &SurveyedFile) -> TextKind {
    match file.role {
        Role::Document => TextKind::Prose,
        _ if file
            .name()
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ending == "json") =>
        {
            TextKind::Json
        }
        _ => TextKind::Code,
    }
}

/// Reads the files that are worth opening; the others stay known by name. In the order of the tree.
fn read_files(
    disk: &Disk,
    tree: &SourceTree,
    skipped: &mut Vec<Skipped>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Vec<SurveyedFile> {
    let built = built_from_typescript(tree);
    let is_opened = |file: &SourceFile| {
        Role::of(&file.path, file.language).is_read() && !built.contains(file.path.as_str())
    };
    let opened = SourceTree {
        root: tree.root.clone(),
        files: tree
            .files
            .iter()
            .filter(|file| is_opened(file))
            .cloned()
            .collect(),
        skipped: Vec::new(),
    };
    let total = opened.files.len();
    let count = AtomicUsize::new(0);
    let progress = Mutex::new(progress);
    let texts = opened.map_texts(disk, |file, text| {
        let surveyed = SurveyedFile::of(file, text);
        let read = count.fetch_add(1, Ordering::Relaxed) + 1;
        if read.is_multiple_of(FILES_PER_PROGRESS) || read == total {
            let mut tell = progress.lock().unwrap_or_else(PoisonError::into_inner);
            tell(Progress {
                phase: Phase::Reading,
                files_read: read,
                files_total: total,
            });
        }
        surveyed
    });
    let mut by_path: BTreeMap<&str, SurveyedFile> = BTreeMap::new();
    for (file, text) in opened.files.iter().zip(texts) {
        match text {
            Ok(surveyed) => {
                by_path.insert(&file.path, surveyed);
            }
            Err(why) => skipped.push(Skipped {
                path: file.path.clone(),
                why,
            }),
        }
    }
    tree.files
        .iter()
        .map(|file| {
            if built.contains(file.path.as_str()) {
                return SurveyedFile::built(file);
            }
            by_path
                .remove(file.path.as_str())
                .unwrap_or_else(|| SurveyedFile::unread(file))
        })
        .collect()
}

/// Finds the output of a TypeScript compiler: a script with a declaration file of the same stem, if
/// a source of that name is elsewhere in the tree. A published package holds both.
fn built_from_typescript(tree: &SourceTree) -> BTreeSet<&str> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let paths: BTreeSet<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    let sources: BTreeSet<String> = paths
        .iter()
        .filter(|path| !path.contains(".d."))
        .filter_map(|path| path.strip_suffix(".ts").or(path.strip_suffix(".tsx")))
        .map(name)
        .collect();
    let scripts = [(".js", ".d.ts"), (".cjs", ".d.cts"), (".mjs", ".d.mts")];
    let mut built = BTreeSet::new();
    for path in &paths {
        for (script, declaration) in scripts {
            let Some(stem) = path.strip_suffix(script) else {
                continue;
            };
            let beside = format!("{stem}{declaration}");
            if let Some(declaration) = paths.get(beside.as_str())
                && sources.contains(&name(stem))
            {
                built.extend([*path, *declaration]);
            }
        }
    }
    built
}

/// The manifests in the folders above a scope: versions and names are inherited from there.
fn manifests_above(disk: &Disk, root: &Path, scope: &Scope) -> Vec<SurveyedFile> {
    let mut folders: Vec<&str> = Vec::new();
    for path in &scope.paths {
        let mut folder = path.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            folders.push(above);
            folder = above;
        }
        if !folder.is_empty() {
            folders.push("");
        }
    }
    folders.retain(|folder| !scope.paths.iter().any(|path| path.as_str() == *folder));
    folders.sort_unstable();
    folders.dedup();
    let above = folders.iter().flat_map(|folder| {
        let names = [
            "Cargo.toml",
            "package.json",
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "go.mod",
            "tsconfig.json",
            "jsconfig.json",
        ];
        names.map(|name| SourceFile {
            path: if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            },
            bytes: 0,
            language: None,
        })
    });
    let tree = SourceTree {
        root: root.to_owned(),
        files: above.collect(),
        skipped: Vec::new(),
    };
    let texts = tree.map_texts(disk, SurveyedFile::of);
    texts.into_iter().filter_map(Result::ok).collect()
}

fn read_manifests<'a>(files: impl Iterator<Item = &'a SurveyedFile>) -> Vec<Manifest> {
    let mut manifests: Vec<Manifest> = files
        .filter_map(|file| manifest::read(&file.path, file.text.as_ref()?))
        .collect();
    manifests.sort_by(|a, b| a.path.cmp(&b.path));
    manifest::inherit(&mut manifests);
    manifests
}

/// Returns the facts of the manifests that the resolution of imports needs.
fn packages(manifests: &[Manifest], files: &[SurveyedFile], above: &[SurveyedFile]) -> Packages {
    let packages = manifests.iter().filter_map(|manifest| {
        let ecosystem = match manifest.ecosystem {
            Ecosystem::Cargo => resolve::Ecosystem::Cargo,
            Ecosystem::Node => resolve::Ecosystem::Npm,
            Ecosystem::Python => resolve::Ecosystem::Python,
            Ecosystem::Go => resolve::Ecosystem::Go,
            Ecosystem::Maven | Ecosystem::Gradle => resolve::Ecosystem::Jvm,
            native if native.is_native() => resolve::Ecosystem::Native,
            _ => return None,
        };
        let name = manifest
            .package
            .as_ref()
            .map(|package| package.name.text.clone());
        if name.is_none() && manifest.dependencies.is_empty() && manifest.exports.is_empty() {
            return None;
        }
        Some(resolve::Package {
            ecosystem,
            name: name.unwrap_or_default(),
            folder: manifest.folder().to_owned(),
            entry: manifest.entry.clone(),
            exports: manifest.exports.clone(),
            dependencies: manifest
                .dependencies
                .iter()
                .map(|dependency| resolve::Dependency {
                    package: dependency.name.clone(),
                    alias: dependency.alias.clone(),
                })
                .collect(),
        })
    });
    Packages {
        packages: packages.collect(),
        aliases: path_aliases(files.iter().chain(above)),
    }
}

/// The short names of the tree's `tsconfig.json` and `package.json` files.
fn path_aliases<'a>(files: impl Iterator<Item = &'a SurveyedFile>) -> Vec<resolve::Alias> {
    let texts: BTreeMap<&str, &str> = files
        .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
        .filter(|(path, _)| manifest::gives_aliases(path))
        .collect();
    manifest::aliases(&texts)
}
