//! Arguments and output of `callosum bead list`.
//!
//! The use case is [`callosum_app::bead::list`].

use std::fmt::Write as _;

use callosum_app::CommandError;
use callosum_app::bead::list::{BeadListOutput, ListedBeadOutput};
use callosum_app::bead::ready::{line, listing, unread};
use callosum_session::bead::{Row, STATUSES, is_closed};
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::cli::context::Context;

/// List beads, sorted by id
///
/// Lists all beads unless --status is given. Prints the open dependencies of each bead.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum bead list
  $ callosum bead list --status blocked --json")]
pub(crate) struct ListArgs {
    /// Only beads with this status
    #[arg(long, value_parser = PossibleValuesParser::new(STATUSES))]
    status: Option<String>,
}

pub(super) fn run(context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let listing = listing(context)?;
    let closed = listing.rows.iter().filter(|row| is_closed(&row.status));
    let closed: std::collections::HashSet<&str> = closed.map(|row| row.id.as_str()).collect();
    let is_wanted = |row: &&Row| {
        args.status
            .as_ref()
            .is_none_or(|wanted| *wanted == row.status)
    };
    let beads = listing.rows.iter().filter(is_wanted);
    let beads = beads.map(|row| ListedBeadOutput {
        id: row.id.clone(),
        priority: row.priority,
        status: row.status.clone(),
        title: row.title.clone(),
        blocked_by: row
            .needs
            .iter()
            .filter(|need| !is_closed(&row.status) && !closed.contains(need.as_str()))
            .cloned()
            .collect(),
    });
    let output = BeadListOutput {
        beads: beads.collect(),
        unread: unread(&listing),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut text = String::new();
    for bead in &output.beads {
        text.push_str(&line(&bead.id, bead.priority, &bead.status, &bead.title));
        if !bead.blocked_by.is_empty() {
            let _ = write!(text, " (waits for {})", bead.blocked_by.join(", "));
        }
        text.push('\n');
    }
    context.ui.read_by_all(&text)
}
