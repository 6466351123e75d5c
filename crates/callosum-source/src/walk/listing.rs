//! Listing: which names of a tree become [`SourceFile`]s.

use std::{collections::HashSet, ffi::OsStr, path::Path, sync::Arc};

use callosum_host::{Disk, disk::EntryKind, process::Cancel};
use ignore::{DirEntry, WalkBuilder};

use super::{
    ignored::Ignored,
    scope::{RelativePath, Scope},
    tree::{Skipped, SourceFile, SourceTree, WalkError, Why},
};
use crate::language::Language;

/// Callosum's own state at the root of a tree: never part of a tree that is read.
const OWN_STATE: [&str; 15] = [
    ".beads",
    ".cal_answers",
    ".cal_backup",
    ".cal_hashlog",
    ".cal_lock",
    ".cal_memory.json",
    ".cal_memory_history",
    ".cal_quarantine",
    ".calrc",
    ".git",
    ".loa.config.yaml",
    "cake_config.yaml",
    "cal_audit",
    "loa-grimoire",
    "registry.json",
];

/// Hidden names that say how a project is built, checked and shipped; all others are left out.
const KEPT_HIDDEN: [&str; 14] = [
    ".azure-pipelines",
    ".cargo",
    ".ci",
    ".circleci",
    ".cirrus.yml",
    ".config",
    ".devcontainer",
    ".forgejo",
    ".gitea",
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".pre-commit-config.yaml",
    ".travis.yml",
];

/// Settings of formatters and linters that no grammar reads but that a search finds.
const KEPT_FOR_SEARCH: [&str; 13] = [
    ".clang-format",
    ".clang-tidy",
    ".editorconfig",
    ".eslintrc.json",
    ".eslintrc.yaml",
    ".eslintrc.yml",
    ".golangci.yaml",
    ".golangci.yml",
    ".prettierrc.json",
    ".readthedocs.yaml",
    ".readthedocs.yml",
    ".rubocop.yml",
    ".rustfmt.toml",
];

/// Options of one listing.
#[derive(Clone, Default)]
struct Listing {
    /// Lists dotfiles of code too.
    for_search: bool,
    /// Ends the listing early.
    cancel: Option<Cancel>,
}

impl Listing {
    fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(Cancel::is_cancelled)
    }
}

impl SourceTree {
    /// Lists the files below `root` that lie in `scope`.
    ///
    /// `.gitignore` and `.ignore` files of the tree and `.git/info/exclude` are obeyed, with or
    /// without a git repository. Hidden files are left out, except for those that describe how a
    /// project is built (`.github`, `.cargo`, …), and so is Callosum's own state at the root. Links
    /// are not followed. Opens no other file; costs one look at each entry. An ignore file that is
    /// a link, a pipe or too large is ignored, and named among the skipped files.
    ///
    /// Fails only if the root is no folder, or a path of the scope is missing or leads out of the
    /// tree.
    pub fn read(disk: &Disk, root: &Path, scope: &Scope) -> Result<Self, WalkError> {
        Self::list(disk, root, scope, &Listing::default())
    }

    /// Lists the files that a search reads: those of [`SourceTree::read`], and dotfiles of code such as `.eslintrc.js`.
    ///
    /// Never lists `.env` files, with any extension. Fails with [`WalkError::Cancelled`] soon after `cancel` is
    /// requested.
    pub fn read_for_search(
        disk: &Disk,
        root: &Path,
        scope: &Scope,
        cancel: &Cancel,
    ) -> Result<Self, WalkError> {
        let listing = Listing {
            for_search: true,
            cancel: Some(cancel.clone()),
        };
        Self::list(disk, root, scope, &listing)
    }

