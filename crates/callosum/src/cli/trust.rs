//! Arguments and output of `callosum trust`.
//!
//! The use case is [`callosum_app::trust`].

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal as _};
use std::{io, slice};

use callosum_app::executor_pool::Roster;
use callosum_app::trust::{CALRC, TrustOutput, WaitingExecutor, WaitingSetting, is_begun};
use callosum_app::{CommandError, Exit, config_errors, open_ledger};
use callosum_config::Subject;
use callosum_executor::registry::Executor;
use callosum_json::Checksum;
use callosum_ledger::{AuditEvent, Event, Ledger};
use callosum_redact::terminal_escape::{harmless, on_one_line};
use callosum_sandbox::Policy;
use clap::Args;

use super::context::Context;
use crate::ui::Ui;

/// Trust executors and settings that come with this repository
///
/// Shows every executor in registry.json that was not registered on this machine, and every path in
/// .calrc that is not the default. Asks for each one whether to trust it on this machine, and asks
/// again after a later change. Without a terminal, name the items to trust or use --yes.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum trust --list
  $ callosum trust
  $ callosum trust --yes")]
pub(crate) struct TrustArgs {
    /// Trust only these: the name of an executor, or `.calrc`
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Print what is not trusted yet, and trust nothing
    #[arg(long, conflicts_with = "yes")]
    list: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

/// One thing that waits for a word.
#[derive(Clone, Debug)]
enum Item {
    Executor(Box<Executor>),
    /// All that waits in `.calrc`, which is trusted by its bytes.
    Calrc {
        hash: Checksum,
        settings: Vec<(String, String)>,
    },
}

impl Item {
    fn name(&self) -> &str {
        match self {
            Self::Executor(executor) => &executor.id,
            Self::Calrc { .. } => CALRC,
        }
    }

    /// Returns its description, a line for each thing, without anything that a terminal would obey.
    fn shown(&self) -> String {
        let mut text = String::new();
        match self {
            Self::Executor(executor) => {
                let command = executor.way();
                let command = on_one_line(&command);
                let _ = writeln!(text, "executor {} runs: {command}", harmless(&executor.id));
                if executor.confinement == Some(Policy::Off) {
                    let _ = writeln!(
                        text,
                        "  and runs without a sandbox, with all your permissions"
                    );
                }
                for (does, names) in [
                    ("gets variables", &executor.pass_environment),
                    ("may read", &executor.readable),
                    ("may write", &executor.writable),
                    ("may connect to", &executor.network),
                ] {
                    if !names.is_empty() {
                        let names = names.join(" ");
                        let _ = writeln!(text, "  and {does}: {}", on_one_line(&names));
                    }
                }
            }
            Self::Calrc { settings, .. } => {
                for (key, value) in settings {
                    let _ = writeln!(text, ".calrc `{key}` is {}", harmless(value));
                }
            }
        }
        text
    }

    fn show(&self, ui: Ui, word: &str) -> Result<(), CommandError> {
        if ui.json {
            return Ok(());
        }
        ui.data(&format!("{word}: {}", self.shown()))
    }

