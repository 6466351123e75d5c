//! Build files of C and C++: CMake, Meson, Autotools, make, Conan, vcpkg.
//!
//! These are programs rather than data; only their literals are read, so the list of dependencies
//! is a lower bound.

use serde_json::Value;

use super::{
    model::{Dependency, Ecosystem, Manifest, Package, Placed, Program, Script, Use},
    node,
    place::{Lines, arguments, first_quoted, numbered},
};

/// Reads one `CMakeLists.txt`.
pub(super) fn read_cmake(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::CMake);
    let lines = Lines::of(text);
    let mut at = 0;
    for content in text.split_inclusive('\n') {
        let begins = at;
        at += content.len();
        let code = content.trim_start();
        let Some((command, _)) = code.split_once('(') else {
            continue;
        };
        let line = lines.line_of(begins);
        let words = || -> Vec<&str> {
            arguments(text, begins)
                .into_iter()
                .map(|(_, word)| word)
                .collect()
        };
        match command.trim().to_ascii_lowercase().as_str() {
            "project" => manifest.package = manifest.package.or_else(|| project(&words(), line)),
            "find_package" => manifest.dependencies.extend(find_package(&words(), line)),
            "pkg_check_modules" | "pkg_search_module" => {
                manifest.dependencies.extend(pkg_config(&words(), line));
            }
            "add_executable" => {
                let name = words().first().copied().unwrap_or_default();
                if is_literal(name) {
                    manifest.programs.push(Program {
                        name: name.to_owned(),
                        starts: None,
                        line,
                    });
                }
            }
            _ => {}
        }
    }
    manifest
}

fn project(words: &[&str], line: u32) -> Option<Package> {
    let name = words.first().filter(|name| is_literal(name))?;
    let after = |key: &str| {
        let at = words.iter().position(|word| *word == key)?;
        words.get(at + 1).filter(|word| is_literal(word))
    };
    let placed = |text: &&str| Placed {
        text: (*text).to_owned(),
        line,
    };
    Some(Package {
        name: placed(name),
        version: after("VERSION").map(placed),
        about: None,
    })
}

fn find_package(words: &[&str], line: u32) -> Option<Dependency> {
    let name = words.first().filter(|name| is_literal(name))?;
    let version = words
        .get(1)
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .map(|word| (*word).to_owned());
    Some(Dependency {
        optional: !words.contains(&"REQUIRED"),
        ..Dependency::new(*name, version, line)
    })
}

fn pkg_config(words: &[&str], line: u32) -> Vec<Dependency> {
    words
        .iter()
        .skip(1)
        .filter(|word| {
            is_literal(word) && !word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        })
        .map(|word| {
            let (name, version) = match word.find(['>', '=', '<']) {
                Some(at) => (&word[..at], Some(word[at..].to_owned())),
                None => (*word, None),
            };
            Dependency::new(name, version, line)
        })
        .collect()
}

fn is_literal(word: &str) -> bool {
    !word.is_empty() && !word.contains('$')
}

/// Reads one `meson.build`.
pub(super) fn read_meson(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Meson);
    let lines = Lines::of(text);
    for (at, call) in calls(text, &["project", "dependency", "executable"]) {
        let line = lines.line_of(at);
        let rest = &text[at..];
        let end = rest.find(')').unwrap_or(rest.len());
        let Some(first) = first_quoted(&rest[..end]) else {
            continue;
        };
        let version = rest[..end]
            .find("version")
            .and_then(|at| first_quoted(&rest[at..end]))
            .map(str::to_owned);
        match call {
            "project" => {
                manifest.package = Some(Package {
                    name: Placed {
                        text: first.to_owned(),
                        line,
                    },
                    version: version.map(|text| Placed { text, line }),
                    about: None,
                });
            }
            "dependency" => manifest
                .dependencies
                .push(Dependency::new(first, version, line)),
            _ => manifest.programs.push(Program {
                name: first.to_owned(),
                starts: None,
                line,
            }),
        }
    }
    manifest
}

