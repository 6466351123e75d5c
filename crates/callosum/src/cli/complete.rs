//! `callosum complete -- WORDS`: values that shell completions ask for, since only the project knows them.
//!
//! The scripts of `callosum generate completions` call it with the words of the line up to the cursor. It prints one value
//! a line, or nothing if the word at the cursor is none of [`PLACES`]; the script then completes as clap's own script
//! does. It writes nothing, and says nothing of errors: a person who presses Tab has asked for no message.

use std::ffi::OsString;

use anstream::ColorChoice;
use callosum_app::delegate::Runs;
use callosum_app::executor_pool::Roster;
use callosum_app::{CommandError, bead, intent, ledger_errors, open_ledger, snapshot};
use callosum_config::Environment;
use clap::Command;

use super::context::Context;
use super::legacy_args;
use crate::ui::{PrintOptions, Terminal, Ui};

/// The word that is no command of help, since people do not run it.
const VERB: &str = "complete";

/// The most values that are printed.
const MOST: usize = 200;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Executor,
    Task,
    DetachedRun,
    PlanRun,
    Intent,
    Bead,
    Snapshot,
}

/// The position at which a value is expected.
struct Place {
    /// The words of the command; none is every command.
    command: &'static str,
    /// The option, or the number of positional arguments from the first on.
    argument: Argument,
    kind: Kind,
}

#[derive(Debug)]
enum Argument {
    Option(&'static str),
    First(usize),
}

const fn option(command: &'static str, name: &'static str, kind: Kind) -> Place {
    Place {
        command,
        argument: Argument::Option(name),
        kind,
    }
}

const fn first(command: &'static str, number: usize, kind: Kind) -> Place {
    Place {
        command,
        argument: Argument::First(number),
        kind,
    }
}

const PLACES: &[Place] = &[
    option("", "executor", Kind::Executor),
    first("executor check", usize::MAX, Kind::Executor),
    first("executor enable", 1, Kind::Executor),
    first("executor disable", 1, Kind::Executor),
    first("executor remove", 1, Kind::Executor),
    first("executor runs wait", 1, Kind::DetachedRun),
    first("executor runs fetch", 1, Kind::DetachedRun),
    first("executor runs cancel", 1, Kind::DetachedRun),
    option("delegate", "link", Kind::Task),
    option("audit query", "task", Kind::Task),
    first("ledger show", 1, Kind::Task),
    first("ledger diff", 2, Kind::Task),
    first("ledger prove", 1, Kind::Task),
    first("plan resume", 1, Kind::PlanRun),
    first("plan show", 1, Kind::PlanRun),
    first("plan approve", 1, Kind::PlanRun),
    first("plan cancel", 1, Kind::PlanRun),
    first("intent show", 1, Kind::Intent),
    first("intent tree", 1, Kind::Intent),
    first("intent status", 1, Kind::Intent),
    first("intent archive", 1, Kind::Intent),
    first("intent relate", 1, Kind::Intent),
    first("intent link", 1, Kind::Intent),
    option("intent link", "bead", Kind::Bead),
    option("intent add", "parent", Kind::Intent),
    option("intent add", "depends-on", Kind::Intent),
    option("intent add", "conflicts-with", Kind::Intent),
    first("bead show", 1, Kind::Bead),
    first("bead update", 1, Kind::Bead),
    first("bead close", 1, Kind::Bead),
    first("bead diff", 1, Kind::Bead),
    option("bead create", "add-dep", Kind::Bead),
    option("bead update", "add-dep", Kind::Bead),
    option("bead update", "remove-dep", Kind::Bead),
    option("session decide", "bead", Kind::Bead),
    first("snapshot diff", 1, Kind::Snapshot),
    first("snapshot restore", 1, Kind::Snapshot),
];

/// A word at the cursor whose values the project knows.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    kind: Kind,
    /// The beginning of the value.
    start: String,
    /// The folder that `-C` names.
    directory: Option<String>,
}

