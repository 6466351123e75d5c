//! [`Tree`]: this repository's own files, as the rules read them.
//!
//! Deliberately without git, so that the rules also hold in an unpacked archive: what is not
//! part of the repository is what `.gitignore` names at the root.

use std::path::{Path, PathBuf};

/// The repository that this test was built from.
pub(crate) struct Tree {
    root: PathBuf,
    ignored: Vec<String>,
    files: Vec<String>,
}

impl Tree {
    /// Lists every file of the repository, sorted, links not followed.
    pub(crate) fn read() -> Tree {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .unwrap()
            .to_path_buf();
        let ignored = ignored_at_root(&read(&root.join(".gitignore")));
        let mut tree = Tree {
            root,
            ignored,
            files: Vec::new(),
        };
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for name in tree.names_in(&folder) {
                let path = if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                let kind = tree
                    .root
                    .join(&path)
                    .symlink_metadata()
                    .unwrap()
                    .file_type();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    tree.files.push(path);
                }
            }
        }
        tree.files.sort();
        tree
    }

    /// Returns the names of a folder's entries without packages of Node; of the root folder's, only the repository's own.
    pub(crate) fn names_in(&self, folder: &str) -> Vec<String> {
        std::fs::read_dir(self.root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "node_modules")
            .filter(|name| !folder.is_empty() || (name != ".git" && !self.ignored.contains(name)))
            .collect()
    }

    /// Returns the paths, from the root, of the files whose name ends in `.extension`.
    pub(crate) fn with_extension<'a>(
        &'a self,
        extension: &'a str,
    ) -> impl Iterator<Item = &'a str> {
        let has = move |path: &&str| Path::new(path).extension().is_some_and(|e| e == extension);
        self.files.iter().map(String::as_str).filter(has)
    }

    /// Returns whether a file or folder stands at `path`.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Returns the folder that everything else is named from.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Reads one file.
    pub(crate) fn text(&self, path: &str) -> String {
        read(&self.root.join(path))
    }
}

/// Splits a path below `crates` into the name of the crate and the path in it.
pub(crate) fn in_crate(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("crates/")?.split_once('/')
}

#[expect(
    clippy::disallowed_methods,
    reason = "a rule reads the repository as it lies there"
)]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn ignored_at_root(gitignore: &str) -> Vec<String> {
    gitignore
        .lines()
        .filter_map(|line| line.strip_prefix('/'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn only_what_is_anchored_at_the_root_is_left_out() {
    assert_eq!(
        ignored_at_root("/target\n*.snap.new\n# note\n/.calrc\n"),
        ["target", ".calrc"]
    );
}
