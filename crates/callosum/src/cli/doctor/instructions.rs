//! `doctor`'s report on instructions: the file that each installed client reads, and differences
//! between them.
//!
//! This file has the part with arguments and output; the rest is
//! [`callosum_app::doctor::instructions`].

use std::collections::BTreeSet;

use callosum_app::doctor::instructions::{NAMES, Sources, lines_beside, sources, text};
use callosum_app::doctor::{Checks, Outcome};
use callosum_app::instructions::AGENTS;
use callosum_app::many;

use crate::cli::client_settings;
use crate::cli::context::Context;

pub(super) fn check(context: &Context, checks: &mut Checks) {
    let text = |name| text(context, name);
    if !NAMES.iter().any(|name| matches!(text(name), Ok(Some(_)))) {
        return;
    }
    let has_agents = matches!(text(AGENTS), Ok(Some(_)));
    let clients = client_settings::installed(context);
    let all: Vec<Sources> = clients
        .into_iter()
        .map(|client| sources(context, client, has_agents))
        .collect();
    if all.is_empty() {
        return;
    }
    let mut parts: Vec<String> = all.iter().map(Sources::shown).collect();
    let own: BTreeSet<&str> = all
        .iter()
        .flat_map(|client| client.files.iter().copied())
        .collect();
    for name in own.into_iter().filter(|name| has_agents && *name != AGENTS) {
        let lines = lines_beside(context, name);
        if lines > 0 {
            parts.push(format!(
                "{name} has {} that {AGENTS} lacks",
                many(lines, "line")
            ));
        }
    }
    let apart = all.iter().any(|client| !client.reads_agents);
    // Each client has its own file, and others do not see it.
    let is_apart = apart && (has_agents || all.len() > 1);
    let (outcome, hint) = if is_apart {
        (Outcome::Warning, Some("callosum init --instructions"))
    } else {
        (Outcome::Ok, None)
    };
    checks.add("instructions", outcome, parts.join("; "), hint);
}
