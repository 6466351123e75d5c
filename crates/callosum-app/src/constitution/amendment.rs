//! [`Amendment`]: the constitution that this machine's key signed last, so that no older one is put back.
//!
//! A signature never expires, and a file may be replaced with its predecessor, signature and all.
//! The last signed one is recorded in the machine's home; a constitution of a lower version, or
//! another one of the same, does not hold any more. Format: `docs/formats/constitution.md`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, FileLock};
use callosum_json::Checksum;
use serde::{Deserialize, Serialize};

use super::governance_error::GovernanceError;

/// The format of the file.
const FORMAT: u32 = 1;

/// Permission bits of the file.
const MODE: u32 = 0o600;

/// Timeout for the lock of another process that signs.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// A constitution that was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Amendment {
    /// The version that its first line says.
    pub version: u64,
    /// The hash of its text.
    pub sha256: Checksum,
}

/// The content of the file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredVersion {
    format: u32,
    signed: Amendment,
}

/// Record of the last signed constitution.
pub(super) struct Amendments {
    disk: Disk,
    file: PathBuf,
}

impl Amendments {
    /// In the machine's home. Reads and creates nothing.
    pub(super) fn in_home(disk: &Disk, machine: &Path) -> Self {
        Self {
            disk: disk.clone(),
            file: machine.join("constitution").join("signed.json"),
        }
    }

    /// The last one; none where none was signed since there is such a memory.
    fn last(&self) -> Result<Option<Amendment>, GovernanceError> {
        if !self.disk.exists(&self.file)? {
            return Ok(None);
        }
        let refuse = |reason: String| GovernanceError::File {
            path: self.file.clone(),
            reason,
        };
        let bytes = self.disk.read(&self.file)?;
        let kept: StoredVersion =
            serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
        if kept.format != FORMAT {
            let found = kept.format;
            return Err(refuse(format!(
                "it has format {found}, but this program supports {FORMAT}"
            )));
        }
        Ok(Some(kept.signed))
    }

    /// Fails if a later one than this, which is in `path`, was signed.
    pub(super) fn check(&self, amendment: Amendment, path: &Path) -> Result<(), GovernanceError> {
        match self.last()? {
            Some(last)
                if amendment.version < last.version
                    || amendment.version == last.version && amendment != last =>
            {
                Err(GovernanceError::Older {
                    path: path.to_owned(),
                    version: amendment.version,
                    signed: last.version,
                })
            }
            _ => Ok(()),
        }
    }

    /// Records that this one, which is in `path`, is about to be signed. The version may stay the
    /// same, but not go down.
    pub(super) fn remember(
        &self,
        amendment: Amendment,
        path: &Path,
    ) -> Result<(), GovernanceError> {
        if let Some(folder) = self.file.parent() {
            self.disk.create_private_dir(folder)?;
        }
        let lock = self.file.with_extension("lock");
        let _held = FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT)?;
        let last = self.last()?;
        if let Some(last) = last.filter(|last| amendment.version < last.version) {
            return Err(GovernanceError::Older {
                path: path.to_owned(),
                version: amendment.version,
                signed: last.version,
            });
        }
        if last != Some(amendment) {
            let kept = StoredVersion {
                format: FORMAT,
                signed: amendment,
            };
            let mut bytes = serde_json::to_vec_pretty(&kept).expect("plain data has a JSON form");
            bytes.push(b'\n');
            self.disk.replace(&self.file, &bytes, MODE)?;
        }
        Ok(())
    }
}
