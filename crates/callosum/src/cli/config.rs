//! Arguments and output of `callosum config`.
//!
//! The use case is [`callosum_app::config`].

use std::ffi::OsString;
use std::path::Path;

use callosum_app::config::{
    ConfigCheckOutput, ConfigOutput, RefusedOutput, SettingOutput, add_guard, add_user, as_json,
    executors, refused, shown_origin, warn_of_nobody,
};
use callosum_app::{CommandError, Exit, config_errors};
use callosum_arbiter::suggest::nearest;
use callosum_config::{
    Address, Calrc, CalrcError, Environment, Key, MendError, Project, ProjectError,
    ProjectOverrides, Settings, Value,
};
use callosum_host::Disk;
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};
use serde_json::Value as Json;

use super::context::Context;
use crate::ui::{Table, Ui, print_error};

/// Show, check and change settings
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    Show(ShowArgs),
    Set(SetArgs),
    Check(CheckArgs),
}

/// Print every setting and its value
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum config show
  $ callosum config show --origin
  $ callosum config show --json")]
pub(crate) struct ShowArgs {
    /// Print the origin of each value
    #[arg(long)]
    origin: bool,
}

/// Set a value in .calrc
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum config set concurrency_limit 8
  $ callosum config set executors.scout.priority 3")]
pub(crate) struct SetArgs {
    /// Key of `callosum config show`, or a setting of an executor
    ///
    /// An executor has executors.ID.enabled, executors.ID.priority and executors.ID.max_concurrent.
    key: String,
    /// New value
    value: OsString,
}

/// Check .calrc, the CAL_* variables, each cake_config.yaml, and the user's config.toml
///
/// Reports every value that is not allowed, with the allowed values, and every unknown key. Exits
/// with 1 if there is anything to report.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum config check
  $ callosum config check --json")]
pub(crate) struct CheckArgs {}

pub(super) fn run(context: &mut Context, command: &ConfigCommand) -> Result<(), CommandError> {
    match command {
        ConfigCommand::Show(args) => show(context, args),
        ConfigCommand::Set(args) => set(context, args),
        ConfigCommand::Check(_) => check(&context.environment, Some(context.tree()), context.ui),
    }
}

fn show(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let settings: Vec<SettingOutput> = context
        .project
        .settings
        .iter()
        .map(|(key, setting)| SettingOutput {
            key: key.name().to_owned(),
            value: as_json(&setting.value),
            origin: shown_origin(context, &setting.origin),
            allowed: key.takes().to_string(),
            meaning: key.meaning().to_owned(),
        })
        .chain(executors(context))
        .collect();
    if context.ui.json {
        return context.ui.json_data(&ConfigOutput { settings });
    }
    let headings: &[&str] = if args.origin {
        &["key", "value", "origin"]
    } else {
        &["key", "value"]
    };
    let mut table = Table::new(headings);
    for setting in settings {
        let value = match setting.value {
            Json::String(text) => on_one_line(&text),
            other => other.to_string(),
        };
        let origin = args.origin.then_some(setting.origin);
        table.row([setting.key, value].into_iter().chain(origin));
    }
    context.ui.data(&table.render())
}

fn set(context: &mut Context, args: &SetArgs) -> Result<(), CommandError> {
    let (address, value) = asked(args)?;
    let disk = context.disk.clone();
    let changed = context.project.set(&disk, &address, &value);
    changed.map_err(|error| config_errors::set(&error))?;
    context.report.say(&format!("{address} is now {value}"));
    warn_of_nobody(context, &address)
}

/// Sets a value if the current one keeps every other command from starting, as `refused` reports;
/// returns `refused` if it has another cause.
pub(super) fn mend(
    environment: &Environment,
    directory: Option<&Path>,
    ui: Ui,
    args: &SetArgs,
    refused: CommandError,
) -> Result<(), CommandError> {
    let (address, value) = asked(args)?;
    let Ok(here) = std::env::current_dir() else {
        return Err(refused);
    };
    let overrides = ProjectOverrides {
        root: directory,
        ..ProjectOverrides::default()
    };
    let setting = (&address, &value);
    match Project::mend(&Disk::real(), environment, (&here, &overrides), setting) {
        Ok(Some(_)) => {
            ui.say(&format!("{address} is now {value}"));
            Ok(())
        }
        Ok(None) | Err(MendError::Project(_)) => Err(refused),
        Err(MendError::Set(error)) => Err(config_errors::set(&error)),
    }
}

