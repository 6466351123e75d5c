//! Arguments and output of `callosum capability accept`.
//!
//! The use case is [`callosum_app::capability::accept`].

use callosum_app::capability::accept::accept;
use callosum_app::capability::catalog::named;
use callosum_app::{CommandError, audit_change};
use callosum_ledger::{AuditEvent, Event};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// Accept how a capability changed
///
/// A capability that does more than the version that this machine accepted, or takes less, is not called until a person
/// accepts it. `callosum capability show` prints what changed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum capability show tool.wiki.look_up
  $ callosum capability accept tool.wiki.look_up")]
pub(crate) struct AcceptArgs {
    /// Name of the capability, in any spelling
    name: String,
}

pub(super) fn run(context: &Context, args: &AcceptArgs) -> Result<(), CommandError> {
    let name = named(&args.name)?;
    let output = accept(context, &name)?;
    if output.changed {
        let event = AuditEvent {
            status: Some("accepted".to_owned()),
            ..AuditEvent::new(Event::Trust)
        };
        let event = event.with("capability", output.id.as_str());
        audit_change::leave(context, &event.with("version", output.version.as_str()));
    }
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let outcome = if output.changed {
        "accepted"
    } else {
        "already accepted"
    };
    let version = &output.version;
    context.report.say(&format!("{name} {version}: {outcome}"));
    for reason in &output.reasons {
        context.report.say(&format!("  {}", on_one_line(reason)));
    }
    Ok(())
}
