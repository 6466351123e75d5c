//! [`Roster`]: the registry with what the configuration prefers and what this machine trusts.
//!
//! A registry may come with a cloned repository. Only an entry that was registered or trusted on
//! this machine is ever started, and `scout` only as this program carries it.

use std::path::PathBuf;
use std::time::Duration;

use callosum_arbiter::circuit::Admission;
use callosum_arbiter::suggest::nearest;
use callosum_config::{ExecutorSettings, Subject, Trust};
use callosum_executor::registry::{EMBEDDED_ID, Executor, LoadError, Registry, Status};
use callosum_host::FileLock;

use crate::context::Context;
use crate::executor::registration_line;
use crate::executor_readiness::Lack;
use crate::executor_selection::{Candidate, Choice};
use crate::{CommandError, Exit, config_errors, disk_errors, open_ledger};

/// Executors that may get tasks, in the order of preference.
pub struct Roster<'a> {
    context: &'a Context,
    path: PathBuf,
    registry: Registry,
    trust: Trust,
    /// Held from reading to writing, so that two changes at once do not lose one another.
    _lock: Option<FileLock>,
}

impl<'a> Roster<'a> {
    /// Reads the registry, to look at it.
    pub fn load(context: &'a Context) -> Result<Self, CommandError> {
        Self::read(context, None)
    }

    /// Reads the registry, to change it: others wait until this is dropped.
    pub fn load_for_change(context: &'a Context) -> Result<Self, CommandError> {
        let lock = open_ledger::lock(context, "registry")?;
        Self::read(context, Some(lock))
    }

    fn read(context: &'a Context, lock: Option<FileLock>) -> Result<Self, CommandError> {
        let path = context.project.places.registry.clone();
        let mut registry = Registry::load(&context.disk, &path)
            .map_err(|error| unreadable(&error))?
            .unwrap_or_else(Registry::initial);
        for problem in registry.problems() {
            context
                .report
                .warn(&format!("registry.json: {problem}"), None);
        }
        let embedded = Executor::embedded();
        if let Some(entry) = registry.get(EMBEDDED_ID)
            && entry.fingerprint() != embedded.fingerprint()
        {
            let what = "registry.json has a different command for `scout`; using the built-in one";
            context.report.warn(what, None);
        }
        registry.put(&embedded);
        let trust = context.project.trust.clone();
        Ok(Self {
            context,
            path,
            registry,
            trust,
            _lock: lock,
        })
    }

    /// The registry, with the embedded executor as it really is.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Whether `.calrc` lets an executor be chosen, and in which order.
    pub fn preference(&self, id: &str) -> ExecutorSettings {
        self.context.project.settings.executor(id)
    }

    /// Whether this machine may start it.
    ///
    /// What cannot be looked at is not trusted: a file of the project that it would start.
    pub fn is_trusted(&self, executor: &Executor) -> bool {
        executor.fingerprint() == Executor::embedded().fingerprint()
            || self
                .subject(executor)
                .is_ok_and(|subject| self.trust.is_trusted(subject))
    }

    /// Whether an entry was registered or trusted on this machine; the files that its command names
    /// may have changed since.
    pub fn is_of_here(&self, executor: &Executor) -> bool {
        self.is_trusted(executor) || self.has_changed(executor)
    }

    /// Returns the subject of trust: the entry, the files of the project that its command runs, and
    /// the targets of the project's links that it may read or write.
    fn subject(&self, executor: &Executor) -> Result<Subject, CommandError> {
        let root = self.context.tree();
        let home = self.context.environment.path("HOME");
        let fingerprint = executor.fingerprint_in(&self.context.disk, root, home.as_deref());
        fingerprint
            .map(Subject::Executor)
            .map_err(|error| disk_errors::disk_failed(&error))
    }

    /// Whether one that is not trusted was, while the files of the project that it names held
    /// something else.
    pub fn has_changed(&self, executor: &Executor) -> bool {
        let entry = Subject::Entry(executor.fingerprint());
        !self.is_trusted(executor) && self.trust.is_trusted(entry)
    }

    /// Returns the executor of this name, in any state.
    pub fn known(&self, id: &str) -> Result<&Executor, CommandError> {
        self.registry.get(id).ok_or_else(|| {
            let all = self.registry.executors().iter();
            let meant = nearest(id, all.map(|executor| executor.id.as_str()));
            let meant = meant.map_or_else(String::new, |id| format!(", did you mean `{id}`?"));
            CommandError::new(
                Exit::Usage,
                format!("no executor `{id}` is registered{meant}"),
            )
            .hint("callosum executor list")
        })
    }

    /// The executor of this name, if this machine may start it.
    pub fn startable(&self, id: &str) -> Result<&Executor, CommandError> {
        let executor = self.known(id)?;
        if self.is_trusted(executor) {
            return Ok(executor);
        }
        let (what, hint) = if self.has_changed(executor) {
            let what = format!(
                "executor `{id}` changed since it was trusted: a file that its command names, or a link in \
                 a path that it may read or write"
            );
            (what, format!("callosum trust {id}"))
        } else {
            let what = format!(
                "executor `{id}` comes with the repository and is not trusted on this machine"
            );
            (what, "callosum trust --list".to_owned())
        };
        Err(CommandError::new(Exit::Environment, what).hint(hint))
    }

