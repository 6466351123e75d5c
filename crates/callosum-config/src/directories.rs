//! [`Homes`]: the machine's state folder, and the user's configuration file.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;

use super::{environment::Environment, state_place::NewState};

/// Directories of state that belongs to no project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    /// `$CALLOSUM_HOME`, or `callosum` in the XDG state folder.
    pub machine: PathBuf,
    /// `$CALLOSUM_CONFIG`, or `callosum/config.toml` in the XDG configuration folder.
    pub user_config: PathBuf,
    /// `$CALLOSUM_STATE`: place of a project's new state.
    pub new_state: NewState,
}

impl Homes {
    /// Finds both. Nothing is created.
    ///
    /// As the XDG specification says, a relative XDG folder counts as not set. A relative path in
    /// a variable of our own is an error: it would name another place in each folder.
    pub fn find(environment: &Environment) -> Result<Self, HomesError> {
        Ok(Self {
            machine: place(
                environment,
                "CALLOSUM_HOME",
                ("XDG_STATE_HOME", ".local/state"),
                "callosum",
            )?,
            user_config: place(
                environment,
                "CALLOSUM_CONFIG",
                ("XDG_CONFIG_HOME", ".config"),
                "callosum/config.toml",
            )?,
            new_state: new_state(environment)?,
        })
    }

    /// The state of the project at `root` unless that is in its tree.
    pub fn project(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("projects").join(name.to_string())
    }

    /// Returns the folder in which events of the project at `root` wait while its journal cannot be
    /// written (`docs/formats/audit-buffer.md`).
    pub fn audit_buffer(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine
            .join("audit-buffer")
            .join(format!("{name}.jsonl"))
    }

    /// Returns the folder that records which entries answer which requests of the project at `root`
    /// (`docs/formats/reuse.md`).
    pub fn reuse(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("reuse").join(name.to_string())
    }

    /// Returns the folder of the detached delegations of the project at `root`
    /// (`docs/formats/detached-runs.md`).
    pub fn detached_runs(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("detached-runs").join(name.to_string())
    }

    /// The search index of the tree at `tree` (`docs/formats/search-index.md`).
    pub fn search_index(&self, tree: &Path) -> PathBuf {
        let name = Checksum::of(tree.as_os_str().as_bytes());
        let folder = self.machine.join("search").join(name.to_string());
        folder.join("find.db")
    }

    /// Returns the place of the circuits of the executors of the project at `root`
    /// (`docs/formats/circuits.md`).
    pub fn circuits(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("circuits").join(format!("{name}.json"))
    }

    /// Returns the place of the lists of tools that the servers of the project at `root` have
    /// (`docs/formats/server-tools.md`).
    pub fn server_tools(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("server-tools").join(name.to_string())
    }

    /// The manifests of capabilities that this machine accepted for the project at `root`
    /// (`docs/formats/capability.md`).
    pub fn accepted_capabilities(&self, root: &Path) -> PathBuf {
        self.capabilities("accepted", root)
    }

    /// Returns the place of the results of calls of capabilities in the project at `root`
    /// (`docs/formats/capability.md`).
    pub fn capability_outcomes(&self, root: &Path) -> PathBuf {
        self.capabilities("outcomes", root)
    }

    fn capabilities(&self, kind: &str, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        let folder = self.machine.join("capabilities").join(kind);
        folder.join(format!("{name}.json"))
    }

    /// Returns the folder of the locks of the runs of plans of the project at `root`
    /// (`docs/formats/plan-run.md`).
    pub fn plan_locks(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("plan-locks").join(name.to_string())
    }

    /// The compiled plans of the project at `root` (`docs/formats/compiled-plans.md`).
    pub fn compiled_plans(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("compiled-plans").join(name.to_string())
    }

    /// The machine's own journal, of what happened outside of projects
    /// (`docs/formats/hooks.md`).
    pub fn journal(&self) -> PathBuf {
        self.machine.join("journal")
    }

    /// Returns the folder of the messages between agents on this machine
    /// (`docs/formats/mesh-events.md`).
    pub fn mesh(&self) -> PathBuf {
        self.machine.join("mesh")
    }

    /// Files that two agents edit at the same time (`docs/formats/conflicts.md`).
    pub fn conflicts(&self) -> PathBuf {
        self.machine.join("conflicts")
    }

    /// The agents in terminals, as the last look found them (`docs/formats/pane-registry.md`).
    pub fn pane_registry(&self) -> PathBuf {
        self.machine.join("pane_registry.json")
    }

    /// The last event of each session, written by hooks (`docs/formats/pane-registry.md`).
    pub fn hook_events(&self) -> PathBuf {
        self.machine.join("hook-events")
    }