    fn put_into(&self, output: &mut TrustOutput, trusted: bool) {
        match self {
            Self::Executor(executor) => output.executors.push(WaitingExecutor {
                id: executor.id.clone(),
                command_template: executor.command_template.clone(),
                way: executor.way(),
                pass_environment: executor.pass_environment.clone(),
                confinement: executor.confinement.map(|policy| policy.to_string()),
                readable: executor.readable.clone(),
                writable: executor.writable.clone(),
                network: executor.network.clone(),
                trusted,
            }),
            Self::Calrc { settings, .. } => {
                let of = |(key, value): &(String, String)| WaitingSetting {
                    key: key.clone(),
                    value: value.clone(),
                    trusted,
                };
                output.settings.extend(settings.iter().map(of));
            }
        }
    }
}

pub(super) fn run(context: &Context, args: &TrustArgs) -> Result<(), CommandError> {
    let mut roster = Roster::load(context)?;
    let items = chosen(waiting(context, &roster), args, &roster)?;
    let can_ask = !context.ui.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    let is_told = args.yes || !args.items.is_empty();
    let mut output = TrustOutput::default();
    if can_ask && !is_told && !args.list {
        let mut allow = |item: &Item| tell_and_allow(context, &mut roster, slice::from_ref(item));
        let answers = &mut io::stdin().lock();
        ask_each(context.ui, &items, answers, &mut allow, &mut output)?;
    } else {
        let is_allowed = is_told && !args.list;
        for item in &items {
            // Shown before it is allowed: the user agrees to the text in the terminal.
            item.show(
                context.ui,
                if is_allowed { "trusted" } else { "not trusted" },
            )?;
            item.put_into(&mut output, is_allowed);
        }
        if is_allowed && !items.is_empty() {
            tell_and_allow(context, &mut roster, &items)?;
        }
    }
    let shown = output.executors.len() + output.settings.len();
    let left = output.executors.iter().filter(|item| !item.trusted).count()
        + output.settings.iter().filter(|item| !item.trusted).count();
    output.trusted = left == 0;
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else if shown == 0 {
        context.report.say("everything is trusted");
    }
    if left > 0 && !args.list && !can_ask {
        let what = "nothing was trusted: no terminal to ask on";
        return Err(CommandError::new(Exit::Usage, what).hint("callosum trust --yes"));
    }
    Ok(())
}

/// All that waits, executors first.
fn waiting(context: &Context, roster: &Roster<'_>) -> Vec<Item> {
    let mut items: Vec<Item> = roster
        .registry()
        .executors()
        .iter()
        .filter(|executor| !roster.is_trusted(executor))
        .map(|executor| Item::Executor(Box::new(executor.clone())))
        .collect();
    let settings = &context.project.waiting;
    if let Some(hash) = context.project.calrc.fingerprint
        && !settings.is_empty()
    {
        let settings = settings.iter().map(|waiting| {
            let value = waiting.setting.value.to_string();
            (waiting.key.name().to_owned(), value)
        });
        items.push(Item::Calrc {
            hash,
            settings: settings.collect(),
        });
    }
    items
}

/// Returns the named items, or all if none was named. A name that is trusted already is ignored.
fn chosen(
    items: Vec<Item>,
    args: &TrustArgs,
    roster: &Roster<'_>,
) -> Result<Vec<Item>, CommandError> {
    if args.items.is_empty() {
        return Ok(items);
    }
    for name in &args.items {
        let waits = items.iter().any(|item| item.name() == name);
        if !waits && name != CALRC && roster.registry().get(name).is_none() {
            let what = format!(
                "unknown item `{}` (allowed: the name of an executor, or `.calrc`)",
                harmless(name)
            );
            return Err(CommandError::new(Exit::Usage, what).hint("callosum trust --list"));
        }
    }
    let is_named = |item: &Item| args.items.iter().any(|name| name == item.name());
    Ok(items.into_iter().filter(is_named).collect())
}

/// Shows each item, asks about it, and allows it at once: an earlier answer counts even if the next
/// question fails.
fn ask_each(
    ui: Ui,
    items: &[Item],
    answers: &mut dyn BufRead,
    allow: &mut dyn FnMut(&Item) -> Result<(), CommandError>,
    output: &mut TrustOutput,
) -> Result<(), CommandError> {
    for item in items {
        item.show(ui, "not trusted")?;
        let is_allowed = asked(ui, item.name(), answers)?;
        if is_allowed {
            allow(item)?;
        }
        item.put_into(output, is_allowed);
    }
    Ok(())
}

/// Asks a person, once more if the answer is neither yes nor no. An empty answer means no, and so
/// does the end of the input.
fn asked(ui: Ui, name: &str, answers: &mut dyn BufRead) -> Result<bool, CommandError> {
    loop {
        ui.ask(&format!("trust {} on this machine? [y/N] ", harmless(name)));
        let mut answer = String::new();
        answers.read_line(&mut answer).map_err(|error| {
            CommandError::because(Exit::Environment, "cannot read standard input", &error)
        })?;
        let is_one_of = |words: [&str; 2]| {
            let answer = answer.trim();
            words.iter().any(|word| answer.eq_ignore_ascii_case(word))
        };
        if is_one_of(["y", "yes"]) {
            return Ok(true);
        }
        if answer.trim().is_empty() || is_one_of(["n", "no"]) {
            return Ok(false);
        }
        ui.say("answer y or n");
    }
}

/// Records in the journal what is allowed, and allows it: nothing is allowed without a record, and
/// no `.calrc` with which the ledger could not be opened. A `.calrc` that moves the journal is
/// recorded in both places.
fn tell_and_allow(
    context: &Context,
    roster: &mut Roster<'_>,
    items: &[Item],
) -> Result<(), CommandError> {
    let calrc = items.iter().find_map(|item| match item {
        Item::Calrc { hash, .. } => Some(Subject::Calrc(*hash)),
        Item::Executor(_) => None,
    });
    let ledger = match calrc {
        Some(calrc) => {
            let then = context.as_if_trusted(calrc)?;
            let ledger = open_ledger::open(&then)?;
            let (from, to) = (context.ledger_paths(), then.ledger_paths());
            if from.audit != to.audit && is_begun(context, &from)? {
                record(&open_ledger::open(context)?, items)?;
            }
            ledger
        }
        None => open_ledger::open(context)?,
    };
    record(&ledger, items)?;
    items
        .iter()
        .try_for_each(|item| allow(context, roster, item))
}

fn allow(context: &Context, roster: &mut Roster<'_>, item: &Item) -> Result<(), CommandError> {
    match item {
        Item::Executor(executor) => roster.trust(executor),
        Item::Calrc { hash, .. } => {
            let mut trust = context.project.trust.clone();
            trust
                .record(Subject::Calrc(*hash))
                .map_err(|error| config_errors::trust(&error))
        }
    }
}

fn record(ledger: &Ledger, allowed: &[Item]) -> Result<(), CommandError> {
    let mut ids: Vec<&str> = Vec::new();
    let mut keys: Vec<&str> = Vec::new();
    for item in allowed {
        match item {
            Item::Executor(executor) => ids.push(&executor.id),
            Item::Calrc { settings, .. } => {
                keys.extend(settings.iter().map(|(key, _)| key.as_str()));
            }
        }
    }
    let event = AuditEvent {
        status: Some("trusted".to_owned()),
        ..AuditEvent::new(Event::Trust)
    };
    open_ledger::record(ledger, event.with("executors", ids).with("settings", keys))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn only_yes_is_yes() {
        let ui = Ui {
            json: false,
            progress: false,
            verbose: false,
        };
        let agrees = |answer: &str| asked(ui, "x", &mut answer.as_bytes()).unwrap();
        for yes in ["y\n", "Y\n", " yes \n", "YES"] {
            assert!(agrees(yes), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "No", "yess\n", "\u{79}\u{301}\n"] {
            assert!(!agrees(no), "{no:?}");
        }
        assert!(agrees("yes!\ny\n"));
    }

    /// CAL-SEC-1: an answer counts as soon as it is given.
    #[test]
    fn what_was_agreed_to_stays_so_where_the_next_question_gets_no_answer() {
        let ui = Ui {
            json: true,
            progress: false,
            verbose: false,
        };
        let items = ["a", "b", "c"].map(|id| Item::Executor(Box::new(Executor::cli(id, "x"))));
        let mut allowed = Vec::new();
        let mut allow = |item: &Item| {
            allowed.push(item.name().to_owned());
            Ok(())
        };
        let answers = b"y\nn\n".chain(Broken);
        let mut answers = io::BufReader::new(answers);
        let mut output = TrustOutput::default();
        ask_each(ui, &items, &mut answers, &mut allow, &mut output).unwrap_err();
        assert_eq!(allowed, ["a"]);
        let trusted: Vec<bool> = output.executors.iter().map(|one| one.trusted).collect();
        assert_eq!(trusted, [true, false]);
    }

    /// A terminal that goes away.
    struct Broken;

    impl io::Read for Broken {
        fn read(&mut self, _bytes: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
}
