//! What other agents on this machine have for the one whose session this is: told at its beginning, and
//! between two calls of its tools.
//!
//! Only where there is a mesh; nothing is made for one. What a session tells the others is that it
//! begins and ends.

use std::path::Path;

use callosum_agents::client::Client;
use callosum_evidence::tokens;
use callosum_host::{Disk, machine, process::Identity};
use callosum_mesh::{
    Mesh, MeshError, Voice,
    agent::{AgentName, AgentNameError},
    bridge::{Bridge, Synced},
    digest::{Beside, Source},
    quoted, warning,
};

use super::{Problem, Said};
use crate::{
    config::{Environment, EnvironmentError, Homes, HomesError, MeshSettings, Project, Told},
    hook::{
        event::{Action, Event},
        place::folders,
    },
    sources,
};

/// Most tokens that a session is told at its beginning, of its own project and of the others together
/// (CALC-BOOT-1).
const MOST_TOKENS: u64 = 400;

/// Most conflicts that one is told of at once.
const MOST_CONFLICTS: usize = 5;

/// The others, as a session of this agent meets them.
pub(super) struct Neighbours {
    mesh: Mesh,
    voice: Voice,
    disk: Disk,
    environment: Environment,
    /// What is wrong with what the user configured.
    fault: Option<String>,
    is_sandboxed: bool,
}

