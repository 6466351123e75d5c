//! `callosum config`: shows settings and their origins, and changes them.

use callosum_arbiter::suggest::nearest;
use callosum_config::{
    Address, BrokenCake, Environment, GuardConfig, Homes, Origin, RejectedValue, SettingsError,
    Value, user_faults,
};
use callosum_guard::config::ConfigError;
use callosum_host::Disk;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::context::Context;
use crate::executor_pool::Roster;
use crate::{CommandError, Exit};

/// `callosum config show --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConfigOutput {
    /// Every setting.
    pub settings: Vec<SettingOutput>,
}

/// One setting.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SettingOutput {
    /// Its name in `.calrc`.
    pub key: String,
    /// Value in force.
    pub value: Json,
    /// Origin of the value: `default`, `.calrc`'s path, a variable's name, or `flag`.
    pub origin: String,
    /// Allowed values.
    pub allowed: String,
    /// Meaning of the setting.
    pub meaning: String,
}

/// `callosum config check --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct ConfigCheckOutput {
    /// Whether nothing is wrong.
    pub valid: bool,
    /// Every value that is not allowed, those of `.calrc` first. Where there is one, nothing runs.
    pub refused: Vec<RefusedOutput>,
    /// Settings that are ignored, and settings that are not trusted yet.
    pub warnings: Vec<String>,
    /// Faults of the user's own `config.toml`, each with the file, the key, the value and the
    /// allowed values. If there is one, the mesh and the daemon do not run.
    pub faults: Vec<String>,
}

/// A value that is not allowed.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RefusedOutput {
    /// Its source: the path of a file, or the name of a variable.
    pub origin: String,
    /// Its key, as `.calrc` or `cake_config.yaml` names it.
    pub key: String,
    /// The value.
    pub value: String,
    /// Allowed values.
    pub allowed: String,
    /// The line in which the rule begins that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// Lists the settings of executors in `.calrc`.
pub fn executors(context: &Context) -> Vec<SettingOutput> {
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

/// Converts the value of a setting to JSON.
pub fn as_json(value: &Value) -> Json {
    // A path that is not UTF-8 has no JSON form; it is shown as well as it can be.
    value.to_json().unwrap_or_else(|| value.to_string().into())
}

/// Returns where a setting comes from, as people read it.
pub fn shown_origin(context: &Context, origin: &Origin) -> String {
    match origin {
        Origin::Calrc(path) => path
            .strip_prefix(context.state())
            .unwrap_or(path)
            .display()
            .to_string(),
        other => other.to_string(),
    }
}

/// Warns if a setting is about an executor that is not registered.
pub fn warn_of_nobody(context: &Context, address: &Address) -> Result<(), CommandError> {
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

/// Adds the faults of the user's own configuration.
pub fn add_user(
    environment: &Environment,
    output: &mut ConfigCheckOutput,
) -> Result<(), CommandError> {
    let homes = Homes::find(environment)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    let faults = user_faults(&Disk::real(), &homes, environment);
    output.faults.extend(faults);
    Ok(())
}

/// Adds the faults of the `cake_config.yaml` of the user and of the project.
pub fn add_guard(guard: &GuardConfig, output: &mut ConfigCheckOutput) {
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

/// Returns the settings that have invalid values.
pub fn refused(error: &SettingsError) -> Vec<RefusedOutput> {
    let output = |RejectedValue { origin, problem }: &RejectedValue| RefusedOutput {
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
