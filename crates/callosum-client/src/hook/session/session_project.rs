//! [`SessionProject`]: the project of an event, where sessions are kept in it, and its trail.

use std::{path::Path, time::Duration};

use callosum_host::{Clock, Disk, DiskError, process::Cancel};
use callosum_ledger::{AuditEvent, Event, Journal, LedgerPaths, notice};
use callosum_session::{Session, SessionError, Zones, trajectory::Agent};

use super::{hook_input::HookInput, mesh_inbox::NeighboursError};
use crate::intervention::WatchError;
use crate::{
    hook::gather_facts::{journal, session_place},
    renames::Renames,
    session_git::Committed,
    transcript::SaveError,
};
use callosum_config::{
    Environment, EnvironmentError, Homes, Project, ProjectError, ProjectOverrides,
};

/// Longest wait for each lock of the journal.
const PATIENCE: Duration = Duration::from_millis(2);

/// Time limit for git to show a file.
const PATIENCE_WITH_GIT: Duration = Duration::from_millis(1500);

/// A project in which sessions are kept.
pub(super) struct SessionProject {
    pub(super) disk: Disk,
    environment: Environment,
    pub(super) clock: Clock,
    project: Project,
    pub(super) zones: Zones,
    /// Whether all files of sessions that are committed here were lost.
    pub(super) is_lost: bool,
    cancel: Cancel,
    patience_with_git: Duration,
}

/// The reason why an event had no effect.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    /// The project cannot be read.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A session's files cannot be used.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// No checkpoint was written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The system gives no pipe.
    #[error("nothing can be waited for")]
    Cancel(#[source] std::io::Error),
    /// The environment of this process is invalid.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The other agents cannot be met.
    #[error(transparent)]
    Neighbours(Box<NeighboursError>),
    /// Errors of tools cannot be recorded.
    #[error(transparent)]
    Watch(#[from] WatchError),
}

/// A problem before there is a project.
pub(super) struct Unfound {
    disk: Disk,
    environment: Environment,
    pub(super) problem: Box<Problem>,
}

impl SessionProject {
    /// The project that a client is in, where sessions are kept in it. Creates nothing.
    pub(super) fn find(event_folder: Option<&Path>) -> Result<Option<Self>, Unfound> {
        let disk = Disk::real();
        let environment = Environment::from_process();
        Self::within(&disk, &environment, event_folder).map_err(|problem| Unfound {
            disk,
            environment,
            problem: Box::new(problem),
        })
    }

    fn within(
        disk: &Disk,
        environment: &Environment,
        event_folder: Option<&Path>,
    ) -> Result<Option<Self>, Problem> {
        let Some(here) = session_place(disk, environment, event_folder) else {
            return Ok(None);
        };
        let project = match Project::load(disk, environment, &here, &ProjectOverrides::default()) {
            Ok(project) => project,
            // No sessions of ours are kept among another user's files.
            Err(ProjectError::Foreign { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let zones = Zones {
            tree: project.roots.tree.clone(),
            root: project.roots.sessions.clone(),
        };
        let is_lost = !zones.are_used(disk)?;
        if is_lost && !project.roots.commit_sessions(disk) {
            return Ok(None);
        }
        Ok(Some(Self {
            disk: disk.clone(),
            environment: environment.clone(),
            clock: environment.clock()?,
            project,
            zones,
            is_lost,
            cancel: Cancel::new().map_err(Problem::Cancel)?,
            patience_with_git: environment.patience(PATIENCE_WITH_GIT)?,
        }))
    }

    /// Paths of the project's ledger.
    pub(super) fn ledger(&self) -> &LedgerPaths {
        &self.project.places.ledger
    }

    /// The project as an agent sees it.
    pub(super) fn session(&self, agent: Agent) -> Session<'_> {
        Session {
            disk: &self.disk,
            zones: &self.zones,
            clock: &self.clock,
            agent,
        }
    }

    /// The last commit of the session's files.
    pub(super) fn committed(&self) -> Committed<'_> {
        Committed {
            environment: &self.environment,
            root: &self.zones.root,
            patience: self.patience_with_git,
            cancel: &self.cancel,
            may_be_merging: self.project.roots.may_be_merging(&self.disk),
        }
    }

    /// The renames of the tree, by which moved files are followed.
    pub(super) fn renames(&self) -> Renames<'_> {
        Renames::new(Committed {
            root: &self.zones.tree,
            ..self.committed()
        })
    }

    /// Records an error on the trail. If that fails, it is dropped.
    pub(super) fn tell(&self, client: &str, word: &str, input: &HookInput, problem: &Problem) {
        let journal = journal(&self.disk, &self.project.homes, Some(&self.project));
        let event = failed(client, word, problem).with("session_id", input.session.as_str());
        tell(&self.disk, &self.environment, &journal, &event);
    }
}

impl Unfound {
    /// A problem that no project has.
    pub(super) fn of(environment: Environment, problem: Problem) -> Self {
        Self {
            disk: Disk::real(),
            environment,
            problem: Box::new(problem),
        }
    }

    /// Tells the machine's trail that something went wrong.
    pub(super) fn tell(&self, client: &str, word: &str) {
        let Ok(homes) = Homes::find(&self.environment) else {
            return;
        };
        let journal = journal(&self.disk, &homes, None);
        let event = failed(client, word, &self.problem);
        tell(&self.disk, &self.environment, &journal, &event);
    }
}

fn failed(client: &str, word: &str, problem: &Problem) -> AuditEvent {
    let mut message = problem.to_string();
    let mut cause = std::error::Error::source(problem);
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    AuditEvent {
        executor: Some(client.to_owned()),
        status: Some("failed".to_owned()),
        ..AuditEvent::new(Event::Error)
    }
    .with("hook", word)
    .with("message", message)
}

fn tell(disk: &Disk, environment: &Environment, journal: &Journal, event: &AuditEvent) {
    let (Ok(clock), Ok(ids)) = (environment.clock(), environment.ids()) else {
        return;
    };
    drop(notice(disk, journal, &ids, (event, clock.now()), PATIENCE));
}
