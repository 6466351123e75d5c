//! Edits outside of the paths that a task of the mesh names: recorded, never blocked (Seed CAKE §3).
//!
//! Start with [`Watcher::drifts`]. A session without a claimed task, and a task that names no path, have no scope.

use std::path::Path;

use callosum_intervention::scope::Scope;
use callosum_mesh::{
    MeshError,
    agent::{AgentName, AgentNameError},
    board::Task,
};
use jiff::Timestamp;

use super::{Runner, Watcher};
use callosum_config::EnvironmentError;
use callosum_mesh::mesh_store;

/// Most characters of a task's id and of a path.
const LONGEST: usize = 80;

/// The reason why the claimed task of a session is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ScopeError {
    /// The mesh cannot be read.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A variable of ours makes no sense.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The disk cannot be read.
    #[error(transparent)]
    Disk(#[from] callosum_host::DiskError),
    /// The client's name is no agent's.
    #[error(transparent)]
    Name(#[from] AgentNameError),
}

impl Watcher {
    /// Returns a text about each edited file outside of the tasks that a session has claimed. `edited` are absolute paths.
    ///
    /// # Errors
    /// If the mesh cannot be read. Without a mesh there is no task.
    pub(super) fn drifts(
        &self,
        runner: Runner<'_>,
        edited: &[String],
    ) -> Result<Vec<String>, ScopeError> {
        let Runner {
            client, session, ..
        } = runner;
        let folder = self.homes.mesh();
        if !mesh_store::is_begun(&self.disk, &folder)? {
            return Ok(Vec::new());
        }
        let agent: AgentName = client.parse()?;
        let (clock, ids) = (self.environment.clock()?, self.environment.ids()?);
        let mut mesh = mesh_store::open(&self.disk, &clock, &ids, &folder)?;
        let now = clock.now();
        let tasks = &mesh.board()?.tasks;
        let claimed: Vec<&Task> = tasks
            .iter()
            .filter(|task| is_claimed_by(task, &agent, session, now))
            .collect();
        let scopes: Option<Vec<Scope>> = claimed.iter().map(|task| scope(task)).collect();
        // A task without a scope allows every file.
        let Some(scopes) = scopes.filter(|scopes| !scopes.is_empty()) else {
            return Ok(Vec::new());
        };
        let outside = edited.iter().filter_map(|path| {
            let inner = Path::new(path).strip_prefix(&self.root).ok()?;
            let inner = inner.to_string_lossy();
            let is_outside = scopes.iter().all(|scope| !scope.contains(&inner));
            is_outside.then(|| {
                format!(
                    "{} by {client} in task {}",
                    cut(&inner),
                    cut(&claimed[0].id)
                )
            })
        });
        Ok(outside.collect())
    }
}

fn is_claimed_by(task: &Task, agent: &AgentName, session: &str, now: Timestamp) -> bool {
    task.claim_at(now).is_some_and(|claim| {
        let id = claim.session_id.as_deref();
        claim.by == *agent && id.is_none_or(|id| id == session)
    })
}

fn scope(task: &Task) -> Option<Scope> {
    let mut scope = Scope::of_task(&task.prompt)?;
    if let Some(file) = &task.output_file {
        scope.add(file);
    }
    Some(scope)
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
