//! [`Bug`]: one planted bug, chosen by a seed, and the copy of the repository that has it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use callosum_citation::tokens;
use callosum_host::Disk;
use callosum_redact::secrets;
use callosum_source::walk::{MAX_TEXT_BYTES, Scope, SourceTree};

use super::{
    mutation::{Mutation, mutations},
    question::numbered,
};

/// Fewest lines of a file that gets a bug.
const FEWEST_LINES: usize = 20;

/// A bug in one file of one repository.
#[derive(Clone, Debug)]
pub(super) struct Bug {
    /// The folder of the repository.
    pub(super) root: PathBuf,
    /// The path of the file in it.
    pub(super) file: String,
    /// The change.
    pub(super) mutation: Mutation,
    /// The text of the file with the bug.
    pub(super) text: String,
    /// The line before the change and after it.
    pub(super) before: String,
    pub(super) after: String,
}

/// Random numbers from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Returns a number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// The files of a repository that can get a bug.
struct Candidates {
    root: PathBuf,
    files: Vec<(String, String)>,
    /// Index of a file and a change in it, by kind, so that a rare kind is as likely as a frequent one.
    by_kind: BTreeMap<&'static str, Vec<(usize, Mutation)>>,
}

impl Candidates {
    /// Reads a repository. Files whose text has more than `longest` tokens are left out, and so are tests, examples,
    /// and files with secrets, which no model gets.
    fn read(root: &Path, longest: u64) -> Result<Self, String> {
        let disk = Disk::real();
        let tree = SourceTree::read(&disk, root, &Scope::WHOLE)
            .map_err(|error| format!("{}: {error}", root.display()))?;
        let (mut files, mut by_kind) = (Vec::new(), BTreeMap::new());
        for file in tree.files.iter().filter(|file| is_shipped(&file.path)) {
            let Ok(text) = tree.text(&disk, file) else {
                continue;
            };
            let is_short = text.lines().count() >= FEWEST_LINES
                && tokens::estimate(&numbered(&text)) <= longest;
            if !is_short || !secrets::mask(&text).found.is_empty() {
                continue;
            }
            for mutation in mutations(&text) {
                let kind: &mut Vec<_> = by_kind.entry(mutation.kind).or_default();
                kind.push((files.len(), mutation));
            }
            files.push((file.path.clone(), text));
        }
        if by_kind.is_empty() {
            return Err(format!(
                "{}: no Rust file of at least {FEWEST_LINES} lines and at most {longest} tokens has a place for a bug",
                root.display()
            ));
        }
        Ok(Self {
            root: root.to_owned(),
            files,
            by_kind,
        })
    }

    /// Takes one place at random.
    fn take(&mut self, random: &mut Random) -> Option<Bug> {
        let kinds: Vec<&'static str> = self.by_kind.keys().copied().collect();
        if kinds.is_empty() {
            return None;
        }
        let kind = kinds[random.below(kinds.len())];
        let places = self.by_kind.get_mut(kind)?;
        let (file, mutation) = places.swap_remove(random.below(places.len()));
        if places.is_empty() {
            self.by_kind.remove(kind);
        }
        let (path, original) = &self.files[file];
        let text = mutation.applied(original);
        let line = |text: &str| {
            let line = text.lines().nth(mutation.line - 1);
            line.unwrap_or_default().trim().to_owned()
        };
        Some(Bug {
            root: self.root.clone(),
            file: path.clone(),
            before: line(original),
            after: line(&text),
            mutation,
            text,
        })
    }
}

/// Returns whether a file is Rust that is shipped, by its path.
fn is_shipped(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let Some(stem) = parts.pop().and_then(|name| name.strip_suffix(".rs")) else {
        return false;
    };
    let folders = ["tests", "test", "benches", "examples", "fuzz", "testdata"];
    let is_test = matches!(stem, "tests" | "test" | "build")
        || stem.ends_with("_test")
        || stem.ends_with("_tests");
    !is_test && !parts.iter().any(|part| folders.contains(part))
}

/// Chooses bugs, from one repository after the other. The same seed chooses the same bugs in the same sources.
pub(super) fn choose(
    repositories: &[PathBuf],
    bugs: usize,
    seed: u64,
    longest: u64,
) -> Result<Vec<Bug>, String> {
    let candidates = repositories
        .iter()
        .map(|root| Candidates::read(root, longest));
    let mut candidates = candidates.collect::<Result<Vec<_>, _>>()?;
    let mut random = Random(seed);
    let mut chosen = Vec::new();
    for index in 0..bugs {
        let from = index % candidates.len();
        let Some(bug) = candidates[from].take(&mut random) else {
            return Err(format!(
                "{}: every place for a bug is used after {index} bugs; lower --bugs",
                candidates[from].root.display()
            ));
        };
        chosen.push(bug);
    }
    Ok(chosen)
}

impl Bug {
    /// Returns the name of its repository: that of the folder.
    pub(super) fn repository(&self) -> String {
        let name = self.root.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Copies the repository into a folder that does not exist, and plants the bug in the copy. The history stays
    /// behind: it has the line without the bug.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    pub(super) fn plant(&self, folder: &Path) -> Result<(), String> {
        let fault = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let tree = SourceTree::read(&Disk::real(), &self.root, &Scope::WHOLE)
            .map_err(|error| format!("{}: {error}", self.root.display()))?;
        for file in tree
            .files
            .iter()
            .filter(|file| file.bytes <= MAX_TEXT_BYTES)
        {
            let to = folder.join(&file.path);
            let parent = to.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(|error| fault(parent, error))?;
            if file.path == self.file {
                fs::write(&to, &self.text).map_err(|error| fault(&to, error))?;
            } else {
                let from = self.root.join(&file.path);
                fs::copy(&from, &to).map_err(|error| fault(&from, error))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random(seed);
            [(); 20].map(|()| random.below(10))
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert!(numbers(7).iter().all(|&number| number < 10));
    }

    #[test]
    fn tests_and_examples_get_no_bug() {
        for path in ["src/lib.rs", "crates/a/src/walk/mod.rs", "main.rs"] {
            assert!(is_shipped(path), "{path}");
        }
        for path in [
            "tests/it.rs",
            "src/walk/tests.rs",
            "build.rs",
            "examples/a/b.rs",
            "src/a_test.rs",
            "a.py",
        ] {
            assert!(!is_shipped(path), "{path}");
        }
    }

    #[test]
    fn a_missing_repository_is_named() {
        let missing = PathBuf::from("no/such/folder");
        let fault = choose(&[missing], 1, 1, 1000).unwrap_err();
        assert!(fault.starts_with("no/such/folder: "), "{fault}");
    }
}
