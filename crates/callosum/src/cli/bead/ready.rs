//! `callosum bead ready`: what can be worked on now.

use callosum_evidence::terminal::on_one_line;
use callosum_session::bead::{Beads, Listing, is_closed, ready};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::mirror;
use crate::{
    cli::{
        context::Context,
        session::{explain, zones},
    },
    ui::CommandError,
};

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

/// `callosum bead ready --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ReadyOutput {
    /// How many there are in all.
    pub(crate) total: usize,
    /// Those that are listed.
    pub(crate) beads: Vec<ReadyBeadOutput>,
    /// Files that were not understood.
    pub(crate) unread: Vec<String>,
}

/// A bead that can be worked on.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ReadyBeadOutput {
    /// Its id.
    pub(crate) id: String,
    /// How urgent it is: 0 comes first.
    pub(crate) priority: i64,
    /// Its status.
    pub(crate) status: String,
    /// What is to be done.
    pub(crate) title: String,
}

/// The files that were not understood.
pub(super) fn unread(listing: &Listing) -> Vec<String> {
    let files = listing.unread.iter().map(|unread| unread.file.clone());
    files.collect()
}

/// A bead on one line.
pub(super) fn line(id: &str, priority: i64, status: &str, title: &str) -> String {
    let (id, status, title) = (on_one_line(id), on_one_line(status), on_one_line(title));
    format!("{id} P{priority} {status} {title}")
}

/// Every bead; what was not understood is said.
pub(super) fn listing(context: &Context) -> Result<Listing, CommandError> {
    let zones = zones(context);
    let beads = Beads {
        disk: &context.disk,
        zones: &zones,
    };
    let listing = beads.list(context.clock.now());
    let listing = listing.map_err(|error| explain(&error.into()))?;
    for unread in &listing.unread {
        let what = format!("cannot parse {}: {}", unread.file, unread.problem);
        context.report.warn(&what, None);
    }
    Ok(listing)
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
