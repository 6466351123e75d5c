//! [`Governance`]: rules for plans on this machine, read from their files.
//!
//! The user's constitution is in a file next to their configuration and must be signed by this
//! machine's key; the project's may only forbid; the machine's home has the list of what was
//! revoked. A file that can't be read, checked or understood permits nothing.
//!
//! Formats: `docs/formats/constitution.md`, `docs/formats/capability.md`.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_config::Homes;
use callosum_host::{
    Disk, FileLock,
    disk::{EntryKind, FileStat},
};
use callosum_json::Checksum;
use callosum_ledger::checkpoint::MachineKey;
use callosum_plan::CapabilityName;
use callosum_plan_run::kernel::{
    Constitution,
    constitution::{document::MAX_BYTES, signature},
};
use serde::{Deserialize, Serialize};

use super::{
    amendment::{Amendment, Amendments},
    governance_error::GovernanceError,
};

/// Purpose under which the machine's key signs constitutions.
const PURPOSE: &str = "constitution";

/// The version of the file of what was revoked.
const VERSION: u32 = 1;

/// Permission bits of that file.
const MODE: u32 = 0o600;

/// Timeout for the lock of another process that changes the same file.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Files with the rules for plans.
#[derive(Clone, Debug)]
pub struct Governance {
    disk: Disk,
    homes: Homes,
    root: PathBuf,
}

/// The content of the file of what was revoked.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Revocations {
    version: u32,
    revoked: BTreeSet<String>,
}

impl Governance {
    /// The project's constitution, in its root.
    pub const PROJECT: &str = ".cal_constitution.cedar";

    /// Of the project at `root`. Reads and creates nothing.
    pub fn of(disk: &Disk, homes: &Homes, root: &Path) -> Self {
        Self {
            disk: disk.clone(),
            homes: homes.clone(),
            root: root.to_owned(),
        }
    }

    /// The user's constitution.
    pub fn user_file(&self) -> PathBuf {
        self.homes.constitution()
    }

    /// The project's.
    pub fn project_file(&self) -> PathBuf {
        self.root.join(Self::PROJECT)
    }

    /// The key that constitutions are signed with.
    pub fn key(&self) -> MachineKey {
        MachineKey::in_home(&self.homes.machine, PURPOSE)
    }

    /// Returns what holds here. Where something is wrong with a file, that is a constitution that
    /// permits nothing and says what.
    pub fn constitution(&self) -> Constitution {
        let closed = |error: GovernanceError| Constitution::closed(&error.to_string());
        self.read_constitution().unwrap_or_else(closed)
    }

    /// Reads what holds here, or says what is wrong with it.
    pub fn read_constitution(&self) -> Result<Constitution, GovernanceError> {
        let path = self.user_file();
        let constitution = match self.user_text(&path)? {
            None => Constitution::built_in(),
            Some(text) => self.signed(&path, &text)?,
        };
        let path = self.project_file();
        let Some(text) = self.text(&path)? else {
            return Ok(constitution);
        };
        constitution
            .tightened(&text)
            .map_err(|error| GovernanceError::File {
                path,
                reason: error.to_string(),
            })
    }

