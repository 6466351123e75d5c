//! `callosum guard rule`: look up one rule of the guard, or set what it decides.

use std::time::Duration;

use callosum_config::{Reach, RuleLevel};
use callosum_ledger::{AuditEvent, Event};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, Exit, audit_change};

/// `callosum guard rule --json`, and each rule of `callosum guard rules --json`.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct RuleOutput {
    /// The rule's id.
    pub id: String,
    /// The decision of the rule here: `allow`, `ask` or `block`.
    pub decision: String,
    /// The decision that severity and strictness come to.
    pub default: String,
    /// Level at which a person has set the decision: `user` or `project`; absent if no one has.
    pub set_for: Option<String>,
    /// The end of the setting, in UTC; absent if it has none.
    pub until: Option<String>,
    /// Whether the rule protects the guard itself and cannot be lowered.
    pub fixed: bool,
    /// The reason that agents read.
    pub reason: String,
}

/// Fails in the shell of an agent: what it is allowed is not for the agent to say.
pub fn refuse_agent(context: &Context) -> Result<(), CommandError> {
    let Some(agent) = crate::mesh::agent_in(&context.environment) else {
        return Ok(());
    };
    let what = format!("{agent} cannot change what the guard decides");
    Err(CommandError::new(Exit::No, what).hint("run it in your own terminal"))
}

/// Returns the end of a term that begins now, if it can be represented.
pub fn after(now: Timestamp, term: Duration) -> Option<Timestamp> {
    let term = SignedDuration::try_from(term).ok()?;
    now.checked_add(term).ok()
}

/// Records what a person has changed. If that fails, the change holds all the same.
pub fn record(context: &Context, id: &str, reach: Reach, level: Option<&RuleLevel>) {
    let until = level
        .and_then(|level| level.until)
        .map(|until| until.to_string());
    let event = AuditEvent {
        status: Some("rule-level".to_owned()),
        ..AuditEvent::new(Event::Guard)
    }
    .with("rule", id)
    .with(
        "level",
        level.map_or("default", |level| level.decision.name()),
    )
    .with("scope", reach.as_str())
    .with("until", until.as_deref());
    audit_change::leave(context, &event);
}
