//! [`Fact`]: something planted in a tree, that whoever has understood the tree can tell.
//!
//! Where a fact is planted is not chosen by hand: the files that take one kind of fact are sorted by
//! path, and facts are spread evenly over them. What is deliberately not here: who finds which.

use std::{fs, path::Path};

use callosum_source::{
    language::Language,
    walk::{SourceFile, SourceTree},
};

use crate::repository::Registry;

/// Made-up names, one for each fact that needs one.
const WORDS: [&str; 26] = [
    "andesite",
    "basalt",
    "chert",
    "dacite",
    "eclogite",
    "felsite",
    "gneiss",
    "hornfels",
    "ignimbrite",
    "jaspillite",
    "komatiite",
    "lamproite",
    "migmatite",
    "norite",
    "obsidian",
    "pegmatite",
    "quartzite",
    "rhyolite",
    "skarn",
    "tuffite",
    "ultramafite",
    "variolite",
    "wackestone",
    "xenolith",
    "yagiite",
    "zeolite",
];

/// How many functions, and as many limits inside them.
const FUNCTIONS: usize = 8;
/// How many tests.
const TESTS: usize = 6;
/// How many packages that the manifest asks for.
const PACKAGES: usize = 2;
/// How many imports of one file by another.
const IMPORTS: usize = 4;

/// What kind of question a fact answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What does this folder offer, and with which signature?
    Offered,
    /// What limit does that function keep, deep in its body?
    Inside,
    /// What is tested here?
    Tested,
    /// Which package of which version is needed?
    Needed,
    /// Who imports that file?
    Imported,
}

/// A planted fact.
#[derive(Debug)]
pub(super) struct Fact {
    /// The question that it answers.
    pub(super) kind: Kind,
    /// The file that has it, from the root.
    pub(super) path: String,
    /// The pieces that must stand together on one line of what was read for the fact to be known.
    pub(super) pieces: Vec<String>,
    /// The name in whose body it stands, of [`Kind::Inside`].
    pub(super) inside: Option<String>,
}

impl Fact {
    /// Whether an answer tells it to somebody who knows what was asked for.
    pub(super) fn is_told_by(&self, request: &str, answer: &str) -> bool {
        let missing: Vec<_> = self
            .pieces
            .iter()
            .filter(|piece| !request.contains(*piece))
            .collect();
        let mut lines = answer.lines();
        lines.any(|line| missing.iter().all(|piece| line.contains(*piece)))
    }

    /// The folder of the file; empty for the root.
    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Plants all facts in the tree below `root`, whose files were listed before.
///
/// # Errors
///
/// A line, where a file cannot be changed, or the tree has none of a kind.
pub(super) fn plant(
    root: &Path,
    registry: Registry,
    files: &SourceTree,
) -> Result<Vec<Fact>, String> {
    let language = match registry {
        Registry::Cargo => Language::Rust,
        Registry::Npm => Language::JavaScript,
    };
    let is_test = |file: &SourceFile| file.path.split('/').any(|part| part.contains("test"));
    let of_language = || {
        files
            .files
            .iter()
            .filter(|file| file.language == Some(language))
    };
    let sources: Vec<_> = of_language()
        .filter(|file| {
            !is_test(file) && ["src/", "lib/"].iter().any(|at| file.path.starts_with(at))
        })
        .map(|file| file.path.as_str())
        .collect();
    let mut tests: Vec<_> = of_language()
        .filter(|file| is_test(file))
        .map(|file| file.path.as_str())
        .collect();
    if tests.len() < TESTS {
        tests.clone_from(&sources);
    }
    if sources.len() < FUNCTIONS.max(IMPORTS * 2) {
        return Err("too few source files to plant in".to_owned());
    }
    let planting = Planting { root, registry };
    let mut words = WORDS.iter();
    let mut next = || words.next().copied().ok_or("there are too few words");
    let mut facts = Vec::new();
    for (number, path) in spread(&sources, FUNCTIONS).enumerate() {
        facts.extend(planting.function(path, next()?, 48_213 + 1_371 * number)?);
    }
    for path in spread(&tests, TESTS) {
        facts.push(planting.test(path, next()?)?);
    }
    for number in 0..PACKAGES {
        facts.push(planting.package(next()?, &format!("7.{number}.13"))?);
    }
    for path in spread(&sources, IMPORTS) {
        facts.push(planting.import(path, next()?)?);
    }
    Ok(facts)
}

/// So many of them, evenly spread.
fn spread<'a>(all: &'a [&'a str], wanted: usize) -> impl Iterator<Item = &'a str> {
    (0..wanted).map(move |number| all[(2 * number + 1) * all.len() / (2 * wanted)])
}

/// The tree in which is planted.
struct Planting<'a> {
    root: &'a Path,
    registry: Registry,
}

impl Planting<'_> {
    fn function(&self, path: &str, word: &str, limit: usize) -> Result<[Fact; 2], String> {
        let (name, signature, text) = match self.registry {
            Registry::Cargo => {
                let name = format!("{word}_spans");
                let signature = format!("pub fn {name}(entries: usize) -> usize");
                let text = format!(
                    "\n/// Counts spans of {word}.\n{signature} {{\n    let limit = {limit};\n    \
                     entries.min(limit)\n}}\n"
                );
                (name, signature, text)
            }
            Registry::Npm => {
                let name = format!("{word}Spans");
                let signature = format!("function {name} (entries)");
                let text = format!(
                    "\n// Counts spans of {word}.\n{signature} {{\n  const limit = {limit}\n  \
                     return Math.min(entries, limit)\n}}\nmodule.exports.{name} = {name}\n"
                );
                (name, signature, text)
            }
        };
        self.append(path, &text)?;
        Ok([
            Fact {
                kind: Kind::Offered,
                path: path.to_owned(),
                pieces: vec![signature],
                inside: None,
            },
            Fact {
                kind: Kind::Inside,
                path: path.to_owned(),
                pieces: vec![limit.to_string()],
                inside: Some(name),
            },
        ])
    }

