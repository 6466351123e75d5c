//! `callosum mesh lease`: leases of agents on files.

use callosum_mesh::board::Lease;
use callosum_mesh::{Mesh, leased_path};
use callosum_redact::secrets;
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit};

/// `callosum mesh lease list|take --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LeasesOutput {
    /// The leases that hold, by path.
    pub leases: Vec<LeaseOutput>,
}

/// A lease.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LeaseOutput {
    /// The file.
    pub path: String,
    /// The agent.
    pub by: String,
    /// Person and machine, such as `ana@laptop`, if the agent is on another machine.
    pub machine: Option<String>,
    /// Its session.
    pub session_id: Option<String>,
    /// Purpose.
    pub why: Option<String>,
    /// When it was taken first.
    pub since: String,
    /// When it ends.
    pub until: String,
    /// A number that only grows: the later of two leases on a file has the larger one.
    pub token: u64,
}

/// The file as leases name it: absolute, and by one path, whether it is there or not.
pub fn absolute(context: &Context, path: &std::path::Path) -> Result<String, CommandError> {
    let path = context.folder.join(path);
    let real = leased_path(&context.disk, &path).map_err(|error| {
        let what = "cannot access the file";
        CommandError::because(Exit::Usage, what, &error)
    })?;
    let path = real.to_string_lossy().into_owned();
    // Other agents see the path masked, so that two such files would look like one.
    let masked = secrets::mask(&path);
    if masked.found.is_empty() {
        return Ok(path);
    }
    let what = format!(
        "cannot take a lease on {}: its name contains what looks like a secret",
        on_one_line(&masked.text)
    );
    Err(CommandError::new(Exit::Usage, what))
}

/// The leases that hold, by path.
pub fn listed(
    context: &Context,
    is_wanted: impl Fn(&Lease) -> bool,
) -> Result<Vec<LeaseOutput>, CommandError> {
    let (mesh, _) = open::readable(context)?;
    of(context, mesh, is_wanted)
}

/// Returns what is printed about a lease.
pub fn of(
    context: &Context,
    mut mesh: Mesh,
    is_wanted: impl Fn(&Lease) -> bool,
) -> Result<Vec<LeaseOutput>, CommandError> {
    let now = context.clock.now();
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let leases = board.leases.iter();
    let leases = leases.filter(|lease| lease.until > now && is_wanted(lease));
    let mut leases: Vec<LeaseOutput> = leases
        .map(|lease| LeaseOutput {
            path: lease.path.clone(),
            by: lease.by.to_string(),
            session_id: lease.session_id.clone(),
            why: lease.why.clone(),
            machine: lease.machine.clone(),
            since: lease.since.to_string(),
            until: lease.until.to_string(),
            token: lease.token,
        })
        .collect();
    leases.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(leases)
}

/// A lease on a line.
pub fn line(lease: &LeaseOutput) -> String {
    let LeaseOutput {
        path, by, until, ..
    } = lease;
    let why = lease.why.as_deref().map(on_one_line);
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let on = lease.machine.as_deref().map(on_one_line);
    let on = on.map(|on| format!(" on {on}")).unwrap_or_default();
    format!("{} {by}{on} until {until}{why}\n", on_one_line(path))
}
