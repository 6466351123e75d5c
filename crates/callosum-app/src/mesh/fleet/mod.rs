//! Use cases of `callosum mesh fleet`: several machines that share tasks and messages over a NATS server.
//!
//! [`claim`] asks the server before an agent of this machine claims or ends a shared task. `connect` is the one place that
//! knows whether the program was built with the client of NATS.

pub mod claim;
mod connect;
mod doctor;
mod join;
mod replicate;
mod status;

pub use self::doctor::{FleetCheckOutput, FleetDoctorOutput, checked};
pub use self::join::{FleetLeaveOutput, joined, left};
pub use self::replicate::{FleetSyncOutput, replicator, synced};
pub use self::status::{FleetPeerOutput, FleetStatusOutput, status};

use callosum_config::{Environment, FleetSetting, FleetSettingError, Homes};
use callosum_fleet::{Checkouts, FleetError, Membership, Server, ServerError};
use callosum_host::Disk;
use callosum_mesh::Mesh;

use crate::context::Context;
use crate::mesh::open;
use crate::{CommandError, Exit};

/// Whether the program was built with the client of NATS.
pub const IS_BUILT_IN: bool = cfg!(feature = "nats");

/// Builds the program with it.
const BUILD: &str = "cargo build --release --locked --features nats";

/// Error of a program without the client.
fn not_built() -> CommandError {
    let what = "this program was built without the fleet (feature `nats`)";
    CommandError::new(Exit::Environment, what).hint(BUILD)
}

/// Returns the user's setting; `None` if there is none.
fn setting(
    disk: &Disk,
    homes: &Homes,
    environment: &Environment,
) -> Result<Option<FleetSetting>, FleetSettingError> {
    FleetSetting::read(disk, homes, environment)
}

/// Returns the user's setting.
///
/// # Errors
/// If the program has no client, or nothing is configured.
fn required_setting(context: &Context) -> Result<FleetSetting, CommandError> {
    if !IS_BUILT_IN {
        return Err(not_built());
    }
    let homes = &context.project.homes;
    let read = setting(&context.disk, homes, &context.environment);
    let read = read.map_err(|error| unusable(&error))?;
    read.ok_or_else(|| {
        let path = homes.user_config.display();
        let what = format!("no fleet is configured: {path} has no table [mesh.fleet]");
        CommandError::new(Exit::Environment, what).hint("callosum help mesh fleet join")
    })
}

fn unusable(error: &FleetSettingError) -> CommandError {
    CommandError::because(
        Exit::Environment,
        "cannot use the fleet configuration",
        error,
    )
}

/// Returns the membership of this machine; `None` if it has not joined.
fn membership(context: &Context, mesh: &Mesh) -> Result<Option<Membership>, CommandError> {
    let read = Membership::read(&context.disk, mesh.folder(), mesh.journal().origin());
    read.map_err(|error| CommandError::because(Exit::Environment, "cannot use the mesh", &error))
}

/// Returns the setting and the membership of a machine that has joined the workspace that is configured.
fn member(context: &Context, mesh: &Mesh) -> Result<(FleetSetting, Membership), CommandError> {
    let setting = required_setting(context)?;
    let Some(membership) = membership(context, mesh)? else {
        let what = format!(
            "this machine has not joined the workspace `{}`",
            setting.workspace
        );
        return Err(CommandError::new(Exit::No, what).hint("callosum mesh fleet join"));
    };
    if !join::is_of(&membership, &setting) {
        return Err(join::other(&membership, &setting));
    }
    Ok((setting, membership))
}

/// Connects to the server.
fn connected(
    setting: &FleetSetting,
    membership: &Membership,
    is_join: bool,
) -> Result<Box<dyn Server>, CommandError> {
    connect::connect(setting, membership, is_join).map_err(|error| explain(&error.into()))
}

/// Explains an error of the fleet.
fn explain(error: &FleetError) -> CommandError {
    let failure = match error {
        FleetError::Mesh(error) => return open::explain(error),
        FleetError::Server(ServerError::NoWorkspace { .. }) => {
            CommandError::from_error(Exit::No, error).hint("callosum mesh fleet join")
        }
        FleetError::Forked { .. } => {
            CommandError::from_error(Exit::No, error).hint("callosum mesh fleet leave")
        }
        _ => CommandError::from_error(Exit::Environment, error),
    };
    if failure.hint_text().is_none() {
        failure.hint("callosum mesh fleet doctor")
    } else {
        failure
    }
}

fn checkouts(context: &Context) -> Checkouts {
    let projects = context.project.homes.repositories();
    Checkouts::new(&context.disk, &context.environment, projects)
}
