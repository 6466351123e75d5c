//! [`Context`]: the project, machine and settings that every command on a project works with.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use callosum_arbiter::circuit::Circuits;
use callosum_arbiter::delegation::Provenance;
use callosum_arbiter::slots::Slots;
use callosum_config::{
    Environment, ForeignMark, Key, Origin, Places, Project, ProjectOverrides, Subject,
};
use callosum_executor::output_format::LONGEST_CLIENT_WAIT;
use callosum_executor::runner::{Confiner, LastTranscript};
use callosum_executor::runner::{ExecutionEnvironment, Timeouts};
use callosum_host::disk::{EntryKind, HeldScratch, Scratch};
use callosum_host::process::Cancel;
use callosum_host::{Clock, Disk, Ids};
use callosum_ledger::LedgerPaths;
use callosum_ledger::checkpoint::TrustStore;
use callosum_redact::terminal_escape::on_one_line;
use callosum_sandbox::ForkServer;
use callosum_sandbox::{
    Connections, DeniedPath, LeadsOutside, Names, Protected, RequestedPaths, System, Upstream,
    leads_outside, personal,
};
use callosum_session::Zones;
use callosum_session::trajectory::Agent;

use crate::disk_errors::disk_failed;
use crate::model::ModelCache;
use crate::report::Reporter;
use crate::{CommandError, Exit, config_errors, shell_word};

/// The agent that asks, unless a person asks at a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requester {
    /// The agent's name.
    pub agent: Agent,
    /// Its session, as its client names it.
    pub session: Option<String>,
}

/// Receives a line about each thing that is being done.
pub type ProgressSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A caller that is an agent, and the means to reach it while its request is carried out.
pub struct Invocation {
    /// The caller.
    pub by: Requester,
    /// Receives the progress of the request.
    pub telling: Option<ProgressSink>,
    /// Asked when they do not wait any longer.
    pub cancel: Cancel,
}

/// A project, the machine under it, and the receiver of reports.
pub struct Context {
    /// Receives warnings, notices and progress.
    pub report: Arc<dyn Reporter>,
    /// The files of the machine.
    pub disk: Disk,
    /// The clock.
    pub clock: Clock,
    /// Makes new ids.
    pub ids: Ids,
    /// The environment variables of the process.
    pub environment: Environment,
    /// The folder that paths on the command line are relative to.
    pub folder: PathBuf,
    /// The project, with its settings.
    pub project: Project,
    /// Canceled when the user presses Ctrl-C.
    pub cancel: Cancel,
    /// The agent that asks, unless it is a person.
    pub asker: Option<Requester>,
    /// Receives progress, in addition to the terminal.
    pub telling: Option<ProgressSink>,
    /// The folder of this process's temporary folders, made when the first is needed.
    held: OnceLock<HeldScratch>,
    /// Confinement that this machine offers for executors, probed before the first run.
    confiner: OnceLock<Arc<Confiner>>,
    /// The user's models, read once per process.
    pub(crate) models: Arc<ModelCache>,
}

impl Context {
    /// Finds the project and reads its configuration. Creates nothing.
    ///
    /// `cancel` is asked for when the use case is to stop.
    pub fn gather(
        environment: Environment,
        directory: Option<&Path>,
        report: Arc<dyn Reporter>,
        cancel: Cancel,
    ) -> Result<Self, CommandError> {
        Self::read(environment, directory, report, cancel, None)
    }

    /// The same for an agent, whose signals are not those of this process.
    pub fn gather_for(
        environment: Environment,
        directory: Option<&Path>,
        report: Arc<dyn Reporter>,
        asked: Invocation,
    ) -> Result<Self, CommandError> {
        let context = Self::read(environment, directory, report, asked.cancel, None)?;
        Ok(Self {
            asker: Some(asked.by),
            telling: asked.telling,
            ..context
        })
    }

    /// Reads the project again, after something in it was changed.
    pub fn anew(&self) -> Result<Self, CommandError> {
        Self::read(
            self.environment.clone(),
            Some(&self.folder),
            Arc::clone(&self.report),
            self.cancel.clone(),
            None,
        )
    }