    fn test(&self, path: &str, word: &str) -> Result<Fact, String> {
        let (name, text) = match self.registry {
            Registry::Cargo => {
                let name = format!("{word}_is_kept");
                let text = format!(
                    "\n#[cfg(test)]\nmod {word}_tests {{\n    #[test]\n    fn {name}() {{\n        \
                     assert_eq!(1, 1);\n    }}\n}}\n"
                );
                (name, text)
            }
            Registry::Npm => {
                let name = format!("{word} is kept");
                let text = format!("\ntest('{name}', t => {{\n  t.plan(0)\n}})\n");
                (name, text)
            }
        };
        self.append(path, &text)?;
        Ok(Fact {
            kind: Kind::Tested,
            path: path.to_owned(),
            pieces: vec![name],
            inside: None,
        })
    }

    fn package(&self, word: &str, version: &str) -> Result<Fact, String> {
        let name = format!("{word}-kit");
        let path = match self.registry {
            Registry::Cargo => {
                let text = format!("\n[dependencies.{name}]\nversion = \"{version}\"\n");
                self.append("Cargo.toml", &text)?;
                "Cargo.toml"
            }
            Registry::Npm => {
                let key = "\"dependencies\": {";
                let line = format!("{key}\n    \"{name}\": \"{version}\",");
                self.change("package.json", |text| text.replacen(key, &line, 1))?;
                "package.json"
            }
        };
        // A table of its own has name and version on two lines.
        let pieces = match self.registry {
            Registry::Cargo => vec![name],
            Registry::Npm => vec![name, version.to_owned()],
        };
        Ok(Fact {
            kind: Kind::Needed,
            path: path.to_owned(),
            pieces,
            inside: None,
        })
    }

    fn import(&self, path: &str, word: &str) -> Result<Fact, String> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let top = folder.split('/').next().unwrap_or_default();
        match self.registry {
            Registry::Cargo => {
                let text = format!(
                    "//! What is told of {word}.\n\n/// Its weight.\npub const WEIGHT: usize = 1;\n"
                );
                self.write(&format!("{top}/{word}.rs"), &text)?;
                self.append(path, &format!("\nuse crate::{word}::WEIGHT;\n"))?;
                self.append(&format!("{top}/lib.rs"), &format!("\npub mod {word};\n"))?;
            }
            Registry::Npm => {
                self.write(
                    &format!("{folder}/{word}.js"),
                    "module.exports.weight = 1\n",
                )?;
                self.append(path, &format!("\nconst {word} = require('./{word}')\n"))?;
            }
        }
        Ok(Fact {
            kind: Kind::Imported,
            path: path.to_owned(),
            pieces: vec![path.to_owned(), word.to_owned()],
            inside: None,
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        fs::write(self.root.join(path), text).map_err(|error| format!("{path}: {error}"))
    }

    fn append(&self, path: &str, text: &str) -> Result<(), String> {
        self.change(path, |before| before.to_owned() + text)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    fn change(&self, path: &str, change: impl FnOnce(&str) -> String) -> Result<(), String> {
        let before = fs::read_to_string(self.root.join(path));
        let before = before.map_err(|error| format!("{path}: {error}"))?;
        let after = change(&before);
        if after == before {
            return Err(format!("{path}: nothing could be planted"));
        }
        self.write(path, &after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_spread_evenly_over_the_files() {
        let all: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let chosen: Vec<&str> = spread(&all, 4).collect();
        assert_eq!(chosen, ["12", "37", "62", "87"]);
    }

    #[test]
    fn a_fact_is_told_where_its_pieces_stand_on_one_line_or_in_the_question() {
        let fact = Fact {
            kind: Kind::Imported,
            path: "src/a.rs".to_owned(),
            pieces: vec!["src/a.rs".to_owned(), "chert".to_owned()],
            inside: None,
        };
        assert!(fact.is_told_by("grep use", "src/a.rs:4: use crate::chert;\n"));
        assert!(fact.is_told_by("read src/a.rs", "use crate::chert;\n"));
        assert!(!fact.is_told_by("grep use", "src/a.rs:4\nuse crate::chert;\n"));
        assert_eq!(fact.folder(), "src");
    }
}