    /// Locks and rates of injections into panes (`docs/formats/pane-registry.md`).
    pub fn injections(&self) -> PathBuf {
        self.machine.join("injections")
    }

    /// The folder of the user's own rules for screens (`docs/panes/rules.md`).
    pub fn pane_rules(&self) -> PathBuf {
        self.user_config.with_file_name("panes")
    }

    /// Returns the folder that records which sessions have not got the start digest yet
    /// (`docs/formats/hooks.md`).
    pub fn untold(&self) -> PathBuf {
        self.machine.join("untold")
    }

    /// Returns the folder with the tokens that hooks have added to models' contexts, by day
    /// (`docs/formats/hooks.md`).
    pub fn hook_tokens(&self) -> PathBuf {
        self.machine.join("hook-tokens")
    }

    /// Errors that agents hit, and their fixes (`docs/formats/recall.md`).
    pub fn recall(&self) -> PathBuf {
        self.machine.join("recall.db")
    }

    /// The log file of long-running commands, unless `logging.file` names another.
    pub fn log(&self) -> PathBuf {
        self.machine.join("cake.log")
    }

    /// Notices for a person that wait to be delivered (`docs/formats/recall.md`).
    pub fn notices(&self) -> PathBuf {
        self.machine.join("notices")
    }

    /// Marks of sessions with errors that are not fixed yet (`docs/formats/recall.md`).
    pub fn open_errors(&self) -> PathBuf {
        self.machine.join("open-errors")
    }

    /// Returns the folder of the snapshots of all trees (`docs/formats/snapshot.md`).
    pub fn snapshots(&self) -> PathBuf {
        self.machine.join("snapshots")
    }

    /// Returns the folder of the snapshots of one tree, and of the data of `callosum undo` about it
    /// (`docs/formats/undo.md`).
    pub fn snapshots_of(&self, tree: &Path) -> PathBuf {
        let name = Checksum::of(tree.as_os_str().as_bytes());
        self.snapshots().join(name.to_string())
    }

    /// Returns the folder with the settings of clients as they were before our hooks
    /// (`docs/formats/hooks.md`).
    pub fn registrations(&self) -> PathBuf {
        self.machine.join("hooks")
    }

    /// The user's configuration of the guard, next to their configuration of the program
    /// (`docs/formats/cake-config.md`).
    pub fn cake_config(&self) -> PathBuf {
        self.user_config.with_file_name(super::guard_config::NAME)
    }

    /// The user's list of files that agents do not read (`docs/formats/secret-reads.md`).
    pub fn secret_reads(&self) -> PathBuf {
        self.user_config.with_file_name(super::secret_reads::NAME)
    }

    /// The user's constitution of plans, next to their configuration of the program
    /// (`docs/formats/constitution.md`).
    pub fn constitution(&self) -> PathBuf {
        self.user_config.with_file_name("constitution.cedar")
    }

    /// Returns the path of the signature of a constitution, next to it.
    pub fn signature_of(constitution: &Path) -> PathBuf {
        constitution.with_added_extension("sig")
    }

    /// Returns the folder of the memory of past sessions, with its settings and its index.
    pub fn memory(&self) -> PathBuf {
        self.machine.join("memory")
    }

    /// Returns the place in which the user puts a model that knows what words mean, for
    /// [`search_index`](Self::search_index).
    pub fn model(&self) -> PathBuf {
        self.user_config.with_file_name("model")
    }

    /// Returns the place in which the user puts, or links, `ck`, which is then asked at each
    /// search.
    pub fn ck(&self) -> PathBuf {
        self.user_config.with_file_name("ck")
    }

    /// Returns the folder of the indexes of `ck`, unless its user configures another.
    pub fn ck_indexes(&self) -> PathBuf {
        self.machine.join("search").join("ck")
    }

    /// Returns the file with the lines that `init` added to the exclude file of the repository at
    /// `root`.
    pub fn excluded(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_bytes());
        self.machine.join("excluded").join(name.to_string())
    }

    /// Returns the file with the text that `init --instructions` added to files of the tree at
    /// `tree`.
    pub fn instructions(&self, tree: &Path) -> PathBuf {
        let name = Checksum::of(tree.as_os_str().as_bytes());
        self.machine
            .join("instructions")
            .join(format!("{name}.json"))
    }

    /// Returns the list of this machine's projects that one may name to another
    /// (`docs/formats/repositories.md`).
    pub fn repositories(&self) -> PathBuf {
        self.machine.join("repositories")
    }

    /// Creates the folder of [`project`](Self::project) if it is missing, for this user alone, with a file `root` that
    /// names the project.
    pub fn create_project(&self, disk: &Disk, root: &Path) -> Result<(), DiskError> {
        self.create_machine(disk)?;
        let folder = self.project(root);
        disk.create_dir_all(&folder)?;
        disk.create(&folder.join("root"), root.as_os_str().as_bytes(), 0o600)?;
        Ok(())
    }

    /// Creates the machine's home where it is missing, for this user alone.
    pub fn create_machine(&self, disk: &Disk) -> Result<bool, DiskError> {
        disk.create_private_dir(&self.machine)
    }
}