/// Prints the values for a line of a shell. Returns false if these are not the arguments of `complete`.
pub(super) fn run(arguments: &[OsString]) -> bool {
    let (Some(verb), Some(dashes)) = (arguments.get(1), arguments.get(2)) else {
        return false;
    };
    if verb != VERB || dashes != "--" {
        return false;
    }
    let words = arguments[3..].iter().map(|word| word.to_str());
    let words: Option<Vec<&str>> = words.collect();
    if let Some(wanted) = words.and_then(|words| wanted(&words, &super::tree())) {
        let quiet = PrintOptions {
            color: ColorChoice::Never,
            is_quiet: true,
            may_page: false,
        };
        Terminal::prepare(quiet, Vec::new());
        // Nothing can be completed then, and no one asked why.
        drop(print(&wanted));
    }
    true
}

fn print(wanted: &Wanted) -> Result<(), CommandError> {
    let ui = Ui::plain(false);
    let directory = wanted.directory.as_ref().map(std::path::Path::new);
    let context = Context::gather(Environment::from_process(), directory, ui)?;
    let mut values = values(&context, wanted)?;
    values.retain(|value| value.starts_with(&wanted.start) && is_word(value));
    values.truncate(MOST);
    if values.is_empty() {
        return Ok(());
    }
    ui.data(&format!("{}\n", values.join("\n")))
}

/// Returns the values of a kind, the most useful first.
fn values(context: &Context, wanted: &Wanted) -> Result<Vec<String>, CommandError> {
    Ok(match wanted.kind {
        Kind::Executor => {
            let roster = Roster::load(context)?;
            let all = roster.registry().executors().iter();
            all.map(|executor| executor.id.clone()).collect()
        }
        Kind::Task => {
            let reader = open_ledger::reader(context)?;
            let ids = reader.ids_with_prefix(&wanted.start, MOST);
            let ids = ids.map_err(|error| ledger_errors::unreadable(&error))?;
            ids.iter().rev().map(ToString::to_string).collect()
        }
        Kind::DetachedRun => {
            let all = Runs::new(context).all()?;
            all.into_iter().map(|ticket| ticket.run).collect()
        }
        #[cfg(feature = "plans")]
        Kind::PlanRun => callosum_app::plan::run_ids(context)?,
        #[cfg(not(feature = "plans"))]
        Kind::PlanRun => Vec::new(),
        Kind::Intent => intent::ids(context)?,
        Kind::Bead => bead::ids(context)?,
        // The store makes its folder, and there are no snapshots without one.
        Kind::Snapshot => match context.disk.exists(&context.project.homes.snapshots()) {
            Ok(true) => snapshot::ids(context)?,
            _ => Vec::new(),
        },
    })
}

/// Returns whether a shell reads a value as one word. Ids may come from files of a cloned repository, and a shell expands
/// what it takes for words.
fn is_word(value: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:@/+".contains(letter);
    !value.is_empty() && value.chars().all(is_plain)
}

/// Returns what the last word of a line may be, if the project knows its values.
fn wanted(words: &[&str], program: &Command) -> Option<Wanted> {
    // Bash takes `--executor=x` for three words.
    let mut words: Vec<&str> = words.to_vec();
    if words.last() == Some(&"=") {
        words.push("");
    }
    words.retain(|word| *word != "=");
    let (last, before) = words.split_last()?;
    let mut command = program;
    let mut path: Vec<&str> = Vec::new();
    let mut positional = 0;
    let mut directory = None;
    let mut before = before.iter();
    while let Some(word) = before.next() {
        if let Some(option) = option_with_value(command, program, word) {
            match before.next() {
                Some(value) if *word == "-C" => directory = Some((*value).to_owned()),
                Some(_) => {}
                None => return wanted_option(&path, option, last, directory),
            }
        } else if let Some(below) = command.find_subcommand(word).filter(|_| positional == 0) {
            command = below;
            path.push(word);
        } else if !word.starts_with('-') {
            positional += 1;
        }
    }
    if let Some((option, value)) = last.split_once('=')
        && option.starts_with("--")
    {
        return wanted_option(&path, option.trim_start_matches('-'), value, directory);
    }
    if last.starts_with('-') {
        return None;
    }
    let path = path.join(" ");
    let place = PLACES.iter().find(|place| {
        let is_here = |number: usize| place.command == path && positional < number;
        matches!(place.argument, Argument::First(number) if is_here(number))
    })?;
    Some(Wanted {
        kind: place.kind,
        start: (*last).to_owned(),
        directory,
    })
}

