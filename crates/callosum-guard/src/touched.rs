//! [`touched`]: the files that a command changes, for whoever tells agents of one another's work.
//!
//! Nothing here is a verdict, and nothing is looked up: a path may lead to nothing, and a pattern takes in what it fits.

use crate::{
    facts::Facts,
    path,
    protect::{Reach, writes},
    rule::Subject,
    unwrap::{self, Call, pattern, value::is_known},
};

/// So many paths of one command are told.
const MOST: usize = 256;

/// Programs that change how a file stands there and not what stands in it.
const OUTSIDES: [&str; 10] = [
    "chmod", "chattr", "chown", "chgrp", "setfacl", "touch", "mkdir", "mktemp", "mkfifo", "mknod",
];

/// A path that a command writes to, moves or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The path, absolute, with each `..` that was said: where a link stands before it, only the disk knows where that
    /// leads. It may be a pattern of the shell's.
    pub path: String,
    /// Whether all that stands in it is changed as well, where it is a folder.
    pub is_whole: bool,
}

impl Touched {
    /// Whether an absolute path is this one, fits it, or stands in it where all of it is changed. Compares parts: `..` is
    /// one of them.
    pub fn takes_in(&self, file: &str) -> bool {
        let mut parts = file.split('/');
        for wanted in self.path.trim_end_matches('/').split('/') {
            let is_same = |part: &str| {
                part == wanted || wanted.contains(['*', '?', '[']) && pattern::matches(wanted, part)
            };
            if !parts.next().is_some_and(is_same) {
                return false;
            }
        }
        self.is_whole || parts.next().is_none()
    }
}

/// The paths that the commands of a line would change, as far as they are known: at most 256.
///
/// Pure, and as costly as [`decide`](crate::decide) without its rules: some microseconds.
pub fn touched(command: &str, facts: &Facts) -> Vec<Touched> {
    let mut all: Vec<Touched> = Vec::new();
    let found = unwrap::unwrap(&command.replace('\0', ""), facts);
    for call in &found.calls {
        let is_own = !call.elsewhere && !call.guessed && !OUTSIDES.contains(&call.name.as_str());
        if !is_own {
            continue;
        }
        let cwd = call.cwd.as_deref();
        let written = writes(call, facts).into_iter();
        let written = written.map(|(path, reach)| (path, reach == Reach::Whole));
        let tree = whole_tree(call, facts).map(|tree| (tree, true));
        for (path, is_whole) in written.chain(tree) {
            let path = joined(&path, cwd);
            let touched = Touched { path, is_whole };
            let is_path = is_known(&touched.path) && touched.path.starts_with('/');
            if is_path && !all.contains(&touched) && all.len() < MOST {
                all.push(touched);
            }
        }
    }
    all
}

/// A path from a folder on, as it was said.
fn joined(path: &str, folder: Option<&str>) -> String {
    match folder {
        Some(folder) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.to_owned(),
    }
}

/// The tree of which everything that is not committed goes, or is put away, by a command of git's.
fn whole_tree(call: &Call, facts: &Facts) -> Option<String> {
    if call.name != "git" {
        return None;
    }
    let subject = Subject::of_user(call, "-C -c --git-dir --work-tree", facts);
    let has = |options: &[&str]| options.iter().any(|option| subject.has(option));
    let is_all = match subject.operand(0) {
        "reset" => has(&["--hard", "--merge", "--keep"]),
        "stash" => matches!(subject.operand(1), "" | "push" | "save"),
        "clean" => !has(&["-n", "--dry-run"]),
        "switch" => has(&["-f", "--force", "--discard-changes"]),
        "checkout" => has(&["-f", "--force"]),
        _ => false,
    };
    let cwd = call.cwd.as_deref();
    let named = subject.value("-C");
    let folder = path::absolute(named.unwrap_or("."), cwd);
    let root = facts.root.as_deref();
    let root = root.filter(|root| path::is_within(&folder, root));
    is_all.then(|| root.map_or(folder.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            cwd: Some("/p/src".to_owned()),
            home: Some("/home/u".to_owned()),
            root: Some("/p".to_owned()),
            git_dir: Some("/p/.git".to_owned()),
            ..Facts::default()
        }
    }

    /// As where there is no link.
    fn takes_in(touched: &Touched) -> bool {
        let path = path::absolute(&touched.path, None);
        let touched = Touched {
            path,
            ..touched.clone()
        };
        touched.takes_in("/p/src/a.rs")
    }

    /// CALC-FUT-1: however a command changes a file, the file is known by it.
    #[test]
    fn a_command_that_changes_a_file_takes_it_in() {
        for command in [
            "sed -i s/a/b/ a.rs",
            "echo x > a.rs",
            "echo x >> a.rs",
            "printf x | tee a.rs",
            "tee -a ./a.rs < b.rs",
            "mv b.rs a.rs",
            "mv a.rs b.rs",
            "cp b.rs a.rs",
            "cp /elsewhere/a.rs .",
            "rm a.rs",
            "rm ../src/a.rs",
            "rm *.rs",
            "rm -r ../src",
            "git checkout -- a.rs",
            "git checkout HEAD~1 -- a.rs",
            "git checkout -- .",
            "git restore a.rs",
            "git rm a.rs",
            "git mv a.rs b.rs",
            "git reset --hard",
            "git stash",
            "git stash push -m x",
            "git clean -fd",
            "git -C /p checkout -f main",
            "perl -pi -e 's/a/b/' a.rs",
            "cd / && sed -i s/a/b/ /p/src/a.rs",
            "bash -c 'rm a.rs'",
            "patch a.rs < fix.diff",
            "sort -o a.rs a.rs",
            "truncate -s 0 a.rs",
            "gofmt -w a.rs",
        ] {
            let touched = touched(command, &facts());
            assert!(touched.iter().any(takes_in), "{command}: {touched:?}");
        }
    }

    /// CALC-FUT-1: what only reads a file, or is about another, has nobody warned.
    #[test]
    fn a_command_that_leaves_a_file_alone_does_not() {
        for command in [
            "cat a.rs",
            "sed s/a/b/ a.rs",
            "sed -n 1,5p a.rs > b.rs",
            "grep -rn x .",
            "cp a.rs b.rs",
            "cp b.rs ../src/",
            "echo '> a.rs'",
            "rm b.rs",
            "rm -r ../docs",
            "rm *.toml",
            "chmod +x a.rs",
            "git diff a.rs",
            "git stash list",
            "git clean -n",
            "git reset HEAD~1",
            "git commit -am x",
            "ssh host rm a.rs",
            "cargo build",
        ] {
            let touched = touched(command, &facts());
            assert!(!touched.iter().any(takes_in), "{command}: {touched:?}");
        }
    }
}