    fn list(disk: &Disk, root: &Path, scope: &Scope, listing: &Listing) -> Result<Self, WalkError> {
        let real_root = disk.canonicalize(root)?;
        if disk.stat(&real_root)?.map(|found| found.kind) != Some(EntryKind::Folder) {
            return Err(WalkError::NotAFolder {
                root: root.to_owned(),
            });
        }
        for path in &scope.paths {
            check_scope(disk, &real_root, path)?;
        }
        let mut tree = Self {
            root: root.to_owned(),
            files: Vec::new(),
            skipped: Vec::new(),
        };
        let mut reached = HashSet::new();
        let ignored = Arc::new(Ignored::new(disk, root));
        for found in walk(root, scope, &ignored, listing) {
            if listing.is_cancelled() {
                break;
            }
            match found {
                Ok(entry) => {
                    if let Ok(path) = entry.path().strip_prefix(root) {
                        reached.extend(
                            scope
                                .paths
                                .iter()
                                .find(|asked| slashed(path) == asked.as_str()),
                        );
                    }
                    tree.add(&entry, scope);
                }
                Err(error) => tree.skipped.push(unreadable(root, &error)),
            }
        }
        // The walk also ends early when its filter sees the request first.
        if listing.is_cancelled() {
            return Err(WalkError::Cancelled);
        }
        tree.skipped.extend(ignored.passed_over());
        for path in &scope.paths {
            let seen = |listed: &str| {
                Scope {
                    paths: vec![path.clone()],
                }
                .holds(listed)
            };
            let listed = tree.files.iter().any(|file| seen(&file.path))
                || tree.skipped.iter().any(|skipped| seen(&skipped.path));
            let folder_is_empty = || {
                disk.list_dir(&root.join(path.as_str()))
                    .is_ok_and(|l| l.is_empty())
            };
            if !listed && !folder_is_empty() {
                tree.skipped.push(if reached.contains(path) {
                    Skipped {
                        path: path.to_string(),
                        why: Why::NothingInside,
                    }
                } else {
                    out_of_reach(disk, root, path)?
                });
            }
        }
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        tree.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        tree.tell_headers_apart();
        Ok(tree)
    }

    fn add(&mut self, entry: &DirEntry, scope: &Scope) {
        let Ok(relative) = entry.path().strip_prefix(&self.root) else {
            return;
        };
        if relative
            .parent()
            .is_some_and(|parent| parent.to_str().is_none())
        {
            return; // its folder is named already
        }
        let path = slashed(relative);
        let Some(kind) = entry.file_type() else {
            return;
        };
        if kind.is_dir() && relative.to_str().is_some() || !scope.holds(&path) {
            return;
        }
        let why = if relative.to_str().is_none() {
            Why::NameNotUtf8
        } else if kind.is_symlink() {
            Why::Link
        } else if !kind.is_file() {
            Why::Special
        } else {
            match entry.metadata() {
                Ok(found) => {
                    self.files.push(SourceFile {
                        language: Language::of(relative),
                        bytes: found.len(),
                        path,
                    });
                    return;
                }
                Err(error) => Why::Unreadable(reason(&error)),
            }
        };
        self.skipped.push(Skipped { path, why });
    }

    /// `.h` is C's and C++'s: the tree's other sources say whose.
    fn tell_headers_apart(&mut self) {
        let is_header =
            |file: &SourceFile| Path::new(&file.path).extension() == Some(OsStr::new("h"));
        let count = |language| {
            self.files
                .iter()
                .filter(|file| file.language == Some(language) && !is_header(file))
                .count()
        };
        if count(Language::Cpp) > count(Language::C) {
            for file in self.files.iter_mut().filter(|file| is_header(file)) {
                file.language = Some(Language::Cpp);
            }
        }
    }
}

fn check_scope(disk: &Disk, real_root: &Path, path: &RelativePath) -> Result<(), WalkError> {
    match disk.canonicalize(&real_root.join(path.as_str())) {
        Ok(real) if real.starts_with(real_root) => Ok(()),
        Ok(_) => Err(WalkError::Leaves {
            path: path.to_string(),
        }),
        Err(error) if error.is_absent() => Err(WalkError::NotThere {
            path: path.to_string(),
        }),
        Err(error) => Err(error.into()),
    }
}

