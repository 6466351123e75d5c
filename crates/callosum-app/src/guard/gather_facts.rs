//! Gathers the facts that the guard needs about the folder of a command.

use std::path::Path;
use std::time::Duration;

use callosum_client::hook;
use callosum_client::hook::Look;
use callosum_config::Permissions;
use callosum_guard::{CommandAnalysis, Decision, Facts, Policy, Verdict};

use crate::context::Context;

/// Timeout for a look at repositories at a terminal, where a person waits for it.
const LOOK: Duration = Duration::from_secs(2);

/// Returns the permissions of the project.
pub fn permissions(context: &Context) -> Permissions {
    Permissions::of(&context.disk, &context.project.homes, context.state())
}

/// Returns the facts that a hook would have if it were called in this folder with this command.
pub fn facts_for(context: &Context, command: &str) -> Facts {
    facts_besides(context, &facts(context), command)
}

/// The same, and what a look at repositories and paths found if this policy would stop the command.
pub fn facts_after_look(
    context: &Context,
    command: &str,
    policy: &Policy,
) -> (Facts, Option<Look>) {
    let facts = facts_for(context, command);
    let analysis = CommandAnalysis::of(command, &facts);
    if analysis.verdict(policy).decision == Decision::Allow {
        return (facts, None);
    }
    let (disk, environment) = (&context.disk, &context.environment);
    match hook::look(disk, environment, &analysis, LOOK) {
        Some(look) => (look.facts.clone(), Some(look)),
        None => (facts, None),
    }
}

/// A verdict whose reason says how much a stopped command would delete or change, if that is known.
pub fn with_blast_radius(context: &Context, look: Option<&Look>, mut verdict: Verdict) -> Verdict {
    let radius = look
        .filter(|_| verdict.decision > Decision::Allow)
        .and_then(|look| look.blast_radius(&context.disk, &verdict));
    if let Some(radius) = radius {
        verdict.reason = verdict.reason.map(|reason| format!("{reason}: {radius}"));
    }
    verdict
}

/// The same, given the facts that do not depend on the command.
pub fn facts_besides(context: &Context, facts: &Facts, command: &str) -> Facts {
    let cwd = facts.cwd.as_deref().map(Path::new);
    let home = facts.home.as_deref().map(Path::new);
    let seen = hook::seen_in(&context.disk, cwd, home, command);
    let facts = Facts {
        links: seen.links,
        repositories: seen.repositories,
        standing: seen.standing,
        ..facts.clone()
    };
    let analysis = hook::analyze(&context.disk, command, &facts);
    analysis.facts().clone()
}

/// Returns the facts that a hook would have in this folder, without those that depend on the
/// command.
pub fn facts(context: &Context) -> Facts {
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
