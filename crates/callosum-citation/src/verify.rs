//! Looking the cited places up.

use std::{collections::BTreeMap, path::Path};

use callosum_host::Disk;

use super::{
    cited_file::CitedFile,
    grammar::Citation,
    quote::{is_short, says_something},
};

/// Largest file that is looked into, in bytes; places in a larger one are not confirmed.
pub const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// Most lines that one citation may span; a longer range says no more than that the quote is
/// somewhere in the file.
pub const MOST_LINES: u32 = 50;

/// Status of a citation against the current tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitationStatus {
    /// The quote is word for word within the cited lines.
    Verified,
    /// The quote is in the file, but elsewhere, or more than [`MOST_LINES`] are cited; this is the
    /// occurrence nearest to the start of the cited lines.
    Moved {
        /// Line where it begins.
        line: u32,
    },
    /// Nothing confirms the citation.
    Missing(Why),
}

/// Reason why a citation is not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is no quote, or too little of one: no letter or digit, or fewer than three characters
    /// that are not a line of their own.
    NoQuote,
    /// There is no such file under the root.
    NoSuchFile,
    /// The path leaves the root, directly or through a link.
    OutsideRoot,
    /// It is a folder, a pipe or a device, or larger than [`LARGEST_FILE`].
    NotReadable,
    /// The file has no such line.
    NoSuchLine,
    /// The quote is nowhere in the file.
    NotThere,
    /// It is in a dependency that the tree does not contain, such as a fetched package.
    OfADependency,
}

impl Why {
    /// Whether it was not checked, because the tree has nothing to compare with: it may be true.
    pub fn is_unchecked(self) -> bool {
        matches!(self, Self::OutsideRoot | Self::OfADependency)
    }
}

/// Number of citations of a text, by status.
///
/// `total` is the sum of the other three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All of them.
    pub total: u64,
    /// Citations whose quote is at the cited place.
    pub verified: u64,
    /// Citations whose quote is elsewhere in the file.
    pub moved: u64,
    /// Those that nothing confirms.
    pub missing: u64,
}

impl Tally {
    /// Counts standings.
    pub fn of(standings: &[CitationStatus]) -> Self {
        let mut tally = Self::default();
        for standing in standings {
            tally.total += 1;
            *match standing {
                CitationStatus::Verified => &mut tally.verified,
                CitationStatus::Moved { .. } => &mut tally.moved,
                CitationStatus::Missing(_) => &mut tally.missing,
            } += 1;
        }
        tally
    }
}

/// Returns the status of each citation against the files under `root`.
///
/// Each file is read once, and no file outside `root` is opened, for any path or link. A file that
/// cannot be read counts as missing: the question is whether a citation holds, not why the disk
/// gave no answer. Of several places in one pair of brackets, the quote need be at one only; the
/// others are reported as not quoted.
pub fn verify(disk: &Disk, root: &Path, citations: &[Citation]) -> Vec<CitationStatus> {
    let mut by_path: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, citation) in citations.iter().enumerate() {
        by_path.entry(&citation.path).or_default().push(index);
    }
    let root = disk.canonicalize(root).ok();
    // Status of a place if its quote is at another one of the same brackets.
    let mut named_beside = vec![Why::NoSuchFile; citations.len()];
    let mut standings = vec![CitationStatus::Missing(Why::NoSuchFile); citations.len()];
    for (path, indices) in by_path {
        let file = match &root {
            Some(root) => CitedFile::below(disk, root, path),
            None => Err(Why::NoSuchFile),
        };
        for index in indices {
            (standings[index], named_beside[index]) = match &file {
                Ok(file) => {
                    let citation = &citations[index];
                    (judge(file, citation), unquoted(file, citation))
                }
                Err(why) => (CitationStatus::Missing(*why), *why),
            };
        }
    }
    let mut start = 0;
    for together in citations.chunk_by(|_, next| next.beside) {
        let end = start + together.len();
        let all = &mut standings[start..end];
        if all
            .iter()
            .any(|one| !matches!(one, CitationStatus::Missing(_)))
        {
            for (standing, why) in all.iter_mut().zip(&named_beside[start..end]) {
                if matches!(standing, CitationStatus::Missing(_)) {
                    *standing = CitationStatus::Missing(*why);
                }
            }
        }
        start = end;
    }
    standings
}

