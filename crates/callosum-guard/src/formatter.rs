//! Programs that rewrite source files below a folder: the folders, and the files there.
//!
//! A file that one is given by name is in the table of `protect::writer`.

use crate::{
    analyze::{Call, Subject},
    facts::Facts,
};

/// A program that rewrites every source file in the folders that it is given, or in its working
/// folder.
struct Formatter {
    names: &'static [&'static str],
    /// First operands, one of them required; empty if it has no verbs.
    verbs: &'static [&'static str],
    /// Options that take the next word.
    takes: &'static str,
    /// Options, one of them required; empty if it always writes.
    with: &'static [&'static str],
    /// Options under which it writes nothing.
    without: &'static [&'static str],
    /// Ending of the names of those files, if there is a single one.
    only: Option<&'static str>,
}

const FORMATTERS: [Formatter; 9] = [
    Formatter {
        names: &["prettier"],
        verbs: &[],
        takes: "--config --parser --ignore-path --plugin --log-level",
        with: &["-w", "--write"],
        without: &[],
        only: None,
    },
    Formatter {
        names: &["black", "isort"],
        verbs: &[],
        takes: "-l --line-length -t --target-version --config --profile",
        with: &[],
        without: &["--check", "--check-only", "--diff", "-c", "--code"],
        only: Some(".py"),
    },
    Formatter {
        names: &["ruff"],
        verbs: &["format"],
        takes: "--config --line-length --target-version",
        with: &[],
        without: &["--check", "--diff"],
        only: Some(".py"),
    },
    Formatter {
        names: &["ruff"],
        verbs: &["check"],
        takes: "--config --select --ignore --extend-select",
        with: &["--fix", "--fix-only"],
        without: &["--diff"],
        only: Some(".py"),
    },
    Formatter {
        names: &["gofmt", "goimports", "gofumpt"],
        verbs: &[],
        takes: "-r -local",
        with: &["-w"],
        without: &[],
        only: Some(".go"),
    },
    Formatter {
        names: &["go"],
        verbs: &["fmt"],
        takes: "",
        with: &[],
        without: &["-n"],
        only: Some(".go"),
    },
    Formatter {
        names: &["shfmt"],
        verbs: &[],
        takes: "-i --indent -ln --language-dialect",
        with: &["-w", "--write"],
        without: &[],
        only: None,
    },
    Formatter {
        names: &["eslint"],
        verbs: &[],
        takes: "-c --config --ext -f --format -o --output-file --rule",
        with: &["--fix"],
        without: &[],
        only: None,
    },
    Formatter {
        names: &["biome"],
        verbs: &["format", "check", "lint"],
        takes: "--config-path",
        with: &["--write", "--fix"],
        without: &[],
        only: None,
    },
];

impl Formatter {
    /// Returns the folders that a command has it write in; none if the command is another.
    fn folders(&self, call: &Call, facts: &Facts) -> Vec<String> {
        let subject = Subject::new(call, self.takes, facts);
        let has = |options: &[&str]| options.iter().any(|option| subject.has(option));
        let is_it = self.names.contains(&call.name.as_str())
            && (self.verbs.is_empty() || self.verbs.contains(&subject.operand(0)))
            && (self.with.is_empty() || has(self.with))
            && !has(self.without);
        if !is_it {
            return Vec::new();
        }
        let given = usize::from(!self.verbs.is_empty());
        let given = subject.operands.iter().skip(given);
        // Dots at its end mean all that is below.
        let given = given.map(|(word, _)| word.text.trim_end_matches("...").trim_end_matches('/'));
        let folders: Vec<&str> = given.collect();
        match folders.as_slice() {
            [] => vec![".".to_owned()],
            folders => {
                let folders = folders.iter();
                let folders = folders.map(|folder| if folder.is_empty() { "." } else { folder });
                folders.map(str::to_owned).collect()
            }
        }
    }
}

/// Returns the trees whose source files may all be rewritten, with the ending of the names of those
/// files.
pub(crate) fn formatted(call: &Call, facts: &Facts) -> Vec<(String, Option<&'static str>)> {
    let by_cargo = formatted_by_cargo(call, facts).map(|tree| (tree, Some(".rs")));
    let by_others = FORMATTERS.iter().flat_map(|formatter| {
        let folders = formatter.folders(call, facts).into_iter();
        folders.map(|folder| (folder, formatter.only))
    });
    by_cargo.into_iter().chain(by_others).collect()
}

/// Returns the tree whose source files a `cargo` command may rewrite.
fn formatted_by_cargo(call: &Call, facts: &Facts) -> Option<String> {
    if call.name != "cargo" {
        return None;
    }
    let subject = Subject::new(call, "--manifest-path -p --package", facts);
    let is_written = match subject.operand(0) {
        "fmt" => {
            let mut words = call.words.iter();
            !words.any(|word| word.text == "--check")
        }
        "fix" => true,
        "clippy" => subject.has("--fix"),
        _ => false,
    };
    is_written.then(|| facts.tree_of(".", call.cwd.as_deref()))
}
