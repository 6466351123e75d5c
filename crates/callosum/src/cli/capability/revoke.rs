//! Arguments and output of `callosum capability revoke`.
//!
//! The use case is [`callosum_app::capability::revoke`].

use callosum_app::capability::catalog::named;
use callosum_app::capability::revoke::RevocationOutput;
use callosum_app::constitution::{Revocation, governance, governance_failed};
use callosum_app::{CommandError, audit_change};
use callosum_ledger::{AuditEvent, Event};
use clap::Args;

use crate::cli::context::Context;

/// Forbid all plans on this machine to call a capability
///
/// Running plans are affected from their next call on. The capability does not have to exist yet.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum capability revoke mesh.publish")]
pub(crate) struct RevokeArgs {
    /// Name of the capability, in any spelling
    name: String,
}

/// Allow plans to call a revoked capability again
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum capability restore mesh.publish")]
pub(crate) struct RestoreArgs {
    /// Name of the capability, in any spelling
    name: String,
}

pub(super) fn revoke(context: &Context, args: &RevokeArgs) -> Result<(), CommandError> {
    change(context, &args.name, Revocation::Revoke)
}

pub(super) fn restore(context: &Context, args: &RestoreArgs) -> Result<(), CommandError> {
    change(context, &args.name, Revocation::Restore)
}

fn change(context: &Context, name: &str, change: Revocation) -> Result<(), CommandError> {
    let name = named(name)?;
    let changed = governance(context)
        .set_revoked(&name, change)
        .map_err(|error| governance_failed(&error))?;
    let output = RevocationOutput {
        id: name.to_string(),
        revoked: change == Revocation::Revoke,
        changed,
    };
    if changed {
        let status = match change {
            Revocation::Revoke => "revoked",
            Revocation::Restore => "restored",
        };
        let event = AuditEvent {
            status: Some(status.to_owned()),
            ..AuditEvent::new(Event::Trust)
        };
        audit_change::leave(context, &event.with("capability", output.id.as_str()));
    }
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let outcome = match (change, changed) {
        (Revocation::Revoke, true) => "revoked",
        (Revocation::Revoke, false) => "already revoked",
        (Revocation::Restore, true) => "restored",
        (Revocation::Restore, false) => "was not revoked",
    };
    context.report.say(&format!("{name}: {outcome}"));
    Ok(())
}