fn judge(file: &CitedFile, citation: &Citation) -> CitationStatus {
    let Some(quote) = citation.quote.as_deref().filter(|q| says_something(q)) else {
        return CitationStatus::Missing(unquoted(file, citation));
    };
    let (first, last) = (citation.first_line, citation.last_line);
    let is_narrow = last.saturating_sub(first) < MOST_LINES;
    let mut nearest: Option<u32> = None;
    for lines in file.places(quote) {
        if is_narrow && *lines.start() >= first && *lines.end() <= last {
            return CitationStatus::Verified;
        }
        let line = *lines.start();
        if nearest.is_none_or(|known| line.abs_diff(first) < known.abs_diff(first)) {
            nearest = Some(line);
        }
    }
    match nearest {
        Some(line) => CitationStatus::Moved { line },
        None if is_short(quote) => CitationStatus::Missing(unquoted(file, citation)),
        None => CitationStatus::Missing(Why::NotThere),
    }
}

/// Returns the reason why a place with too little of a quote confirms nothing: its lines may not
/// even exist.
fn unquoted(file: &CitedFile, citation: &Citation) -> Why {
    let is_there = |line| file.lines(line, line).is_some();
    if is_there(citation.first_line) && is_there(citation.last_line) {
        Why::NoQuote
    } else {
        Why::NoSuchLine
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::find;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = folder.path().join("root");
        disk.create_dir_all(&root.join("src")).unwrap();
        disk.replace(&folder.path().join("secret.txt"), b"the secret\n", 0o644)
            .unwrap();
        disk.replace(
            &root.join("src/a.rs"),
            b"use std::fmt;\n\nfn start() {\n    run()\n}\n\nfn start() {}\n",
            0o644,
        )
        .unwrap();
        disk.replace(&root.join("latin1.c"), b"int x; /* \xe9 */\n", 0o644)
            .unwrap();
        disk.replace(&root.join("short.txt"), b"a1 b2\n  a1\n", 0o644)
            .unwrap();
        symlink("../secret.txt", root.join("way-out")).unwrap();
        symlink("src/a.rs", root.join("way-in")).unwrap();
        folder
    }

    fn standings(text: &str) -> Vec<CitationStatus> {
        let folder = tree();
        verify(&Disk::real(), &folder.path().join("root"), &find(text))
    }

    /// LOA-GRD-1: a quote counts only where it occurs word for word.
    #[test]
    fn a_quote_counts_only_within_its_lines() {
        assert_eq!(
            standings(
                "`use std::fmt;` [src/a.rs:1] `fn start() { run() }` [src/a.rs:3-5] \
                 `run()` [src/a.rs:3] `fn start()` [src/a.rs:6] `fn stop()` [src/a.rs:3]"
            ),
            [
                CitationStatus::Verified,
                CitationStatus::Verified,
                CitationStatus::Moved { line: 4 },
                CitationStatus::Moved { line: 7 },
                CitationStatus::Missing(Why::NotThere),
            ]
        );
    }

    #[test]
    fn a_place_without_a_quote_is_counted_but_never_verified() {
        let standings =
            standings("[src/a.rs:1] `}` [src/a.rs:5] [src/none.rs:1] [src/a.rs:0] [src/a.rs:8]");
        assert_eq!(
            standings,
            [
                CitationStatus::Missing(Why::NoQuote),
                CitationStatus::Missing(Why::NoQuote),
                CitationStatus::Missing(Why::NoSuchFile),
                CitationStatus::Missing(Why::NoSuchLine),
                CitationStatus::Missing(Why::NoSuchLine),
            ]
        );
        assert_eq!(
            Tally::of(&standings),
            Tally {
                total: 5,
                missing: 5,
                ..Tally::default()
            }
        );
    }

    /// LOA-GRD-1: a citation of a whole file gives no place in it.
    #[test]
    fn a_range_that_is_too_long_confirms_nothing() {
        assert_eq!(
            standings(
                "`fn start()` [src/a.rs:1-4294967295] `fn start()` [src/a.rs:3-53] \
                 `fn start()` [src/a.rs:3-52]"
            ),
            [
                CitationStatus::Moved { line: 3 },
                CitationStatus::Moved { line: 3 },
                CitationStatus::Verified,
            ]
        );
    }

    /// LOA-GRD-1: a letter occurs almost anywhere.
    #[test]
    fn a_quote_of_a_letter_confirms_nothing_unless_it_is_the_line() {
        assert_eq!(
            standings("`fn` [src/a.rs:3] `z` [src/a.rs:3] `}` [src/a.rs:5] `a1` [short.txt:2]"),
            [
                CitationStatus::Missing(Why::NoQuote),
                CitationStatus::Missing(Why::NoQuote),
                CitationStatus::Missing(Why::NoQuote),
                CitationStatus::Verified,
            ]
        );
    }

    /// LOA-SEC-1: no path and no link leads out of the root.
    #[test]
    fn a_path_never_leaves_the_root() {
        assert_eq!(
            standings(
                "`the secret` [../secret.txt:1] `the secret` [way-out:1] \
                 `root` [/etc/passwd:1] `the secret` [src/../../secret.txt:1] \
                 `use std::fmt;` [way-in:1]"
            ),
            [
                CitationStatus::Missing(Why::OutsideRoot),
                CitationStatus::Missing(Why::OutsideRoot),
                CitationStatus::Missing(Why::OutsideRoot),
                CitationStatus::Missing(Why::OutsideRoot),
                CitationStatus::Verified,
            ]
        );
    }

    /// LOA-GRD-1: a path that goes up and down again within the root is one of the root's.
    #[test]
    fn a_path_may_go_up_where_it_stays_inside() {
        assert_eq!(
            standings("`use std::fmt;` [src/../src/./a.rs:1] `use std::fmt;` [src/a.rs:1:5]"),
            [CitationStatus::Verified, CitationStatus::Verified]
        );
    }

    /// LOA-GRD-1: a quote before several places holds if it is at one of them; the others exist, or
    /// not.
    #[test]
    fn a_quote_before_several_places_is_at_one() {
        let unquoted = CitationStatus::Missing(Why::NoQuote);
        assert_eq!(
            standings(
                "`use std::fmt;` [src/a.rs:1, short.txt:2] `a1 b2` [src/a.rs:3, short.txt:1] \
                 `a1 b2` [short.txt:1, 9, src/gone.rs:1] `nowhere` [src/a.rs:1, short.txt:2]"
            ),
            [
                CitationStatus::Verified,
                unquoted,
                unquoted,
                CitationStatus::Verified,
                CitationStatus::Verified,
                CitationStatus::Moved { line: 1 },
                CitationStatus::Missing(Why::NoSuchFile),
                CitationStatus::Missing(Why::NotThere),
                CitationStatus::Missing(Why::NotThere),
            ]
        );
    }

    #[test]
    fn folders_odd_lines_and_foreign_encodings_are_survived() {
        assert_eq!(
            standings(
                "`a` [src:1] `use std::fmt;` [src/a.rs:0] `use std::fmt;` [src/a.rs:9-2] \
                 `int x;` [latin1.c:1] `a` [src/a.rs/b:1]"
            ),
            [
                CitationStatus::Missing(Why::NotReadable),
                CitationStatus::Moved { line: 1 },
                CitationStatus::Moved { line: 1 },
                CitationStatus::Verified,
                CitationStatus::Missing(Why::NoSuchFile),
            ]
        );
    }
}