/// Returns the setting to change, and its new value.
fn asked(args: &SetArgs) -> Result<(Address, Value), CommandError> {
    let Some(address) = Address::parse(&args.key) else {
        let keys: Vec<&str> = Key::ALL.iter().map(|key| key.name()).collect();
        let what = format!(
            "unknown setting `{}` (allowed: {}; for each executor: {})",
            args.key,
            keys.join(", "),
            Address::OF_EXECUTORS.join(", ")
        );
        let error = CommandError::new(Exit::Usage, what);
        return Err(match nearest(&args.key, keys) {
            Some(key) => error.hint(format!("callosum config set {key} VALUE")),
            None => error.hint("callosum config show"),
        });
    };
    let value = address
        .read_text(&args.value)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    Ok((address, value))
}

/// Checks every layer, even if one of them keeps every other command from starting.
pub(super) fn check(
    environment: &Environment,
    directory: Option<&Path>,
    ui: Ui,
) -> Result<(), CommandError> {
    let here = std::env::current_dir().map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read the current folder", &error)
    })?;
    let overrides = ProjectOverrides {
        root: directory,
        settings: &[],
        as_if_trusted: None,
    };
    let mut output = ConfigCheckOutput::default();
    let mut unreadable = None;
    match Project::load(&Disk::real(), environment, &here, &overrides) {
        Ok(project) => {
            let names = project.settings.warnings.iter().map(ToString::to_string);
            let waiting = project.waiting.iter().map(|waiting| {
                let key = waiting.key.name();
                format!(".calrc `{key}` is not trusted yet: callosum trust")
            });
            output.warnings = names.chain(waiting).collect();
            add_guard(&project.guard(&Disk::real()), &mut output);
        }
        Err(ProjectError::Settings(error)) => {
            output.refused = refused(&error);
            output.warnings = error.warnings.iter().map(ToString::to_string).collect();
        }
        Err(error @ ProjectError::Calrc(_)) => {
            // What the file says is not known; the variables can be looked at without it.
            if let Err(error) = Settings::resolve(&Calrc::default(), environment, &[]) {
                output.refused = refused(&error);
            }
            let exit = match &error {
                ProjectError::Calrc(CalrcError::Disk(_)) => Exit::Environment,
                _ => Exit::No,
            };
            unreadable = Some(CommandError::from_error(exit, &error));
        }
        Err(error) => return Err(config_errors::project(&error)),
    }
    add_user(environment, &mut output)?;
    output.valid = output.refused.is_empty()
        && output.warnings.is_empty()
        && output.faults.is_empty()
        && unreadable.is_none();
    if ui.json {
        ui.json_data(&output)?;
    } else {
        tell(&output, ui);
    }
    match unreadable {
        Some(error) => Err(error),
        None if output.valid => Ok(()),
        None => Err(CommandError::told(Exit::No)),
    }
}

fn tell(output: &ConfigCheckOutput, ui: Ui) {
    for refused in &output.refused {
        let RefusedOutput {
            origin,
            key,
            value,
            allowed,
            line,
        } = refused;
        let at = line.map_or(String::new(), |line| format!("line {line}: "));
        let what = format!("{origin}: {at}`{key}` is `{value}` (allowed: {allowed})");
        print_error(&CommandError::new(Exit::No, what));
    }
    for fault in &output.faults {
        print_error(&CommandError::new(Exit::No, fault.clone()));
    }
    for warning in &output.warnings {
        ui.warn(warning, None);
    }
    if output.valid {
        ui.say("the configuration is valid");
    }
}
