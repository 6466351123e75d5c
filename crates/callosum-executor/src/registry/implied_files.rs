//! [`implied_files`]: files of a project that a command runs without a path to them: a module, a script of a package, a
//! rule of a build file.
//!
//! Every part of a command is looked at as if it were the program, so `uv run python -m x` and `sh -c 'exec python -m x'`
//! name what `python -m x` names. A name too many costs a hash; one too few would let a program change unnoticed.
//! Deliberately not here: what such a file loads in its turn, beyond the other files of its package.

use std::path::Path;

use callosum_host::{Disk, disk::EntryKind};
use serde_json::Value;

use super::recipes;

/// Options that name the folder in which a program then works.
const FOLDERS: [&str; 7] = [
    "cd",
    "-C",
    "--directory",
    "--cwd",
    "--dir",
    "--prefix",
    "--project",
];

/// Variables that name folders in which interpreters look for modules.
const LIBRARIES: [&str; 4] = ["PYTHONPATH=", "RUBYLIB=", "PERL5LIB=", "PERLLIB="];

/// Characters that separate commands and their parts in shell code.
const AROUND_WORDS: &[char] = &[';', '|', '&', '(', ')', '{', '}', '`', '"', '\''];

/// Endings that Node and its like add to the name of a module.
const OF_NODE: [&str; 13] = [
    ".js",
    ".cjs",
    ".mjs",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".json",
    "/package.json",
    "/index.js",
    "/index.mjs",
    "/index.cjs",
    "/index.ts",
];

/// Files that a program reads in the folder it works in, by the program's name.
const READ_BY: [(&[&str], &[&str]); 12] = [
    (
        &[
            "uv", "uvx", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi",
        ],
        &[
            "pyproject.toml",
            "uv.toml",
            "uv.lock",
            "poetry.lock",
            "Pipfile",
            "pixi.toml",
        ],
    ),
    (
        &[
            "node", "nodejs", "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "tsx", "ts-node",
        ],
        &[
            "package.json",
            ".npmrc",
            ".yarnrc.yml",
            "bunfig.toml",
            ".pnpmfile.cjs",
        ],
    ),
    (
        &["deno"],
        &[
            "deno.json",
            "deno.jsonc",
            "deno.lock",
            "import_map.json",
            "package.json",
        ],
    ),
    (&["go"], &["go.mod", "go.sum", "go.work"]),
    (
        &["cargo"],
        &[
            "Cargo.toml",
            "Cargo.lock",
            "build.rs",
            ".cargo/config.toml",
            ".cargo/config",
            "rust-toolchain.toml",
            "rust-toolchain",
        ],
    ),
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (
        &["rake", "bundle"],
        &["Rakefile", "rakefile", "Gemfile", "Gemfile.lock"],
    ),
    (&["mise"], &["mise.toml", ".mise.toml"]),
    (&["mvn", "mvnw"], &["pom.xml"]),
    (
        &["gradle", "gradlew"],
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle/wrapper/gradle-wrapper.jar",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
    ),
];

/// Returns names, relative to the root, of files that a command runs though no word of it is their
/// path. Some of them may not exist.
pub(super) fn implied_files(words: &[String], disk: &Disk, root: &Path) -> Vec<String> {
    let mut implied = Implied {
        disk,
        root,
        libraries: library_folders(words),
        names: Vec::new(),
    };
    implied.command(words, true);
    implied.names.sort_unstable();
    implied.names.dedup();
    implied.names
}

struct Implied<'a> {
    disk: &'a Disk,
    root: &'a Path,
    /// Folders in which interpreters look for modules besides their own.
    libraries: Vec<String>,
    names: Vec<String>,
}

