//! `callosum guard allow`: permit what the guard would ask about.

use std::time::Duration;

use callosum_config::{Permit, Reach};
use callosum_ledger::{AuditEvent, Event};
use callosum_redact::secrets;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::audit_change;
use crate::context::Context;

/// `callosum guard allow --json`, and each of `callosum guard allow --list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PermitOutput {
    /// A UUID.
    pub id: String,
    /// The words that a command must begin with.
    pub pattern: String,
    /// Scope: `project` or `user`.
    pub scope: String,
    /// When it was given, in UTC.
    pub since: String,
    /// Until when it holds; nothing where that is for good.
    pub until: Option<String>,
    /// Whether one command uses it up.
    pub once: bool,
}

/// `callosum guard allow --list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PermitsOutput {
    /// Permissions that apply here, the user's first.
    pub permissions: Vec<PermitOutput>,
}

impl PermitOutput {
    /// Returns what is printed about a permission.
    pub fn of(reach: Reach, permit: Permit) -> Self {
        Self {
            id: permit.id,
            pattern: permit.pattern.into(),
            scope: reach.as_str().to_owned(),
            since: permit.since.to_string(),
            until: permit.until.map(|until| until.to_string()),
            once: permit.once,
        }
    }

    /// Returns the term of the permission, for people.
    pub fn term(&self) -> String {
        match (&self.until, self.once) {
            (None, false) => "for good".to_owned(),
            (None, true) => "once".to_owned(),
            (Some(until), false) => format!("until {until}"),
            (Some(until), true) => format!("once, until {until}"),
        }
    }
}

/// Returns the end of a term that begins now, if it can be represented.
pub fn after(now: Timestamp, term: Duration) -> Option<Timestamp> {
    let term = SignedDuration::try_from(term).ok()?;
    now.checked_add(term).ok()
}

/// Leaves a record of what a person has changed. Where that cannot be, it holds all the same.
pub fn tell_journal(context: &Context, status: &str, permit: &PermitOutput) {
    let event = AuditEvent {
        status: Some(status.to_owned()),
        ..AuditEvent::new(Event::Guard)
    }
    .with("permission", permit.id.as_str())
    .with("pattern", secrets::mask_command(&permit.pattern).text)
    .with("scope", permit.scope.as_str())
    .with("until", permit.until.as_deref())
    .with("once", permit.once);
    audit_change::leave(context, &event);
}