/// Returns the obstacle on the way to a path that the walk did not reach.
fn out_of_reach(disk: &Disk, root: &Path, path: &RelativePath) -> Result<Skipped, WalkError> {
    let skipped = |path: &str, why| Skipped {
        path: path.to_owned(),
        why,
    };
    let ends = path.as_str().match_indices('/').map(|(at, _)| at);
    for (end, depth) in ends.chain([path.as_str().len()]).zip(1..) {
        let way = &path.as_str()[..end];
        let name = way.rsplit('/').next().unwrap_or(way);
        if is_own_state(name, depth) {
            return Ok(skipped(path.as_str(), Why::OwnState));
        }
        if is_hidden(name) {
            return Ok(skipped(path.as_str(), Why::Hidden));
        }
        if disk.stat(&root.join(way))?.map(|found| found.kind) == Some(EntryKind::Link) {
            return Ok(skipped(way, Why::Link));
        }
    }
    Ok(skipped(path.as_str(), Why::Ignored))
}

/// Every entry that the ignore files let through. Lists folders itself, not by way of [`Disk`].
fn walk(root: &Path, scope: &Scope, ignored: &Arc<Ignored>, listing: &Listing) -> ignore::Walk {
    let listing = listing.clone();
    let (base, scope, ignored) = (root.to_owned(), scope.clone(), Arc::clone(ignored));
    WalkBuilder::new(root)
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            entry.depth() == 0
                || (!listing.is_cancelled()
                    && is_kept(entry, listing.for_search)
                    && entry
                        .path()
                        .strip_prefix(&base)
                        .is_ok_and(|path| scope.leads_through(&slashed(path)))
                    && !ignored.holds(
                        entry.path(),
                        entry.file_type().is_some_and(|kind| kind.is_dir()),
                    ))
        })
        .build()
}

/// Whether an entry's name may be listed.
fn is_kept(entry: &DirEntry, for_search: bool) -> bool {
    let Some(name) = entry.file_name().to_str() else {
        return true; // named as not being UTF-8
    };
    if is_own_state(name, entry.depth()) {
        return false;
    }
    let is_file = || entry.file_type().is_some_and(|kind| kind.is_file());
    !is_hidden(name) || (for_search && is_dotfile_of_code(name) && is_file())
}

/// Whether a hidden name is that of a file of code, and not one that holds secrets.
fn is_dotfile_of_code(name: &str) -> bool {
    let lower = name.to_lowercase();
    let secrets = [".env", "secret", "credential", "password", "token"];
    let holds_secrets = secrets.iter().any(|word| lower.contains(word));
    !holds_secrets && (KEPT_FOR_SEARCH.contains(&name) || Language::of(Path::new(name)).is_some())
}

fn is_own_state(name: &str, depth: usize) -> bool {
    depth == 1 && OWN_STATE.contains(&name)
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && !KEPT_HIDDEN.contains(&name)
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn unreadable(root: &Path, error: &ignore::Error) -> Skipped {
    let mut path = root;
    let mut inner = error;
    loop {
        inner = match inner {
            ignore::Error::WithPath { path: named, err } => {
                path = named;
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            _ => break,
        };
    }
    Skipped {
        path: slashed(path.strip_prefix(root).unwrap_or(path)),
        why: Why::Unreadable(reason(inner)),
    }
}

/// Returns the system's error, without the whole path that the walk puts before it.
fn reason(error: &ignore::Error) -> String {
    let Some(error) = error.io_error() else {
        return error.to_string();
    };
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error that names the path before the cause, as the walk's do.
    #[derive(Debug, thiserror::Error)]
    #[error("operation on /somewhere/else: {0}")]
    struct Placed(#[source] std::io::Error);

    #[test]
    fn a_folder_that_cannot_be_listed_is_named_from_the_root_alone() {
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let error = ignore::Error::WithPath {
            path: "/tree/closed".into(),
            err: Box::new(ignore::Error::Io(std::io::Error::other(Placed(denied)))),
        };
        assert_eq!(
            unreadable(Path::new("/tree"), &error),
            Skipped {
                path: "closed".to_owned(),
                why: Why::Unreadable("permission denied".to_owned()),
            }
        );
    }
}
