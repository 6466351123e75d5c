//! `callosum session handoff`: the end of a session, and who is to go on.

use std::path::Path;

use callosum_session::trajectory::Agent;
use callosum_session::{Crossing, HandedOff, LockedSession, NewHandoff, Zones};
use schemars::JsonSchema;
use serde::Serialize;

use crate::bead::mirror;
use crate::context::Context;
use crate::session::session;
use crate::{CommandError, Exit};

/// `callosum session handoff --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct HandoffOutput {
    /// When.
    pub ts: String,
    /// The session's name.
    pub session_id: String,
    /// The bead that has it.
    pub bead: Option<String>,
    /// The share of claims that are grounded, with two decimals, cut.
    pub grounding_ratio: String,
    /// Whether the checkpoint blocked, and it was written all the same.
    pub forced: bool,
    /// Whether every gate of the checkpoint was in order.
    pub next_session_ready: bool,
    /// Places of the session's decisions in NOTES.md.
    pub notes_refs: Vec<String>,
    /// The record's place in the trajectory: `file:line`.
    pub trajectory: String,
    /// The other project of the hand-off; null if it is this one.
    pub repo: Option<ReceivedOutput>,
}

/// The project of the hand-off.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReceivedOutput {
    /// Its root.
    pub root: String,
    /// The record's place in its trajectory: `file:line`.
    pub trajectory: String,
}

/// Returns a root as hints print it.
pub fn shown(root: &Path) -> String {
    root.display().to_string()
}

/// Tells `bd` of a hand-off.
pub fn tell_bd(context: &Context, handed: &HandedOff) {
    if let Some(id) = &handed.bead {
        let (ts, session) = (&handed.ts, &handed.session_id);
        let words = format!("Hand-off of {ts}, {session}: grounding {}", handed.ratio);
        mirror::tell(context, id, &words);
    }
}

/// Takes the other project's session, to write into it.
pub fn hold_other<'s>(
    context: &'s Context,
    other: &'s Zones,
    sender: &Agent,
) -> Result<LockedSession<'s>, CommandError> {
    let held = session(context, other, sender.clone()).hold();
    held.map_err(|error| {
        let what = format!("cannot hand off to `{}`", other.root.display());
        CommandError::because(Exit::Environment, what, &error)
    })
}

/// Delivers it to the other project. The hand-off here stays, even if that fails.
pub fn deliver(
    context: &Context,
    receiving: &LockedSession<'_>,
    new: &NewHandoff,
    sender: &Agent,
    handed: &HandedOff,
) -> Result<String, CommandError> {
    let repository = shown(context.state());
    let crossing = Crossing {
        repository: &repository,
        from: sender,
        to: new.to.as_ref(),
        reasoning: new.reasoning.as_deref(),
        handed,
    };
    let written = receiving.receive(&crossing).map_err(|error| {
        let what = "handed off here, but the other project was not notified";
        CommandError::because(Exit::Environment, what, &error)
            .hint("try again: callosum session handoff --force --repo PATH")
    })?;
    Ok(written.trajectory)
}

impl HandoffOutput {
    /// Returns what is printed about a hand-off.
    pub fn of(handed: &HandedOff) -> Self {
        Self {
            ts: handed.ts.clone(),
            session_id: handed.session_id.clone(),
            bead: handed.bead.as_ref().map(ToString::to_string),
            grounding_ratio: handed.ratio.clone(),
            forced: !handed.checked.permits(),
            next_session_ready: handed.checked.is_in_order(),
            notes_refs: handed.notes_refs.clone(),
            trajectory: handed.written.trajectory.clone(),
            repo: None,
        }
    }
}
