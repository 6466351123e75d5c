//! `callosum mesh fleet join` and `leave`.

use callosum_config::FleetSetting;
use callosum_fleet::{FleetStatus, Membership, Names};
use callosum_mesh::Mesh;
use schemars::JsonSchema;
use serde::Serialize;

use super::{FleetStatusOutput, connected, membership, required_setting, status, unusable};
use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit};

/// `callosum mesh fleet leave --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FleetLeaveOutput {
    /// The workspace; null if this machine had joined none.
    pub workspace: Option<String>,
    /// Whether the server removed what it kept for this machine. If not, its consumer is left there.
    pub removed_on_server: bool,
}

/// Whether a membership is the one that is configured.
pub(super) fn is_of(membership: &Membership, setting: &FleetSetting) -> bool {
    let Names { user, machine } = &membership.names;
    membership.workspace == setting.workspace
        && *user == setting.user
        && *machine == setting.machine
}

/// Error of a machine that has joined under other names than those that are configured.
pub(super) fn other(membership: &Membership, setting: &FleetSetting) -> CommandError {
    let FleetSetting {
        workspace,
        user,
        machine,
        ..
    } = setting;
    let what = format!(
        "this machine joined `{}` as {}, and `{workspace}` as {user}@{machine} is configured",
        membership.workspace, membership.names
    );
    CommandError::new(Exit::No, what).hint("callosum mesh fleet leave")
}

/// Joins the workspace that is configured, and creates it if the server has none. What the log has until now stays on this
/// machine.
pub fn joined(context: &Context) -> Result<FleetStatusOutput, CommandError> {
    let setting = required_setting(context)?;
    let mut mesh = open::mesh_anyway(context)?;
    if let Some(known) = membership(context, &mesh)? {
        if !is_of(&known, &setting) {
            return Err(other(&known, &setting));
        }
        connected(&setting, &known, true)?;
        return status(context);
    }
    let new = Membership {
        workspace: setting.workspace.clone(),
        names: Names {
            user: setting.user.clone(),
            machine: setting.machine.clone(),
        },
        origin: mesh.journal().origin().to_owned(),
        since: end(&mut mesh)?,
    };
    connected(&setting, &new, true)?;
    let written = new.write(&context.disk, mesh.folder());
    written.map_err(|error| open::explain(&error.into()))?;
    status(context)
}

/// The last event of the log.
fn end(mesh: &mut Mesh) -> Result<u64, CommandError> {
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    Ok(board.seq)
}

/// Leaves the workspace. What came from other machines stays in the log, and shared tasks become this machine's own.
pub fn left(context: &Context) -> Result<FleetLeaveOutput, CommandError> {
    let mut mesh = open::mesh_anyway(context)?;
    let Some(known) = membership(context, &mesh)? else {
        return Ok(FleetLeaveOutput {
            workspace: None,
            removed_on_server: false,
        });
    };
    let homes = &context.project.homes;
    let read = super::setting(&context.disk, homes, &context.environment);
    let removed = match read.map_err(|error| unusable(&error)) {
        Ok(Some(setting)) => {
            let server = connected(&setting, &known, false);
            server.and_then(|mut server| {
                let removed = server.leave();
                removed.map_err(|error| super::explain(&error.into()))
            })
        }
        Ok(None) => Err(CommandError::new(
            Exit::Environment,
            "no fleet is configured",
        )),
        Err(error) => Err(error),
    };
    if let Err(error) = &removed {
        let what = format!(
            "the server keeps what it has of this machine: {}",
            error.one_line()
        );
        context.report.warn(&what, None);
    }
    let done = Membership::remove(&context.disk, mesh.folder());
    let done = done.and_then(|_| FleetStatus::remove(&context.disk, mesh.folder()));
    done.map_err(|error| open::explain(&error.into()))?;
    let unshared = mesh.unshare(None);
    unshared.map_err(|error| open::explain(&error))?;
    Ok(FleetLeaveOutput {
        workspace: Some(known.workspace),
        removed_on_server: removed.is_ok(),
    })
}
