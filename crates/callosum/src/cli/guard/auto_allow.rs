//! Arguments and output of `callosum guard auto-allow`.
//!
//! The use case is [`callosum_app::guard::auto_allow`].

use callosum_app::guard::auto_allow::{
    PresetOutput, PresetsOutput, change, output, patterns, preset_name,
};
use callosum_app::{CommandError, Exit, config_errors};
use callosum_config::{AutoAllow, AutoAllowSettings};
use callosum_guard::Permission;
use callosum_guard::auto_allow::{may_be_listed, preset};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use crate::cli::context::Context;
use crate::ui::Table;

/// Run harmless commands without the client's prompt
///
/// Off by default. When it is on, a command line runs without a prompt if the guard understands all of it and each of
/// its commands is harmless. A command is harmless if it only reads in the project, writes a new document or a log
/// there, or is on your list. The client still prompts for everything else.
///
/// Auto-allow applies to all your projects. A project can turn it off (`safety.auto_allow` in its `cake_config.yaml`),
/// but never on. Claude Code and Codex support it. The guard blocks changes to it in an agent's shell: only a person
/// can make them.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard auto-allow add --preset rust
  $ callosum guard auto-allow add 'make test *'
  $ callosum guard auto-allow on
  $ callosum guard auto-allow list")]
pub(crate) struct AutoAllowArgs {
    #[command(subcommand)]
    command: AutoAllowCommand,
}

#[derive(Debug, Subcommand)]
enum AutoAllowCommand {
    /// Turn auto-allow on
    #[command(after_long_help = "\
Examples:
  $ callosum guard auto-allow on")]
    On,
    /// Turn auto-allow off and keep the list
    #[command(after_long_help = "\
Examples:
  $ callosum guard auto-allow off")]
    Off,
    /// Show whether auto-allow is on, and its list
    #[command(after_long_help = "\
Examples:
  $ callosum guard auto-allow list
  $ callosum guard auto-allow list --json")]
    List,
    Add(AddArgs),
    Remove(RemoveArgs),
    /// List the presets
    #[command(after_long_help = "\
Examples:
  $ callosum guard auto-allow presets")]
    Presets,
}

/// Add programs to the list
///
/// PATTERN is the words of one command. `*` matches any text within a word; as the last word, it matches any words that
/// follow. You trust such a program with all words that match, including files that an agent wrote. Programs that run
/// other commands (`bash`, `env`, `xargs`, `ssh`, `docker` …) cannot be added.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard auto-allow add 'cargo test *'
  $ callosum guard auto-allow add 'make lint' 'make test *'
  $ callosum guard auto-allow add --preset rust --preset node")]
struct AddArgs {
    /// Programs to add, as patterns
    #[arg(required_unless_present = "preset", value_name = "PATTERN")]
    patterns: Vec<String>,
    /// Add the programs of a preset; may be given several times
    #[arg(long, value_name = "NAME", value_parser = preset_name)]
    preset: Vec<String>,
}

/// Remove programs from the list
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard auto-allow remove 'cargo test *'
  $ callosum guard auto-allow remove --preset node")]
struct RemoveArgs {
    /// Programs to remove, as `list` prints them
    #[arg(required_unless_present = "preset", value_name = "PATTERN")]
    patterns: Vec<String>,
    /// Remove the programs of a preset; may be given several times
    #[arg(long, value_name = "NAME", value_parser = preset_name)]
    preset: Vec<String>,
}

