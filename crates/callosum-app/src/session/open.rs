//! Opens the session of an agent, and finishes the step that a killed process left in its files.

use callosum_redact::terminal_escape::harmless;
use callosum_session::trajectory::Agent;
use callosum_session::{LockedSession, Session, Zones};

use crate::context::Context;
use crate::session::session_errors::explain;

/// The project as one agent sees it.
pub fn session<'s>(context: &'s Context, zones: &'s Zones, agent: Agent) -> Session<'s> {
    let homes = &context.project.homes;
    if zones.root == homes.project(context.state()) {
        // If that fails, so does the first write, which says why.
        drop(homes.create_project(&context.disk, context.state()));
    }
    Session {
        disk: &context.disk,
        zones,
        clock: &context.clock,
        agent,
    }
}

/// Finishes a killed process's step before a read. If that is not possible, the existing files are
/// read, with a warning.
pub fn mend(context: &Context, session: &Session<'_>) {
    if !session.is_torn().unwrap_or(false) {
        return;
    }
    match session.hold() {
        Ok(held) => tell_mended(context, &held),
        Err(error) => context.report.warn(&explain(&error).one_line(), None),
    }
}

/// Says what of a killed process's step was done or could not be.
pub fn tell_mended(context: &Context, held: &LockedSession<'_>) {
    for aside in &held.aside {
        let notice = format!(
            "another program replaced NOTES.md during the write; its version is in {aside}"
        );
        context.report.warn(&harmless(&notice), None);
    }
    let Some(mended) = &held.mended else { return };
    context
        .report
        .say("finished a step that a killed process had started");
    for left in &mended.left {
        context.report.warn(&format!("not finished: {left}"), None);
    }
}
