//! Arguments and output of `callosum bead ready`.
//!
//! The use case is [`callosum_app::bead::ready`].

use callosum_app::CommandError;
use callosum_app::bead::mirror;
use callosum_app::bead::ready::{ReadyBeadOutput, ReadyOutput, line, listing, unread};
use callosum_session::bead::{is_closed, ready};
use clap::Args;

use crate::cli::context::Context;

/// List beads that are ready to work on, most urgent first
///
/// A bead is ready if it is neither closed nor blocked, and every bead that it needs is closed. If `bd` is in use, its
/// tasks without a bead file are listed too.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead ready
  $ callosum bead ready --limit 3 --json")]
pub(crate) struct ReadyArgs {
    /// Print at most NUMBER beads
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
}

pub(super) fn run(context: &Context, args: &ReadyArgs) -> Result<(), CommandError> {
    let listing = listing(context)?;
    let all = ready(&listing.rows);
    let mut beads: Vec<ReadyBeadOutput> = all
        .into_iter()
        .map(|row| ReadyBeadOutput {
            id: row.id.clone(),
            priority: row.priority,
            status: row.status.clone(),
            title: row.title.clone(),
        })
        .collect();
    let foreign = mirror::ready(context);
    let foreign = foreign
        .into_iter()
        .filter(|issue| listing.rows.iter().all(|row| row.id != issue.id));
    let before = beads.len();
    beads.extend(foreign.map(|issue| ReadyBeadOutput {
        id: issue.id,
        priority: issue.priority,
        status: issue.status,
        title: issue.title,
    }));
    if beads.len() > before {
        beads.sort_by_key(|bead| bead.priority);
    }
    let total = beads.len();
    beads.truncate(args.limit.unwrap_or(usize::MAX));
    let output = ReadyOutput {
        total,
        beads,
        unread: unread(&listing),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if total == 0 {
        let open = listing.rows.iter().filter(|row| !is_closed(&row.status));
        context.report.say(&match open.count() {
            0 => "no open beads: callosum bead create TITLE".to_owned(),
            waiting => {
                format!("no bead is ready, {waiting} waiting or held back: callosum bead list")
            }
        });
    }
    let mut text = String::new();
    for bead in &output.beads {
        text.push_str(&line(&bead.id, bead.priority, &bead.status, &bead.title));
        text.push('\n');
    }
    context.ui.read_by_all(&text)
}