/// Why the others cannot be met.
#[derive(Debug, thiserror::Error)]
pub(super) enum NeighboursError {
    /// The mesh cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The machine's home is nowhere.
    #[error(transparent)]
    Homes(#[from] HomesError),
    /// What this process was started with makes no sense.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] callosum_host::DiskError),
    /// The client's name is none of an agent's.
    #[error(transparent)]
    Name(#[from] AgentNameError),
}

impl Neighbours {
    /// The others on this machine, where there is a mesh. Makes nothing.
    pub(super) fn find(
        environment: &Environment,
        client: &Client,
        said: &Said,
    ) -> Result<Option<Self>, NeighboursError> {
        let disk = Disk::real();
        let homes = Homes::find(environment)?;
        let folder = homes.mesh();
        if !disk.exists(&folder.join("origin"))? {
            return Ok(None);
        }
        let agent: AgentName = client.program.parse()?;
        let name = machine::name().unwrap_or_else(|| "unknown".to_owned());
        let (clock, ids) = (environment.clock()?, environment.ids()?);
        let mesh = Mesh::open(&disk, &clock, &ids, &folder, &name)?;
        // One that is broken is told where there is room for it; the seed's holds meanwhile.
        let (settings, fault) = match MeshSettings::load(&disk, &homes.user_config) {
            Ok(settings) => (settings, None),
            Err(error) => (MeshSettings::default(), Some(error.to_string())),
        };
        let mesh = mesh.with_matrix(settings.matrix);
        let pane = environment.get("TMUX_PANE");
        let cwd = said.folder.as_ref();
        let voice = Voice {
            agent,
            session_id: Some(said.session.clone()).filter(|id| !id.is_empty()),
            pane_id: pane.and_then(|pane| Some(pane.to_str()?.to_owned())),
            cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
        };
        Ok(Some(Self {
            mesh,
            voice,
            disk,
            environment: environment.clone(),
            fault,
            is_sandboxed: sources::is_sandboxed(Some(client)),
        }))
    }

    /// What is told at a session's beginning beside `recovered`, in what that leaves of the room.
    ///
    /// It counts as delivered by this: the client has been seen to put it before the model.
    pub(super) fn at_begin(&mut self, recovered: &str) -> Result<String, NeighboursError> {
        self.bring_in_line()?;
        let left = MOST_TOKENS.saturating_sub(tokens::estimate(recovered));
        let beside = self.beside()?;
        let told = self.mesh.digest_for(&self.voice, &beside, left)?;
        if !told.text.is_empty() {
            self.mesh.deliver(&told, &self.voice, "session-start")?;
        }
        // The nearest that is no shell is the client, which waits for this.
        let client = Identity::ancestors().first().copied();
        self.mesh.begin_session(&self.voice, client)?;
        Ok(told.text)
    }

    /// What the ledger of the project has since, where there is one; hand-offs are told by the project itself.
    fn beside(&self) -> Result<Beside, NeighboursError> {
        let here = self.voice.cwd.as_deref().map(Path::new);
        let (_, here) = folders(&self.disk, &self.environment, here);
        let project =
            here.map(|here| Project::load(&self.disk, &self.environment, &here, &Told::default()));
        let source = match project {
            Some(Ok(project)) => {
                let paths = &project.places.ledger;
                let since = self.mesh.told_at(&self.voice)?;
                Some(sources::ledger(&self.disk, paths, since, &self.voice.agent))
            }
            Some(Err(error)) => Some(Source::Broken(format!(
                "the project cannot be read: {error}"
            ))),
            None => None,
        };
        // A project without a ledger lacks nothing.
        let fault = self.fault.clone().map(Source::Broken);
        let sources = source.into_iter().chain(fault);
        let sources = sources.filter(|source| !matches!(source, Source::Missing(_)));
        Ok(Beside {
            sources: sources.collect(),
            is_sandboxed: self.is_sandboxed,
        })
    }

    /// What is told between two calls of tools, and with a person's words: messages, and who else works
    /// on the files that the tool has written. Of a sub-agent's tools only the latter: what it is told the agent itself
    /// never reads.
    pub(super) fn between(
        &mut self,
        word: &str,
        bytes: &[u8],
        is_helper: bool,
    ) -> Result<String, NeighboursError> {
        let synced = self.bring_in_line()?;
        self.mesh.renew_claims(&self.voice)?;
        let (own, written) = self.own_files(self.written(bytes))?;
        let not_taken = if own {
            self.not_taken(&synced)
        } else {
            String::new()
        };
        let held = self.mesh.edited(&written, &self.voice)?;
        if is_helper {
            return Ok(format!("{}{not_taken}", warning(&held)));
        }
        let told = self.mesh.hand_over(&self.voice, word)?;
        let told = told.map(|told| told.text).unwrap_or_default();
        Ok(format!("{}{not_taken}{told}", warning(&held)))
    }

    /// Whether the mesh's own files are among these, and the others: nobody has a lease on what all may edit.
    fn own_files(&self, paths: Vec<String>) -> Result<(bool, Vec<String>), NeighboursError> {
        let folder = self.disk.canonicalize(self.mesh.folder())?;
        let (own, others): (Vec<String>, Vec<String>) = paths
            .into_iter()
            .partition(|path| Path::new(path).starts_with(&folder));
        Ok((!own.is_empty(), others))
    }

    /// What an agent is told that has just written the bridge file, of what was not taken over of it. What was
    /// written in its name it gets as messages.
    fn not_taken(&self, synced: &Synced) -> String {
        let is_other = |by: Option<&AgentName>| by != Some(&self.voice.agent);
        let rejected = synced.rejected.iter();
        let rejected = rejected.filter(|rejected| is_other(rejected.by.as_ref()));
        let rejected = rejected.map(|rejected| {
            format!(
                "The bridge file was not taken over: {}; what you wrote is in {}\n",
                quoted(&rejected.error.to_string()),
                quoted(&rejected.kept.to_string_lossy())
            )
        });
        let conflicts = synced.conflicts.iter();
        let conflicts = conflicts.filter(|conflict| is_other(Some(&conflict.by)));
        let conflicts = conflicts.take(MOST_CONFLICTS).map(|conflict| {
            let what = format!("{} {}", conflict.item, conflict.reason);
            format!("Not taken over from the bridge file: {}\n", quoted(&what))
        });
        rejected.chain(conflicts).collect()
    }

    /// The files that a tool has written, as leases name them: absolute, without links.
    fn written(&self, bytes: &[u8]) -> Vec<String> {
        let Ok(event) = Event::read(bytes) else {
            // A person's words, or a tool without files.
            return Vec::new();
        };
        let Action::Write(paths) = &event.action else {
            return Vec::new();
        };
        let here = event.folder.clone().unwrap_or_default();
        let paths = paths.iter().map(|path| here.join(path));
        // What is not there any more nobody works on.
        let real = paths.filter_map(|path| self.disk.canonicalize(&path).ok());
        real.map(|path| path.to_string_lossy().into_owned())
            .collect()
    }

    /// What the session was handed before its turn was over, its model has been asked with.
    pub(super) fn at_rest(&mut self) -> Result<(), NeighboursError> {
        Ok(self.mesh.seen(&self.voice, "stop")?)
    }

    /// Tells the others that the session ends, and gives back what it had claimed.
    pub(super) fn at_end(&mut self) -> Result<(), NeighboursError> {
        self.mesh.end_session(&self.voice, "its client said so")?;
        self.bring_in_line()?;
        Ok(())
    }

    fn bring_in_line(&mut self) -> Result<Synced, NeighboursError> {
        self.mesh.settle()?;
        let bridge = Bridge::of(&self.disk, &self.mesh);
        Ok(bridge.sync(&mut self.mesh)?)
    }
}

impl From<NeighboursError> for Problem {
    fn from(error: NeighboursError) -> Self {
        Self::Neighbours(Box::new(error))
    }
}
