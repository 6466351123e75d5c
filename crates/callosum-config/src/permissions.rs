//! [`Permissions`]: commands that a person has permitted, which the guard would ask about, and the decisions that they
//! have set for single rules.
//!
//! One file for each project and one for the user, in the machine's home, where no repository can
//! reach them (`docs/formats/permissions.md`). One that is for one time is used up under the lock,
//! so that of two hooks at once one alone has it.
//!
//! What is deliberately not here: comparing with a command, which is the guard's.

use std::{
    collections::BTreeMap,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_guard::{Decision, Permission, current_id};
use callosum_host::{Disk, FileLock};
use callosum_json::Checksum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    directories::Homes,
    state_file::{LOCK_TIMEOUT, StateFile, StateFileError},
};

/// The version of the file that this program writes.
const VERSION: u32 = 1;

/// The name of the file of what is permitted everywhere.
const USER: &str = "user.json";

/// Time for which the call that used up a permission for one time still has it. A client that has
/// the hook registered twice asks both at once, or one right after the other.
const SAME_CALL: Duration = Duration::from_secs(30);

/// Scope of a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// In one project.
    Project,
    /// In every project of this user.
    User,
}

/// A command that a person has permitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    /// A UUID.
    pub id: String,
    /// The words that a command must begin with.
    pub pattern: Permission,
    /// Time at which it was given.
    pub since: Timestamp,
    /// End of the time for which it holds; `None` if it has none.
    pub until: Option<Timestamp>,
    /// Whether one command uses it up.
    pub once: bool,
}

/// The decision that a person has set for one rule of the guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleLevel {
    /// The rule's id. An earlier version may have written an earlier id.
    pub rule: String,
    /// The decision whenever the rule matches.
    pub decision: Decision,
    /// When it was set.
    pub since: Timestamp,
    /// The end of the time that it holds for; `None` if it has none.
    pub until: Option<Timestamp>,
}

impl RuleLevel {
    /// Whether it holds at this time. A clock that was put back makes nothing last longer.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.until
            .is_none_or(|until| (self.since..until).contains(&now))
    }
}

/// Permissions in one project.
#[derive(Clone, Debug)]
pub struct Permissions {
    disk: Disk,
    homes: Homes,
    folder: PathBuf,
    /// The project's file.
    file: PathBuf,
    root: String,
}

/// The content of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Permits {
    version: u32,
    root: Option<String>,
    permissions: Vec<Permit>,
    /// Decisions that a person has set for single rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rules: Vec<RuleLevel>,
    /// Permissions for one time that a call used up a moment ago.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    used: Vec<UsedPermit>,
}

/// A permission for one time, and the call that used it up.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct UsedPermit {
    /// The fingerprint of the call.
    call: Checksum,
    at: Timestamp,
    permit: Permit,
}

impl UsedPermit {
    fn is_recent(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.at);
        !age.is_negative() && age.unsigned_abs() < SAME_CALL
    }
}

impl Permit {
    /// Whether it holds at this time. One that runs out does not hold before it was given either: a
    /// clock that was put back makes nothing last longer.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.until
            .is_none_or(|until| (self.since..until).contains(&now))
    }
}

impl Reach {
    /// Its name at the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

impl Permissions {
    /// Those of the project at `root`. Reads and creates nothing.
    pub fn of(disk: &Disk, homes: &Homes, root: &Path) -> Self {
        let folder = homes.machine.join("permissions");
        let name = Checksum::of(root.as_os_str().as_bytes());
        Self {
            file: folder.join(format!("{name}.json")),
            folder,
            root: root.to_string_lossy().into_owned(),
            disk: disk.clone(),
            homes: homes.clone(),
        }
    }

    /// Returns the permissions at this time, the user's first.
    pub fn holding(&self, now: Timestamp) -> Result<Vec<(Reach, Permit)>, StateFileError> {
        let mut all = Vec::new();
        for reach in [Reach::User, Reach::Project] {
            let permits = self.read(reach)?.permissions.into_iter();
            let holding = permits.filter(|permit| permit.holds(now));
            all.extend(holding.map(|permit| (reach, permit)));
        }
        Ok(all)
    }

    /// Permits something. It is on disk when this returns.
    pub fn grant(
        &self,
        reach: Reach,
        permit: Permit,
        now: Timestamp,
    ) -> Result<(), StateFileError> {
        let _held = self.lock()?;
        let mut permits = self.read(reach)?;
        permits.permissions.push(permit);
        self.write(reach, permits, now)
    }

