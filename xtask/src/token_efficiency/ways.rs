//! [`Way`]: how a controller may come to know a repository, and [`Reading`], what reaches it then.
//!
//! All ways but one ask the same questions of the same folders: what is where, what each folder
//! offers and tests, who imports whom, and what the functions with a planted limit do. Reading
//! around a line that was cited is the same in each.

use std::{fmt::Write, path::Path};

use callosum_citation::tokens;
use callosum_host::Disk;
use callosum_source::{
    outline::outline_all,
    walk::{Scope, SourceTree},
};

use super::facts::{Fact, Kind};
use crate::{
    command_of_the_developer,
    repository::{Registry, said},
};

/// So many lines are read from one on that was cited.
const LINES_AROUND: usize = 6;

/// What reached a controller.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// What it asked, as it wrote it, and what it got back.
    exchanges: Vec<(String, String)>,
    /// Tokens that somebody else read for it.
    pub(super) executor: u64,
}

impl Reading {
    fn ask(&mut self, request: String, answer: &str) {
        self.exchanges.push((request, answer.to_owned()));
    }

    /// Tokens of all requests and answers, by our estimate.
    pub(super) fn tokens(&self) -> u64 {
        let both = self
            .exchanges
            .iter()
            .flat_map(|(asked, said)| [asked, said]);
        both.map(|text| tokens::estimate(text)).sum()
    }

    /// How many requests were made.
    pub(super) fn requests(&self) -> usize {
        self.exchanges.len()
    }

    /// The line at which a file is cited together with a name.
    fn line_of(&self, path: &str, name: &str) -> Option<usize> {
        let mut answers = self.exchanges.iter().map(|(_, answer)| answer);
        answers.find_map(|answer| line_of(answer, path, name))
    }

    /// Whether it tells a fact.
    pub(super) fn tells(&self, fact: &Fact) -> bool {
        let mut exchanges = self.exchanges.iter();
        exchanges.any(|(request, answer)| fact.is_told_by(request, answer))
    }
}

/// A way to know a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Every file that is text, in full.
    EveryFile,
    /// What `ls`, `grep` and reading a few files return for the questions.
    OwnReading,
    /// The declarations and imports of every file, by grammar.
    Outline,
    /// `callosum delegate`, for the questions, to `scout`.
    Callosum,
}

impl Way {
    /// All, in the order of the table.
    pub(super) const ALL: [Self; 4] = [
        Self::EveryFile,
        Self::OwnReading,
        Self::Outline,
        Self::Callosum,
    ];

    /// What the table calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::EveryFile => "every file in full",
            Self::OwnReading => "own ls, grep and reading",
            Self::Outline => "an outline of every file",
            Self::Callosum => "callosum delegate",
        }
    }

    /// Goes this way through a tree in which the facts are planted.
    ///
    /// # Errors
    ///
    /// A line, where a program fails or the tree cannot be read.
    pub(super) fn go(self, ground: &Ground<'_>) -> Result<Reading, String> {
        let mut reading = Reading::default();
        match self {
            Self::EveryFile => ground.every_file(&mut reading)?,
            Self::OwnReading => ground.own_reading(&mut reading)?,
            Self::Outline => ground.outline(&mut reading)?,
            Self::Callosum => ground.delegate(&mut reading)?,
        }
        if self != Self::EveryFile {
            ground.read_around(&mut reading)?;
        }
        Ok(reading)
    }
}

/// A tree, what is planted in it, and our program.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    /// The tree.
    pub(super) root: &'a Path,
    /// Where it came from, which tells its language.
    pub(super) registry: Registry,
    /// What is planted in it.
    pub(super) facts: &'a [Fact],
    /// The program `callosum`.
    pub(super) callosum: &'a Path,
    /// A home folder of its own for it.
    pub(super) home: &'a Path,
}