    /// Returns whether one of this machine's keys signed this text, as the error says if not.
    pub fn check_signature(&self, path: &Path, text: &str) -> Result<(), GovernanceError> {
        let note = self.user_text(&Homes::signature_of(path))?;
        let note = note.ok_or_else(|| GovernanceError::Unsigned {
            path: path.to_owned(),
        })?;
        let keys = self.key().verifiers(&self.disk)?;
        signature::check(text, &note, &keys).map_err(|error| GovernanceError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }

    fn signed(&self, path: &Path, text: &str) -> Result<Constitution, GovernanceError> {
        self.check_signature(path, text)?;
        let constitution = Constitution::read(text).map_err(|error| GovernanceError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        self.amendments()
            .check(amendment(&constitution, text), path)?;
        Ok(constitution)
    }

    /// Remembers that a constitution is about to be signed. Fails where it is older than one that was.
    pub fn remember_signed(
        &self,
        path: &Path,
        constitution: &Constitution,
        text: &str,
    ) -> Result<(), GovernanceError> {
        self.amendments()
            .remember(amendment(constitution, text), path)
    }

    fn amendments(&self) -> Amendments {
        Amendments::in_home(&self.disk, &self.homes.machine)
    }

    /// Reads a file of the user's, who may have laid a link there.
    pub fn user_text(&self, path: &Path) -> Result<Option<String>, GovernanceError> {
        if self.disk.exists(path)? {
            return self.text(&self.disk.canonicalize(path)?);
        }
        Ok(None)
    }

    /// Reads a file of a constitution, if it is there. Opens nothing that is no file, nor one that is
    /// larger than any constitution.
    fn text(&self, path: &Path) -> Result<Option<String>, GovernanceError> {
        let Some(stat) = self.disk.stat(path)? else {
            return Ok(None);
        };
        let refuse = |reason: String| GovernanceError::File {
            path: path.to_owned(),
            reason,
        };
        if stat.kind != EntryKind::File {
            return Err(refuse("it is not a regular file".to_owned()));
        }
        if stat.len > MAX_BYTES as u64 {
            let len = stat.len;
            return Err(refuse(format!("it has {len} bytes (allowed: {MAX_BYTES})")));
        }
        let bytes = self.disk.read(path)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            refuse(format!("it is not UTF-8, at byte {at}"))
        })?;
        Ok(Some(text))
    }

    /// Returns what is known of the files that say what plans may do, without opening one: it is another once a file is. One that
    /// can't be looked at counts as absent.
    pub fn stamp(&self) -> Vec<Option<FileStat>> {
        let user = self.user_file();
        // It may be a link.
        let user = self.disk.canonicalize(&user).unwrap_or(user);
        let note = Homes::signature_of(&self.user_file());
        let note = self.disk.canonicalize(&note).unwrap_or(note);
        let files = [self.revocations(), user, note, self.project_file()];
        let stat = |file: PathBuf| self.disk.stat(&file).ok().flatten();
        files.map(stat).to_vec()
    }

    /// Returns the capabilities that were revoked on this machine.
    pub fn revoked(&self) -> Result<BTreeSet<CapabilityName>, GovernanceError> {
        let path = self.revocations();
        let Some(text) = self.text(&path)? else {
            return Ok(BTreeSet::new());
        };
        let refuse = |reason: String| GovernanceError::File {
            path: path.clone(),
            reason,
        };
        let revocations: Revocations =
            serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        if revocations.version != VERSION {
            let found = revocations.version;
            return Err(refuse(format!(
                "it has format {found}, but this program supports {VERSION}"
            )));
        }
        let name = |text: &String| CapabilityName::parse(text).map_err(|e| refuse(e.to_string()));
        revocations.revoked.iter().map(name).collect()
    }

    /// Revokes a capability, or gives it back. Returns whether that changed anything.
    pub fn set_revoked(
        &self,
        name: &CapabilityName,
        change: Revocation,
    ) -> Result<bool, GovernanceError> {
        let path = self.revocations();
        self.homes.create_machine(&self.disk)?;
        if let Some(folder) = path.parent() {
            self.disk.create_private_dir(folder)?;
        }
        let lock = path.with_extension("lock");
        let _held = FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT)?;
        let mut revoked = self.revoked()?;
        let has_changed = match change {
            Revocation::Revoke => revoked.insert(name.clone()),
            Revocation::Restore => revoked.remove(name),
        };
        if has_changed {
            let revocations = Revocations {
                version: VERSION,
                revoked: revoked.iter().map(ToString::to_string).collect(),
            };
            let mut bytes =
                serde_json::to_vec_pretty(&revocations).expect("plain data has a JSON form");
            bytes.push(b'\n');
            self.disk.replace(&path, &bytes, MODE)?;
        }
        Ok(has_changed)
    }

    fn revocations(&self) -> PathBuf {
        self.homes.machine.join("capabilities").join("revoked.json")
    }
}

fn amendment(constitution: &Constitution, text: &str) -> Amendment {
    Amendment {
        version: constitution.version(),
        sha256: Checksum::of(text.as_bytes()),
    }
}

/// Change of a capability's revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// No plan may call it any more.
    Revoke,
    /// Plans may again.
    Restore,
}