    /// Returns the decisions that hold for single rules at this time, by today's id. A project's count before the user's.
    pub fn levels(&self, now: Timestamp) -> Result<BTreeMap<String, Decision>, StateFileError> {
        let levels = self.rule_levels(now)?.into_iter();
        let levels = levels.map(|(_, level)| (current_id(&level.rule).to_owned(), level.decision));
        Ok(levels.collect())
    }

    /// Returns the levels that hold at this time, the user's first.
    pub fn rule_levels(&self, now: Timestamp) -> Result<Vec<(Reach, RuleLevel)>, StateFileError> {
        let mut all = Vec::new();
        for reach in [Reach::User, Reach::Project] {
            let levels = self.read(reach)?.rules.into_iter();
            let holding = levels.filter(|level| level.holds(now));
            all.extend(holding.map(|level| (reach, level)));
        }
        Ok(all)
    }

    /// Sets a rule's level, or removes the one that is set: `false` if there is none. It is on disk when this returns.
    pub fn set_level(
        &self,
        reach: Reach,
        rule: &str,
        level: Option<RuleLevel>,
        now: Timestamp,
    ) -> Result<bool, StateFileError> {
        let _held = self.lock()?;
        let mut permits = self.read(reach)?;
        let before = permits.rules.len();
        permits
            .rules
            .retain(|level| current_id(&level.rule) != rule);
        let was_set = permits.rules.len() < before;
        let is_changed = was_set || level.is_some();
        permits.rules.extend(level);
        if is_changed {
            self.write(reach, permits, now)?;
        }
        Ok(was_set)
    }

    /// Returns the permissions that this call used up a moment ago. They still hold for it.
    pub fn used_by(&self, call: &Checksum, now: Timestamp) -> Result<Vec<Permit>, StateFileError> {
        let mut all = Vec::new();
        for reach in [Reach::User, Reach::Project] {
            let used = self.read(reach)?.used.into_iter();
            let used = used.filter(|used| used.call == *call && used.is_recent(now));
            all.extend(used.map(|used| used.permit));
        }
        Ok(all)
    }

    /// Takes permissions back, all or none: `false` where one of them is not there any more.
    pub fn take_back(&self, ids: &[&str], now: Timestamp) -> Result<bool, StateFileError> {
        self.remove(ids, None, now)
    }

    /// Uses up permissions for one time, all or none: `false` if one of them is not there any more. A call that has
    /// a fingerprint keeps them for a moment.
    pub fn use_up(
        &self,
        ids: &[&str],
        call: Option<&Checksum>,
        now: Timestamp,
    ) -> Result<bool, StateFileError> {
        self.remove(ids, call, now)
    }

    fn remove(
        &self,
        ids: &[&str],
        call: Option<&Checksum>,
        now: Timestamp,
    ) -> Result<bool, StateFileError> {
        let _held = self.lock()?;
        let mut changed = Vec::new();
        let mut found = 0;
        for reach in [Reach::User, Reach::Project] {
            let mut permits = self.read(reach)?;
            let is_meant = |permit: &mut Permit| ids.contains(&permit.id.as_str());
            let gone: Vec<Permit> = permits.permissions.extract_if(.., is_meant).collect();
            found += gone.len();
            if !gone.is_empty() {
                let used = call.into_iter().flat_map(|call| {
                    gone.iter().map(|permit| UsedPermit {
                        call: *call,
                        at: now,
                        permit: permit.clone(),
                    })
                });
                permits.used.extend(used);
                changed.push((reach, permits));
            }
        }
        if found < ids.len() {
            return Ok(false);
        }
        for (reach, permits) in changed {
            self.write(reach, permits, now)?;
        }
        Ok(true)
    }

    fn at(&self, reach: Reach) -> StateFile {
        let path = match reach {
            Reach::Project => &self.file,
            Reach::User => &self.folder.join(USER),
        };
        StateFile::new(&self.disk, path, VERSION)
    }

    fn lock(&self) -> Result<FileLock, StateFileError> {
        self.homes.create_machine(&self.disk)?;
        self.disk.create_private_dir(&self.folder)?;
        let lock = self.folder.join("lock");
        Ok(FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT)?)
    }

    /// Writes what still holds; what has run out is swept with it.
    fn write(
        &self,
        reach: Reach,
        mut permits: Permits,
        now: Timestamp,
    ) -> Result<(), StateFileError> {
        permits.permissions.retain(|permit| permit.holds(now));
        permits.rules.retain(|level| level.holds(now));
        permits.used.retain(|used| used.is_recent(now));
        self.at(reach).replace(&permits)
    }

