//! [`Fixture`]: a tree, and a repository in it, by real git.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use callosum_host::{
    Clock, Disk, Ids,
    process::{self, Cancel, Ending, Launch, Limits},
};

use super::super::*;

pub(super) struct Fixture {
    _folder: tempfile::TempDir,
    pub(super) top: PathBuf,
    pub(super) disk: Disk,
    pub(super) clock: Clock,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let top = disk.canonicalize(folder.path()).unwrap();
        disk.create_dir_all(&top.join("tree")).unwrap();
        let start = "2026-11-02T10:00:00Z".parse().unwrap();
        Self {
            _folder: folder,
            top,
            disk,
            clock: Clock::fixed(start, Duration::from_hours(1)),
        }
    }

    /// A repository with two commits' worth of habits: tracked, ignored, changed, untracked.
    pub(super) fn repository() -> Self {
        let ground = Self::new();
        ground.git(&["init", "--quiet", "--initial-branch=main"]);
        ground.write("a.txt", "one\n");
        ground.write("dir/b.txt", "two\n");
        ground.write(".gitignore", "target/\n*.secret\n");
        ground.git(&["add", "--all"]);
        ground.git(&["commit", "--quiet", "--message=begin"]);
        ground.write("target/out", "built");
        ground.write("x.secret", "hush");
        ground
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.top.join("tree")
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.tree().join(name);
        self.disk.create_dir_all(path.parent().unwrap()).unwrap();
        self.disk.replace(&path, text.as_bytes(), 0o644).unwrap();
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        let bytes = self.disk.read_if_there(&self.tree().join(name)).unwrap();
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    pub(super) fn remove(&self, name: &str) {
        self.disk.remove_file(&self.tree().join(name)).unwrap();
    }

    pub(super) fn pipe(&self, name: &str) {
        self.run("mkfifo", &[name]);
    }

    pub(super) fn environment() -> Vec<(OsString, OsString)> {
        [
            ("PATH", "/usr/bin:/bin:/usr/local/bin"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Test"),
            ("GIT_AUTHOR_EMAIL", "test@example.org"),
            ("GIT_COMMITTER_NAME", "Test"),
            ("GIT_COMMITTER_EMAIL", "test@example.org"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        self.run("git", arguments)
    }

    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let launch = Launch {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            folder: self.tree(),
            environment: Self::environment(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: None,
                output_bytes: 1 << 20,
                error_bytes: 1 << 16,
            },
        };
        let run = process::run(&launch, &Cancel::new().unwrap(), &mut |_, _| {}).unwrap();
        let errors = String::from_utf8_lossy(&run.error).into_owned();
        assert_eq!(run.ending, Ending::Exited(0), "{arguments:?}: {errors}");
        String::from_utf8(run.output).unwrap()
    }

    pub(super) fn store(&self) -> Store {
        let surroundings = GitEnvironment {
            disk: self.disk.clone(),
            clock: self.clock.clone(),
            ids: Ids::random(),
            cancel: Cancel::new().unwrap(),
            environment: Self::environment(),
        };
        let folder = self.top.join("machine/snapshots/x");
        Store::find(surroundings, &self.tree(), |_| folder).unwrap()
    }

    /// Every file of the user's repository, with its bytes.
    pub(super) fn users_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.tree().join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in self.disk.list_dir(&folder).unwrap() {
                let path = folder.join(&entry.name);
                match entry.kind {
                    callosum_host::disk::EntryKind::Folder => folders.push(path),
                    _ => files.push((path.clone(), self.disk.read(&path).unwrap())),
                }
            }
        }
        files.sort();
        files
    }
}

pub(super) fn labelled(label: &str) -> Wanted {
    Wanted {
        label: label.to_owned(),
        ..Wanted::default()
    }
}

pub(super) fn list_changes(changes: &Changes) -> Vec<(String, &'static str)> {
    let pair = |change: &Change| (change.path.display().to_string(), change.kind.as_str());
    changes.0.iter().map(pair).collect()
}

pub(super) fn pairs(expected: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    expected
        .iter()
        .map(|(path, kind)| ((*path).to_owned(), *kind))
        .collect()
}
