//! `callosum config`: what is set, where it comes from, and setting it.

use std::{ffi::OsString, path::Path};

use callosum_arbiter::nearest::nearest;
use callosum_evidence::terminal::on_one_line;
use callosum_guard::config::ConfigError;
use callosum_host::Disk;
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{context::Context, explain, roster::Roster};
use crate::ui::{CommandError, Exit, Table, Ui};
use callosum_config::{
    Address, BrokenCake, Calrc, CalrcError, Environment, GuardConfig, Homes, Key, MendError,
    Origin, Project, ProjectError, Refusal, Settings, SettingsError, Told, Value, user_faults,
};

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

/// `callosum config show --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ConfigOutput {
    /// Every setting.
    pub(crate) settings: Vec<SettingOutput>,
}

/// One setting.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct SettingOutput {
    /// Its name in `.calrc`.
    pub(crate) key: String,
    /// What is in force.
    pub(crate) value: Json,
    /// Where that comes from: `default`, `.calrc`'s path, a variable's name, or `flag`.
    pub(crate) origin: String,
    /// What it may be.
    pub(crate) allowed: String,
    /// What it means.
    pub(crate) meaning: String,
}

/// `callosum config check --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub(crate) struct ConfigCheckOutput {
    /// Whether nothing is wrong.
    pub(crate) valid: bool,
    /// Every value that is not allowed, those of `.calrc` first. Where there is one, nothing runs.
    pub(crate) refused: Vec<RefusedOutput>,
    /// Settings that are ignored, and settings that are not trusted yet.
    pub(crate) warnings: Vec<String>,
    /// What is wrong with the user's own `config.toml`: each with the file, the key, the value and what it may be. Where
    /// there is one, the mesh and the daemon do not run.
    pub(crate) faults: Vec<String>,
}

/// A value that is not allowed.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RefusedOutput {
    /// Its source: the path of a file, or the name of a variable.
    pub(crate) origin: String,
    /// Its key, as `.calrc` or `cake_config.yaml` names it.
    pub(crate) key: String,
    /// The value.
    pub(crate) value: String,
    /// What it may be.
    pub(crate) allowed: String,
    /// The line in which the rule begins that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
}

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

/// What `.calrc` says of executors.
fn executors(context: &Context) -> Vec<SettingOutput> {
    let mut outputs = Vec::new();
    for (id, of) in context.project.settings.executors() {
        let mut push = |address: Address, value: Json, origin: &Origin, meaning: &str| {
            outputs.push(SettingOutput {
                key: address.to_string(),
                value,
                origin: shown_origin(context, origin),
                allowed: address.takes().to_string(),
                meaning: meaning.to_owned(),
            });
        };
        push(
            Address::Enabled(id.clone()),
            of.enabled.value.into(),
            &of.enabled.origin,
            "whether it may receive tasks",
        );
        push(
            Address::Priority(id.clone()),
            of.priority.value.into(),
            &of.priority.origin,
            "order of preference; the lowest value comes first",
        );
        push(
            Address::MaxConcurrent(id.clone()),
            of.max_concurrent.value.into(),
            &of.max_concurrent.origin,
            "how many tasks it may run at once",
        );
    }
    outputs
}

fn as_json(value: &Value) -> Json {
    // A path that is not UTF-8 has no JSON form; it is shown as well as it can be.
    value.to_json().unwrap_or_else(|| value.to_string().into())
}

fn shown_origin(context: &Context, origin: &Origin) -> String {
    match origin {
        Origin::Calrc(path) => path
            .strip_prefix(context.state())
            .unwrap_or(path)
            .display()
            .to_string(),
        other => other.to_string(),
    }
}

fn set(context: &mut Context, args: &SetArgs) -> Result<(), CommandError> {
    let (address, value) = asked(args)?;
    let changed = context.project.set(&context.disk, &address, &value);
    changed.map_err(|error| explain::set(&error))?;
    context.report.say(&format!("{address} is now {value}"));
    warn_of_nobody(context, &address)
}

