//! `callosum mesh fleet sync`, one round of replication, and the thread of a daemon that replicates all the time.

use std::time::{Duration, Instant};

use callosum_config::{Environment, Homes};
use callosum_fleet::replicator::{Replicator, WAIT};
use callosum_fleet::{Checkouts, Fleet, FleetError, FleetStatus, Membership, Round, ServerError};
use callosum_host::{Clock, Disk, Ids};
use callosum_mesh::{Mesh, mesh_store};
use schemars::JsonSchema;
use serde::Serialize;

use super::{IS_BUILT_IN, checkouts, connect, explain, join, member, setting};
use crate::CommandError;
use crate::context::Context;
use crate::mesh::open;

/// Interval of looks at whether this machine has joined or left.
const LOOK: Duration = Duration::from_secs(1);

/// `callosum mesh fleet sync --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FleetSyncOutput {
    /// Events that were sent.
    pub sent: u64,
    /// Events that were received.
    pub received: u64,
    /// The last event of this log that a server accepted.
    pub accepted: u64,
}

/// Sends what happened here, and takes in what happened elsewhere.
pub fn synced(context: &Context) -> Result<FleetSyncOutput, CommandError> {
    let mut mesh = open::synced_anyway(context)?;
    let (setting, membership) = member(context, &mesh)?;
    let mut places = checkouts(context);
    let folder = mesh.folder().to_owned();
    let repositories = setting.repositories.clone();
    let fleet = Fleet::new(
        &context.disk,
        &folder,
        membership.clone(),
        repositories,
        &mut places,
    );
    let mut fleet = fleet.map_err(|error| explain(&error))?;
    let done = connect::connect(&setting, &membership, false).map_err(FleetError::from);
    let done = match done {
        Ok(mut server) => fleet.sync(&mut mesh, &mut *server),
        Err(error) => {
            fleet.note_failure(&mesh, &error);
            Err(error)
        }
    };
    let accepted = fleet.status.accepted;
    let Round { sent, received, .. } = done.map_err(|error| explain(&error))?;
    open::show_done(context, &mut mesh);
    Ok(FleetSyncOutput {
        sent,
        received,
        accepted,
    })
}

/// A machine whose daemon replicates.
struct Daemon {
    disk: Disk,
    clock: Clock,
    ids: Ids,
    homes: Homes,
    environment: Environment,
}

/// Starts the thread that replicates while a daemon runs; `None` in a program without the client of NATS. A machine that has
/// joined no fleet costs a look at two small files per second.
pub fn replicator(
    disk: &Disk,
    clock: &Clock,
    ids: &Ids,
    homes: &Homes,
    environment: &Environment,
) -> std::io::Result<Option<Replicator>> {
    if !IS_BUILT_IN {
        return Ok(None);
    }
    let daemon = Daemon {
        disk: disk.clone(),
        clock: clock.clone(),
        ids: ids.clone(),
        homes: homes.clone(),
        environment: environment.clone(),
    };
    let session = Box::new(move |is_over: &dyn Fn() -> bool| daemon.session(is_over));
    Replicator::start(session).map(Some)
}

impl Daemon {
    /// Replicates until a round fails or the daemon ends.
    fn session(&self, is_over: &dyn Fn() -> bool) -> Result<(), FleetError> {
        while !is_over() {
            match self.membership()? {
                Some(membership) => self.replicate(&membership, is_over)?,
                None => wait(is_over),
            }
        }
        Ok(())
    }

    /// Returns the membership of this machine. Creates nothing.
    fn membership(&self) -> Result<Option<Membership>, FleetError> {
        let folder = self.homes.mesh();
        let origin = self.disk.read_if_there(&folder.join("origin"))?;
        let origin = origin.unwrap_or_default();
        let origin = String::from_utf8_lossy(&origin);
        Ok(Membership::read(&self.disk, &folder, origin.trim())?)
    }

    /// Replicates for as long as the membership holds.
    fn replicate(
        &self,
        membership: &Membership,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), FleetError> {
        let mut mesh = mesh_store::open(&self.disk, &self.clock, &self.ids, &self.homes.mesh())?;
        let read = setting(&self.disk, &self.homes, &self.environment);
        let reason = match &read {
            Ok(Some(setting)) if join::is_of(membership, setting) => None,
            Ok(_) => Some("the configuration names another workspace, or none".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        let mut places = Checkouts::new(&self.disk, &self.environment, self.homes.repositories());
        let folder = mesh.folder().to_owned();
        let (Ok(Some(setting)), None) = (read, &reason) else {
            let error = FleetError::from(ServerError::Failed {
                reason: reason.unwrap_or_default(),
            });
            note(&self.disk, &mesh, membership, &mut places, &error)?;
            return Err(error);
        };
        let repositories = setting.repositories.clone();
        let mut fleet = Fleet::new(
            &self.disk,
            &folder,
            membership.clone(),
            repositories,
            &mut places,
        )?;
        let mut server = match connect::connect(&setting, membership, false) {
            Ok(server) => server,
            Err(error) => {
                let error = error.into();
                fleet.note_failure(&mesh, &error);
                return Err(error);
            }
        };
        let mut looked = Instant::now();
        while !is_over() {
            if looked.elapsed() > LOOK {
                let now = self.membership()?;
                if now.as_ref() != Some(membership) || !mesh.is_in_place()? {
                    if now.is_none() {
                        // A round may have shared tasks while this machine left.
                        mesh.unshare(None)?;
                    }
                    // The part that was written since is removed.
                    FleetStatus::remove(&self.disk, &folder)?;
                    return Ok(());
                }
                looked = Instant::now();
            }
            fleet.round(&mut mesh, &mut *server, WAIT)?;
        }
        Ok(())
    }
}

fn note(
    disk: &Disk,
    mesh: &Mesh,
    membership: &Membership,
    places: &mut Checkouts,
    error: &FleetError,
) -> Result<(), FleetError> {
    let mut fleet = Fleet::new(disk, mesh.folder(), membership.clone(), Vec::new(), places)?;
    fleet.note_failure(mesh, error);
    Ok(())
}

/// Waits until the next look, in steps after which a daemon that ends is not held up.
fn wait(is_over: &dyn Fn() -> bool) {
    let until = Instant::now() + LOOK;
    while Instant::now() < until && !is_over() {
        std::thread::sleep(Duration::from_millis(50));
    }
}
