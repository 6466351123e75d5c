//! [`changed`]: the files that a command changes, so that agents learn of one another's work.
//!
//! Nothing here is a verdict, and nothing is looked up except the contents of a patch: a path may
//! lead to nothing, and a pattern includes every path that it matches.

use crate::{
    analyze::{Analysis, Call, Subject, pattern, value::is_known},
    facts::Facts,
    formatter::formatted,
    patch, path,
    protect::{Reach, writes},
};

/// Limit on the reported paths of one command.
const MOST: usize = 256;

/// Programs that change the metadata of a file and not its contents.
const OUTSIDES: [&str; 10] = [
    "chmod", "chattr", "chown", "chgrp", "setfacl", "touch", "mkdir", "mktemp", "mkfifo", "mknod",
];

/// A path that a command writes to, moves or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The path, absolute, with each `..` as written: if a link comes before it, only the disk
    /// knows the target. It may be a shell pattern.
    pub path: String,
    /// For a folder, whether all of its contents are changed as well.
    pub is_whole: bool,
    /// Ending of the names of the changed files, if all of them share it.
    pub only: Option<&'static str>,
}

impl Touched {
    /// Whether an absolute path is this one, matches it, or is inside it if all of it is changed.
    /// Compares parts: `..` is one of them.
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
        let is_of_them = self.only.is_none_or(|end| file.ends_with(end));
        is_of_them && (self.is_whole || parts.next().is_none())
    }
}

/// Returns the paths that the commands of a line would change, as far as they are known: at most 256.
pub(crate) fn changed(
    analysis: &Analysis,
    facts: &Facts,
    text_of: &dyn Fn(&str) -> Option<String>,
) -> Vec<Touched> {
    let mut all: Vec<Touched> = Vec::new();
    for call in &analysis.calls {
        let is_own = !call.elsewhere && !call.guessed && !OUTSIDES.contains(&call.name.as_str());
        if !is_own {
            continue;
        }
        let cwd = call.cwd.as_deref();
        let written = writes(call, facts).into_iter();
        let written = written.map(|(path, reach)| (path, reach == Reach::Whole));
        let patched = patched(call, facts, text_of).into_iter();
        let patched = patched.map(|path| (path, false));
        let tree = whole_tree(call, facts).map(|tree| (tree, true, None));
        let formatted = formatted(call, facts).into_iter();
        let formatted = formatted.map(|(tree, only)| (tree, true, only));
        let named = written.chain(patched);
        let named = named.map(|(path, is_whole)| (path, is_whole, None));
        for (path, is_whole, only) in named.chain(tree).chain(formatted) {
            let path = joined(&path, cwd);
            let touched = Touched {
                path,
                is_whole,
                only,
            };
            let is_path = is_known(&touched.path) && touched.path.starts_with('/');
            if is_path && !all.contains(&touched) && all.len() < MOST {
                all.push(touched);
            }
        }
    }
    all
}

/// Joins a path to a folder, and keeps it as written.
fn joined(path: &str, folder: Option<&str>) -> String {
    match folder {
        Some(folder) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.to_owned(),
    }
}

/// Lists the files that a command's patches change.
fn patched(call: &Call, facts: &Facts, text_of: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let subject = Subject::new(
        call,
        "-C -c --git-dir --work-tree -d --directory -i --input -p --strip -o --output -D -r -F -z --exclude --include",
        facts,
    );
    let value = |options: [&str; 2]| options.iter().find_map(|option| subject.value(option));
    let operand = |at| Some(subject.operand(at)).filter(|operand| !operand.is_empty());
    let is_git = call.name == "git" && matches!(subject.operand(0), "apply" | "am");
    // What goes into git's index alone leaves the files as they are.
    let mut looks = [
        "--check",
        "--stat",
        "--numstat",
        "--summary",
        "--dry-run",
        "--cached",
    ]
    .iter();
    let is_only_looked_at = looks.any(|option| subject.has(option)) && !subject.has("--apply");
    let mut files: Vec<&str> = match call.name.as_str() {
        _ if is_only_looked_at => return Vec::new(),
        "git" if is_git => (1..).map_while(operand).collect(),
        "patch" => {
            let named = value(["-i", "--input"]).or_else(|| operand(1));
            named.into_iter().collect()
        }
        _ => return Vec::new(),
    };
    if files.is_empty() {
        files.extend(call.fed_from.as_deref());
    }
    let folder = if is_git {
        subject.value("-C")
    } else {
        value(["-d", "--directory"])
    };
    let folder = path::absolute(folder.unwrap_or("."), call.cwd.as_deref());
    let given = value(["-p", "--strip"]).and_then(|folders| folders.parse().ok());
    // Without it `patch` goes by the last part of a path, or by all of it if that exists.
    let strips = match given {
        Some(folders) => vec![folders],
        None if is_git => vec![1],
        None => vec![0, 1],
    };
    let within = Some("--directory").filter(|_| is_git);
    let within = within.and_then(|option| subject.value(option));
    let within = within.map(|folder| folder.trim_end_matches('/'));
    // The paths of git's are those in the repository.
    let root = facts.root.as_deref().filter(|_| is_git);
    let mut all = Vec::new();
    for file in files {
        let Some(text) = text_of(&path::absolute(file, Some(&folder))) else {
            continue;
        };
        for strip in &strips {
            for path in patch::stripped_paths(&text, *strip) {
                let path = joined(&path, within);
                let folders = std::iter::once(folder.as_str()).chain(root);
                all.extend(folders.map(|folder| format!("{folder}/{path}")));
            }
        }
    }
    all
}

