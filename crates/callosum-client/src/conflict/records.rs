//! [`Records`]: records of a contested file, in the undo log and in trajectories, and an agent's knowledge of it.

use std::path::{Path, PathBuf};

use callosum_config::{Environment, Homes, Project, ProjectOverrides};
use callosum_host::{Disk, DiskError, disk::EntryKind};
use callosum_intervention::scope::Scope;
use callosum_mesh::{Mesh, MeshError, agent::AgentName, conflict::Context};
use callosum_session::{
    Zones,
    trajectory::{Agent, Trajectory},
};
use callosum_snapshot::Retention;

use super::{StoredVersions, speaker_lines};
use crate::{
    hook::worktree::top,
    undo::{History, LARGEST, UndoLog},
};

/// The undo log of the tree that a file is in.
pub(super) struct Records {
    /// Top of the work tree.
    pub(super) tree: PathBuf,
    /// Its calls.
    pub(super) history: History,
    log: UndoLog,
}

impl Records {
    /// Reads the records of the tree that a file is in; `None` if it is in no tree that has any.
    pub(super) fn find(disk: &Disk, homes: &Homes, path: &str) -> Result<Option<Self>, DiskError> {
        let Some(folder) = Path::new(path).parent() else {
            return Ok(None);
        };
        // Outside of a repository the records are of the project's root.
        let mut above = folder.ancestors();
        let is_recorded = |folder: &Path| disk.exists(&homes.snapshots_of(folder));
        let tree = top(disk, folder).or_else(|| {
            let found = above.find(|folder| is_recorded(folder).unwrap_or(false));
            found.map(Path::to_owned)
        });
        let Some(tree) = tree else {
            return Ok(None);
        };
        let snapshots = homes.snapshots_of(&tree);
        let log = UndoLog::new(disk, &snapshots, Retention::default().age);
        let history = History::of(log.read()?);
        Ok(Some(Self { tree, history, log }))
    }

    /// Returns the bytes of a version, if they are kept.
    pub(super) fn bytes(&self, kept: Option<&StoredVersions>) -> Option<Vec<u8>> {
        match kept? {
            StoredVersions::Absent => Some(Vec::new()),
            StoredVersions::Bytes { day, sum } => self.log.bytes(day, sum),
        }
    }

    /// Returns the path of a file as the log has it.
    pub(super) fn inner(&self, path: &str) -> Option<String> {
        let inner = Path::new(path).strip_prefix(&self.tree).ok()?;
        inner.to_str().map(str::to_owned)
    }
}

/// Returns an agent's knowledge of a file.
pub(super) fn context_of(
    (disk, environment): (&Disk, &Environment),
    mesh: &mut Mesh,
    records: Option<&Records>,
    path: &str,
    (agent, session): (&AgentName, Option<&str>),
) -> Result<Context, MeshError> {
    let found = records.and_then(|records| Some((records, records.inner(path)?)));
    let Some((records, inner)) = found else {
        return Ok(Context::default());
    };
    let current = read(disk, path).unwrap_or_default().unwrap_or_default();
    let lines_written = speaker_lines(
        &records.history,
        &inner,
        (agent, session),
        &String::from_utf8_lossy(&current),
        |day, sum| records.log.bytes(day, sum),
    );
    let now = mesh.journal().now();
    let has_task = mesh.board()?.tasks.iter().any(|task| {
        let claim = task.claim_at(now);
        let is_own = claim.is_some_and(|claim| {
            let its = claim.session_id.as_deref();
            claim.by == *agent && (its.is_none() || session.is_none() || its == session)
        });
        is_own && Scope::of_task(&task.prompt).is_some_and(|scope| scope.contains(&inner))
    });
    Ok(Context {
        lines_written,
        decisions: decisions((disk, environment), &records.tree, &inner, (agent, session)),
        has_task,
    })
}

/// The number of an agent's decisions since its last hand-off that cite a file. Records that cannot be read have none.
///
/// A decision counts if it was recorded under the agent's name, or names the agent's session.
fn decisions(
    (disk, environment): (&Disk, &Environment),
    tree: &Path,
    inner: &str,
    (agent, session): (&AgentName, Option<&str>),
) -> u64 {
    // Outside of an initialized project, session files are in the machine's home.
    let Ok(project) = Project::load(disk, environment, tree, &ProjectOverrides::default()) else {
        return 0;
    };
    let zones = Zones {
        tree: project.roots.tree.clone(),
        root: project.roots.sessions.clone(),
    };
    let own = Agent::new(agent.as_str()).unwrap_or_default();
    let default = Agent::default();
    let names = [Some(own.clone()), Some(default).filter(|name| *name != own)];
    let mut count = 0;
    for name in names.into_iter().flatten() {
        let is_named = name.as_str() == agent.as_str();
        let trajectory = Trajectory {
            disk,
            zones: &zones,
            agent: name,
        };
        let Ok(read) = trajectory.since_handoff() else {
            continue;
        };
        let citing = read.records.iter().filter(|(_, record)| {
            let is_own = is_named || session.is_some_and(|id| record.text("session_id") == id);
            let evidence = record.members.get("evidence");
            let cites = evidence.is_some_and(|evidence| evidence.to_string().contains(inner));
            record.phase() == "cite" && is_own && cites
        });
        count += citing.count() as u64;
    }
    count
}

/// Returns the file as it is; `None` if it is gone, no regular file, or too large to keep.
pub(super) fn read(disk: &Disk, path: &str) -> Result<Option<Vec<u8>>, DiskError> {
    let path = Path::new(path);
    let stat = disk.stat(path)?;
    if stat.is_none_or(|stat| stat.kind != EntryKind::File || stat.len > LARGEST) {
        return Ok(None);
    }
    disk.read_if_there(path)
}
