//! `callosum capability accept`: a person's word that a capability may be what it has become.

use callosum_plan::CapabilityName;
use callosum_plan_run::kernel::{AcceptedManifest, ChangeLevel};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capability::accepted::AcceptedManifests;
use crate::capability::catalog::gathered;
use crate::context::Context;
use crate::{CommandError, Exit};

/// `callosum capability accept --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AcceptanceOutput {
    /// The capability.
    pub id: String,
    /// The version that this machine accepts from now on.
    pub version: String,
    /// Whether that is new.
    pub changed: bool,
    /// Changes since the version that was accepted before, the farthest first.
    pub reasons: Vec<String>,
}

/// Accepts a capability of this project as it is now.
pub fn accept(context: &Context, name: &CapabilityName) -> Result<AcceptanceOutput, CommandError> {
    let (catalogue, tracked) = gathered(context)?;
    let Some(manifest) = tracked.iter().find(|manifest| manifest.id == *name) else {
        return Err(match catalogue.get(name) {
            None => CommandError::new(Exit::No, format!("unknown capability `{name}`"))
                .hint("callosum capability list"),
            Some(manifest) if manifest.provenance.provider().is_empty() => {
                let what = format!("`{name}` is built in: it changes only with this program");
                CommandError::new(Exit::Usage, what)
            }
            Some(manifest) => {
                let provider = manifest.provenance.provider();
                let what = format!(
                    "`{name}` cannot be accepted: its executor is not trusted, or its server did not list it"
                );
                CommandError::new(Exit::No, what).hint(format!(
                    "callosum trust {provider}; callosum executor check {provider}"
                ))
            }
        });
    };
    let at = context.clock.now();
    AcceptedManifests::of_project(context).change(|accepted| {
        let pending = match accepted.get(name.as_str()) {
            None => None,
            Some(before) => Some(before.change_to(manifest)?),
        };
        let Some(pending) = pending else {
            let first = AcceptedManifest::first(manifest, at);
            let version = first.version.to_string();
            accepted.insert(name.to_string(), first);
            return Ok((output(name, version, true, Vec::new()), true));
        };
        if pending.change.level() == ChangeLevel::Same {
            let version = pending.from.to_string();
            return Ok((output(name, version, false, Vec::new()), false));
        }
        let reasons = pending.change.reasons.iter();
        let reasons = reasons.map(|reason| reason.text.clone()).collect();
        let newer = AcceptedManifest::accept(manifest, &pending, at);
        accepted.insert(name.to_string(), newer);
        Ok((output(name, pending.to.to_string(), true, reasons), true))
    })
}

fn output(
    name: &CapabilityName,
    version: String,
    changed: bool,
    reasons: Vec<String>,
) -> AcceptanceOutput {
    AcceptanceOutput {
        id: name.to_string(),
        version,
        changed,
        reasons,
    }
}
