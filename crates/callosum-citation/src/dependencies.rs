//! [`Dependencies`]: whether a path leads into a dependency of the tree, which the tree does not
//! contain.
//!
//! `tokio/src/runtime/mod.rs:10` may be true of tokio; the tree has no tokio to look it up in.
//! Deliberately not here: looking for such sources elsewhere on the machine, where they have the
//! version that was fetched last.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, OpenHow};
use regex::Regex;

use super::path_suffix::PathSuffixes;

/// Folders that package managers and toolchains fill.
const FILLED_BY_OTHERS: [&str; 14] = [
    "node_modules",
    "bower_components",
    "site-packages",
    "dist-packages",
    "vendor",
    "venv",
    ".venv",
    ".cargo",
    ".rustup",
    "rustlib",
    ".gradle",
    ".m2",
    ".bundle",
    "Pods",
];

/// Prefixes of citations of the standard library's sources, which no manifest names.
const STANDARD_LIBRARY: [&str; 3] = ["library/std/", "library/core/", "library/alloc/"];

/// Files that list the dependencies of a tree.
const MANIFESTS: [&str; 21] = [
    "Cargo.toml",
    "Cargo.lock",
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "deno.lock",
    "go.mod",
    "go.sum",
    "pyproject.toml",
    "requirements.txt",
    "requirements-dev.txt",
    "poetry.lock",
    "uv.lock",
    "Pipfile",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "mix.exs",
];

/// Most bytes of manifests that are read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Contents of the tree's manifests, read on the first query.
pub(super) struct Dependencies<'a> {
    disk: &'a Disk,
    root: &'a Path,
    manifests: Option<String>,
    /// Packages that were looked up, and whether the manifests name them.
    asked: BTreeMap<String, bool>,
}

impl<'a> Dependencies<'a> {
    /// Returns the dependencies of the tree at `root`, without reading anything yet.
    pub(super) fn of(disk: &'a Disk, root: &'a Path) -> Self {
        Self {
            disk,
            root,
            manifests: None,
            asked: BTreeMap::new(),
        }
    }

    /// Whether a path that is not in the tree belongs to a home folder, to a missing folder that
    /// other tools fill, or to a package that a manifest of the tree names.
    ///
    /// The first call that gets that far reads the manifests; a call for another package searches
    /// them.
    pub(super) fn hold(&mut self, path: &str, tails: &mut PathSuffixes<'_>) -> bool {
        if path.starts_with(['~', '$', '%']) {
            return true;
        }
        let path = path.trim_start_matches("./");
        if let Some(folder) = STANDARD_LIBRARY.iter().find(|it| path.starts_with(**it)) {
            return !self.disk.exists(&self.root.join(folder)).unwrap_or(false);
        }
        let mut before = self.root.to_owned();
        for name in path.split('/') {
            before.push(name);
            if FILLED_BY_OTHERS.contains(&name) {
                return !self.disk.exists(&before).unwrap_or(false);
            }
        }
        let Some(package) = package(path) else {
            return false;
        };
        let is_of_the_tree = self.root.file_name().is_some_and(|name| *name == *package);
        if is_of_the_tree
            || self
                .disk
                .exists(&self.root.join(first(path)))
                .unwrap_or(false)
        {
            return false;
        }
        let (disk, manifests) = (self.disk, &mut self.manifests);
        let manifests = manifests.get_or_insert_with(|| read(disk, tails.folders()));
        let asked = self.asked.entry(package);
        let named = asked.or_insert_with_key(|package| names(manifests, package));
        *named
    }
}

