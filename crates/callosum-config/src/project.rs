//! [`Project`]: everything that a command needs to know of where it runs.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError};

use super::{
    calrc::{Calrc, CalrcError, Change, EditError, edit},
    directories::{Homes, HomesError},
    environment::Environment,
    guard_config::GuardConfig,
    key::Key,
    project_paths::{Places, PlacesError, UntrustedValue, hold_back},
    root::{ForeignMark, RootError, Roots, foreign_state, is_calrc_foreign},
    setting_path::Address,
    settings::{Settings, SettingsError},
    state_file::StateFileError,
    state_place::{StatePlace, place_sessions},
    trust::{Subject, Trust},
    value::Value,
};

/// Arguments of a command that choose the project and its settings.
#[derive(Clone, Debug, Default)]
pub struct ProjectOverrides<'a> {
    /// The argument of `-C`.
    pub root: Option<&'a Path>,
    /// The settings on the command line.
    pub settings: &'a [(Key, OsString)],
    /// Subject that is about to be trusted, and counts as if it was.
    pub as_if_trusted: Option<Subject>,
}

/// Environment of a command: roots, homes, settings in force, and what was allowed.
#[derive(Clone, Debug)]
pub struct Project {
    /// The tree that is read, and the folder that keeps its state.
    pub roots: Roots,
    /// Directories of state that belongs to no project.
    pub homes: Homes,
    /// Content of `.calrc`.
    pub calrc: Calrc,
    /// Settings in force.
    pub settings: Settings,
    /// Paths of the project's state.
    pub places: Places,
    /// Values of `.calrc` that wait for `callosum trust`; the defaults are in force.
    pub waiting: Vec<UntrustedValue>,
    /// Permissions that the user of this machine has given.
    pub trust: Trust,
}

impl Project {
    /// Finds and reads everything, from the folder `here`. Creates nothing.
    pub fn load(
        disk: &Disk,
        environment: &Environment,
        here: &Path,
        options: &ProjectOverrides<'_>,
    ) -> Result<Self, ProjectError> {
        let homes = Homes::find(environment)?;
        let mut roots = Roots::find(disk, here, options.root)?;
        // A user who names the folder with `-C` means what is in it.
        if options.root.is_none()
            && let Some(ForeignMark { path, user }) = foreign_state(disk, &roots)?
        {
            return Err(ProjectError::Foreign { path, user });
        }
        place_sessions(disk, &homes, &mut roots);
        let state = StatePlace::find(disk, &homes, &roots.state)?;
        let calrc = calrc_of(disk, &roots, &state, options)?;
        let trust = Trust::open(disk, &homes, &roots.state)?;
        let mut settings = Settings::resolve(&calrc, environment, options.settings)?;
        let is_trusted = calrc
            .fingerprint
            .map(Subject::Calrc)
            .is_none_or(|calrc| trust.is_trusted(calrc) || options.as_if_trusted == Some(calrc));
        let waiting = if is_trusted {
            Vec::new()
        } else {
            hold_back(&roots.state, &mut settings)
        };
        let mut places = Places::find(disk, &roots.state, state, &settings)?;
        places.ledger.audit_buffer = Some(homes.audit_buffer(&roots.state));
        Ok(Self {
            roots,
            homes,
            calrc,
            settings,
            places,
            waiting,
            trust,
        })
    }

    /// Returns the configuration from the `cake_config.yaml` of the user and of this project.
    pub fn guard(&self, disk: &Disk) -> GuardConfig {
        let user = self.homes.cake_config();
        let roots = [self.roots.tree.as_path(), self.roots.state.as_path()];
        GuardConfig::load(disk, Some(&user), &roots)
    }

    /// Sets one value in `.calrc`. What is in force here changes only when it is loaded again.
    ///
    /// A file that was trusted, or not there, is trusted afterwards: the change is its user's own
    /// word. One that was not stays so, because the rest of it is still a stranger's.
    pub fn set(
        &mut self,
        disk: &Disk,
        address: &Address,
        value: &Value,
    ) -> Result<Change, SetError> {
        if self
            .roots
            .foreign
            .iter()
            .any(|mark| mark.path == self.calrc.path)
        {
            return Err(SetError::Foreign {
                path: self.calrc.path.clone(),
            });
        }
        set(disk, &self.calrc.path, &mut self.trust, address, value)
    }

