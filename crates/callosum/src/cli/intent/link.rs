//! Arguments and output of `callosum intent link`.
//!
//! The use cases are [`callosum_app::intent::link()`] and [`callosum_app::intent::unlink`].

use callosum_app::CommandError;
use callosum_app::intent::{IntentOutput, find, link, read, unlink};
use callosum_intent::graph::Link;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// Link a task of the mesh or a bead to an intent, or remove the link
///
/// `callosum intent show` then shows the state of the task or bead, and `mesh task show` and `bead show` name the intent.
/// Refuses a task or bead that does not exist.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum intent link 0f3a --bead bd-x7y8
  $ callosum intent link 0f3a --task schema
  $ callosum intent link 0f3a --task schema --remove")]
pub(crate) struct LinkArgs {
    /// Id of the intent, or its beginning
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    target: Target,
    /// Remove the link, also if the task or bead no longer exists
    #[arg(long)]
    remove: bool,
}

/// The other end of the link.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Target {
    /// Id of the task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Id of the bead
    #[arg(long, value_name = "BEAD")]
    bead: Option<String>,
}

pub(super) fn run(context: &Context, args: &LinkArgs) -> Result<(), CommandError> {
    let id = find(&read(context)?, &args.id)?.id.clone();
    let target = match (&args.target.task, &args.target.bead) {
        (Some(task), _) => Link::task(task),
        (None, bead) => Link::bead(bead.as_deref().unwrap_or_default()),
    };
    let intent = if args.remove {
        unlink(context, &id, target.clone())?
    } else {
        link(context, &id, target.clone())?
    };
    if context.ui.json {
        let output = IntentOutput::of(context, &read(context)?, &intent);
        return context.ui.json_data(&output);
    }
    let change = if args.remove {
        "unlinked from"
    } else {
        "linked to"
    };
    let line = format!("{id} {change} {} {}\n", target.to, on_one_line(&target.id));
    context.ui.read_by_all(&line)
}
