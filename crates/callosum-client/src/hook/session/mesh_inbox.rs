//! Messages of other agents on this machine for this session: delivered at its beginning, and
//! between two calls of its tools.
//!
//! Only if there is a mesh; none is created. The session itself reports to the others that it
//! begins and ends.
//!
//! Failure mode: each step by itself. Messages are marked as delivered once they are on standard
//! output, and delivered again the next time if that fails. The wait for others who append is at
//! most [`PATIENCE`] in all, and reading waits for no one.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_citation::tokens;
use callosum_executor::client::Client;
use callosum_host::{Disk, disk::EntryKind, process::Identity};
use callosum_mesh::{
    Author, Mesh, MeshError,
    agent::{AgentName, AgentNameError},
    board::{Lease, Task},
    bridge::{Bridge, Synced},
    digest::{Digest, DigestContext, Source, digest_of_beside},
    quoted, warning,
};

use super::{HookInput, Problem, RelatedWork};
use crate::{
    conflict::{Observer, ObserverError},
    digest_sources::configured,
    hook::{
        changed_files::Changed,
        event::{Action, Event},
        gather_facts::{facts, folders},
        git_writes::When,
    },
    presence::presence_source,
    project_sources,
};
use callosum_config::{
    DigestSource, Environment, EnvironmentError, Homes, HomesError, MeshSettings, OutputFolders,
    Project, ProjectError, ProjectOverrides, Roots,
};
use callosum_mesh::mesh_store;

/// Most tokens of the text at a session's beginning, for its own project and the others together
/// (CALC-BOOT-1).
const MOST_TOKENS: u64 = 400;

/// Longest wait for others who append, in all steps of one event.
const PATIENCE: Duration = Duration::from_millis(300);

/// Output at a session's beginning if nothing can be read.
pub(super) const UNREAD: &str =
    "Callosum cannot read what other agents sent you: run `callosum doctor`.\n";

/// Output if nothing can be written.
const UNTOLD: &str =
    "Callosum cannot announce this session to other agents: run `callosum doctor`.\n";

/// Output at a session's beginning if the configuration cannot be used and there is nothing else to
/// report.
const MISCONFIGURED: &str = "The mesh configuration cannot be used, so defaults apply: run \
    `callosum doctor`.\n";

/// Most conflicts that are reported at once.
const MOST_CONFLICTS: usize = 5;

/// The others, as a session of this agent meets them.
pub(super) struct Neighbours {
    mesh: Mesh,
    voice: Author,
    disk: Disk,
    environment: Environment,
    /// Files and commands that the user configured for the beginning of a session.
    digest_sources: Vec<DigestSource>,
    /// The error in the user's configuration.
    fault: Option<String>,
    is_sandboxed: bool,
}

/// The result of an event.
#[derive(Debug, Default)]
pub(super) struct InboxResult {
    /// The text for the model.
    pub(super) text: String,
    /// The first thing that went wrong, for the trail.
    pub(super) fault: Option<NeighboursError>,
}