    /// The same as it were if this was trusted.
    pub fn as_if_trusted(&self, subject: Subject) -> Result<Self, CommandError> {
        Self::read(
            self.environment.clone(),
            Some(&self.folder),
            Arc::clone(&self.report),
            self.cancel.clone(),
            Some(subject),
        )
    }

    /// The same project with its state in its tree, whether it is there yet or not; for `init`.
    pub fn in_tree(&self) -> Result<Self, CommandError> {
        let environment = self.environment.with("CALLOSUM_STATE", "project");
        let named = (self.folder.as_path() != self.tree()).then(|| self.tree());
        Self::read(
            environment,
            Some(named.unwrap_or(&self.folder)),
            Arc::clone(&self.report),
            self.cancel.clone(),
            None,
        )
    }

    /// The same for one call of a plan: paths are from the tree's root, nothing is drawn, and it ends when
    /// the call's `cancel` is asked for.
    pub fn for_call(&self, cancel: &Cancel) -> Result<Self, CommandError> {
        let context = Self::read(
            self.environment.clone(),
            Some(self.tree()),
            self.report.without_progress(),
            cancel.clone(),
            None,
        )?;
        Ok(Self {
            asker: self.asker.clone(),
            ids: self.ids.clone(),
            clock: self.clock.clone(),
            models: Arc::clone(&self.models),
            ..context
        })
    }

    fn read(
        environment: Environment,
        directory: Option<&Path>,
        report: Arc<dyn Reporter>,
        cancel: Cancel,
        as_if_trusted: Option<Subject>,
    ) -> Result<Self, CommandError> {
        let disk = Disk::real();
        let here = std::env::current_dir().map_err(|error| {
            CommandError::because(Exit::Environment, "cannot read the current folder", &error)
        })?;
        let values = ProjectOverrides {
            root: directory,
            settings: &[],
            as_if_trusted,
        };
        let project = Project::load(&disk, &environment, &here, &values)
            .map_err(|error| config_errors::project(&error))?;
        for warning in &project.settings.warnings {
            report.warn(&warning.to_string(), None);
        }
        let clock = environment
            .clock()
            .map_err(|error| config_errors::environment(&error))?;
        let ids = environment
            .ids()
            .map_err(|error| config_errors::environment(&error))?;
        let folder = directory.map_or_else(|| here.clone(), |directory| here.join(directory));
        Ok(Self {
            report,
            disk,
            clock,
            ids,
            environment,
            folder,
            project,
            cancel,
            asker: None,
            telling: None,
            held: OnceLock::new(),
            confiner: OnceLock::new(),
            models: Arc::default(),
        })
    }

    /// Says that a file of another user would have made a folder above the root, and was ignored.
    pub fn warn_of_foreign_mark(&self) {
        let Some(ForeignMark { path, user }) = self.project.roots.foreign.first() else {
            return;
        };
        let folder = path.parent().unwrap_or(path);
        let effect = if folder == self.project.roots.tree {
            "this project does not use it"
        } else {
            "its folder is not used as the project root"
        };
        let what = format!(
            "ignored {}: it belongs to another user (uid {user}), so {effect}",
            on_one_line(&path.display().to_string())
        );
        let folder = shell_word(&folder.display().to_string());
        self.report
            .warn(&what, Some(&format!("callosum -C {folder} status")));
    }

    /// Warns about settings of `.calrc` that are not in force because the user has not trusted them
    /// here.
    pub fn warn_of_waiting(&self) {
        for waiting in &self.project.waiting {
            let what = format!(
                ".calrc sets `{}` to `{}`, which is not trusted yet; using the default",
                waiting.key.name(),
                waiting.setting.value,
            );
            self.report.warn(&what, Some("callosum trust --list"));
        }
    }

    /// Whether the project's state is in its own tree, or would be.
    pub fn keeps_state_in_tree(&self) -> bool {
        self.project.places.state.is_in_tree
    }

    /// Whether anything was prepared in the project, to be kept or read.
    pub fn is_prepared(&self) -> Result<bool, CommandError> {
        let Places {
            ledger,
            registry,
            calrc,
            ..
        } = &self.project.places;
        let ours = [ledger.ledger.clone(), registry.clone(), calrc.clone()];
        for path in ours {
            let is_there = self.disk.exists(&path);
            if is_there.map_err(|error| disk_failed(&error))? {
                return Ok(true);
            }
        }
        let are_used = self.zones().are_used(&self.disk);
        are_used.map_err(|error| disk_failed(&error))
    }