    fn read(&self, reach: Reach) -> Result<Permits, StateFileError> {
        let kept = self.at(reach).read()?;
        Ok(kept.unwrap_or_else(|| Permits {
            version: VERSION,
            root: (reach == Reach::Project).then(|| self.root.clone()),
            permissions: Vec::new(),
            rules: Vec::new(),
            used: Vec::new(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::test_dir::TestDir;

    fn at(text: &str) -> Timestamp {
        format!("2026-01-02T{text}Z").parse().unwrap()
    }

    fn permit(id: &str, until: Option<&str>, once: bool) -> Permit {
        Permit {
            id: id.to_owned(),
            pattern: Permission::parse("git branch -D *").unwrap(),
            since: at("10:00:00"),
            until: until.map(at),
            once,
        }
    }

    fn of(ground: &TestDir, root: &str) -> Permissions {
        Permissions::of(&ground.disk, &ground.homes(), Path::new(root))
    }

    fn ids(permissions: &Permissions, now: &str) -> Vec<String> {
        let holding = permissions.holding(at(now)).unwrap().into_iter();
        holding.map(|(_, permit)| permit.id).collect()
    }

    /// CAKE-SHIM-1: a permission holds in the place and for the time for which it was given; one
    /// that has run out is swept, and a clock that was put back prolongs nothing.
    #[test]
    fn a_permission_holds_where_and_as_long_as_it_was_given() {
        let ground = TestDir::new();
        let (here, there) = (of(&ground, "/a"), of(&ground, "/b"));
        let now = at("10:00:00");
        here.grant(Reach::Project, permit("1", None, false), now)
            .unwrap();
        here.grant(Reach::Project, permit("2", Some("10:10:00"), false), now)
            .unwrap();
        here.grant(Reach::User, permit("3", None, true), now)
            .unwrap();
        assert_eq!(ids(&here, "10:09:59"), ["3", "1", "2"]);
        assert_eq!(ids(&there, "10:09:59"), ["3"]);
        assert_eq!(ids(&here, "10:10:00"), ["3", "1"]);
        assert_eq!(ids(&here, "09:59:59"), ["3", "1"]);
        assert!(here.take_back(&["1"], at("11:00:00")).unwrap());
        assert!(!ground.text(&here.file).contains("git branch"));
        let mode = std::fs::metadata(&here.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    /// CAKE-SHIM-1: what is for one time is used up once, however many want it at once.
    #[test]
    fn what_is_for_one_time_is_had_by_one_alone() {
        let ground = TestDir::new();
        let permissions = of(&ground, "/a");
        let now = at("10:00:00");
        for number in 0..3 {
            let permit = permit(&number.to_string(), None, true);
            permissions.grant(Reach::Project, permit, now).unwrap();
        }
        let takers = (0..12).map(|number| {
            let permissions = permissions.clone();
            std::thread::spawn(move || {
                let id = (number % 3).to_string();
                permissions.take_back(&[&id], now).unwrap()
            })
        });
        let takers: Vec<_> = takers.collect();
        let had = takers.into_iter().filter_map(|taker| taker.join().ok());
        assert_eq!(had.filter(|&had| had).count(), 3);
        assert_eq!(ids(&permissions, "10:00:00"), [""; 0]);
        let both = [permit("a", None, true), permit("b", None, true)];
        for permit in both {
            permissions.grant(Reach::Project, permit, now).unwrap();
        }
        assert!(!permissions.take_back(&["a", "gone"], now).unwrap());
        assert_eq!(ids(&permissions, "10:00:00"), ["a", "b"]);
    }

    #[test]
    fn what_is_damaged_or_newer_permits_nothing_and_is_not_written_over() {
        let ground = TestDir::new();
        let permissions = of(&ground, "/a");
        for text in ["{", "{\"version\": 2}", "{\"version\": 1}"] {
            let name = permissions.file.strip_prefix(&ground.top).unwrap();
            ground.write(name.to_str().unwrap(), text);
            assert!(permissions.holding(at("10:00:00")).is_err());
            let granted = permit("1", None, false);
            let granted = permissions.grant(Reach::Project, granted, at("10:00:00"));
            assert!(granted.is_err());
            assert_eq!(ground.text(&permissions.file), text);
        }
    }
}