/// The reason why the other agents cannot be reached.
#[derive(Debug, thiserror::Error)]
pub(super) enum NeighboursError {
    /// The mesh cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The machine's home is nowhere.
    #[error(transparent)]
    Homes(#[from] HomesError),
    /// The environment of this process is invalid.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] callosum_host::DiskError),
    /// The client's name is none of an agent's.
    #[error(transparent)]
    Name(#[from] AgentNameError),
    /// Conflicts cannot be recorded.
    #[error(transparent)]
    Conflicts(#[from] ObserverError),
}

impl InboxResult {
    /// Returns the value of a step. Keeps the first error.
    fn keep<T, E: Into<NeighboursError>>(&mut self, came: Result<T, E>) -> Option<T> {
        match came {
            Ok(value) => Some(value),
            Err(error) => {
                self.fault.get_or_insert_with(|| error.into());
                None
            }
        }
    }

    /// Returns the line for the model about a failure at the beginning of its session.
    fn line(&self) -> &'static str {
        if self.fault.is_some() { UNTOLD } else { "" }
    }
}

impl Neighbours {
    /// Finds the others on this machine, if there is a mesh. Creates nothing.
    pub(super) fn find(
        environment: &Environment,
        client: &Client,
        input: &HookInput,
    ) -> Result<Option<Self>, NeighboursError> {
        let disk = Disk::real();
        let homes = Homes::find(environment)?;
        let folder = homes.mesh();
        let found = disk.stat(&folder)?.map(|found| found.kind);
        let is_in_the_way = matches!(found, Some(EntryKind::File | EntryKind::Other));
        if !is_in_the_way && !mesh_store::is_begun(&disk, &folder)? {
            return Ok(None);
        }
        let agent: AgentName = client.program.parse()?;
        let (clock, ids) = (environment.clock()?, environment.ids()?);
        let mesh = mesh_store::open(&disk, &clock, &ids, &folder)?;
        // A broken configuration is reported if there is room for it; until then the seed's
        // defaults hold.
        let (settings, fault) = match MeshSettings::load(&disk, &homes.user_config) {
            Ok(settings) => (settings, None),
            Err(error) => (MeshSettings::default(), Some(error.to_string())),
        };
        let mesh = mesh
            .with_matrix(settings.matrix)
            .with_presence(presence_source(&disk, &homes))
            .with_patience(PATIENCE);
        let pane = environment.get("TMUX_PANE");
        let cwd = input.folder.as_ref();
        let voice = Author {
            agent,
            session_id: Some(input.session.clone()).filter(|id| !id.is_empty()),
            pane_id: pane.and_then(|pane| Some(pane.to_str()?.to_owned())),
            cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
        };
        Ok(Some(Self {
            mesh,
            voice,
            disk,
            environment: environment.clone(),
            digest_sources: settings.digest_sources,
            fault,
            is_sandboxed: project_sources::is_sandboxed(Some(client)),
        }))
    }

    /// Returns the text at a session's beginning in addition to `recovered`, within the tokens that
    /// this leaves.
    ///
    /// It counts as delivered once `say` has written it: tests with the client showed that it puts
    /// the text before the model.
    pub(super) fn at_begin(
        &mut self,
        recovered: &str,
        related: Option<&RelatedWork<'_>>,
        say: impl FnOnce(&str) -> bool,
    ) -> InboxResult {
        let met = self.begun();
        self.digest_after(met, recovered, related, "session-start", say)
    }

    /// Tells the others that a session begins, which its client tells nothing just now.
    pub(super) fn begun(&mut self) -> InboxResult {
        let mut met = InboxResult::default();
        met.keep(self.bring_in_line());
        // The nearest that is no shell is the client, which waits for this.
        let client = Identity::ancestors().first().copied();
        met.keep(self.mesh.begin_session(&self.voice, client));
        met
    }

    /// Returns the text of a beginning at the first prompt after it: [`at_begin`](Self::at_begin)
    /// for a session that the others know.
    pub(super) fn at_first_prompt(
        &mut self,
        recovered: &str,
        related: Option<&RelatedWork<'_>>,
        say: impl FnOnce(&str) -> bool,
    ) -> InboxResult {
        let mut met = InboxResult::default();
        met.keep(self.bring_in_line());
        met.keep(self.mesh.renew_claims(&self.voice));
        self.digest_after(met, recovered, related, "user-prompt-submit", say)
    }

    /// Adds the others' messages for this session to `met`, in addition to `recovered`; delivered
    /// by the event `word`.
    fn digest_after(
        &mut self,
        mut met: InboxResult,
        recovered: &str,
        related: Option<&RelatedWork<'_>>,
        word: &str,
        say: impl FnOnce(&str) -> bool,
    ) -> InboxResult {
        let agent = self.voice.agent.clone();
        let related = related.map(|related| match self.mesh.board() {
            Ok(board) => related.line(Some((board, &agent))),
            // The digest says that the board cannot be read.
            Err(_) => related.line(None),
        });
        let configured = self.configured() + &related.unwrap_or_default();
        let Some(mut digest) = met.keep(self.digest(recovered, met.line())) else {
            // What the project has is whole all the same.
            let taken = tokens::estimate(&format!("{recovered}{UNREAD}"));
            let left = MOST_TOKENS.saturating_sub(taken);
            let beside = met.keep(self.beside()).unwrap_or_default();
            let agent = &self.voice.agent;
            let digest = digest_of_beside(agent, self.mesh.matrix(), &beside, left);
            return InboxResult {
                text: format!("{UNREAD}{}{configured}", digest.text),
                ..met
            };
        };
        let was_whole = met.fault.is_none();
        if digest.text.is_empty() && digest.left_out == 0 {
            met.keep(self.mesh.heard_all(&self.voice));
        } else {
            met.keep(self.mesh.can_deliver(&self.voice));
        }
        if was_whole && met.fault.is_some() {
            // The line that says so needs room of its own.
            digest = met
                .keep(self.digest(recovered, met.line()))
                .unwrap_or_default();
        }
        met.text = format!("{}{}", met.line(), digest.text);
        if met.text.is_empty() && self.fault.is_some() {
            MISCONFIGURED.clone_into(&mut met.text);
        }
        met.text.push_str(&configured);
        if !digest.text.is_empty() && say(&met.text) {
            met.keep(self.mesh.deliver(&digest, &self.voice, word));
        }
        met
    }

    /// Returns the lines of the sources that the user configured, which have budgets of their own.
    fn configured(&self) -> String {
        let here = self.voice.cwd.as_deref().map(Path::new);
        let (_, here) = folders(&self.disk, &self.environment, here);
        let roots = here.and_then(|here| Roots::find(&self.disk, &here, None).ok());
        let tree = roots.map_or_else(|| PathBuf::from("/"), |roots| roots.tree);
        configured(&self.disk, &self.environment, &self.digest_sources, &tree)
    }

    /// Returns the others' messages for this session within the tokens that `recovered` and `line`
    /// leave.
    fn digest(&mut self, recovered: &str, line: &str) -> Result<Digest, NeighboursError> {
        let taken = tokens::estimate(&format!("{recovered}{line}"));
        let beside = self.beside()?;
        let left = MOST_TOKENS.saturating_sub(taken);
        Ok(self.mesh.digest_for(&self.voice, &beside, left)?)
    }

    /// Returns the sources of the digest, such as new entries of the project's ledger. Hand-offs
    /// are reported by the project itself.
    fn beside(&self) -> Result<DigestContext, NeighboursError> {
        let here = self.voice.cwd.as_deref().map(Path::new);
        let (_, here) = folders(&self.disk, &self.environment, here);
        let own = project_sources::Own {
            session: self.voice.session_id.as_deref(),
            pid: Identity::ancestors().first().map_or(0, |client| client.pid),
        };
        let panes = here.as_ref().zip(Homes::find(&self.environment).ok());
        let panes = panes.map(|(root, homes)| {
            let now = self.mesh.journal().now();
            project_sources::panes(&self.disk, &homes, root, &own, now)
        });
        let project = here.map(|here| {
            Project::load(
                &self.disk,
                &self.environment,
                &here,
                &ProjectOverrides::default(),
            )
        });
        let source = match project {
            Some(Ok(project)) => {
                let paths = &project.places.ledger;
                let since = self.mesh.told_at(&self.voice)?;
                Some(project_sources::ledger(
                    &self.disk,
                    paths,
                    since,
                    &self.voice.agent,
                ))
            }
            Some(Err(ProjectError::Foreign { .. })) | None => None,
            Some(Err(error)) => Some(Source::Broken(format!(
                "the project cannot be read: {error}"
            ))),
        };
        // A project without a ledger lacks nothing.
        let fault = self.fault.clone().map(Source::Broken);
        let left_alone = project_sources::left_alone(&self.disk, &self.mesh);
        let sources = panes
            .into_iter()
            .chain(source)
            .chain(fault)
            .chain(left_alone);
        let sources = sources.filter(|source| !matches!(source, Source::Missing(_)));
        Ok(DigestContext {
            sources: sources.collect(),
            is_sandboxed: self.is_sandboxed,
        })
    }

    /// Returns the text between two calls of tools, and with a person's prompt: messages, other
    /// news, and who else works on the files that the tool has written. For a sub-agent's tools
    /// only the latter: the agent itself never reads the sub-agent's context.
    ///
    /// The others' messages count as delivered once `say` has written them, and all before them.
    pub(super) fn between(
        &mut self,
        word: &str,
        bytes: &[u8],
        is_helper: bool,
        say: impl FnOnce(&str) -> bool,
    ) -> InboxResult {
        let mut met = InboxResult::default();
        let synced = met.keep(self.bring_in_line()).unwrap_or_default();
        met.keep(self.mesh.renew_claims(&self.voice));
        let (changed, root) = self.changed(bytes);
        let held = self
            .mesh
            .held_against(|file| changed.may_take_in(file), &self.voice);
        let held = met.keep(held).unwrap_or_default();
        let held = changed.met(held, When::After, &self.disk, &self.environment);
        met.text = warning(&held.all(), &self.voice.agent);
        // Holders are notified only of edits that are certain.
        met.keep(self.mesh.tell_holders(&held.sure, &self.voice));
        let own = self.disk.canonicalize(self.mesh.folder());
        let own = own.unwrap_or_else(|_| self.mesh.folder().to_owned());
        // No one has a lease on files that all may edit.
        let edited = changed.files(&self.disk, &own, root.as_deref());
        met.keep(self.mesh.lease_edited(&edited, &self.voice));
        let conflicts = self.conflicts(&held.sure, &edited, is_helper);
        let conflicts = met.keep(conflicts).unwrap_or_default();
        met.text.push_str(&conflicts);
        if changed.is_in(&own) {
            met.text.push_str(&self.not_taken(&synced));
        }
        if !is_helper {
            let text = &mut met.text;
            let handed = self.mesh.hand_over(&self.voice, word, |digest| {
                text.push_str(&digest.text);
                say(text)
            });
            met.keep(handed);
        }
        met
    }

    /// Takes note of conflicts with other agents' edits, and returns what this session is to read about them.
    fn conflicts(
        &mut self,
        held: &[Lease],
        edited: &[String],
        is_helper: bool,
    ) -> Result<String, NeighboursError> {
        let homes = Homes::find(&self.environment)?;
        let ids = self.environment.ids()?;
        let now = self.mesh.journal().now();
        let observer = Observer::new(&self.disk, (&self.environment, &homes), &ids, now);
        Ok(observer.after_edit(&mut self.mesh, &self.voice, held, edited, is_helper)?)
    }

    /// Returns the text for an agent that has just written the bridge file, about entries that were
    /// not applied. An agent gets those in its own name as messages.
    fn not_taken(&self, synced: &Synced) -> String {
        let is_other = |by: Option<&AgentName>| by != Some(&self.voice.agent);
        let rejected = synced.rejected.iter();
        let rejected = rejected.filter(|rejected| is_other(rejected.by.as_ref()));
        let rejected = rejected.map(|rejected| {
            format!(
                "The bridge file was not applied: {}; your version is in {}\n",
                quoted(&rejected.error.to_string()),
                quoted(&rejected.kept.to_string_lossy())
            )
        });
        let conflicts = synced.conflicts.iter();
        let conflicts = conflicts.filter(|conflict| is_other(Some(&conflict.by)));
        let conflicts = conflicts.take(MOST_CONFLICTS).map(|conflict| {
            let what = format!("{} {}", conflict.item, conflict.reason);
            format!("Not applied from the bridge file: {}\n", quoted(&what))
        });
        rejected.chain(conflicts).collect()
    }

    /// Returns the changes of a tool, and the project's tree if it was looked up.
    fn changed(&self, bytes: &[u8]) -> (Changed, Option<PathBuf>) {
        let Ok(event) = Event::read(bytes) else {
            // A person's words, or a tool without files.
            return (Changed::default(), None);
        };
        let event = event.at_home(self.environment.path("HOME").as_deref());
        let (cwd, here) = folders(&self.disk, &self.environment, event.folder.as_deref());
        let by = |root: Option<&Path>| {
            let facts = facts(&self.disk, &self.environment, cwd.as_deref(), root);
            Changed::by(&self.disk, &event.action, &facts, None)
        };
        let changed = by(None);
        if changed.is_empty() || !matches!(event.action, Action::Shell(_)) {
            return (changed, None);
        }
        let load = |here: PathBuf| {
            Project::load(
                &self.disk,
                &self.environment,
                &here,
                &ProjectOverrides::default(),
            )
            .ok()
        };
        let root = here.and_then(load).map(|project| project.roots.tree);
        (by(root.as_deref()), root)
    }

    /// Marks messages as seen: the model has been called with those that the session got before its
    /// turn was over.
    pub(super) fn at_rest(&mut self) -> InboxResult {
        let mut met = InboxResult::default();
        met.keep(self.mesh.seen(&self.voice, "stop"));
        met
    }

    /// Tells the others that the session ends, and gives back what it had claimed.
    pub(super) fn at_end(&mut self) -> InboxResult {
        let mut met = InboxResult::default();
        met.keep(self.mesh.end_session(&self.voice, "its client ended it"));
        met.keep(self.bring_in_line());
        met
    }

    fn bring_in_line(&mut self) -> Result<Synced, NeighboursError> {
        self.mesh.settle()?;
        let bridge = Bridge::of(&self.disk, &self.mesh);
        let synced = bridge.sync(&mut self.mesh)?;
        self.write_outputs()?;
        Ok(synced)
    }

    /// Writes results that are due to the output files of their tasks. Costs a look at the board if none is.
    fn write_outputs(&mut self) -> Result<(), NeighboursError> {
        let Self {
            mesh,
            disk,
            environment,
            ..
        } = self;
        let folders = |task: &Task| {
            let Ok(homes) = Homes::find(environment) else {
                return Vec::new();
            };
            let settings = MeshSettings::load(disk, &homes.user_config).unwrap_or_default();
            OutputFolders::new(disk, environment, &homes, &settings).of(task.cwd.as_deref())
        };
        mesh.write_outputs(&folders)?;
        Ok(())
    }
}

impl From<NeighboursError> for Problem {
    fn from(error: NeighboursError) -> Self {
        Self::Neighbours(Box::new(error))
    }
}