    /// The executor of this name, if it may be given tasks now.
    pub fn usable(&self, id: &str) -> Result<&Executor, CommandError> {
        let executor = self.startable(id)?;
        if !self.preference(id).enabled.value {
            let what = format!("executor `{id}` is disabled in .calrc");
            return Err(CommandError::new(Exit::Environment, what)
                .hint(format!("callosum executor enable {id}")));
        }
        if executor.status != Status::Active {
            let why = executor.inactive_reason();
            let why = why.unwrap_or("its last handshake failed");
            let what = format!("executor `{id}` is inactive: {why}");
            return Err(CommandError::new(Exit::Environment, what)
                .hint(format!("callosum executor check {id}")));
        }
        Ok(executor)
    }

    /// The executor of this name, if it may be given a task now: a server of tools may not, where its entry
    /// names none that takes a prompt.
    pub fn taker(&self, id: &str) -> Result<&Executor, CommandError> {
        let executor = self.usable(id)?;
        if executor.takes_tasks() {
            return Ok(executor);
        }
        let what = format!("`{id}` is an MCP server without a tool that takes tasks");
        Err(CommandError::new(Exit::Usage, what).hint(format!(
            "call its tools from plans (`callosum capability list`), or name a tool that takes a prompt: {} \
             --tool NAME",
            registration_line(executor)
        )))
    }

    /// Returns the executors for tasks that name none, in the order of preference: enabled, active
    /// and trusted. `scout` is among them only if `.calrc` names it.
    pub fn choice(&self) -> Choice {
        let named = self.context.project.settings.executors();
        let candidates = self
            .registry
            .executors()
            .iter()
            .filter(|executor| executor.status == Status::Active && self.is_trusted(executor))
            .filter(|executor| executor.takes_tasks())
            .filter(|executor| !executor.is_embedded() || named.contains_key(&executor.id))
            .filter_map(|executor| {
                let preference = self.preference(&executor.id);
                preference.enabled.value.then(|| Candidate {
                    id: executor.id.clone(),
                    priority: preference.priority.value,
                    is_left_alone: self.left_alone(&executor.id).is_some(),
                    lacks_login: self.lacks_login(executor),
                })
            });
        Choice::among(candidates.collect(), self.embedded().is_some())
    }

    /// `scout`, which can always be asked, unless it is disabled.
    pub fn embedded(&self) -> Option<String> {
        let is_enabled = self.preference(EMBEDDED_ID).enabled.value;
        is_enabled.then(|| EMBEDDED_ID.to_owned())
    }

    /// Whether no login for an executor was found.
    fn lacks_login(&self, executor: &Executor) -> bool {
        self.lacked_login(&executor.id).is_some()
    }

    /// Returns the missing login of an executor, with the remedy; `None` if there may be a login.
    pub fn lacked_login(&self, id: &str) -> Option<Lack> {
        // There a client may keep its login in the system's keychain, where it is not looked for.
        if cfg!(target_os = "macos") {
            return None;
        }
        let lack = Lack::of(self.context, self.registry.get(id)?)?;
        lack.is_login.then_some(lack)
    }

    /// Returns how long an executor is still paused after repeated failures.
    pub fn left_alone(&self, id: &str) -> Option<Duration> {
        match self.context.circuits().look(id) {
            Ok(Admission::Open { left }) => Some(left),
            _ => None,
        }
    }

    /// Adds or replaces an entry.
    pub fn put(&mut self, executor: &Executor) {
        self.registry.put(executor);
    }

    /// Takes an entry out.
    pub fn remove(&mut self, id: &str) -> bool {
        self.registry.remove(id)
    }

    /// Lets this machine start it.
    pub fn trust(&mut self, executor: &Executor) -> Result<(), CommandError> {
        let subject = self.subject(executor)?;
        let entry = Subject::Entry(executor.fingerprint());
        self.trust
            .record(subject)
            .and_then(|()| self.trust.record(entry))
            .map_err(|error| config_errors::trust(&error))
    }

    /// Lets this machine start it no more.
    pub fn forget(&mut self, executor: &Executor) -> Result<(), CommandError> {
        let subject = self.subject(executor)?;
        let entry = Subject::Entry(executor.fingerprint());
        self.trust
            .forget(subject)
            .and_then(|()| self.trust.forget(entry))
            .map_err(|error| config_errors::trust(&error))
    }

    /// Writes the registry.
    pub fn save(&self) -> Result<(), CommandError> {
        self.registry
            .save(&self.context.disk, &self.path)
            .map_err(|error| {
                CommandError::from_error(Exit::Environment, &error)
                    .coded(Some(callosum_ledger::ErrorCode::DiskFailure))
            })
    }
}

fn unreadable(error: &LoadError) -> CommandError {
    CommandError::from_error(Exit::Environment, error)
        .hint("repair registry.json, or move it away and run `callosum init` to create a new one")
}
