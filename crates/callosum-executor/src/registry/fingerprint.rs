//! Hash of everything in an executor's entry that decides which program runs, and with what input.
//!
//! The machine's trust store keeps these. A fingerprint does not decide who may run: the caller
//! compares it with what was allowed.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, OpenHow},
};
use callosum_json::{
    Checksum,
    canonical::{self, DuplicateKeys},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{executor::Executor, implied_files::implied_files};
use callosum_sandbox::{Policy, led_elsewhere};

/// Bytes of a file that are in memory at once while it is hashed.
const PIECE: usize = 256 * 1024;

/// Keys of an entry that limit how far plans may rely on it.
const GOVERNED: [&str; 2] = ["trust_tier", "sensitive_fields"];

/// Characters that may surround the name of a file in a word: `--tool=ask.py`, `exec ./ask "$1";`.
const AROUND_NAMES: &[char] = &[
    ' ', '\t', '\n', '"', '\'', '`', '=', ';', '|', '&', '(', ')', '<', '>', ',', ':',
];

impl Executor {
    /// Identifies the program and its input, by the entry.
    ///
    /// Two entries with one fingerprint are equal in that; a status, a version or a name may
    /// differ.
    pub fn fingerprint(&self) -> Checksum {
        checksum(&self.decisive())
    }

    /// Identifies what runs in the project at `root`: the entry, every regular file of the project that
    /// its template names, and where links of the project lead what it may read or write.
    ///
    /// A word names a file by itself or in a part of it, as in `--tool=ask.py` and in the code of
    /// `sh -c`, seen from `root`; or it is the name of a module, a package's script or the like (see
    /// `implied_files`). A link that leads out of the project counts with where it leads.
    /// Files that those files load are not read, except the files of a module's own package. Without any files, and for
    /// the embedded executor, this is [`fingerprint`](Self::fingerprint).
    ///
    /// Reads those files whole, piece by piece. Fails if one is there and cannot be read.
    pub fn fingerprint_in(
        &self,
        disk: &Disk,
        root: &Path,
        home: Option<&Path>,
    ) -> Result<Checksum, DiskError> {
        if self.is_embedded() {
            return Ok(self.fingerprint());
        }
        let mut decisive = self.decisive();
        let files = named_files(&self.command_template, disk, root)?;
        if !files.is_empty() {
            decisive["files"] = json!(files);
        }
        if self.confinement != Some(Policy::Off) {
            let places = led_elsewhere(&self.wishes(), root, home, disk);
            if !places.is_empty() {
                decisive["places"] = json!(places);
            }
        }
        Ok(checksum(&decisive))
    }

    fn decisive(&self) -> Value {
        let mut decisive = json!({
            "type": self.kind.as_str(),
            "command_template": self.command_template,
            "protocol": self.protocol,
            "pass_environment": self.pass_environment,
        });
        // The recipient of the tree, and the key. Only if set, so that old fingerprints stay valid.
        let whom = [
            ("endpoint", &self.endpoint),
            ("model", &self.model),
            ("api_key_env", &self.api_key_env),
            ("tool", &self.tool),
            ("argument", &self.argument),
        ];
        for (key, value) in whom {
            if let Some(value) = value {
                decisive[key] = json!(value);
            }
        }
        if let Some(policy) = self.confinement {
            decisive["confinement"] = policy.as_str().into();
        }
        for (key, all) in [
            ("readable", &self.readable),
            ("writable", &self.writable),
            ("network", &self.network),
        ] {
            if !all.is_empty() {
                decisive[key] = all.clone().into();
            }
        }
        // What plans may do with it, as text: nothing here knows what it means.
        for key in GOVERNED {
            if let Some(setting) = self.extra.get(key) {
                decisive[key] = setting.to_string().into();
            }
        }
        decisive
    }
}

fn checksum(decisive: &Value) -> Checksum {
    canonical::checksum(decisive.to_string().as_bytes(), DuplicateKeys::Refused)
        .expect("strings have a canonical form")
}

/// Returns for each name in a template, or implied by it, that leads to a regular file: the file's
/// SHA-256 if it is in the project, or its target if only the name is.
fn named_files(
    template: &str,
    disk: &Disk,
    root: &Path,
) -> Result<BTreeMap<String, String>, DiskError> {
    let root = disk.canonicalize(root)?;
    // A template that is no words starts nothing.
    let words = shlex::split(template).unwrap_or_default();
    let implied = implied_files(&words, disk, &root);
    let names = words
        .iter()
        .flat_map(|word| word.split(AROUND_NAMES).chain([word.as_str()]))
        .chain(implied.iter().map(String::as_str))
        .filter(|name| !name.is_empty());
    let mut files = BTreeMap::new();
    for name in names {
        // What leads nowhere now has another fingerprint as soon as it leads somewhere.
        let Ok(path) = disk.canonicalize(&root.join(name)) else {
            continue;
        };
        let is_file = matches!(disk.stat(&path)?, Some(stat) if stat.kind == EntryKind::File);
        if !is_file || files.contains_key(name) {
            continue;
        }
        if path.starts_with(&root) {
            files.insert(name.to_owned(), sha256(disk, &path)?);
        } else if is_within(name, &root) {
            files.insert(name.to_owned(), path.to_string_lossy().into_owned());
        }
    }
    Ok(files)
}

/// Whether a name, before any link is followed, is one of the project.
fn is_within(name: &str, root: &Path) -> bool {
    let name = Path::new(name);
    name.strip_prefix(root)
        .unwrap_or(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn sha256(disk: &Disk, path: &Path) -> Result<String, DiskError> {
    let file = disk.open(path, OpenHow::READ)?;
    let mut hasher = Sha256::new();
    let mut offset = 0;
    loop {
        let piece = file.read_range(offset, PIECE)?;
        if piece.is_empty() {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        hasher.update(&piece);
        offset += piece.len() as u64;
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::registry::Kind;

    /// CAL-SEC-1: what a cloned registry would run cannot change unnoticed.
    #[test]
    fn a_fingerprint_covers_what_decides_execution_and_nothing_else() {
        let executor = Executor::cli("a", "a {prompt}");
        let changed = |change: fn(&mut Executor)| {
            let mut other = executor.clone();
            change(&mut other);
            other.fingerprint() != executor.fingerprint()
        };
        assert!(changed(|e| e.command_template.push('x')));
        assert!(changed(|e| e.kind = Kind::Http));
        assert!(changed(|e| e.protocol = Some("acp".to_owned())));
        assert!(changed(|e| e
            .pass_environment
            .push("HOME_TOKEN".to_owned())));
        assert!(changed(
            |e| e.endpoint = Some("http://127.0.0.1:1".to_owned())
        ));
        assert!(changed(|e| e.model = Some("m".to_owned())));
        assert!(changed(|e| e.api_key_env = Some("K".to_owned())));
        assert!(changed(|e| e.tool = Some("t".to_owned())));
        assert!(changed(|e| e.argument = Some("a".to_owned())));
        assert!(!changed(|e| e.context_tokens = Some(4096)));
        assert!(changed(|e| e.confinement = Some(Policy::Off)));
        assert!(changed(|e| e.readable.push("~/.ssh".to_owned())));
        assert!(changed(|e| e.writable.push("~/.ssh".to_owned())));
        assert!(changed(|e| e.network.push("a:1".to_owned())));
        assert!(!changed(|e| e.id.push('x')));
        assert!(!changed(|e| e.status = crate::registry::Status::Active));
        assert!(!changed(|e| e.version.push('1')));
    }

    struct Project {
        folder: tempfile::TempDir,
    }

    impl Project {
        fn new() -> Self {
            let project = Self {
                folder: tempfile::tempdir().unwrap(),
            };
            Disk::real()
                .create_dir_all(&project.at("root/tools"))
                .unwrap();
            project.write("root/tools/ask.py", b"one");
            project.write("outside", b"one");
            project
        }

        fn at(&self, path: &str) -> std::path::PathBuf {
            self.folder.path().join(path)
        }

        fn write(&self, path: &str, bytes: &[u8]) {
            Disk::real().replace(&self.at(path), bytes, 0o755).unwrap();
        }

        /// Writes a file below the root, with the folders on the way.
        fn lay(&self, path: &str, bytes: &[u8]) {
            let path = self.at("root").join(path);
            let disk = Disk::real();
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, bytes, 0o755).unwrap();
        }

        fn disk_has(&self, path: &str) -> bool {
            self.at("root").join(path).exists()
        }

        fn bytes(&self, path: &str) -> Vec<u8> {
            Disk::real().read(&self.at("root").join(path)).unwrap()
        }

        fn print(&self, template: &str) -> Checksum {
            Executor::cli("a", template)
                .fingerprint_in(&Disk::real(), &self.at("root"), None)
                .unwrap()
        }
    }

    /// CAL-SEC-1: a pull that changes the program behind a trusted command is noticed.
    #[test]
    fn a_changed_program_of_the_project_is_another_executor() {
        let project = Project::new();
        let absolute = project.at("root/tools/ask.py").display().to_string();
        let templates = [
            "python3 tools/ask.py {prompt}".to_owned(),
            "./tools/../tools/ask.py".to_owned(),
            "python3 '-W' ignore --tool=tools/ask.py".to_owned(),
            "sh -c 'cd . && exec ./tools/ask.py \"$1\"; true' _ {prompt}".to_owned(),
            format!("{absolute} {{prompt}}"),
        ];
        let prints = || templates.each_ref().map(|template| project.print(template));
        let before = prints();
        assert_eq!(prints(), before);
        project.write("root/tools/ask.py", b"two");
        for (template, (before, after)) in templates.iter().zip(before.iter().zip(prints())) {
            assert_ne!(*before, after, "{template}");
        }
        // Removed, and put back: what runs is what was trusted.
        Disk::real()
            .remove_file(&project.at("root/tools/ask.py"))
            .unwrap();
        assert_ne!(prints()[0], before[0]);
        project.write("root/tools/ask.py", b"one");
        assert_eq!(prints(), before);
    }

    /// CAL-SEC-1: a program that is run by the name of a module, a package or a rule is noticed when it changes, as one
    /// that is run by its path.
    #[test]
    fn a_program_that_is_run_by_name_is_another_executor_once_it_changes() {
        for (template, file) in [
            ("python3 -m tools.ask {prompt}", "tools/ask.py"),
            ("/usr/bin/python3.12 -Im tools.ask", "tools/ask.py"),
            ("python3 -mtools.ask", "tools/ask.py"),
            ("python3 -m tools", "tools/__main__.py"),
            ("python3 -m tools.ask", "tools/__init__.py"),
            ("python3 -m tools.ask", "tools/helper.py"),
            ("python3 -m http", "http.py"),
            (
                "python3 -c 'from tools.ask import main; main()'",
                "tools/ask.py",
            ),
            ("uv run -m tools.ask", "tools/ask.py"),
            ("uv run python -m tools.ask", "pyproject.toml"),
            ("uv run ask", "src/pkg/cli.py"),
            ("env A=1 timeout 9 python3 -m tools.ask", "tools/ask.py"),
            (
                "sh -c 'cd . && exec python3 -m tools.ask \"$1\"' _",
                "tools/ask.py",
            ),
            ("sh -c 'cd sub && python3 -m deep'", "sub/deep.py"),
            ("sh -c 'cd sub && ./run.sh'", "sub/run.sh"),
            ("node -r ./tools/hook -e 0", "tools/hook.js"),
            ("node --import=./tools/hook -e 0", "tools/hook.mjs"),
            ("node tools/main", "tools/main.js"),
            ("node tools", "tools/index.js"),
            ("node tools", "tools/start.js"),
            ("npx own", "node_modules/.bin/own"),
            ("npm run --silent ask", "package.json"),
            ("npm run ask", "tools/script.js"),
            ("pnpm ask", "tools/before.py"),
            ("ruby -r ./tools/lib -e 0", "tools/lib.rb"),
            ("ruby -I tools -rlib -e 0", "tools/lib.rb"),
            ("perl -I tools -MAsk::It -e 0", "tools/Ask/It.pm"),
            ("deno run -A tools/main.ts", "deno.json"),
            ("deno task ask", "deno.json"),
            ("go run ./cmd/ask", "cmd/ask/part.go"),
            ("go run ./cmd/ask", "go.mod"),
            ("cargo run --quiet", "src/inner/deep.rs"),
            ("make -s ask", "Makefile"),
            ("env PYTHONPATH=tools python3 -m ask", "tools/ask.py"),
            (
                "env PYTHONPATH=other:./tools/ python3 -mask",
                "tools/ask.py",
            ),
            (
                "sh -c 'PYTHONPATH=\"$PWD/tools\" exec python3 -m ask'",
                "tools/ask.py",
            ),
            ("env PYTHONPATH=ROOT/tools python3 -m ask", "tools/ask.py"),
            (
                "env PYTHONPATH=tools sh -c 'python3 -m ask.it'",
                "tools/ask/it.py",
            ),
            ("env RUBYLIB=tools ruby -rlib -e 0", "tools/lib.rb"),
            (
                "python3 -c 'import runpy; runpy.run_module(\"tools.ask\", run_name=\"__main__\")'",
                "tools/ask.py",
            ),
            (
                "sh -c \"python3 -c 'import runpy; runpy.run_module(\\\"tools.ask\\\")'\"",
                "tools/ask.py",
            ),
            ("make -s rule", "tools/rule.py"),
            ("make rule", "tools/before.sh"),
            ("make -C sub rule", "sub/deep.py"),
            ("make -f sub/own.mk", "tools/own.py"),
            ("just rule", "tools/just.py"),
        ] {
            let project = Project::new();
            let declared = r#"{"scripts": {"ask": "node tools/script", "preask": "python3 -m tools.before"}, "main": "start.js"}"#;
            for path in ["package.json", "tools/package.json"] {
                project.lay(path, declared.as_bytes());
            }
            project.lay(
                "pyproject.toml",
                b"[project.scripts]\nask = \"pkg.cli:main\"\n",
            );
            project.lay(
                "Makefile",
                b"PY = python3\n.PHONY: rule\nrule: before\n\t@$(PY) -m tools.rule \\\n\t\t-v\nbefore: ; sh tools/before.sh\nunasked:\n\tpython3 unrelated/other.py\n",
            );
            project.lay("sub/Makefile", b"rule:\n\tpython3 deep.py\n");
            project.lay("sub/own.mk", b"first:\n\tpython3 tools/own.py\n");
            project.lay(
                "justfile",
                b"rule arg='x':\n    python3 tools/just.py {{arg}}\n",
            );
            let template = template.replace("ROOT", &project.at("root").display().to_string());
            let template = template.as_str();
            if project.disk_has(file) {
                // It is there from the beginning, and changes in a way that declares the same.
                let before = project.print(template);
                let more = [&project.bytes(file)[..], b"\n"].concat();
                project.lay(file, &more);
                assert_ne!(project.print(template), before, "{template}: {file}");
                continue;
            }
            let without = project.print(template);
            project.lay(file, b"one");
            let before = project.print(template);
            assert_ne!(before, without, "{template}: {file}");
            project.lay(file, b"two");
            assert_ne!(project.print(template), before, "{template}: {file}");
            project.lay(file, b"one");
            project.lay("unrelated/other.py", b"two");
            assert_eq!(project.print(template), before, "{template}: {file}");
        }
    }

    /// CAL-SEC-1: a link counts with where it leads, so that it cannot be turned.
    #[test]
    fn a_link_that_is_turned_is_noticed() {
        let project = Project::new();
        let link = project.at("root/ask");
        let turned_to = |target: &str| {
            Disk::real().remove_file(&link).unwrap();
            symlink(target, &link).unwrap();
            project.print("./ask {prompt}")
        };
        let inside = turned_to("tools/ask.py");
        let outside = turned_to("../outside");
        assert_ne!(inside, outside);
        assert_ne!(turned_to("/bin/sh"), outside);
        assert_eq!(turned_to("../outside"), outside);
        let nowhere = turned_to("nowhere");
        assert_eq!(turned_to("ask"), nowhere);
    }

    /// CAL-SEC-1: a pull that turns what an entry may write into a link, or turns that link, is noticed.
    #[test]
    fn a_granted_place_that_becomes_a_link_is_another_grant() {
        let project = Project::new();
        let print = |change: fn(&mut Executor)| {
            let mut entry = Executor::cli("a", "a {prompt}");
            change(&mut entry);
            let home = project.at("");
            let print = entry.fingerprint_in(&Disk::real(), &project.at("root"), Some(&home));
            (print.unwrap(), entry.fingerprint())
        };
        let entries: [fn(&mut Executor); 3] = [
            |entry| entry.writable.push("out/".to_owned()),
            |entry| entry.readable.push("out".to_owned()),
            |entry| entry.writable.push("~/root/out/".to_owned()),
        ];
        let link = project.at("root/out");
        let turned_to = |target: &str| {
            Disk::real().remove_file(&link).unwrap();
            symlink(target, &link).unwrap();
        };
        for entry in entries {
            Disk::real().remove_file(&link).unwrap();
            let (missing, plain) = print(entry);
            assert_eq!(missing, plain);
            turned_to("tools");
            let inside = print(entry).0;
            assert_ne!(inside, plain);
            turned_to("..");
            assert_ne!(print(entry).0, inside);
            turned_to("tools");
            assert_eq!(print(entry).0, inside);
        }
    }

    #[test]
    fn what_names_no_file_of_the_project_changes_nothing() {
        let project = Project::new();
        for template in [
            "ollama-code -p {prompt}",
            "tools -p {prompt}",
            "/bin/sh ../outside {prompt}",
            "a 'unfinished",
            "a 'nul\0' . / '' {self}",
            &format!("a {}", "x".repeat(5000)),
        ] {
            let entry = Executor::cli("a", template);
            assert_eq!(project.print(template), entry.fingerprint(), "{template}");
        }
        project.write("root/scout", b"one");
        let scout = Executor::embedded();
        let print = scout.fingerprint_in(&Disk::real(), &project.at("root"), None);
        assert_eq!(print.unwrap(), scout.fingerprint());
        let missing =
            Executor::cli("a", "a").fingerprint_in(&Disk::real(), &project.at("gone"), None);
        assert!(missing.unwrap_err().is_absent());
    }

    /// The file's own SHA-256, for a file of any size, is what is trusted.
    #[test]
    fn a_file_is_hashed_whole() {
        let project = Project::new();
        let mut bytes = vec![b'x'; PIECE + 1];
        let hash = |bytes: &[u8]| {
            project.write("root/large", bytes);
            sha256(&Disk::real(), &project.at("root/large")).unwrap()
        };
        assert_eq!(hash(&bytes), Checksum::of(&bytes).to_string());
        bytes[PIECE] = b'y';
        assert_eq!(hash(&bytes), Checksum::of(&bytes).to_string());
    }
}
