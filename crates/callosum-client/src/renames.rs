//! [`Renames`]: current paths of a tree's files, as far as git knows.
//!
//! Git compares the commit and the index, which are both stored: no file of the tree is read, and
//! no filter, diff driver or hook of the repository runs.

use std::{cell::OnceCell, collections::HashSet};

use callosum_session::RenameHistory;

use crate::session_git::{Committed, names_in};

/// Arguments that print renames, each as a letter, the old and the new path with zero bytes behind
/// them.
///
/// Git's own bound of 50 % would take a file that shares half of its lines for a deleted one.
const RENAMES: [&str; 10] = [
    "-M75%",
    "-l1000",
    "--diff-filter=R",
    "--name-status",
    "--relative",
    "--ignore-submodules=all",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "-z",
];

/// The renames of a repository.
pub struct Renames<'c> {
    git: Committed<'c>,
    /// Those that are to be committed next, asked for once.
    staged: OnceCell<Vec<(String, String)>>,
}

impl<'c> Renames<'c> {
    /// The renames below the root of `git`, which is the root of the tree.
    pub fn new(git: Committed<'c>) -> Self {
        Self {
            git,
            staged: OnceCell::new(),
        }
    }

    /// Runs git on paths as they are, without wildcards.
    fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let literal = ("GIT_LITERAL_PATHSPECS".into(), "1".into());
        self.git.git_with(arguments, vec![literal])
    }
}

impl RenameHistory for Renames<'_> {
    fn staged(&self, file: &str) -> Option<String> {
        let staged = self.staged.get_or_init(|| {
            let asked = [&["diff", "--cached"], &RENAMES[..], &["HEAD", "--"]].concat();
            renames_in(&self.git(&asked).unwrap_or_default())
        });
        new_path(staged, file)
    }

    fn renamed(&self, file: &str) -> Option<String> {
        let asked = [
            "-c",
            "log.follow=false",
            "log",
            "-1",
            "--no-renames",
            "--no-show-signature",
            "--diff-filter=D",
            "--format=%H",
            "HEAD",
            "--",
            file,
        ];
        let commit = String::from_utf8(self.git(&asked)?).ok()?;
        let commit = Some(commit.trim()).filter(|commit| !commit.is_empty())?;
        let shown = ["show", "--format=", "--no-show-signature"];
        let asked = [&shown[..], &RENAMES[..], &[commit, "--"]].concat();
        new_path(&renames_in(&self.git(&asked)?), file)
    }

    fn committed(&self, file: &str) -> Option<Vec<u8>> {
        self.git(&["cat-file", "blob", &format!("HEAD:./{file}")])
    }

    fn uncommitted(&self) -> Option<Vec<String>> {
        let asked = [
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ];
        let there = names_in(&self.git(&asked)?);
        // Without a commit, git fails and every file is a new one.
        let committed = self.git(&["ls-tree", "-r", "-z", "--name-only", "HEAD"]);
        let committed: HashSet<String> = names_in(&committed.unwrap_or_default())
            .into_iter()
            .collect();
        let mut known = HashSet::new();
        let is_new = |path: &String| !committed.contains(path) && known.insert(path.clone());
        Some(there.into_iter().filter(is_new).collect())
    }
}

fn new_path(renames: &[(String, String)], file: &str) -> Option<String> {
    let found = renames.iter().find(|(old, _)| old == file);
    found.map(|(_, new)| new.clone())
}

/// The old and the new paths that git prints of renames. A path that is no UTF-8 is left out with the other of its pair.
fn renames_in(printed: &[u8]) -> Vec<(String, String)> {
    let fields: Vec<&[u8]> = printed
        .trim_ascii_start()
        .split(|byte| *byte == 0)
        .collect();
    let pairs = fields.chunks_exact(3);
    let text = |field: &[u8]| String::from_utf8(field.to_vec()).ok();
    pairs
        .filter(|fields| fields[0].starts_with(b"R"))
        .filter_map(|fields| Some((text(fields[1])?, text(fields[2])?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_renames_are_read() {
        let printed = b"\nR100\0src/a.rs\0lib/a b.rs\0R080\0x\xff\0y\0R099\0b\0c\0";
        let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        assert_eq!(
            renames_in(printed),
            [pair("src/a.rs", "lib/a b.rs"), pair("b", "c")]
        );
        assert_eq!(renames_in(b""), []);
    }
}