fn first(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

/// Returns the package that a path begins with: `tokio-1.38.0/src/x.rs` is of `tokio`, `@a/b/c.js`
/// of `@a/b`, and `github.com/a/b@v1.2.3/c.go` of `github.com/a/b`.
fn package(path: &str) -> Option<String> {
    let many = match first(path) {
        name if name.starts_with('@') => 2,
        name if name.contains('.') && !name.contains(|c: char| c.is_ascii_digit()) => 3,
        _ => 1,
    };
    let names: Vec<&str> = path.split('/').take(many).collect();
    let name = names.join("/");
    let ends: Vec<usize> = name.match_indices('@').map(|(at, _)| at).collect();
    let end = ends.into_iter().find(|at| *at > 0).unwrap_or(name.len());
    let name = &name[..end];
    let is_version = |at: usize| name[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let versioned = name
        .rmatch_indices('-')
        .find(|(at, _)| is_version(*at) && name[*at..].contains('.'));
    let name = versioned.map_or(name, |(at, _)| &name[..at]);
    // Without a folder after it, it is a file of the tree, and a word of one letter is not a
    // package.
    (path.split('/').count() > many && name.len() > 1).then(|| name.to_owned())
}

fn read(disk: &Disk, folders: &[PathBuf]) -> String {
    let mut all = String::new();
    let mut left = MOST_BYTES;
    for folder in folders {
        let listed = disk.list_dir(folder).unwrap_or_default();
        for entry in listed {
            if !MANIFESTS.iter().any(|name| entry.name == *name) {
                continue;
            }
            // A manifest that cannot be read names nothing.
            let file = disk.open(&folder.join(&entry.name), OpenHow::READ);
            let Ok(bytes) = file.and_then(|file| {
                let length = file.size()?.min(left);
                file.read_range(0, length as usize)
            }) else {
                continue;
            };
            left = left.saturating_sub(bytes.len() as u64);
            all.push_str(&String::from_utf8_lossy(&bytes));
            all.push('\n');
        }
    }
    all
}

/// Whether manifests name a package as one that is fetched: with a version or a source, and not with a folder of the tree.
fn names(manifests: &str, package: &str) -> bool {
    // Most packages are not named at all, which one pass shows.
    let parts = package.split(['-', '_']);
    let longest = parts.max_by_key(|part| part.len()).unwrap_or_default();
    if !manifests.contains(longest) {
        return false;
    }
    let name: String = package
        .chars()
        .map(|c| match c {
            '-' | '_' => "[-_]".to_owned(),
            c => regex::escape(c.encode_utf8(&mut [0; 4])),
        })
        .collect();
    let forms = [
        // Cargo.lock, poetry.lock, uv.lock: a package without a source is a member of the tree.
        format!(
            r#"name = "{name}"\r?\nversion = "[^"]*"\r?\n(?:source = (?:"|\{{ (?:registry|git|url) )|description)"#
        ),
        // Cargo.toml, Pipfile, pyproject.toml.
        format!(r#"(?m)^{name}\s*=\s*(?:"[^"]*\d|\{{[^\n]*(?:version|git)\s*=)[^\n]*$"#),
        format!(r"(?m)^\[(?:[\w.-]+\.)?(?:dev-|build-)?dependencies\.{name}\]"),
        // package.json and composer.json.
        format!(r#""{name}"\s*:\s*"(?:[\^~*<>=]|v?\d|npm:|git|https?:|latest|catalog:)"#),
        format!(r#"node_modules/{name}""#),
        // pnpm-lock.yaml, yarn.lock, bun.lock, requirements, and lists of such in other files.
        format!(r#"(?m)(?:^|[\s"'\[,/(]){name}["']?\s*(?:@\^?~?v?\d|@npm:|==|>=|<=|~=|!=)"#),
        // go.mod and go.sum, Gemfile, Gemfile.lock, mix.exs.
        format!(r"(?m)(?:^|[\s/]){name}(?:/v\d+)? v\d"),
        format!(r#"(?m)^\s*gem ["']{name}["']"#),
        format!(r"(?m)^ {{4,6}}{name} \("),
        format!(r"\{{:{name},"),
    ];
    let is_fetched = |found: &str| !found.contains("path =") && !found.contains("path=");
    forms.iter().any(|form| {
        let form = Regex::new(form);
        form.is_ok_and(|form| form.find_iter(manifests).any(|it| is_fetched(it.as_str())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_with_the_package_that_it_is_of() {
        for (path, of) in [
            ("tokio/src/runtime/mod.rs", Some("tokio")),
            ("tokio-1.38.0/src/lib.rs", Some("tokio")),
            ("tokio-util/src/lib.rs", Some("tokio-util")),
            ("lodash@4.17.21/fp.js", Some("lodash")),
            ("@types/node/fs.ts", Some("@types/node")),
            ("github.com/a/b@v1.2.3/c.go", Some("github.com/a/b")),
            ("lib.rs", None),
            ("@types/node", None),
            ("é/a.rs", Some("é")),
        ] {
            assert_eq!(package(path).as_deref(), of, "{path}");
        }
    }

    /// LOA-GRD-1: dependencies are distinguished from the tree's own parts, as each kind of
    /// manifest states them.
    #[test]
    fn manifests_name_what_is_fetched() {
        for (manifest, package) in [
            (
                "[[package]]\nname = \"tokio\"\nversion = \"1.38.0\"\nsource = \"registry+https\"\n",
                "tokio",
            ),
            (
                "[dependencies]\ntokio = { version = \"1\", features = [] }\n",
                "tokio",
            ),
            ("[dependencies]\nserde_json = \"1\"\n", "serde-json"),
            ("[workspace.dependencies.tokio]\nversion = \"1\"\n", "tokio"),
            (
                "{\"dependencies\": {\"@types/node\": \"^20.1.0\"}}",
                "@types/node",
            ),
            ("{\"packages\": {\"node_modules/lodash\": {}}}", "lodash"),
            ("lodash@^4.17.0:\n  version \"4.17.21\"\n", "lodash"),
            ("requests==2.31\nflask>=2\n", "flask"),
            ("dependencies = [\"requests>=2\"]\n", "requests"),
            (
                "require (\n\tgithub.com/gin-gonic/gin v1.9.1\n)\n",
                "github.com/gin-gonic/gin",
            ),
            ("gem \"rails\", \"~> 7.0\"\n", "rails"),
            ("    rails (7.0.4)\n", "rails"),
        ] {
            assert!(names(manifest, package), "{package} in {manifest}");
        }
        for (manifest, package) in [
            (
                "[[package]]\nname = \"mine\"\nversion = \"0.1.0\"\ndependencies = []\n",
                "mine",
            ),
            (
                "mine-host = { path = \"crates/mine-host\", version = \"0.1.0\" }\n",
                "mine-host",
            ),
            (
                "{\"name\": \"foo\", \"scripts\": {\"test\": \"jest\"}}",
                "test",
            ),
            ("[features]\ntest = [\"1\"]\n", "test"),
            ("tokio-util = \"1\"\n", "tokio"),
            ("", "foo"),
        ] {
            assert!(!names(manifest, package), "{package} in {manifest}");
        }
    }
}
