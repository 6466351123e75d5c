//! [`Trust`]: permissions that the user of this machine has given to a project.
//!
//! One file for each root, in the machine's home, which no repository can reach
//! (`docs/formats/trust.md`; why it is needed at all: `docs/design/trust.md`).

use std::{
    collections::BTreeSet,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError, FileLock};
use callosum_json::Checksum;
use serde::{Deserialize, Serialize};

use super::{
    directories::Homes,
    state_file::{LOCK_TIMEOUT, StateFile, StateFileError},
};

/// The version of the file that this program writes.
const VERSION: u32 = 1;

/// Permissions that were given for one root.
#[derive(Clone, Debug)]
pub struct Trust {
    disk: Disk,
    file: StateFile,
    lock: PathBuf,
    homes: Homes,
    decisions: Decisions,
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Decisions {
    version: u32,
    root: String,
    #[serde(default)]
    calrc: BTreeSet<String>,
    #[serde(default)]
    executors: BTreeSet<String>,
    /// No permissions now, but those of the past, with any content of the files that they named.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    entries: BTreeSet<String>,
}

/// Subject that can be trusted, by the hash of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A `.calrc` with these bytes.
    Calrc(Checksum),
    /// An executor whose entry runs exactly this.
    Executor(Checksum),
    /// An executor's entry, with any content of the files that it names: kept to report that these
    /// changed, and no permission.
    Entry(Checksum),
}

impl Trust {
    /// Reads what was allowed for `root`. Creates nothing; where there is no file, nothing was.
    pub fn open(disk: &Disk, homes: &Homes, root: &Path) -> Result<Self, StateFileError> {
        let folder = homes.machine.join("trust");
        let name = Checksum::of(root.as_os_str().as_bytes()).to_string();
        let file = StateFile::new(disk, &folder.join(format!("{name}.json")), VERSION);
        Ok(Self {
            decisions: read(&file, root)?,
            lock: folder.join(format!("{name}.lock")),
            file,
            disk: disk.clone(),
            homes: homes.clone(),
        })
    }

    /// Whether something was allowed, or is known.
    pub fn is_trusted(&self, subject: Subject) -> bool {
        let (set, name) = match subject {
            Subject::Calrc(hash) => (&self.decisions.calrc, hash),
            Subject::Executor(hash) => (&self.decisions.executors, hash),
            Subject::Entry(hash) => (&self.decisions.entries, hash),
        };
        set.contains(&name.to_string())
    }

    /// Allows something. It is on disk when this returns.
    pub fn record(&mut self, subject: Subject) -> Result<(), StateFileError> {
        self.change(|decisions| match subject {
            Subject::Calrc(hash) => decisions.calrc.insert(hash.to_string()),
            Subject::Executor(hash) => decisions.executors.insert(hash.to_string()),
            Subject::Entry(hash) => decisions.entries.insert(hash.to_string()),
        })
    }

    /// Takes a permission back.
    pub fn forget(&mut self, subject: Subject) -> Result<(), StateFileError> {
        self.change(|decisions| match subject {
            Subject::Calrc(hash) => decisions.calrc.remove(&hash.to_string()),
            Subject::Executor(hash) => decisions.executors.remove(&hash.to_string()),
            Subject::Entry(hash) => decisions.entries.remove(&hash.to_string()),
        })
    }

    /// The lock that guards what is changed for this root, its `.calrc` included. Creates the
    /// folder that it is in.
    pub fn lock(&self) -> Result<&Path, DiskError> {
        self.homes.create_machine(&self.disk)?;
        if let Some(folder) = self.lock.parent() {
            self.disk.create_private_dir(folder)?;
        }
        Ok(&self.lock)
    }

    /// Changes the file as it is now on disk, so that of two changes at once none is lost.
    fn change(
        &mut self,
        change: impl FnOnce(&mut Decisions) -> bool,
    ) -> Result<(), StateFileError> {
        let _held = FileLock::acquire_private(&self.disk, self.lock()?, LOCK_TIMEOUT)?;
        let mut decisions = read(&self.file, Path::new(&self.decisions.root))?;
        if change(&mut decisions) {
            self.file.replace(&decisions)?;
        }
        self.decisions = decisions;
        Ok(())
    }
}