    /// Returns the agent that asks; a default agent if a person asks.
    pub fn asker(&self) -> Requester {
        self.asker.clone().unwrap_or_else(|| Requester {
            agent: Agent::default(),
            session: None,
        })
    }

    /// Whether a client asks by a tool of ours.
    pub fn is_asked_by_tool(&self) -> bool {
        self.asker.is_some()
    }

    /// Returns a new unique id.
    pub fn new_id(&self) -> String {
        self.ids.uuid_v4()
    }

    /// The folder that keeps the project's state.
    pub fn state(&self) -> &Path {
        &self.project.roots.state
    }

    /// The folder that keeps the files of sessions.
    pub fn sessions(&self) -> &Path {
        &self.project.roots.sessions
    }

    /// Returns the places of the project's zones.
    pub fn zones(&self) -> Zones {
        Zones {
            tree: self.tree().to_owned(),
            root: self.sessions().to_owned(),
        }
    }

    /// Whether files of sessions are committed there, also where all of them are lost.
    pub fn commit_sessions(&self) -> bool {
        self.project.roots.commit_sessions(&self.disk)
    }

    /// Whether git may be in the middle of a merge where sessions are kept.
    pub fn may_be_merging(&self) -> bool {
        self.project.roots.may_be_merging(&self.disk)
    }

    /// The tree that is read.
    pub fn tree(&self) -> &Path {
        &self.project.roots.tree
    }

    /// Returns the paths of the ledger's files.
    pub fn ledger_paths(&self) -> LedgerPaths {
        self.project.places.ledger.clone()
    }

    /// Returns the store of the project's checkpoints. Creates nothing.
    pub fn trust_store(&self) -> TrustStore {
        TrustStore::in_home(&self.project.homes.machine, self.state())
    }

    /// Returns the slots that limit concurrent tasks of executors over all runs.
    pub fn slots(&self) -> Slots {
        Slots {
            disk: self.disk.clone(),
            folder: self.project.homes.machine.join("slots"),
        }
    }

    /// Returns the circuit breakers of the project's executors.
    pub fn circuits(&self) -> Circuits {
        Circuits {
            disk: self.disk.clone(),
            file: self.project.homes.circuits(self.state()),
            clock: self.clock.clone(),
            rules: self.project.settings.circuit_rules(),
        }
    }

    /// Returns the environment that executors run in.
    pub fn surroundings(&self) -> Result<ExecutionEnvironment, CommandError> {
        let self_program = std::env::current_exe().map_err(|error| {
            CommandError::because(
                Exit::Environment,
                "cannot find the path of this program",
                &error,
            )
        })?;
        let temporary = self.temporary()?;
        let confiner = self.confiner.get_or_init(|| {
            let server = ForkServer::new(&self_program);
            let system = System::try_out(&server, &self_program, &temporary, &self.disk);
            let protected = self.protected();
            let variable = |name: &str| self.environment.get(name)?.to_str().map(str::to_owned);
            let upstream = Upstream::of(variable);
            let confiner = Confiner::new(server, system, protected, Names::System);
            Arc::new(confiner.by_way_of(upstream))
        });
        let patience = |usual| {
            let least = self.environment.patience(usual);
            least.map_err(|error| config_errors::environment(&error))
        };
        let settings = &self.project.settings;
        let quiet = settings.quiet_timeout();
        let is_usual = settings.get(Key::ExecutorTimeoutMs).origin == Origin::Default;
        Ok(ExecutionEnvironment {
            root: self.tree().to_owned(),
            self_program,
            environment: self
                .environment
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            confiner: Some(Arc::clone(confiner)),
            connections: Connections::default(),
            transcript: LastTranscript::default(),
            temporary,
            cancel: self.cancel.clone(),
            patience: Timeouts {
                quiet: if is_usual { patience(quiet)? } else { quiet },
                total: None,
            },
            slowest_handshake: patience(Duration::ZERO)?,
            client_wait: LONGEST_CLIENT_WAIT,
            waits: settings.limits(0).recovery.retry_max,
            disk: self.disk.clone(),
            clock: self.clock.clone(),
        })
    }