impl Implied<'_> {
    /// Looks at one command; at the scripts of a package that it names as well, unless it is one itself.
    fn command(&mut self, words: &[String], follows_scripts: bool) {
        let mut folders = vec![String::new()];
        for pair in words.windows(2) {
            if FOLDERS.contains(&pair[0].as_str()) {
                folders.push(format!("{}/", pair[1].trim_end_matches('/')));
            }
        }
        for folder in &folders {
            if !folder.is_empty() {
                self.names
                    .extend(words.iter().map(|word| format!("{folder}{word}")));
            }
            for (at, word) in words.iter().enumerate() {
                let program = word.rsplit('/').next().unwrap_or(word);
                self.program(program, &words[at + 1..], folder, follows_scripts);
            }
        }
        // Shell code, and any other command in one word.
        for word in words
            .iter()
            .filter(|word| word.contains(char::is_whitespace))
        {
            let inner = word.split(|c: char| c.is_whitespace() || AROUND_WORDS.contains(&c));
            let inner = inner.filter(|word| !word.is_empty()).map(str::to_owned);
            let inner: Vec<String> = inner.collect();
            if inner.len() > 1 {
                self.command(&inner, follows_scripts);
            }
        }
    }

    /// Looks at what a program is given that works in `folder`.
    fn program(&mut self, program: &str, given: &[String], folder: &str, follows_scripts: bool) {
        let read = READ_BY.iter().filter(|(names, _)| names.contains(&program));
        for name in read.flat_map(|(_, read)| *read) {
            self.names.push(format!("{folder}{name}"));
        }
        match program {
            "uv" | "uvx" | "poetry" | "pdm" | "pipenv" | "hatch" | "rye" | "pixi" => {
                self.python(given, folder);
                self.entry_points(given, folder);
            }
            "node" | "nodejs" | "deno" | "tsx" | "ts-node" => self.node(given, folder),
            "npm" | "npx" | "pnpm" | "pnpx" | "yarn" | "bun" | "bunx" => {
                self.node(given, folder);
                self.package(given, folder, follows_scripts);
            }
            "make" | "gmake" | "just" => self.recipes(given, folder, follows_scripts),
            "ruby" => self.libraries(given, folder, &["-r"], ".rb"),
            "perl" => self.libraries(given, folder, &["-M", "-m"], ".pm"),
            "lua" | "luajit" => self.libraries(given, folder, &["-l"], ".lua"),
            "go" => {
                for name in given {
                    self.folder(&format!("{folder}{name}"), ".go");
                }
            }
            "cargo" => {
                self.tree(&format!("{folder}src"), ".rs");
                self.names.extend(
                    given
                        .iter()
                        .map(|name| format!("{folder}examples/{name}.rs")),
                );
            }
            _ if is_python(program) => self.python(given, folder),
            _ => {}
        }
    }

    /// Modules that are run by name: `-m x`, `-mx`, `-Im x`, and what the code of `-c` imports.
    fn python(&mut self, given: &[String], folder: &str) {
        for (at, word) in given.iter().enumerate() {
            let next = given.get(at + 1).map(String::as_str);
            if word == "--module" {
                self.modules(next, folder);
            }
            let Some(flags) = word
                .strip_prefix('-')
                .filter(|flags| !flags.starts_with('-'))
            else {
                continue;
            };
            if let Some((_, module)) = flags.split_once('m') {
                self.modules(
                    Some(module).filter(|name| !name.is_empty()).or(next),
                    folder,
                );
            }
            if let Some((_, code)) = flags.split_once('c') {
                // All that follows: in shell code, the words of the code have been parted already.
                let code = [code].into_iter();
                let code = code.chain(given[at + 1..].iter().map(String::as_str));
                let around = |c: char| c.is_whitespace() || ",;()[]'\"".contains(c);
                let parts = code.flat_map(|code| code.split(around));
                for module in parts.filter(|part| !part.is_empty()) {
                    self.modules(Some(module), folder);
                }
            }
        }
    }

    /// The files of a Python module, and the others of its package.
    fn modules(&mut self, module: Option<&str>, folder: &str) {
        let Some(module) = module.filter(|module| is_module(module)) else {
            return;
        };
        let parts: Vec<&str> = module.split('.').collect();
        let starts = ["", "src/"].map(str::to_owned);
        let starts: Vec<String> = starts
            .into_iter()
            .chain(self.libraries.iter().cloned())
            .collect();
        for start in starts {
            let mut at = if start.starts_with('/') {
                start
            } else {
                format!("{folder}{start}")
            };
            for (depth, part) in parts.iter().enumerate() {
                if depth > 0 {
                    self.folder(&at, ".py");
                    at.push('/');
                }
                at.push_str(part);
            }
            self.names.push(format!("{at}.py"));
            self.folder(&at, ".py");
        }
    }

    /// Programs that a Python project declares, as `ask = "tools.ask:main"`.
    fn entry_points(&mut self, given: &[String], folder: &str) {
        let declared = self.text(&format!("{folder}pyproject.toml"));
        for line in declared.lines() {
            let Some((name, target)) = line.split_once('=') else {
                continue;
            };
            let name = name.trim().trim_matches(['"', '\'']);
            if given.iter().any(|word| word == name) {
                let target = target.trim().trim_matches(['"', '\'']);
                self.modules(target.split(':').next(), folder);
            }
        }
    }

    /// Modules of Node by path, with the endings that it adds: `-r ./x`, `--import=./x`, `node tools/ask`.
    fn node(&mut self, given: &[String], folder: &str) {
        for word in given {
            let name = match word.split_once('=') {
                Some((option, value)) if option.starts_with('-') => value,
                _ => word,
            };
            if name.starts_with('-') || name.contains('{') {
                continue;
            }
            let name = name.trim_end_matches('/');
            self.names
                .extend(OF_NODE.map(|ending| format!("{folder}{name}{ending}")));
            let main = self.json(&format!("{folder}{name}/package.json"));
            if let Some(main) = main["main"].as_str() {
                self.names.push(format!("{folder}{name}/{main}"));
            }
        }
    }

    /// Scripts and programs of a package, by name: `npm run ask`, `npx ask`.
    fn package(&mut self, given: &[String], folder: &str, follows_scripts: bool) {
        let package = self.json(&format!("{folder}package.json"));
        for name in given.iter().filter(|name| !name.starts_with('-')) {
            self.names.push(format!("{folder}node_modules/.bin/{name}"));
            for script in [name.clone(), format!("pre{name}"), format!("post{name}")] {
                let Some(script) = package["scripts"][&script].as_str() else {
                    continue;
                };
                let words = shlex::split(script).unwrap_or_default();
                self.names
                    .extend(words.iter().map(|word| format!("{folder}{word}")));
                if follows_scripts {
                    let mut there = vec!["cd".to_owned(), folder.trim_end_matches('/').to_owned()];
                    if folder.is_empty() {
                        there.clear();
                    }
                    there.extend(words);
                    self.command(&there, false);
                }
            }
        }
        let programs = match &package["bin"] {
            Value::String(path) => vec![path.clone()],
            Value::Object(all) => all
                .values()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        self.names
            .extend(programs.iter().map(|path| format!("{folder}{path}")));
    }

    /// Adds the files that the rules of a build file run, unless the command is itself one of such a rule.
    fn recipes(&mut self, given: &[String], folder: &str, follows: bool) {
        if !follows {
            return;
        }
        let build_files = READ_BY
            .iter()
            .filter(|(names, _)| names.iter().any(|name| matches!(*name, "make" | "just")));
        let mut files: Vec<&str> = build_files.flat_map(|(_, read)| *read).copied().collect();
        let options = ["-f", "--file", "--makefile", "--justfile"];
        files.extend(valued(given, &options));
        for file in files {
            let text = self.text(&format!("{folder}{file}"));
            for line in recipes::commands(&text, given) {
                let around = |c: char| c.is_whitespace() || AROUND_WORDS.contains(&c);
                let words = line.split(around).filter(|word| !word.is_empty());
                let words: Vec<String> = words.map(str::to_owned).collect();
                let named = words.iter().map(|word| format!("{folder}{word}"));
                self.names.extend(named);
                let mut there = Vec::new();
                if !folder.is_empty() {
                    there.extend(["cd".to_owned(), folder.trim_end_matches('/').to_owned()]);
                }
                there.extend(words);
                self.command(&there, false);
            }
        }
    }

    /// Libraries that an option loads, in the folders of `-I` and the usual one.
    fn libraries(&mut self, given: &[String], folder: &str, options: &[&str], ending: &str) {
        let mut folders = vec!["", "lib"];
        folders.extend(valued(given, &["-I"]));
        let libraries = self.libraries.clone();
        folders.extend(libraries.iter().map(String::as_str));
        for library in valued(given, options) {
            let library = library.split('=').next().unwrap_or(library);
            let library = library.trim_start_matches('-').replace("::", "/");
            let plain = library.strip_suffix(ending).unwrap_or(&library);
            for at in &folders {
                let at = match at.trim_end_matches('/') {
                    "" => folder.to_owned(),
                    at if at.starts_with('/') => format!("{at}/"),
                    at => format!("{folder}{at}/"),
                };
                self.names.push(format!("{at}{plain}{ending}"));
                if ending == ".lua" {
                    self.names
                        .push(format!("{at}{}{ending}", plain.replace('.', "/")));
                }
            }
        }
    }

    /// The files of a folder that have this ending.
    fn folder(&mut self, folder: &str, ending: &str) {
        let folder = folder.trim_end_matches('/');
        let listed = self.disk.list_dir(&self.root.join(folder));
        for entry in listed.unwrap_or_default() {
            if let Some(name) = entry.name.to_str().filter(|name| name.ends_with(ending)) {
                self.names.push(format!("{folder}/{name}"));
            }
        }
    }

    /// The same, with the folders in it.
    fn tree(&mut self, folder: &str, ending: &str) {
        self.folder(folder, ending);
        let listed = self.disk.list_dir(&self.root.join(folder));
        for entry in listed.unwrap_or_default() {
            if let Some(name) = entry
                .name
                .to_str()
                .filter(|_| entry.kind == EntryKind::Folder)
            {
                self.tree(&format!("{folder}/{name}"), ending);
            }
        }
    }

    fn text(&self, name: &str) -> String {
        let bytes = self.disk.read(&self.root.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap_or_default()
    }
}

/// Returns the values of options, as `-I x`, `-Ix` and `--file=x`.
fn valued<'w>(given: &'w [String], options: &[&str]) -> Vec<&'w str> {
    let mut values = Vec::new();
    for (at, word) in given.iter().enumerate() {
        for option in options {
            let Some(value) = word.strip_prefix(option) else {
                continue;
            };
            if value.is_empty() {
                values.extend(given.get(at + 1).map(String::as_str));
            } else {
                values.push(value.strip_prefix('=').unwrap_or(value));
            }
        }
    }
    values
}