    /// Sets a value in `.calrc` if the present one is not allowed, which keeps the project from
    /// being loaded. `None` if the present one is allowed.
    pub fn mend(
        disk: &Disk,
        environment: &Environment,
        options: (&Path, &ProjectOverrides<'_>),
        (address, value): (&Address, &Value),
    ) -> Result<Option<Change>, MendError> {
        let (here, options) = options;
        let homes = Homes::find(environment).map_err(ProjectError::from)?;
        let roots = Roots::find(disk, here, options.root).map_err(ProjectError::from)?;
        let state = StatePlace::find(disk, &homes, &roots.state).map_err(ProjectError::from)?;
        let path = Places::calrc_in(&state.folder);
        let calrc = calrc_of(disk, &roots, &state, options)?;
        if !calrc.refuses(address) {
            return Ok(None);
        }
        let mut trust = Trust::open(disk, &homes, &roots.state).map_err(ProjectError::from)?;
        Ok(Some(set(disk, &path, &mut trust, address, value)?))
    }
}

/// Reads the `.calrc` of a root. One of another user is as if it were not there, unless the root is named.
fn calrc_of(
    disk: &Disk,
    roots: &Roots,
    state: &StatePlace,
    options: &ProjectOverrides<'_>,
) -> Result<Calrc, ProjectError> {
    let path = Places::calrc_in(&state.folder);
    if options.root.is_none() && is_calrc_foreign(disk, roots, &path)? {
        return Ok(Calrc {
            path,
            ..Calrc::default()
        });
    }
    Ok(Calrc::load(disk, &path)?)
}

fn set(
    disk: &Disk,
    calrc: &Path,
    trust: &mut Trust,
    address: &Address,
    value: &Value,
) -> Result<Change, SetError> {
    let change = edit(disk, calrc, trust.lock()?, address, value)?;
    let was_trusted = change
        .before
        .is_none_or(|hash| trust.is_trusted(Subject::Calrc(hash)));
    if was_trusted {
        trust.record(Subject::Calrc(change.after))?;
    }
    Ok(change)
}

/// Reason that a command's project is not known.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// Another user put state into a root that every user may write to.
    #[error("cannot use `{}`: it belongs to another user (uid {user}), and every user can write to its \
             folder", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// The number of its owner.
        user: u32,
    },
    /// There is no root.
    #[error(transparent)]
    Root(#[from] RootError),
    /// There is no home.
    #[error(transparent)]
    Homes(#[from] HomesError),
    /// `.calrc` cannot be read.
    #[error(transparent)]
    Calrc(#[from] CalrcError),
    /// A variable or a flag makes no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The project's own places lead elsewhere.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// The permissions are not known.
    #[error(transparent)]
    Trust(#[from] StateFileError),
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Reason that a setting was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The file is another user's, and its settings are ignored.
    #[error("cannot change `{}`: it belongs to another user", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// `.calrc` was not changed.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// `.calrc` was changed, but its trust was not recorded.
    #[error(transparent)]
    Trust(#[from] StateFileError),
    /// The disk has no place for the lock.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Reason that a refused value was not replaced.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum MendError {
    /// The project is not known.
    Project(#[from] ProjectError),
    /// It was not changed.
    Set(#[from] SetError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{setting::Origin, test_dir::TestDir};

    fn with_calrc(text: &str) -> TestDir {
        let ground = TestDir::new();
        ground.write("project/.calrc", text);
        ground
    }

    fn load(ground: &TestDir) -> Project {
        let environment = [("HOME", ground.path("home"))].into_iter().collect();
        let here = ground.path("project");
        Project::load(
            &ground.disk,
            &environment,
            &here,
            &ProjectOverrides::default(),
        )
        .unwrap()
    }

    /// REQ-SEC-001: in a folder that every user may write to, no one else's state or settings are ours.
    #[test]
    fn state_and_settings_of_another_user_in_a_shared_folder_are_not_used() {
        use std::os::unix::fs::{PermissionsExt as _, chown};

        if callosum_host::disk::user() != 0 {
            // Only root can give a file away.
            return;
        }
        let ground = with_calrc(r#"{"retry_max": 1, "audit_path": "../elsewhere"}"#);
        let here = ground.path("project");
        let open = std::fs::Permissions::from_mode(0o1777);
        std::fs::set_permissions(&here, open).unwrap();
        assert_eq!(load(&ground).settings.limits(0).recovery.retry_max, 1);
        chown(ground.path("project/.calrc"), Some(12_345), None).unwrap();
        let mut project = load(&ground);
        assert_ne!(project.settings.limits(0).recovery.retry_max, 1);
        assert!(project.waiting.is_empty(), "{:?}", project.waiting);
        assert_eq!(project.calrc.fingerprint, None);
        let address = Address::parse("retry_max").unwrap();
        let set = project.set(&ground.disk, &address, &Value::Count(2));
        assert!(matches!(set, Err(SetError::Foreign { .. })), "{set:?}");

        let notes = ground.write("project/loa-grimoire/NOTES.md", "");
        chown(notes.parent().unwrap(), Some(12_345), None).unwrap();
        let environment = [("HOME", ground.path("home"))].into_iter().collect();
        let load = |options: &ProjectOverrides<'_>| {
            Project::load(&ground.disk, &environment, &here, options)
        };
        let refused = load(&ProjectOverrides::default());
        let of_folder = |path: &Path| path == notes.parent().unwrap();
        assert!(
            matches!(&refused, Err(ProjectError::Foreign { path, user: 12_345 }) if of_folder(path)),
            "{refused:?}"
        );
        let named = ProjectOverrides {
            root: Some(Path::new(".")),
            ..ProjectOverrides::default()
        };
        assert_eq!(
            load(&named).unwrap().settings.limits(0).recovery.retry_max,
            1
        );
    }

    /// A cloned `.calrc` may only tighten: what leads elsewhere waits for approval by its user.
    #[test]
    fn a_path_that_leads_out_is_in_force_once_it_is_trusted() {
        let ground = with_calrc(r#"{"audit_path": "../elsewhere", "retry_max": 1}"#);
        let mut project = load(&ground);
        assert_eq!(project.waiting.len(), 1);
        assert_eq!(
            project.places.ledger.audit,
            ground.path("project/cal_audit")
        );
        assert_eq!(project.settings.limits(0).recovery.retry_max, 1);

        let hash = project.calrc.fingerprint.unwrap();
        project.trust.record(Subject::Calrc(hash)).unwrap();
        let trusted = load(&ground);
        assert_eq!(trusted.waiting, []);
        assert_eq!(
            trusted.places.ledger.audit,
            ground.path("project/../elsewhere")
        );
    }

    #[test]
    fn a_change_of_ones_own_keeps_trust_and_gives_none() {
        let ground = with_calrc(r#"{"audit_path": "../elsewhere"}"#);
        let address = Address::parse("retry_max").unwrap();
        let mut project = load(&ground);
        project
            .set(&ground.disk, &address, &Value::Count(1))
            .unwrap();
        let mut project = load(&ground);
        assert_eq!(project.waiting.len(), 1);

        let hash = project.calrc.fingerprint.unwrap();
        project.trust.record(Subject::Calrc(hash)).unwrap();
        project
            .set(&ground.disk, &address, &Value::Count(2))
            .unwrap();
        let project = load(&ground);
        assert_eq!(project.waiting, []);
        let setting = project.settings.get(Key::RetryMax);
        assert_eq!(setting.value, Value::Count(2));
        assert_eq!(setting.origin, Origin::Calrc(ground.path("project/.calrc")));
    }

    #[test]
    fn loading_creates_nothing() {
        let ground = with_calrc("{}");
        let project = load(&ground);
        assert!(!project.homes.machine.exists());
        assert_eq!(
            ground.disk.list_dir(&ground.path("project")).unwrap().len(),
            1
        );
    }
}
