//! `callosum config`: what is set, where it comes from, and setting it.

use std::ffi::OsString;

use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{context::Context, explain};
use crate::{
    config::{Address, Key, Origin, Value},
    ui::{CommandError, Exit, Table},
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
    /// Say where each value comes from
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
    /// A key of `callosum config show`, or executors.ID.enabled, executors.ID.priority
    key: String,
    /// Its value
    value: OsString,
}

/// Check .calrc and the CAL_* variables
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum config check")]
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

pub(super) fn run(context: &mut Context, command: ConfigCommand) -> Result<(), CommandError> {
    match command {
        ConfigCommand::Show(args) => show(context, &args),
        ConfigCommand::Set(args) => set(context, &args),
        ConfigCommand::Check(_) => check(context),
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
            Json::String(text) => text.escape_debug().to_string(),
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
            "whether it may be given tasks",
        );
        push(
            Address::Priority(id.clone()),
            of.priority.value.into(),
            &of.priority.origin,
            "its place in the order of preference, lowest first",
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
    let Some(address) = Address::parse(&args.key) else {
        let keys: Vec<&str> = Key::ALL.iter().map(|key| key.name()).collect();
        let what = format!(
            "there is no setting `{}` (known: {})",
            args.key,
            keys.join(", ")
        );
        let error = CommandError::new(Exit::Usage, what);
        return Err(match callosum_arbiter::nearest::nearest(&args.key, keys) {
            Some(key) => error.hint(format!("callosum config set {key} VALUE")),
            None => error.hint("callosum config show"),
        });
    };
    let value = address
        .read_text(&args.value)
        .map_err(|error| CommandError::from_error(Exit::Usage, &error))?;
    let changed = context.project.set(&context.disk, &address, &value);
    changed.map_err(|error| explain::set(&error))?;
    context.ui.say(&format!("{address} is now {value}"));
    Ok(())
}

/// Getting here means that everything could be read; what remains are the warnings, told already.
fn check(context: &Context) -> Result<(), CommandError> {
    let warnings = context.project.settings.warnings.len() + context.project.waiting.len();
    if warnings == 0 {
        context.ui.say("the configuration is in order");
        return Ok(());
    }
    context.ui.say(&format!("{warnings} warnings"));
    Err(CommandError::told(Exit::No))
}
