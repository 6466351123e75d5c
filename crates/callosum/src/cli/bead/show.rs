//! Arguments and output of `callosum bead show`.
//!
//! The use case is [`callosum_app::bead::show`].

use callosum_app::CommandError;
use callosum_app::bead::show::{BeadOutput, intents_of_bead};
use callosum_app::bead::{mirror, nobody};
use callosum_app::beads_cli::Issue;
use callosum_app::session::{bead_id, explain, mend, session};
use callosum_session::SessionError;
use clap::Args;

use crate::cli::context::Context;

/// Print a bead as stored in its file
///
/// If `bd` is in use, a bead without a file is printed as `bd` has it. If the bead is linked to an intent, a comment before
/// the file names the intent.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead show bd-x7y8")]
pub(crate) struct ShowArgs {
    /// Id of the bead
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let zones = context.zones();
    let session = session(context, &zones, nobody());
    mend(context, &session);
    let id = bead_id(&args.id)?;
    let sheet = match session.bead(&id) {
        Ok(sheet) => sheet,
        Err(error) => {
            let is_missing = matches!(error, SessionError::NoBead { .. });
            let known = if is_missing {
                mirror::known(context, &id)
            } else {
                None
            };
            let issue = known.ok_or_else(|| explain(&error))?;
            return show_foreign(context, issue);
        }
    };
    if context.ui.json {
        return context.ui.json_data(&BeadOutput::of(context, &id, &sheet));
    }
    let intents = intent_lines(context, id.as_str());
    context
        .ui
        .read_by_all(&format!("{intents}{}", sheet.text()))
}

/// Returns a comment line for each intent that a bead works for. The file itself has none.
fn intent_lines(context: &Context, id: &str) -> String {
    let intents = intents_of_bead(context, id).into_iter();
    let lines = intents.map(|intent| format!("# works for intent {}\n", intent.line()));
    lines.collect()
}

/// Shows a bead that `bd` alone has, in the form of ours.
fn show_foreign(context: &Context, issue: Issue) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&BeadOutput::of_issue(context, issue));
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let intents = intent_lines(context, &issue.id);
    context.ui.read_by_all(&format!(
        "{intents}# stored in bd; the first change to it creates a file here\nid: {}\ntitle: {}\nstatus: \
         {}\npriority: {}\n",
        issue.id,
        quoted(&issue.title),
        quoted(&issue.status),
        issue.priority
    ))
}