pub(super) fn run(context: &Context, args: &AutoAllowArgs) -> Result<(), CommandError> {
    let user = AutoAllow::new(&context.disk, &context.project.homes);
    match &args.command {
        AutoAllowCommand::Presets => presets(context),
        AutoAllowCommand::List => {
            let settings = user.read().map_err(|error| config_errors::permit(&error))?;
            show(context, &settings)
        }
        AutoAllowCommand::On => {
            let settings = change(context, &user, "on", |settings| settings.enabled = true)?;
            if settings.programs.is_empty() {
                context.report.hint(
                    "add programs that build and test: callosum guard auto-allow add --preset rust",
                );
            }
            changed(context, &settings, "auto-allow is on")
        }
        AutoAllowCommand::Off => {
            let settings = change(context, &user, "off", |settings| settings.enabled = false)?;
            changed(context, &settings, "auto-allow is off")
        }
        AutoAllowCommand::Add(args) => {
            let patterns = patterns(&args.patterns, &args.preset)?;
            if let Some(runs) = patterns.iter().find(|pattern| !may_be_listed(pattern)) {
                let pattern = on_one_line(&String::from(runs.clone()));
                let what =
                    format!("`{pattern}` cannot be listed: it runs the command in its arguments");
                return Err(CommandError::new(Exit::Usage, what)
                    .hint("callosum guard auto-allow add 'cargo test *'"));
            }
            let mut added = 0;
            let settings = change(context, &user, "add", |settings| {
                let before = settings.programs.len();
                for pattern in patterns {
                    settings.add(pattern);
                }
                added = settings.programs.len() - before;
            })?;
            if !settings.enabled {
                context
                    .report
                    .hint("auto-allow is off; turn it on: callosum guard auto-allow on");
            }
            let message = match added {
                1 => "added 1 pattern".to_owned(),
                _ => format!("added {added} patterns"),
            };
            changed(context, &settings, &message)
        }
        AutoAllowCommand::Remove(args) => {
            let patterns = patterns(&args.patterns, &args.preset)?;
            let settings = user.read().map_err(|error| config_errors::permit(&error))?;
            let is_there = |pattern: &&Permission| settings.programs.contains(pattern);
            let is_named = args.preset.is_empty();
            if let Some(missing) = patterns
                .iter()
                .find(|pattern| is_named && !is_there(pattern))
            {
                let pattern = on_one_line(&String::from(missing.clone()));
                let what = format!("`{pattern}` is not on the list");
                let hint = "callosum guard auto-allow list";
                return Err(CommandError::new(Exit::Usage, what).hint(hint));
            }
            let mut removed = 0;
            let settings = change(context, &user, "remove", |settings| {
                let before = settings.programs.len();
                settings
                    .programs
                    .retain(|pattern| !patterns.contains(pattern));
                removed = before - settings.programs.len();
            })?;
            let message = match removed {
                1 => "removed 1 pattern".to_owned(),
                _ => format!("removed {removed} patterns"),
            };
            changed(context, &settings, &message)
        }
    }
}

fn changed(
    context: &Context,
    settings: &AutoAllowSettings,
    message: &str,
) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&output(context, settings));
    }
    context.report.say(message);
    Ok(())
}

fn show(context: &Context, settings: &AutoAllowSettings) -> Result<(), CommandError> {
    let output = output(context, settings);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let switch = match (output.enabled, output.enabled_here) {
        (true, true) => "on",
        (true, false) => "on, but this project turns it off",
        (false, _) => "off",
    };
    context.report.say(&format!("auto-allow is {switch}"));
    if output.programs.is_empty() {
        context
            .report
            .say("no programs are listed; those that only read need no entry");
        return Ok(());
    }
    let mut table = Table::new(&["program"]);
    for program in &output.programs {
        table.row([on_one_line(program)]);
    }
    context.ui.data(&table.render())
}

fn presets(context: &Context) -> Result<(), CommandError> {
    let presets = preset::PRESETS.iter();
    if context.ui.json {
        let presets = presets.map(|(name, programs)| PresetOutput {
            name,
            programs: programs.to_vec(),
        });
        return context.ui.json_data(&PresetsOutput {
            presets: presets.collect(),
        });
    }
    let mut table = Table::new(&["preset", "program"]);
    for (name, programs) in presets {
        for program in *programs {
            table.row([(*name).to_owned(), (*program).to_owned()]);
        }
    }
    context.ui.data(&table.render())
}
