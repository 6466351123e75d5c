//! A project on a disk that is only imagined: its files, folders and links by their paths.

use std::collections::BTreeMap;

use callosum_guard::{
    Facts, Permission,
    auto_allow::{Kind, Tree, preset},
};

/// Kind of the entry at a path.
#[derive(Clone, Debug)]
enum Entry {
    File(&'static str),
    Folder,
    Link(&'static str),
}

/// A disk.
#[derive(Clone, Debug)]
pub(crate) struct Project(BTreeMap<String, Entry>);

/// The project's root.
pub(crate) const ROOT: &str = "/home/u/p";

const FILES: &[&str] = &[
    ".env",
    ".env.example",
    ".github/workflows/ci.yml",
    ".gitignore",
    ".npmrc",
    "Cargo.lock",
    "Cargo.toml",
    "Dockerfile",
    "Gemfile",
    "Makefile",
    "README.md",
    "a.txt",
    "archive.tar.gz",
    "b.txt",
    "config/credentials.json",
    "config/server.pem",
    "data.csv",
    "data.json",
    "docs/api.md",
    "docs/guide.md",
    "go.mod",
    "logo.png",
    "notes.txt",
    "node_modules/react/index.js",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "requirements.txt",
    "scripts/run.sh",
    "server.log",
    "src/-rf.ts",
    "src/app.test.ts",
    "src/config.ts",
    "src/lib.rs",
    "src/main.rs",
    "tests/api.test.js",
    "tests/fixtures/a.json",
    "tests/test_api.py",
    "tsconfig.json",
];

impl Project {
    /// A project with code, documents, secrets, and links that lead out of it.
    pub(crate) fn new() -> Self {
        let mut project = Self(BTreeMap::new());
        for file in FILES {
            project.add(&format!("{ROOT}/{file}"), Entry::File(""));
        }
        project.add(
            &format!("{ROOT}/.git/config"),
            Entry::File("[core]\n\tbare = false\n"),
        );
        for (link, to) in [
            ("etc", "/etc"),
            ("key.txt", "/home/u/.ssh/id_rsa"),
            ("docs/home.md", "/home/u/notes.md"),
            ("to-src", "src"),
            ("rc.txt", "/home/u/.bashrc"),
        ] {
            project.add(&format!("{ROOT}/{link}"), Entry::Link(to));
        }
        for file in [
            "/etc/shadow",
            "/etc/os-release",
            "/home/u/.ssh/id_rsa",
            "/home/u/notes.md",
            "/home/u/.bashrc",
            "/tmp/out.txt",
            "/dev/null",
        ] {
            project.add(file, Entry::File(""));
        }
        // A folder that git takes for a bare repository.
        project.add(&format!("{ROOT}/tests/bare/HEAD"), Entry::File("x"));
        project
    }

    /// The same with this text in a file of the project.
    pub(crate) fn with(mut self, file: &str, text: &'static str) -> Self {
        self.add(&format!("{ROOT}/{file}"), Entry::File(text));
        self
    }

    fn add(&mut self, path: &str, entry: Entry) {
        let mut folder = path;
        while let Some((above, _)) = folder.rsplit_once('/') {
            let above = if above.is_empty() { "/" } else { above };
            self.0.entry(above.to_owned()).or_insert(Entry::Folder);
            if above == "/" {
                break;
            }
            folder = above;
        }
        self.0.insert(path.to_owned(), entry);
    }

    fn end(&self, path: &str, left: usize) -> Option<String> {
        let mut here = String::new();
        let mut is_there = true;
        let parts: Vec<&str> = path.split('/').collect();
        for (at, part) in parts.iter().enumerate() {
            match *part {
                "" | "." => continue,
                ".." if !is_there => return None,
                ".." => {
                    here.truncate(here.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let next = format!("{here}/{part}");
            match self.0.get(&next) {
                Some(Entry::Link(to)) if left > 0 => {
                    let to = if to.starts_with('/') {
                        (*to).to_owned()
                    } else {
                        format!("{here}/{to}")
                    };
                    let rest = parts[at + 1..].join("/");
                    let led = self.end(&format!("{to}/{rest}"), left - 1)?;
                    return Some(led);
                }
                Some(Entry::Link(_)) => return None,
                found => is_there = found.is_some(),
            }
            here = next;
        }
        Some(if here.is_empty() {
            "/".to_owned()
        } else {
            here
        })
    }
}

impl Tree for Project {
    fn real(&self, path: &str) -> Option<String> {
        self.end(path, 8)
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        match self.0.get(&self.real(path)?)? {
            Entry::Folder => Some(Kind::Folder),
            Entry::File(_) => Some(Kind::File),
            Entry::Link(_) => None,
        }
    }

    fn names(&self, folder: &str) -> Option<Vec<(String, bool)>> {
        let folder = self.real(folder)?;
        let entries = self.0.iter().filter_map(|(path, entry)| {
            let name = path.strip_prefix(&folder)?.strip_prefix('/')?;
            let is_here = !name.is_empty() && !name.contains('/');
            is_here.then(|| (name.to_owned(), matches!(entry, Entry::Folder)))
        });
        Some(entries.collect())
    }

    fn text(&self, path: &str) -> Option<String> {
        match self.0.get(&self.real(path)?)? {
            Entry::File(text) => Some((*text).to_owned()),
            _ => None,
        }
    }
}

/// The facts that a hook would know of the project.
pub(crate) fn facts() -> Facts {
    Facts {
        cwd: Some(ROOT.to_owned()),
        home: Some("/home/u".to_owned()),
        root: Some(ROOT.to_owned()),
        git_dir: Some(format!("{ROOT}/.git")),
        kept: vec!["/home/u/.local/state/callosum".to_owned()],
        machine: Some("/home/u/.local/state/callosum".to_owned()),
        free: vec!["/tmp".to_owned()],
        ..Facts::default()
    }
}

/// All presets.
pub(crate) fn presets() -> Vec<Permission> {
    let patterns = preset::PRESETS.iter().flat_map(|(_, patterns)| *patterns);
    patterns
        .map(|pattern| Permission::parse(pattern).unwrap())
        .collect()
}
