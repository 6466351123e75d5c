//! `cargo xtask truth`: compares the relations that scout claims with what each language's own tools say.
//!
//! Start with [`truth`]. For each of the [`packages`], an [`oracle`] reads the same files as scout, and
//! [`compare`] counts what both say, what only scout says, and what only the oracle says. Precision is
//! the share of scout's relations that hold. Recall is the share of the oracle's relations that scout has.
//!
//! # Relations
//!
//! - An **edge** leads from a file to another file of the tree that it imports. An import that names
//!   declarations leads to the files that declare them, through any number of re-exports. An import of a
//!   module, and a name whose declaration is not in the tree, leads to the module. Go imports whole
//!   packages, and files of one package need no import: there an edge leads to each file that declares
//!   a package-level name that the file uses.
//! - A **use** is a declaration and another file that names it: in an import or in code, alone or
//!   behind the name of a module. Declarations are functions, types, constants, variables and namespaces at the
//!   top level of a file, and what a CommonJS file assigns to a name of `exports`.
//!
//! Both are compared in three groups. **types** is what the code marks as meant for a type checker: below
//! `TYPE_CHECKING`, `import type`, `export type`, from and to declaration files. TypeScript that imports a script
//! with a declaration file has an edge to each. **tests** is what files of tests
//! say, by their path. **run** is the rest.
//!
//! # Exclusions
//!
//! - Methods, fields and other members: only a type checker knows them, and scout has none.
//! - Names in strings and comments, `import()` and `require()` of computed names.
//! - What an oracle marks as unsure, on both sides: a Python name that a file imports and also assigns,
//!   a name with declarations in several files.
//! - Files of other languages, and of other folders if the list of packages names folders. The published
//!   packages of TypeScript libraries hold the compiled files beside the sources.

mod compare;
mod oracle;
mod packages;

use std::{collections::BTreeSet, path::Path, process::ExitCode};

use callosum_host::Disk;
use callosum_scout::Survey;
use callosum_source::walk::Scope;
use serde_json::{Value, json};

use self::{
    compare::{Comparison, Group, Score},
    oracle::{Kind, Relations},
    packages::{Package, Pins},
};
use crate::release_build::{concluded, target};

/// The least precision that passes, in percent.
const PRECISION: f64 = 98.0;

/// The least recall that passes, in percent.
const RECALL: f64 = 85.0;

/// The options of the chore.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The one package to compare.
    package: Option<String>,
    /// Whether to print JSON.
    json: bool,
    /// Whether to list the relations that only one side has.
    verbose: bool,
}

impl Options {
    /// Reads the command line behind `truth`.
    pub(crate) fn read(arguments: &[&str]) -> Option<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--package" => options.package = Some((*rest.next()?).to_owned()),
                "--json" => options.json = true,
                "-v" | "--verbose" => options.verbose = true,
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Compares the packages and prints a table. Fails if a total is below the bars.
pub(crate) fn truth(options: &Options) -> ExitCode {
    concluded(run(options))
}

fn run(options: &Options) -> Result<(), String> {
    let cache = target()?.join("truth");
    let pins = Pins::read()?;
    let mut chosen = pins.packages.iter().collect::<Vec<_>>();
    if let Some(name) = &options.package {
        chosen.retain(|package| package.name == *name);
        if chosen.is_empty() {
            let known: Vec<&str> = pins.packages.iter().map(|p| p.name.as_str()).collect();
            return Err(format!(
                "unknown package {name}: known are {}",
                known.join(", ")
            ));
        }
    }
    let tools = pins.fetch_tools(&cache)?;
    let mut all = Vec::new();
    for package in chosen {
        let root = package.fetch(&cache)?;
        let files = package.files(&root)?;
        let claimed = claims(&root, &files)?;
        let known = oracle::ask(package, &root, &files, &tools, &cache)?;
        all.push((package, Comparison::new(&claimed, &known)));
    }
    report(options, &all)
}

/// Returns what scout says of these files.
fn claims(root: &Path, files: &BTreeSet<String>) -> Result<Relations, String> {
    let survey = Survey::read(&Disk::real(), root, &Scope::WHOLE, &mut |_| ());
    let survey = survey.map_err(|error| format!("{}: {error}", root.display()))?;
    let compared = |relation: &callosum_scout::Relation| {
        files.contains(&relation.from) && files.contains(&relation.to)
    };
    Ok(Relations {
        edges: survey.edges().filter(compared).map(Into::into).collect(),
        uses: survey.uses().filter(compared).map(Into::into).collect(),
        unsure: Vec::new(),
    })
}

fn report(options: &Options, all: &[(&Package, Comparison)]) -> Result<(), String> {
    let mut failures = Vec::new();
    let mut rows = Vec::new();
    for (kind, group) in Kind::ALL
        .into_iter()
        .flat_map(|k| Group::ALL.map(|g| (k, g)))
    {
        let mut total = Score::default();
        for (package, comparison) in all {
            let score = comparison.score(kind, group);
            total += score;
            rows.push((package.name.as_str(), kind, group, score));
        }
        rows.push(("total", kind, group, total));
        if total.precision() < PRECISION || total.recall() < RECALL {
            failures.push(format!("{} of {}", kind.name(), group.name()));
        }
    }
    if options.json {
        let rows: Vec<Value> = rows.iter().map(row_as_json).collect();
        print(&json!({ "rows": rows, "below_bars": failures }).to_string());
    } else {
        print(&format!(
            "{:<34} {:<6} {:<6} {:>6} {:>6} {:>6} {:>10} {:>8}",
            "package", "kind", "group", "both", "false", "missed", "precision", "recall"
        ));
        for (package, kind, group, score) in &rows {
            if score.is_empty() {
                continue;
            }
            print(&format!(
                "{package:<34} {:<6} {:<6} {:>6} {:>6} {:>6} {:>9.1}% {:>7.1}%",
                kind.name(),
                group.name(),
                score.both,
                score.wrong,
                score.missed,
                score.precision(),
                score.recall()
            ));
        }
    }
    if options.verbose {
        for (package, comparison) in all {
            for line in comparison.differences() {
                print(&format!("{} {line}", package.name));
            }
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!(
        "below {PRECISION} % precision or {RECALL} % recall: {}",
        failures.join(", ")
    ))
}

fn row_as_json((package, kind, group, score): &(&str, Kind, Group, Score)) -> Value {
    json!({
        "package": package,
        "kind": kind.name(),
        "group": group.name(),
        "both": score.both,
        "false": score.wrong,
        "missed": score.missed,
        "precision": score.precision(),
        "recall": score.recall(),
    })
}

#[expect(clippy::print_stdout, reason = "the table is what the chore is for")]
fn print(line: &str) {
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order_and_unknown_ones_refused() {
        let expected = Options {
            package: Some("flask".to_owned()),
            json: true,
            verbose: false,
        };
        assert_eq!(
            Options::read(&["--json", "--package", "flask"]),
            Some(expected)
        );
        assert_eq!(Options::read(&["--package"]), None);
        assert_eq!(Options::read(&["flask"]), None);
    }
}
