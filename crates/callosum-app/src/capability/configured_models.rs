//! [`manifests`]: the models of the user's configuration, as capabilities.

use callosum_plan_run::kernel::{Holding, Manifest, registered_manifests};

use crate::context::Context;
use crate::model::configured;

/// Returns the capability `agent.NAME` of each configured model, so that policies, revocations and trust tiers hold for
/// calls that ask it. A configuration that cannot be used is reported, and names none.
pub(super) fn manifests(context: &Context) -> Vec<Manifest> {
    let settings = match configured::settings(context) {
        Ok(settings) => settings,
        Err(error) => {
            context
                .report
                .warn(&error.one_line(), Some("callosum config check"));
            return Vec::new();
        }
    };
    let mut all = Vec::new();
    for setting in &settings.models {
        match registered_manifests(&configured::executor(setting), true, &[], Holding::Files) {
            Ok(manifests) => all.extend(manifests.into_iter().map(|manifest| Manifest {
                description: format!("Asks the model {} of your configuration.", setting.name),
                answers_by_key: true,
                ..manifest
            })),
            Err(error) => context.report.warn(&format!("left out: {error}"), None),
        }
    }
    all
}