/// Returns the name of an option that has its value in the next word.
fn option_with_value<'c>(
    command: &'c Command,
    program: &'c Command,
    word: &str,
) -> Option<&'c str> {
    if legacy_args::takes_a_value(word) {
        return Some("");
    }
    let name = word.strip_prefix("--").filter(|name| !name.is_empty())?;
    let mut all = command.get_arguments().chain(program.get_arguments());
    let found = all.find(|argument| argument.get_long() == Some(name))?;
    found
        .get_action()
        .takes_values()
        .then(|| found.get_long())?
}

fn wanted_option(
    path: &[&str],
    option: &str,
    start: &str,
    directory: Option<String>,
) -> Option<Wanted> {
    let path = path.join(" ");
    let place = PLACES.iter().find(|place| {
        let is_of_command = place.command.is_empty() || place.command == path;
        matches!(place.argument, Argument::Option(name) if name == option && is_of_command)
    })?;
    Some(Wanted {
        kind: place.kind,
        start: start.to_owned(),
        directory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_an_argument_of_a_command() {
        let program = super::super::tree();
        for Place {
            command: words,
            argument,
            ..
        } in PLACES.iter().filter(|place| !place.command.is_empty())
        {
            let mut command = &program;
            for word in words.split(' ') {
                command = command
                    .find_subcommand(word)
                    .unwrap_or_else(|| panic!("{words}"));
            }
            match argument {
                Argument::Option(name) => {
                    let mut all = command.get_arguments();
                    assert!(
                        all.any(|one| one.get_long() == Some(name)),
                        "{words} --{name}"
                    );
                }
                Argument::First(number) => {
                    let positionals = command.get_positionals().count();
                    let most = positionals.max(1);
                    assert!(positionals > 0, "{words}");
                    assert!(*number == usize::MAX || *number <= most, "{words}");
                }
            }
        }
    }

    #[test]
    fn the_word_at_the_cursor_decides_what_is_wanted() {
        let program = super::super::tree();
        let kind_of = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let wanted = wanted(&words, &program)?;
            Some((wanted.kind, wanted.start, wanted.directory))
        };
        let found = |kind, start: &str| Some((kind, start.to_owned(), None));
        assert_eq!(kind_of("ledger show "), found(Kind::Task, ""));
        assert_eq!(kind_of("ledger show cal_2"), found(Kind::Task, "cal_2"));
        assert_eq!(kind_of("ledger diff a b"), found(Kind::Task, "b"));
        assert_eq!(kind_of("ledger diff a b c"), None);
        assert_eq!(
            kind_of("delegate x --executor sc"),
            found(Kind::Executor, "sc")
        );
        assert_eq!(
            kind_of("delegate x --executor=sc"),
            found(Kind::Executor, "sc")
        );
        assert_eq!(
            kind_of("delegate x --executor = sc"),
            found(Kind::Executor, "sc")
        );
        assert_eq!(
            kind_of("delegate x --executor ="),
            found(Kind::Executor, "")
        );
        assert_eq!(
            kind_of("deps --budget 100 --executor "),
            found(Kind::Executor, "")
        );
        assert_eq!(kind_of("executor check a b"), found(Kind::Executor, "b"));
        assert_eq!(kind_of("--json plan show "), found(Kind::PlanRun, ""));
        assert_eq!(kind_of("plan approve run key"), None);
        assert_eq!(
            kind_of("executor runs wait 1"),
            found(Kind::DetachedRun, "1")
        );
        let elsewhere = Some((Kind::Bead, "bd".to_owned(), Some("x y".to_owned())));
        let words = ["-C", "x y", "bead", "show", "bd"];
        let there = wanted(&words, &program).map(|w| (w.kind, w.start, w.directory));
        assert_eq!(there, elsewhere);
        for line in [
            "",
            "led",
            "ledger ",
            "ledger show --an",
            "delegate ",
            "delegate --kind ",
        ] {
            assert_eq!(kind_of(line), None, "{line}");
        }
    }

    #[test]
    fn a_value_that_a_shell_would_expand_is_no_word() {
        for value in ["", "a b", "$(id)", "`id`", "a;b", "*", "a\nb", "é"] {
            assert!(!is_word(value), "{value}");
        }
        for value in ["scout", "bd-x7y8", "cal_2026_01_02_0001", "git.reset-hard"] {
            assert!(is_word(value), "{value}");
        }
    }
}