/// Calls of the named functions whose first argument is a literal, with the byte of each.
fn calls<'n>(text: &str, names: &[&'n str]) -> Vec<(usize, &'n str)> {
    let mut found = Vec::new();
    for name in names {
        for (at, _) in text.match_indices(name) {
            let starts_word =
                !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
            let rest = text[at + name.len()..].trim_start();
            let is_call = rest
                .strip_prefix('(')
                .is_some_and(|inside| inside.trim_start().starts_with('\''));
            if starts_word && is_call {
                found.push((at, *name));
            }
        }
    }
    found.sort_unstable();
    found
}

/// Reads one `configure.ac`.
pub(super) fn read_autoconf(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Autotools);
    for (line, content) in numbered(text) {
        let code = content.trim_start();
        let arguments = |prefix: &str| -> Option<Vec<&str>> {
            let inside = code.strip_prefix(prefix)?.split(')').next()?;
            Some(
                inside
                    .split(',')
                    .map(|word| word.trim().trim_matches(['[', ']']))
                    .collect(),
            )
        };
        if let Some(words) = arguments("AC_INIT(") {
            let placed = |text: &&str| Placed {
                text: (*text).to_owned(),
                line,
            };
            manifest.package = words.first().map(|name| Package {
                name: placed(name),
                version: words
                    .get(1)
                    .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
                    .map(placed),
                about: None,
            });
        } else if let Some(words) = arguments("PKG_CHECK_MODULES(") {
            let asked = words.get(1).copied().unwrap_or_default();
            let name = asked.split_whitespace().next().unwrap_or_default();
            if is_literal(name) {
                let version = asked[name.len()..].trim().to_owned();
                manifest
                    .dependencies
                    .push(Dependency::new(name, Some(version), line));
            }
        } else if let Some(words) = arguments("AC_CHECK_LIB(") {
            let name = words.first().copied().unwrap_or_default();
            if is_literal(name) {
                manifest.dependencies.push(Dependency {
                    optional: true,
                    ..Dependency::new(name, None, line)
                });
            }
        }
    }
    manifest
}

/// Targets of a makefile that people run, in the order they would look for them.
const GOALS: [&str; 9] = [
    "all", "build", "test", "check", "lint", "bench", "run", "install", "docs",
];

/// Reads the goals of one makefile.
pub(super) fn read_makefile(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Make);
    for (line, content) in numbered(text) {
        let Some((name, rest)) = content.split_once(':') else {
            continue;
        };
        let is_new = !manifest.scripts.iter().any(|script| script.name == name);
        if GOALS.contains(&name) && is_new && !rest.starts_with('=') {
            manifest.scripts.push(Script {
                name: name.to_owned(),
                command: format!("make {name}"),
                line,
            });
        }
    }
    let rank = |script: &Script| GOALS.iter().position(|goal| *goal == script.name);
    manifest.scripts.sort_by_key(rank);
    manifest
}

/// Reads one `conanfile.txt`.
pub(super) fn read_conan(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Conan);
    let mut section = "";
    for (line, content) in numbered(text) {
        let code = content.trim();
        if code.starts_with('[') {
            section = code;
            continue;
        }
        let role = match section {
            "[requires]" => Use::Normal,
            "[tool_requires]" | "[build_requires]" => Use::Build,
            _ => continue,
        };
        if let Some((name, version)) = code.split_once('/') {
            let version = version.split(['@', '#']).next().map(str::to_owned);
            manifest
                .dependencies
                .push(Dependency::new(name, version, line).used_for(role));
        }
    }
    manifest
}

/// Reads one `vcpkg.json`.
pub(super) fn read_vcpkg(path: &str, text: &str) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Vcpkg);
    let root: Value = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) => {
            manifest.unread = Some(error.to_string());
            return manifest;
        }
    };
    for item in root["dependencies"].as_array().into_iter().flatten() {
        let Some(name) = item.as_str().or_else(|| item["name"].as_str()) else {
            continue;
        };
        let quoted = Value::from(name).to_string();
        let after = node::line_of(text, &["dependencies"]);
        let line = numbered(text)
            .skip(after as usize - 1)
            .find(|(_, content)| content.contains(&quoted))
            .map_or(after, |(line, _)| line);
        let version = item["version>="]
            .as_str()
            .map(|version| format!(">={version}"));
        manifest
            .dependencies
            .push(Dependency::new(name, version, line));
    }
    manifest
}