/// Returns the tree whose uncommitted changes a git command discards or stashes.
fn whole_tree(call: &Call, facts: &Facts) -> Option<String> {
    if call.name != "git" {
        return None;
    }
    let subject = Subject::new(call, "", facts);
    let has = |options: &[&str]| options.iter().any(|option| subject.has(option));
    let is_all = match subject.operand(0) {
        "reset" => has(&["--hard", "--merge", "--keep"]),
        "stash" => matches!(subject.operand(1), "" | "push" | "save"),
        "clean" => !has(&["-n", "--dry-run"]),
        "switch" => has(&["-f", "--force", "--discard-changes"]),
        "checkout" => has(&["-f", "--force"]),
        _ => false,
    };
    let named = subject.value("-C");
    is_all.then(|| facts.tree_of(named.unwrap_or("."), call.cwd.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CommandAnalysis;

    fn touched(
        command: &str,
        facts: &Facts,
        text_of: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<Touched> {
        CommandAnalysis::of(command, facts).changed_files(text_of)
    }

    fn facts() -> Facts {
        Facts {
            cwd: Some("/p/src".to_owned()),
            home: Some("/home/u".to_owned()),
            root: Some("/p".to_owned()),
            git_dir: Some("/p/.git".to_owned()),
            ..Facts::default()
        }
    }

    /// The patches that there are.
    fn text_of(path: &str) -> Option<String> {
        let text = match path {
            "/p/src/of-root.diff" => "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-a\n+b\n",
            "/p/src/here.diff" => "--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-a\n+b\n",
            "/p/src/other.diff" => "--- a/src/b.rs\n+++ b/src/b.rs\n",
            "/p/src/in-src.diff" => "--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-a\n+b\n",
            "/p/src/quoted.diff" => {
                "--- \"a/src/\\141.rs\"\n+++ \"b/src/\\141.rs\"\n@@ -1 +1 @@\n-a\n+b\n"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// As without any link.
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
            "rustfmt a.rs",
            "rustfmt --edition 2024 b.rs a.rs",
            "cargo fmt",
            "cargo +nightly fmt --all -- --emit files",
            "cargo clippy --fix --allow-dirty",
            "git apply of-root.diff",
            "git -C /p apply --index src/of-root.diff",
            "git apply < of-root.diff",
            "cd .. && patch -p1 < src/of-root.diff",
            "cd .. && sudo patch -p1 -i src/of-root.diff",
            "patch -d .. -p 1 < of-root.diff",
            "patch < here.diff",
            "git apply quoted.diff",
            "git apply --directory=src in-src.diff",
            "git apply --directory src/ < in-src.diff",
            "prettier --write .",
            "prettier -w ../src",
            "eslint --fix .",
            "biome check --write",
            "shfmt -w ..",
            "find . -exec sed -i s/a/b/ {} +",
        ] {
            let touched = touched(command, &facts(), &text_of);
            assert!(touched.iter().any(takes_in), "{command}: {touched:?}");
        }
    }

    /// CALC-FUT-1: what writes all files of its language below a folder takes in those and no others.
    #[test]
    fn a_formatter_of_a_folder_takes_in_the_files_of_its_language() {
        for (command, file) in [
            ("black .", "/p/src/b/c.py"),
            ("ruff check --fix", "/p/src/b/c.py"),
            ("ruff format ../src/b", "/p/src/b/c.py"),
            ("gofmt -w .", "/p/src/b/c.go"),
            ("go fmt ./...", "/p/src/b/c.go"),
            ("gofmt -w ./b/", "/p/src/b/c.go"),
            ("isort --profile black ../src", "/p/src/b/c.py"),
            ("gofmt -l -w b", "/p/src/b/c.go"),
        ] {
            let touched = touched(command, &facts(), &text_of);
            let takes_in = |file: &str| {
                let mut touched = touched.iter();
                touched.any(|touched| {
                    let path = path::absolute(&touched.path, None);
                    let touched = Touched {
                        path,
                        ..touched.clone()
                    };
                    touched.takes_in(file)
                })
            };
            assert!(takes_in(file), "{command}: {touched:?}");
            assert!(!takes_in("/p/src/b/c.md"), "{command}: {touched:?}");
            assert!(!takes_in("/p/docs/c.py"), "{command}: {touched:?}");
        }
    }

    /// CALC-FUT-1: a command that only reads a file, or changes another, causes no warning.
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
            "cargo fmt --check",
            "cargo fmt -- --check",
            "cargo clippy",
            "rustfmt --check a.rs",
            "git apply --check of-root.diff",
            "git apply --cached of-root.diff",
            "git apply --directory=docs in-src.diff",
            "prettier --check .",
            "prettier --write ../docs",
            "black .",
            "gofmt -w .",
            "go fmt ./...",
            "eslint .",
            "git apply other.diff",
            "git apply none.diff",
            "patch -p1 --dry-run < of-root.diff",
            "cat < of-root.diff",
        ] {
            let touched = touched(command, &facts(), &text_of);
            assert!(!touched.iter().any(takes_in), "{command}: {touched:?}");
        }
    }
}
