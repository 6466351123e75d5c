//! `callosum bead ready`: lists the beads that can be worked on now.

use callosum_redact::terminal_escape::on_one_line;
use callosum_session::bead::{Beads, Listing};
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;
use crate::context::Context;
use crate::session::explain;

/// `callosum bead ready --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReadyOutput {
    /// Total number.
    pub total: usize,
    /// Those that are listed.
    pub beads: Vec<ReadyBeadOutput>,
    /// Files that were not understood.
    pub unread: Vec<String>,
}

/// A bead that can be worked on.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReadyBeadOutput {
    /// Its id.
    pub id: String,
    /// Priority: 0 comes first.
    pub priority: i64,
    /// Its status.
    pub status: String,
    /// Title of the task.
    pub title: String,
}

/// The files that were not understood.
pub fn unread(listing: &Listing) -> Vec<String> {
    let files = listing.unread.iter().map(|unread| unread.file.clone());
    files.collect()
}

/// A bead on one line.
pub fn line(id: &str, priority: i64, status: &str, title: &str) -> String {
    let (id, status, title) = (on_one_line(id), on_one_line(status), on_one_line(title));
    format!("{id} P{priority} {status} {title}")
}

/// Lists every bead, and reports the ones that could not be parsed.
pub fn listing(context: &Context) -> Result<Listing, CommandError> {
    let zones = context.zones();
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