    /// Returns the part of an executor's wish to write that is denied even if its entry grants it;
    /// `None` if all of it is granted.
    pub fn withheld(&self, wish: &str) -> Option<DeniedPath> {
        let home = self.environment.path("HOME");
        self.protected()
            .withheld(wish, self.tree(), home.as_deref(), &self.disk)
    }

    /// The first place an entry names that leads outside the project though the entry names none there.
    pub fn leads_outside(&self, wishes: &RequestedPaths) -> Option<LeadsOutside> {
        let home = self.environment.path("HOME");
        leads_outside(wishes, self.tree(), home.as_deref(), &self.disk)
    }

    /// Returns the paths that no executor may write: the ledger and everything else that steers
    /// this program.
    fn protected(&self) -> Protected {
        let Places {
            ledger, registry, ..
        } = self.project.places.clone();
        let homes = &self.project.homes;
        let sessions = [self.state(), self.tree(), self.sessions()].map(|root| {
            let (tree, root) = (self.tree().to_owned(), root.to_owned());
            Zones { tree, root }.own()
        });
        let mut hidden = vec![homes.machine.clone(), ledger.locks.clone()];
        hidden.extend(sessions);
        let mut paths = vec![
            ledger.ledger,
            ledger.hashlog,
            ledger.history,
            ledger.audit,
            ledger.locks,
            ledger.answers,
            ledger.quarantine,
            ledger.backups,
            registry,
            homes.machine.clone(),
            homes.user_config.clone(),
            homes.ck(),
        ];
        paths.extend(ledger.audit_buffer);
        if let Some(home) = self.environment.path("HOME") {
            paths.extend(personal(&home, &self.disk));
        }
        Protected {
            roots: vec![self.state().to_owned(), self.tree().to_owned()],
            paths,
            hidden,
        }
    }

    /// A private folder that is removed with everything in it when this is dropped.
    pub fn scratch(&self) -> Result<Scratch, CommandError> {
        self.disk
            .scratch(&self.temporary()?)
            .map_err(|error| disk_failed(&error))
    }

    /// Returns the folder for this process's temporary folders, which only this process enters.
    /// Removes the remains of killed processes in the same place first.
    fn temporary(&self) -> Result<PathBuf, CommandError> {
        if let Some(held) = self.held.get() {
            return Ok(held.path().to_owned());
        }
        let all = self.project.homes.machine.join("scratch");
        let held = self
            .project
            .homes
            .create_machine(&self.disk)
            .and_then(|_| self.disk.create_private_dir(&all))
            .and_then(|_| {
                if let Err(error) = self.disk.sweep_scratch(&all) {
                    // Remains of other processes must not stop this one.
                    self.report.detail(&disk_failed(&error).one_line());
                }
                self.disk.held_scratch(&all)
            })
            .map_err(|error| disk_failed(&error))?;
        Ok(self.held.get_or_init(|| held).path().to_owned())
    }

    /// Returns the provenance of a run: the checkout, the folder's name, the branch in git's
    /// `HEAD`, and the caller.
    pub fn provenance(&self) -> Provenance {
        let name = self.state().file_name().and_then(|name| name.to_str());
        let asker = self.asker.as_ref();
        Provenance {
            repo: name.map(str::to_owned),
            branch: self.branch(),
            asked_by: asker.map(|asker| asker.agent.to_string()),
            asked_in: asker.and_then(|asker| asker.session.clone()),
        }
    }

    fn branch(&self) -> Option<String> {
        let git = self.tree().join(".git");
        let is_folder = self.disk.stat(&git).ok()??.kind == EntryKind::Folder;
        let folder = if is_folder {
            git
        } else {
            // A linked worktree: one line names the folder that has its HEAD.
            let text = String::from_utf8(self.disk.read(&git).ok()?).ok()?;
            let place = text.strip_prefix("gitdir: ")?.trim_end();
            git.parent()?.join(place)
        };
        let head = String::from_utf8(self.disk.read(&folder.join("HEAD")).ok()?).ok()?;
        head.strip_prefix("ref: refs/heads/")
            .map(|branch| branch.trim_end().to_owned())
    }
}
