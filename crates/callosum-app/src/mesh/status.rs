//! [`MeshStatus`]: state of this machine's mesh, for an overview of everything.

use callosum_mesh::board::Tally;
use callosum_mesh::bridge::Bridge;
use callosum_mesh::{MeshError, mesh_store};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{many, thousands};

/// The state of the mesh.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MeshStatus {
    /// Messages that were not delivered.
    pub messages_waiting: u64,
    /// Seconds that the oldest of them has waited; 0 where none does.
    pub oldest_age_seconds: u64,
    /// Messages that could not be delivered, and are neither retried nor dropped.
    pub dead_letters: u64,
    /// Those of them that were sent from this project.
    #[serde(skip)]
    pub own_dead_letters: u64,
    /// Tasks that no agent works on.
    pub tasks_pending: u64,
    /// Tasks that an agent works on.
    pub tasks_in_progress: u64,
    /// Leases that hold.
    pub leases: u64,
    /// Files in the folder of additions to the bridge file that are never imported; `callosum doctor` says why.
    pub ignored: u64,
}

impl MeshStatus {
    /// Reads the state; `None` if there is no mesh yet. Locks, repairs and creates nothing.
    pub fn gather(context: &Context) -> Result<Option<Self>, MeshError> {
        let folder = context.project.homes.mesh();
        if !mesh_store::is_begun(&context.disk, &folder)? {
            return Ok(None);
        }
        let (clock, ids) = (&context.clock, &context.ids);
        let mut mesh = mesh_store::open(&context.disk, clock, ids, &folder)?;
        let now = mesh.journal().now();
        let (_, strays) = Bridge::of(&context.disk, &mesh).waiting()?;
        let Tally {
            waiting,
            oldest_waits,
            dead,
            pending,
            in_progress,
            leases,
            ..
        } = mesh.board()?.tally(now);
        let root = context.state().to_string_lossy();
        let own_dead_letters = mesh.board()?.dead_letters_of(&root);
        Ok(Some(Self {
            messages_waiting: waiting,
            oldest_age_seconds: oldest_waits.as_secs().unsigned_abs(),
            dead_letters: dead,
            own_dead_letters,
            tasks_pending: pending,
            tasks_in_progress: in_progress,
            leases,
            ignored: strays.len() as u64,
        }))
    }

    /// The same on one line.
    pub fn line(&self) -> String {
        let oldest = match self.messages_waiting {
            0 => String::new(),
            _ => format!(" (oldest: {} s)", thousands(self.oldest_age_seconds)),
        };
        format!(
            "{} waiting{oldest}, {} pending, {} in progress, {}",
            many(self.messages_waiting, "message"),
            many(self.tasks_pending, "task"),
            thousands(self.tasks_in_progress),
            many(self.leases, "lease")
        )
    }
}
