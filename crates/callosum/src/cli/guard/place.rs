//! What the guard must know of the folder that a command is asked about in.

use std::{path::Path, time::Duration};

use callosum_guard::{Decision, Facts, Policy, Strictness, Verdict, decide};
use clap::Args;

use crate::{
    cli::{context::Context, explain},
    ui::{CommandError, Exit},
};
use callosum_client::hook::{self, Look};
use callosum_config::Permissions;

/// How long a look at repositories may take at a terminal, where a person waits for it.
const LOOK: Duration = Duration::from_secs(2);

/// Strictness of the guard.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct StrictnessArgs {
    /// Use this strictness instead of the configured one
    #[arg(long, value_name = "LEVEL", value_parser = ["minimal", "balanced", "paranoid"])]
    strictness: Option<String>,
}

impl StrictnessArgs {
    /// The policy that is configured here, or as strict as these ask for.
    ///
    /// Fails where a hook would decide over a configuration that it could not read.
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
            .map_err(|error| explain::permit(&error))?;
        Ok(Policy {
            levels,
            ..guard.policy(Vec::new())
        })
    }

    /// The same with what is permitted at this time.
    pub(super) fn policy_with_permits(&self, context: &Context) -> Result<Policy, CommandError> {
        let permits = permissions(context)
            .holding(context.clock.now())
            .map_err(|error| explain::permit(&error))?;
        let patterns = permits.into_iter().map(|(_, permit)| permit.pattern);
        Ok(Policy {
            permissions: patterns.collect(),
            ..self.policy(context)?
        })
    }
}

/// What is permitted in the project.
pub(super) fn permissions(context: &Context) -> Permissions {
    Permissions::of(&context.disk, &context.project.homes, context.state())
}

/// What a hook would know that is called in this folder with this command.
pub(super) fn facts_for(context: &Context, command: &str) -> Facts {
    facts_besides(context, &facts(context), command)
}

/// The same, and what a look at repositories and paths found if this policy would stop the command.
pub(super) fn facts_after_look(
    context: &Context,
    command: &str,
    policy: &Policy,
) -> (Facts, Option<Look>) {
    let facts = facts_for(context, command);
    if decide(command, &facts, policy).decision == Decision::Allow {
        return (facts, None);
    }
    let (disk, environment) = (&context.disk, &context.environment);
    match hook::look(disk, environment, command, &facts, LOOK) {
        Some(look) => (look.facts.clone(), Some(look)),
        None => (facts, None),
    }
}

/// A verdict whose reason says how much a stopped command would delete or change, if that is known.
pub(super) fn with_blast_radius(
    context: &Context,
    look: Option<&Look>,
    mut verdict: Verdict,
) -> Verdict {
    let radius = look
        .filter(|_| verdict.decision > Decision::Allow)
        .and_then(|look| look.blast_radius(&context.disk, &verdict));
    if let Some(radius) = radius {
        verdict.reason = verdict.reason.map(|reason| format!("{reason}: {radius}"));
    }
    verdict
}

/// The same, where what is known whatever the command is known already.
pub(super) fn facts_besides(context: &Context, facts: &Facts, command: &str) -> Facts {
    let cwd = facts.cwd.as_deref().map(Path::new);
    let home = facts.home.as_deref().map(Path::new);
    let seen = hook::seen_in(&context.disk, cwd, home, command);
    Facts {
        links: seen.links,
        repositories: seen.repositories,
        standing: seen.standing,
        missing: seen.missing,
        folders: seen.folders,
        ..facts.clone()
    }
}

/// What a hook would know that is called in this folder, whatever the command.
pub(super) fn facts(context: &Context) -> Facts {
    let real = |path: &Path| {
        context
            .disk
            .canonicalize(path)
            .unwrap_or_else(|_| path.to_owned())
    };
    let (cwd, root) = (real(&context.folder), real(context.tree()));
    Facts {
        state: hook::records(Some(&context.project.roots.state), Some(&root)),
        ..hook::facts(&context.disk, &context.environment, Some(&cwd), Some(&root))
    }
}