/// Returns the folders of libraries that variables in a command name, each with a slash at its end.
fn library_folders(words: &[String]) -> Vec<String> {
    let mut folders = Vec::new();
    for word in words {
        for variable in LIBRARIES {
            for (at, _) in word.match_indices(variable) {
                let value = word[at + variable.len()..].trim_start_matches(['"', '\'']);
                let is_end = |c: char| c.is_whitespace() || ";|&\"'`".contains(c);
                let value = value.split(is_end).next().unwrap_or_default();
                for folder in value.split(':') {
                    let folder = ["$PWD/", "${PWD}/", "./"]
                        .iter()
                        .find_map(|here| folder.strip_prefix(here))
                        .unwrap_or(folder)
                        .trim_end_matches('/');
                    if !folder.is_empty() {
                        folders.push(format!("{folder}/"));
                    }
                }
            }
        }
    }
    folders
}

/// Returns whether a program is a Python interpreter of any version.
fn is_python(program: &str) -> bool {
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(plain, "python" | "pypy" | "pythonw" | "ipython" | "py")
}

/// Whether a word may be the name of a Python module.
fn is_module(word: &str) -> bool {
    let is_part = |part: &str| {
        let fit = |c: char| c.is_alphanumeric() || c == '_';
        !part.is_empty() && part.chars().all(fit)
    };
    word.split('.').all(is_part)
}
