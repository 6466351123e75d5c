//! `callosum guard revoke`: take back what was permitted.

use callosum_app::guard::allow::{PermitOutput, tell_journal};
use callosum_app::guard::gather_facts::permissions;
use callosum_app::{CommandError, Exit, config_errors};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// Revoke a permission
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard allow --list
  $ callosum guard revoke 3f2a91c4")]
pub(crate) struct RevokeArgs {
    /// Permission to revoke, by the beginning of its id
    id: String,
}

pub(super) fn run(context: &Context, args: &RevokeArgs) -> Result<(), CommandError> {
    let unknown = |what: String| {
        let hint = "list the permissions with their ids: callosum guard allow --list";
        CommandError::new(Exit::Usage, what).hint(hint)
    };
    let now = context.clock.now();
    let permissions = permissions(context);
    let holding = permissions
        .holding(now)
        .map_err(|error| config_errors::permit(&error))?;
    let mut meant = holding
        .into_iter()
        .filter(|(_, permit)| !args.id.is_empty() && permit.id.starts_with(&args.id));
    let is_id = args
        .id
        .chars()
        .all(|letter| letter.is_ascii_hexdigit() || letter == '-');
    let gone = || {
        unknown(if is_id {
            format!("no permission has the id `{}`", args.id)
        } else {
            format!("`{}` is not the id of a permission", on_one_line(&args.id))
        })
    };
    let (reach, permit) = meant.next().ok_or_else(gone)?;
    if meant.next().is_some() && permit.id != args.id {
        let what = format!("more than one permission begins with `{}`", args.id);
        return Err(unknown(what));
    }
    let is_taken = permissions
        .take_back(&[&permit.id], now)
        .map_err(|error| config_errors::permit(&error))?;
    if !is_taken {
        return Err(gone());
    }
    let output = PermitOutput::of(reach, permit);
    tell_journal(context, "revoked", &output);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let pattern = on_one_line(&output.pattern);
    context
        .report
        .say(&format!("no longer permitted: {pattern}"));
    Ok(())
}