/// Sets a value where the one that stands there keeps every other command from starting, as `refused` says; returns that where it is
/// for another reason.
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
    let told = Told {
        root: directory,
        ..Told::default()
    };
    let setting = (&address, &value);
    match Project::mend(&Disk::real(), environment, (&here, &told), setting) {
        Ok(Some(_)) => {
            ui.say(&format!("{address} is now {value}"));
            Ok(())
        }
        Ok(None) | Err(MendError::Project(_)) => Err(refused),
        Err(MendError::Set(error)) => Err(explain::set(&error)),
    }
}

/// What is to be set, and to what.
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

/// Says so where a setting is about an executor that nobody registered.
fn warn_of_nobody(context: &Context, address: &Address) -> Result<(), CommandError> {
    let (Address::Enabled(id) | Address::Priority(id) | Address::MaxConcurrent(id)) = address
    else {
        return Ok(());
    };
    let roster = Roster::load(context)?;
    let registry = roster.registry();
    if registry.get(id).is_none() {
        let known = registry.executors().iter();
        let meant = nearest(id, known.map(|executor| executor.id.as_str()))
            .map_or_else(String::new, |known| format!(", did you mean `{known}`?"));
        let what = format!("no executor `{id}` is registered{meant}");
        context.report.warn(&what, Some("callosum executor list"));
    }
    Ok(())
}

/// Looks at every layer, also where one of them keeps every other command from starting.
pub(super) fn check(
    environment: &Environment,
    directory: Option<&Path>,
    ui: Ui,
) -> Result<(), CommandError> {
    let here = std::env::current_dir().map_err(|error| {
        CommandError::because(Exit::Environment, "cannot read the current folder", &error)
    })?;
    let told = Told {
        root: directory,
        settings: &[],
        as_if_trusted: None,
    };
    let mut output = ConfigCheckOutput::default();
    let mut unreadable = None;
    match Project::load(&Disk::real(), environment, &here, &told) {
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
        Err(error) => return Err(explain::project(&error)),
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

/// What is wrong with the user's own configuration.
fn add_user(environment: &Environment, output: &mut ConfigCheckOutput) -> Result<(), CommandError> {
    let homes = Homes::find(environment)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let faults = user_faults(&Disk::real(), &homes, environment);
    output.faults.extend(faults);
    Ok(())
}

/// What is wrong with the `cake_config.yaml` of the user and of the project.
fn add_guard(guard: &GuardConfig, output: &mut ConfigCheckOutput) {
    for broken in &guard.broken {
        let BrokenCake::Config(ConfigError::Invalid { file, problems, .. }) = broken else {
            output.warnings.push(broken.to_string());
            continue;
        };
        let refused = problems.iter().map(|problem| RefusedOutput {
            origin: file.clone(),
            key: problem.key.clone(),
            value: problem.value.clone().unwrap_or_default(),
            allowed: problem.allowed.clone(),
            line: problem.line,
        });
        output.refused.extend(refused);
    }
    let passed_over = guard.passed_over.iter().map(ToString::to_string);
    let unknown = guard.unknown.iter();
    let unknown = unknown.map(|named| format!("{named} is unknown and ignored"));
    output.warnings.extend(passed_over.chain(unknown));
}

fn refused(error: &SettingsError) -> Vec<RefusedOutput> {
    let output = |Refusal { origin, problem }: &Refusal| RefusedOutput {
        origin: match origin {
            Origin::Calrc(path) => path.display().to_string(),
            Origin::Environment(name) => (*name).to_owned(),
            Origin::Default | Origin::Flag => origin.to_string(),
        },
        key: problem.key.clone(),
        value: problem.value.clone(),
        allowed: problem.allowed.clone(),
        line: None,
    };
    error.refused.iter().map(output).collect()
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
        CommandError::new(Exit::No, what).tell();
    }
    for fault in &output.faults {
        CommandError::new(Exit::No, fault.clone()).tell();
    }
    for warning in &output.warnings {
        ui.warn(warning, None);
    }
    if output.valid {
        ui.say("the configuration is valid");
    }
}