/// The variable that says where new state goes.
const STATE: &str = "CALLOSUM_STATE";

fn new_state(environment: &Environment) -> Result<NewState, HomesError> {
    match environment.get(STATE).map(|value| value.to_string_lossy()) {
        None => Ok(NewState::Machine),
        Some(value) if value == "machine" => Ok(NewState::Machine),
        Some(value) if value == "project" => Ok(NewState::Project),
        Some(value) => Err(HomesError::State {
            value: value.into_owned(),
        }),
    }
}

fn place(
    environment: &Environment,
    own: &'static str,
    (xdg, below_home): (&'static str, &'static str),
    name: &'static str,
) -> Result<PathBuf, HomesError> {
    if let Some(path) = environment.path(own) {
        return if path.is_absolute() {
            Ok(path)
        } else {
            Err(HomesError::Relative { name: own, path })
        };
    }
    environment
        .path(xdg)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(environment.path("HOME")?.join(below_home)))
        .filter(|path| path.is_absolute())
        .map(|folder| folder.join(name))
        .ok_or(HomesError::Unknown { own, xdg })
}

/// Reason that a home is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HomesError {
    /// Nothing says where it is.
    #[error("none of {own}, {xdg} and HOME is set to an absolute path")]
    Unknown {
        /// Our own variable.
        own: &'static str,
        /// The variable of the XDG specification.
        xdg: &'static str,
    },
    /// The variable that says where new state goes has another value.
    #[error("the variable CALLOSUM_STATE is `{value}` (allowed: machine, project)")]
    State {
        /// Its value.
        value: String,
    },
    /// Our own variable names a place that changes with the current folder.
    #[error("the variable {name} is `{}` (allowed: an absolute path)", path.display())]
    Relative {
        /// The variable.
        name: &'static str,
        /// Its value.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::test_dir::TestDir;

    fn homes(variables: &[(&str, &str)]) -> Result<Homes, HomesError> {
        Homes::find(&variables.iter().copied().collect())
    }

    #[test]
    fn our_own_variables_come_before_xdg_and_xdg_before_home() {
        let all = [
            ("CALLOSUM_HOME", "/own"),
            ("CALLOSUM_CONFIG", "/own.toml"),
            ("XDG_STATE_HOME", "/state"),
            ("XDG_CONFIG_HOME", "/config"),
            ("HOME", "/home"),
        ];
        let found = homes(&all).unwrap();
        assert_eq!(found.machine, PathBuf::from("/own"));
        assert_eq!(found.user_config, PathBuf::from("/own.toml"));
        let found = homes(&all[2..]).unwrap();
        assert_eq!(found.machine, PathBuf::from("/state/callosum"));
        assert_eq!(
            found.user_config,
            PathBuf::from("/config/callosum/config.toml")
        );
        let found = homes(&all[4..]).unwrap();
        assert_eq!(found.machine, PathBuf::from("/home/.local/state/callosum"));
        assert_eq!(
            found.user_config,
            PathBuf::from("/home/.config/callosum/config.toml")
        );
    }

    #[test]
    fn a_relative_xdg_folder_counts_as_not_set_and_our_own_is_refused() {
        let found = homes(&[("XDG_STATE_HOME", "state"), ("HOME", "/home")]).unwrap();
        assert_eq!(found.machine, PathBuf::from("/home/.local/state/callosum"));
        assert_eq!(
            homes(&[("CALLOSUM_HOME", "here"), ("HOME", "/home")])
                .unwrap_err()
                .to_string(),
            "the variable CALLOSUM_HOME is `here` (allowed: an absolute path)"
        );
    }

    #[test]
    fn without_any_variable_the_error_names_all_three() {
        assert_eq!(
            homes(&[]).unwrap_err().to_string(),
            "none of CALLOSUM_HOME, XDG_STATE_HOME and HOME is set to an absolute path"
        );
    }

    #[test]
    fn the_machines_home_is_for_its_user_alone() {
        let ground = TestDir::new();
        let homes = ground.homes();
        assert!(homes.create_machine(&ground.disk).unwrap());
        assert!(!homes.create_machine(&ground.disk).unwrap());
        let found = std::fs::metadata(&homes.machine).unwrap();
        let mode = found.permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
