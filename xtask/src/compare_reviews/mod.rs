//! `cargo xtask compare-reviews`: does it pay to ask several models instead of one?
//!
//! Start with [`compare_reviews`]. It plants bugs in copies of real repositories ([`planting`]), has the program ask
//! the configured models for the line ([`project`]), in three [`method`]s with the same budget of tokens, and reports
//! what each found and used ([`report`]). Scripted models show only that this runs.
//!
//! What is deliberately not here: building the copies, so a bug may be one that the compiler would report.

mod code;
mod method;
mod mutation;
mod planting;
mod project;
mod question;
mod report;
mod vote;

use std::{path::PathBuf, process::ExitCode};

use self::{
    method::{Attempt, Method, Overheads},
    planting::{Bug, choose},
    project::Project,
    report::{Report, Sum, best},
    vote::Outcome,
};
use crate::{release_build::concluded, say};

/// The bugs of a comparison unless the options say otherwise.
const BUGS: usize = 12;

/// The tokens of each method for each bug unless the options say otherwise.
const TOKENS: u64 = 60_000;

/// The part of the budget that the text of a file has at most: a federation with a debate asks six times.
const SHARE: u64 = 8;

/// The most tokens of a file's text, however large the budget is.
const LONGEST_FILE: u64 = 8000;

/// The options of the chore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The repositories that get bugs.
    repositories: Vec<PathBuf>,
    /// The models that are asked. All that are ready if none is named.
    models: Vec<String>,
    /// Tokens of each method for each bug.
    tokens: u64,
    /// Bugs, one per copy.
    bugs: usize,
    /// The seed that chooses the bugs.
    seed: u64,
    /// Whether to print JSON.
    json: bool,
    /// The program.
    callosum: Option<PathBuf>,
    /// The home that executors get.
    home: Option<PathBuf>,
    /// The executors, as in a project's `registry.json`.
    registry: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            repositories: Vec::new(),
            models: Vec::new(),
            tokens: TOKENS,
            bugs: BUGS,
            seed: 1,
            json: false,
            callosum: None,
            home: None,
            registry: None,
        }
    }
}

impl Options {
    /// Reads the command line behind `compare-reviews`. `None` if it is wrong, or names no repository.
    pub(crate) fn read(arguments: &[&str]) -> Option<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if *argument == "--json" {
                options.json = true;
                continue;
            }
            let value = *rest.next()?;
            match *argument {
                "--repository" => options.repositories.push(value.into()),
                "--model" => options.models.push(value.to_owned()),
                "--tokens" => options.tokens = value.parse().ok().filter(|&tokens| tokens > 0)?,
                "--bugs" => options.bugs = value.parse().ok().filter(|&bugs| bugs > 0)?,
                "--seed" => options.seed = value.parse().ok()?,
                "--callosum" => options.callosum = Some(value.into()),
                "--home" => options.home = Some(value.into()),
                "--registry" => options.registry = Some(value.into()),
                _ => return None,
            }
        }
        (!options.repositories.is_empty()).then_some(options)
    }
}

/// Plants the bugs, asks, and prints the report. Fails if no question got a reply.
pub(crate) fn compare_reviews(options: &Options) -> ExitCode {
    concluded(run(options))
}

fn run(options: &Options) -> Result<(), String> {
    let longest = (options.tokens / SHARE).min(LONGEST_FILE);
    let bugs = choose(&options.repositories, options.bugs, options.seed, longest)?;
    let project = Project::create(options)?;
    let models = project.models(&options.models)?;
    let mut overheads = Overheads::new();

    let single: Vec<Method> = models.iter().cloned().map(Method::Single).collect();
    let singles = attempts(options, &project, &bugs, &single, &mut overheads)?;
    let sums: Vec<Sum> = singles
        .iter()
        .map(|attempts| Sum::of(&bugs, attempts))
        .collect();
    let best = best(&sums);
    let several = [
        Method::SelfConsistency(models[best].clone()),
        Method::Federation(models.clone()),
    ];
    let together = attempts(options, &project, &bugs, &several, &mut overheads)?;

    let methods = single.into_iter().zip(singles);
    let report = Report {
        options,
        models: &models,
        bugs: &bugs,
        methods: methods.chain(several.into_iter().zip(together)).collect(),
        best,
    };
    if options.json {
        print(&report.json().to_string());
    } else {
        print(&report.table());
    }
    if report.has_replies() {
        return Ok(());
    }
    let failures = report.failures().join("; ");
    if failures.is_empty() {
        return Err("no question fits the budget; raise --tokens".to_owned());
    }
    Err(format!("no question got a reply: {failures}"))
}

/// Returns the attempts of each method, bug by bug.
fn attempts(
    options: &Options,
    project: &Project,
    bugs: &[Bug],
    methods: &[Method],
    overheads: &mut Overheads,
) -> Result<Vec<Vec<Attempt>>, String> {
    let mut all = vec![Vec::new(); methods.len()];
    for (index, bug) in bugs.iter().enumerate() {
        project.plant(bug)?;
        for (attempts, method) in all.iter_mut().zip(methods) {
            let mut ask = |model: &str, prompt: &str, tokens| project.ask(model, prompt, tokens);
            let attempt =
                method.attempt((&bug.file, &bug.text), options.tokens, overheads, &mut ask);
            say(&format!(
                "bug {} of {}, {} by {}: {}, {} questions, {} tokens",
                index + 1,
                bugs.len(),
                method.name(),
                method.models().join(", "),
                Outcome::of(attempt.line, bug.mutation.line).as_str(),
                attempt.questions,
                attempt.tokens
            ));
            attempts.push(attempt);
        }
    }
    Ok(all)
}

#[expect(clippy::print_stdout, reason = "the table is what the chore is for")]
fn print(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order_and_wrong_ones_refused() {
        let read = Options::read(&[
            "--seed",
            "9",
            "--repository",
            "a",
            "--json",
            "--model",
            "one",
            "--repository",
            "b",
            "--bugs",
            "3",
        ]);
        let expected = Options {
            repositories: vec!["a".into(), "b".into()],
            models: vec!["one".to_owned()],
            seed: 9,
            bugs: 3,
            json: true,
            ..Options::default()
        };
        assert_eq!(read, Some(expected));
        for wrong in [
            &["--seed", "9"][..],
            &["--repository"],
            &["--repository", "a", "--bugs", "0"],
            &["--repository", "a", "--tokens", "many"],
            &["--repository", "a", "--unknown", "b"],
        ] {
            assert_eq!(Options::read(wrong), None, "{wrong:?}");
        }
    }
}
