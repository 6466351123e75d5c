//! `callosum guard auto-allow`: run commands that are known to be harmless without the client's own prompt.

use callosum_config::{AutoAllow, AutoAllowSettings};
use callosum_guard::Permission;
use callosum_guard::auto_allow::preset;
use callosum_ledger::{AuditEvent, Event};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::guard::check::line;
use crate::{CommandError, Exit, audit_change, config_errors, mesh};

/// `callosum guard auto-allow list --json`, and that of each command that changes it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AutoAllowOutput {
    /// Whether it is on.
    pub enabled: bool,
    /// Whether it holds in this project, which may turn it off.
    pub enabled_here: bool,
    /// The programs on the list.
    pub programs: Vec<String>,
}

/// `callosum guard auto-allow presets --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PresetsOutput {
    /// The presets, by name.
    pub presets: Vec<PresetOutput>,
}

/// A preset.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PresetOutput {
    /// Its name.
    pub name: &'static str,
    /// The programs that it adds.
    pub programs: Vec<&'static str>,
}

/// Reads the name of a preset.
pub fn preset_name(text: &str) -> Result<String, String> {
    if preset::patterns(text).is_some() {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = preset::PRESETS.iter().map(|(name, _)| *name).collect();
    Err(format!("no such preset (allowed: {})", names.join(", ")))
}

/// Reads patterns of the command line and of presets.
pub fn patterns(texts: &[String], presets: &[String]) -> Result<Vec<Permission>, CommandError> {
    let of_presets = presets
        .iter()
        .filter_map(|name| preset::patterns(name))
        .flatten();
    let texts = texts.iter().map(|text| line(std::slice::from_ref(text)));
    let texts = texts.chain(of_presets.map(|text| (*text).to_owned()));
    let parsed = texts.map(|text| {
        Permission::parse(&text).map_err(|error| {
            CommandError::from_error(Exit::Usage, &error)
                .hint("callosum guard auto-allow add 'cargo test *'")
        })
    });
    parsed.collect()
}

/// Changes the switch or the list, unless an agent runs this, and leaves a record.
pub fn change(
    context: &Context,
    user: &AutoAllow,
    what: &str,
    change: impl FnOnce(&mut AutoAllowSettings),
) -> Result<AutoAllowSettings, CommandError> {
    if let Some(agent) = mesh::agent_of(&context.environment) {
        let what = format!("only a person can change auto-allow, and {agent} runs this command");
        return Err(CommandError::new(Exit::No, what).hint("run it in your own terminal"));
    }
    let settings = user
        .change(change)
        .map_err(|error| config_errors::permit(&error))?;
    let event = AuditEvent {
        status: Some("auto-allow".to_owned()),
        ..AuditEvent::new(Event::Guard)
    };
    let programs: Vec<String> = settings
        .programs
        .iter()
        .cloned()
        .map(String::from)
        .collect();
    let event = event
        .with("pattern", format!("{what}: {}", programs.join(", ")))
        .with("enabled", settings.enabled);
    audit_change::leave(context, &event);
    Ok(settings)
}

/// Converts the settings of automatic permission.
pub fn output(context: &Context, settings: &AutoAllowSettings) -> AutoAllowOutput {
    let guard = context.project.guard(&context.disk);
    AutoAllowOutput {
        enabled: settings.enabled,
        enabled_here: settings.enabled && guard.broken.is_empty() && guard.config.safety.auto_allow,
        programs: settings
            .programs
            .iter()
            .cloned()
            .map(String::from)
            .collect(),
    }
}