fn read(file: &StateFile, root: &Path) -> Result<Decisions, StateFileError> {
    Ok(file.read()?.unwrap_or_else(|| Decisions {
        version: VERSION,
        root: root.to_string_lossy().into_owned(),
        calrc: BTreeSet::new(),
        executors: BTreeSet::new(),
        entries: BTreeSet::new(),
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::test_dir::TestDir;

    fn open(ground: &TestDir, root: &str) -> Result<Trust, StateFileError> {
        Trust::open(&ground.disk, &ground.homes(), Path::new(root))
    }

    fn executor(text: &str) -> Subject {
        Subject::Executor(Checksum::of(text.as_bytes()))
    }

    #[test]
    fn what_was_allowed_is_allowed_for_that_root_alone_until_it_is_forgotten() {
        let ground = TestDir::new();
        let mut trust = open(&ground, "/a").unwrap();
        assert!(!trust.is_trusted(executor("x")));
        trust.record(executor("x")).unwrap();
        assert!(open(&ground, "/a").unwrap().is_trusted(executor("x")));
        assert!(!open(&ground, "/a").unwrap().is_trusted(executor("y")));
        assert!(!open(&ground, "/b").unwrap().is_trusted(executor("x")));
        trust.forget(executor("x")).unwrap();
        assert!(!open(&ground, "/a").unwrap().is_trusted(executor("x")));
    }

    #[test]
    fn an_executors_hash_does_not_allow_a_calrc() {
        let ground = TestDir::new();
        let mut trust = open(&ground, "/a").unwrap();
        let hash = Checksum::of(b"same");
        trust.record(Subject::Executor(hash)).unwrap();
        assert!(!trust.is_trusted(Subject::Calrc(hash)));
    }

    #[test]
    fn two_who_change_it_at_once_lose_nothing() {
        let ground = TestDir::new();
        let mut one = open(&ground, "/a").unwrap();
        let mut other = open(&ground, "/a").unwrap();
        one.record(executor("x")).unwrap();
        other.record(executor("y")).unwrap();
        let now = open(&ground, "/a").unwrap();
        assert!(now.is_trusted(executor("x")) && now.is_trusted(executor("y")));
    }

    #[test]
    fn asking_creates_nothing_and_the_file_is_its_users_alone() {
        let ground = TestDir::new();
        let mut trust = open(&ground, "/a").unwrap();
        assert!(!ground.homes().machine.exists());
        trust.record(executor("x")).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(trust.file.path()), 0o600);
        assert_eq!(mode(trust.file.path().parent().unwrap()), 0o700);
    }

    #[test]
    fn a_newer_or_damaged_file_allows_nothing_and_is_left_as_it_is() {
        let ground = TestDir::new();
        let mut trust = open(&ground, "/a").unwrap();
        trust.record(executor("x")).unwrap();
        for content in [
            r#"{"version": 2, "root": "/a", "executors": {}}"#,
            "",
            r#"{"version": 1}"#,
        ] {
            ground
                .disk
                .replace(trust.file.path(), content.as_bytes(), 0o600)
                .unwrap();
            assert!(open(&ground, "/a").is_err(), "{content}");
            assert!(trust.record(executor("y")).is_err(), "{content}");
            let kept = ground.disk.read(trust.file.path()).unwrap();
            assert_eq!(kept, content.as_bytes());
        }
    }

    /// Format 1 as it was first written; this test's text is never changed.
    #[test]
    fn the_first_format_stays_readable() {
        let ground = TestDir::new();
        let trust = open(&ground, "/a").unwrap();
        let hash = Checksum::of(b"x");
        let content = format!(
            "{{\n  \"version\": 1,\n  \"root\": \"/a\",\n  \"calrc\": [],\n  \"executors\": [\n    \
             \"{hash}\"\n  ]\n}}\n"
        );
        ground
            .disk
            .create_dir_all(trust.file.path().parent().unwrap())
            .unwrap();
        ground
            .disk
            .replace(trust.file.path(), content.as_bytes(), 0o600)
            .unwrap();
        let mut trust = open(&ground, "/a").unwrap();
        assert!(trust.is_trusted(Subject::Executor(hash)));
        // And it is what is written today.
        trust.record(executor("y")).unwrap();
        trust.forget(executor("y")).unwrap();
        assert_eq!(
            ground.disk.read(trust.file.path()).unwrap(),
            content.as_bytes()
        );
    }
}
