//! [`AutoAllow`]: whether commands run without a client's own prompt, and the programs on the user's list.
//!
//! One file of the machine's home, `permissions/auto-allow.json` (`docs/formats/permissions.md`), which no repository can
//! reach. Without it auto-allow is off.
//!
//! Not here: which commands need no prompt, which the guard decides.

use std::path::{Path, PathBuf};

use callosum_guard::{Permission, auto_allow::may_be_listed};
use callosum_host::{Disk, FileLock};
use serde::{Deserialize, Serialize};

use super::{
    directories::Homes,
    state_file::{LOCK_TIMEOUT, StateFile, StateFileError},
};

/// The version of the file that this program writes.
const VERSION: u32 = 1;

/// The file of the switch and the list.
#[derive(Clone, Debug)]
pub struct AutoAllow {
    disk: Disk,
    homes: Homes,
    file: PathBuf,
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoAllowSettings {
    version: u32,
    /// Whether it is on.
    pub enabled: bool,
    /// The programs on the list, in the order in which they were added.
    pub programs: Vec<Permission>,
}

impl Default for AutoAllowSettings {
    fn default() -> Self {
        Self {
            version: VERSION,
            enabled: false,
            programs: Vec::new(),
        }
    }
}

impl AutoAllowSettings {
    /// Adds a pattern unless it is there.
    pub fn add(&mut self, pattern: Permission) {
        if may_be_listed(&pattern) && !self.programs.contains(&pattern) {
            self.programs.push(pattern);
        }
    }
}

impl AutoAllow {
    /// The user's. Reads and creates nothing.
    pub fn new(disk: &Disk, homes: &Homes) -> Self {
        Self {
            disk: disk.clone(),
            homes: homes.clone(),
            file: homes.machine.join("permissions").join("auto-allow.json"),
        }
    }

    /// Returns where the file is, if there is one.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Reads the switch and the list.
    pub fn read(&self) -> Result<AutoAllowSettings, StateFileError> {
        let file = StateFile::new(&self.disk, &self.file, VERSION);
        Ok(file.read()?.unwrap_or_default())
    }

    /// Changes them under the lock of the permissions. They are on disk when this returns.
    pub fn change(
        &self,
        change: impl FnOnce(&mut AutoAllowSettings),
    ) -> Result<AutoAllowSettings, StateFileError> {
        self.homes.create_machine(&self.disk)?;
        let folder = self.homes.machine.join("permissions");
        self.disk.create_private_dir(&folder)?;
        let lock = folder.join("lock");
        let _held = FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT)?;
        let mut settings = self.read()?;
        change(&mut settings);
        StateFile::new(&self.disk, &self.file, VERSION).replace(&settings)?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    fn pattern(text: &str) -> Permission {
        Permission::parse(text).unwrap()
    }

    #[test]
    fn it_is_off_until_it_is_turned_on_and_keeps_its_list() {
        let ground = TestDir::new();
        let user = AutoAllow::new(&ground.disk, &ground.homes());
        assert_eq!(user.read().unwrap(), AutoAllowSettings::default());
        let changed = user
            .change(|settings| {
                settings.enabled = true;
                settings.add(pattern("cargo test *"));
                settings.add(pattern("cargo test *"));
                // One that runs its words is never on it.
                settings.add(pattern("bash *"));
            })
            .unwrap();
        assert_eq!(user.read().unwrap(), changed);
        assert_eq!(changed.programs, [pattern("cargo test *")]);
    }

    #[test]
    fn a_damaged_or_newer_file_is_an_error_and_is_not_replaced() {
        for text in ["{", "{\"version\": 2}", "{\"version\": 1}", "[]"] {
            let ground = TestDir::new();
            let user = AutoAllow::new(&ground.disk, &ground.homes());
            let name = user.path().strip_prefix(&ground.top).unwrap();
            ground.write(name.to_str().unwrap(), text);
            assert!(user.read().is_err(), "{text}");
            assert!(user.change(|settings| settings.enabled = true).is_err());
            assert_eq!(ground.text(user.path()), text);
        }
    }
}