impl Ground<'_> {
    fn tree(&self) -> Result<(Disk, SourceTree), String> {
        let disk = Disk::real();
        let tree = SourceTree::read(&disk, self.root, &Scope::default());
        tree.map(|tree| (disk, tree))
            .map_err(|error| error.to_string())
    }

    fn every_file(&self, reading: &mut Reading) -> Result<(), String> {
        let (disk, tree) = self.tree()?;
        for file in &tree.files {
            if let Ok(text) = tree.text(&disk, file) {
                reading.ask(format!("read {}", file.path), &text);
            }
        }
        Ok(())
    }

    fn own_reading(&self, reading: &mut Reading) -> Result<(), String> {
        let list = "git ls-files --others --exclude-standard";
        self.shell(reading, list)?;
        let (manifest, glob, declared, tested, imported) = match self.registry {
            Registry::Cargo => (
                "Cargo.toml",
                "*.rs",
                r"^\s*pub (const |async |unsafe )*(fn|struct|enum|trait|type|const|static|mod) ",
                r"fn [a-z_0-9]+\(\) *(->.*)?\{$",
                r"^\s*(pub )?use ",
            ),
            Registry::Npm => (
                "package.json",
                "*.js",
                r"^(async )?(function|class|module\.exports)",
                r"^\s*(test|it|describe)\(",
                r"require\(|^import ",
            ),
        };
        for file in ["README.md", manifest] {
            self.shell(reading, &format!("cat {file}"))?;
        }
        for (kind, pattern) in [(Kind::Offered, declared), (Kind::Tested, tested)] {
            for folder in self.folders(kind) {
                let folder = if folder.is_empty() { "." } else { folder };
                let grep = format!("grep -rnE --include='{glob}' '{pattern}' {folder}");
                self.shell(reading, &grep)?;
            }
        }
        self.shell(
            reading,
            &format!("grep -rnE --include='{glob}' '{imported}' ."),
        )
    }

    fn outline(&self, reading: &mut Reading) -> Result<(), String> {
        let (disk, tree) = self.tree()?;
        let outlines = outline_all(&disk, &tree);
        for (file, outline) in tree.files.iter().zip(outlines) {
            let Ok(Some(outline)) = outline else {
                continue;
            };
            let mut text = String::new();
            for import in &outline.imports {
                let _ = writeln!(
                    text,
                    "{}:{}: uses {}",
                    file.path, import.line, import.target
                );
            }
            for symbol in &outline.symbols {
                let _ = writeln!(
                    text,
                    "{}:{}: {}",
                    file.path, symbol.line, symbol.declaration
                );
            }
            reading.ask(format!("outline {}", file.path), &text);
        }
        Ok(())
    }

    fn delegate(&self, reading: &mut Reading) -> Result<(), String> {
        let mut ask = |kind: &str, folder: &str| {
            let prompt = format!("What is there ({kind})");
            let mut arguments = vec!["delegate", &prompt, "--kind", kind];
            if !folder.is_empty() {
                arguments.extend(["--path", folder]);
            }
            let answer = self.callosum(&arguments)?;
            reading.ask(format!("callosum {}", arguments.join(" ")), &answer);
            Ok::<(), String>(())
        };
        ask("scan", "")?;
        for (kind, name) in [(Kind::Offered, "api"), (Kind::Tested, "tests")] {
            for folder in self.folders(kind) {
                ask(name, folder)?;
            }
        }
        ask("deps", "")?;
        let entries = self.callosum(&["ledger", "query", "--json", "--limit", "1000"])?;
        reading.executor = tokens_used(&entries)?;
        Ok(())
    }

    /// Reads on from where each function with a planted limit was said to stand.
    fn read_around(&self, reading: &mut Reading) -> Result<(), String> {
        for fact in self.facts {
            let Some(name) = &fact.inside else {
                continue;
            };
            let Some(line) = reading.line_of(&fact.path, name) else {
                continue;
            };
            let last = line + LINES_AROUND;
            self.shell(reading, &format!("sed -n {line},{last}p {}", fact.path))?;
        }
        Ok(())
    }

    /// The folders of the facts of a kind, each once.
    fn folders(&self, kind: Kind) -> Vec<&str> {
        let of_kind = self.facts.iter().filter(|fact| fact.kind == kind);
        let mut folders: Vec<&str> = of_kind.map(Fact::folder).collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    fn shell(&self, reading: &mut Reading, script: &str) -> Result<(), String> {
        let mut shell = command_of_the_developer("sh");
        // Finding nothing is an answer as well.
        let lenient = format!("{script} || test $? -eq 1");
        shell.args(["-c", &lenient]).current_dir(self.root);
        let answer = said(shell)?;
        reading.ask(script.to_owned(), &answer);
        Ok(())
    }

    fn callosum(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = command_of_the_developer(self.callosum);
        command.args(arguments).current_dir(self.root);
        command.env("CALLOSUM_HOME", self.home.join("machine"));
        command.env("CALLOSUM_CONFIG", self.home.join("configuration"));
        said(command)
    }
}

/// The line at which a text cites a file on a line that has the name: `path:12`.
fn line_of(text: &str, path: &str, name: &str) -> Option<usize> {
    let cited = format!("{path}:");
    text.lines()
        .filter(|line| line.contains(name))
        .find_map(|line| {
            let (_, after) = line.rsplit_once(&cited)?;
            let digits = after.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok()
        })
}

/// The tokens that executors read for the entries of `ledger query --json`.
fn tokens_used(entries: &str) -> Result<u64, String> {
    let value: serde_json::Value = entries
        .parse()
        .map_err(|error| format!("ledger query: {error}"))?;
    let entries = value.as_array().or_else(|| value["entries"].as_array());
    let entries = entries.ok_or("ledger query printed no entries")?;
    Ok(entries
        .iter()
        .filter_map(|entry| entry["tokens_used"].as_u64())
        .sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_where_it_is_cited() {
        let digest = "- `pub fn chert_spans(entries: usize)` [src/a.rs:41]\n";
        assert_eq!(line_of(digest, "src/a.rs", "chert_spans"), Some(41));
        let grep = "./src/a.rs:7:pub fn chert_spans(entries: usize)\n";
        assert_eq!(line_of(grep, "src/a.rs", "chert_spans"), Some(7));
        assert_eq!(line_of(digest, "src/b.rs", "chert_spans"), None);
    }
}
