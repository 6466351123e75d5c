//! The guard's facts about the folder of a checked command.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::guard::gather_facts`].

use callosum_app::guard::gather_facts::permissions;
use callosum_app::{CommandError, Exit, config_errors};
use callosum_guard::{Policy, Strictness};
use clap::Args;

use crate::cli::context::Context;

/// Strictness of the guard.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct StrictnessArgs {
    /// Use this strictness instead of the configured one
    #[arg(long, value_name = "LEVEL", value_parser = ["minimal", "balanced", "paranoid"])]
    strictness: Option<String>,
}

impl StrictnessArgs {
    /// Returns the policy that is configured here, or as strict as these ask for.
    ///
    /// Fails if a hook would decide with a configuration that it could not read.
    pub(super) fn policy(&self, context: &Context) -> Result<Policy, CommandError> {
        let mut guard = context.project.guard(&context.disk);
        let mut broken = guard.broken.drain(..);
        if let Some(first) = broken.next() {
            for other in broken {
                context.report.warn(&other.to_string(), None);
            }
            return Err(
                CommandError::from_error(Exit::Environment, &first).hint("callosum config check")
            );
        }
        drop(broken);
        match self.strictness.as_deref() {
            Some("minimal") => guard.config.strictness = Strictness::Minimal,
            Some("balanced") => guard.config.strictness = Strictness::Balanced,
            Some("paranoid") => guard.config.strictness = Strictness::Paranoid,
            _ => {}
        }
        let levels = permissions(context)
            .levels(context.clock.now())
            .map_err(|error| config_errors::permit(&error))?;
        Ok(Policy {
            levels,
            ..guard.policy(Vec::new())
        })
    }

    /// Returns the policy with the current permissions.
    pub(super) fn policy_with_permits(&self, context: &Context) -> Result<Policy, CommandError> {
        let permits = permissions(context)
            .holding(context.clock.now())
            .map_err(|error| config_errors::permit(&error))?;
        let patterns = permits.into_iter().map(|(_, permit)| permit.pattern);
        Ok(Policy {
            permissions: patterns.collect(),
            ..self.policy(context)?
        })
    }
}
