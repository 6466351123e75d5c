//! [`TrustStore`]: the machine's side of a project, with its checkpoints and keys.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError};

use super::{
    checkpoint_error::CheckpointError,
    format::Checkpoint,
    hash_progress::JournalWalk,
    key_ring::{KeyError, KeyRing},
    store::{self, KeptCheckpoints, SignedBy},
};
use crate::{
    journal::{DayFile, Record, day_files},
    paths::LedgerPaths,
    signed_note::{NoteStatus, SignedNote, VerifierKey},
};
use callosum_json::Checksum;

/// Prefix of the names of our logs; the name is never looked up.
const ORIGIN: &str = "callosum.invalid";

/// A machine's store of the checkpoints that it signed for a project.
#[derive(Clone, Debug)]
pub struct TrustStore {
    /// The SHA-256 of the project's path, as trust decisions name it.
    pub(super) project: String,
    pub(super) folder: PathBuf,
    pub(super) keys: KeyRing,
}

/// With which key, and after what, a checkpoint is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begin {
    /// With the machine's key, if the journal continues what was signed last.
    #[default]
    GoOn,
    /// With a new key, whose first checkpoint the old one signs as well.
    NewKey,
    /// After nothing: all earlier checkpoints are set aside, because they no longer vouch for this
    /// journal.
    Anew,
}

impl TrustStore {
    /// The one of the project at `root`, in the machine's home. Creates nothing.
    pub fn in_home(home: &Path, root: &Path) -> Self {
        let project = Checksum::of(root.as_os_str().as_bytes()).to_string();
        Self {
            folder: home.join("ledgers").join(&project),
            keys: KeyRing::in_folder(home.join("keys")),
            project,
        }
    }

    /// The file of all checkpoints.
    pub fn path(&self) -> PathBuf {
        self.folder.join("checkpoints")
    }

    /// The derived place from which the journal is hashed on.
    pub(super) fn edge(&self) -> PathBuf {
        self.folder.join("edge")
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// Reads the checkpoints signed so far, and their signers. Creates nothing.
    pub fn read(&self, disk: &Disk) -> Result<KeptCheckpoints, KeyError> {
        let keys = self.keys.verifiers(disk, ORIGIN)?;
        Ok(store::read_all(disk, &self.path(), &keys)?)
    }

    /// Returns the public keys of this user on this machine, today's last. Creates nothing.
    pub(crate) fn own_keys(&self, disk: &Disk) -> Result<Vec<VerifierKey>, KeyError> {
        self.keys.verifiers(disk, ORIGIN)
    }

    /// Counts the records of the existing journal that were signed. Returns 0 if the last
    /// checkpoint is of another journal, or nothing was signed.
    ///
    /// Costs the reading of one record and of the last checkpoints. Checks no signature.
    pub fn signed_records(&self, disk: &Disk, paths: &LedgerPaths) -> Result<u64, DiskError> {
        let (last, _) = store::read_last(disk, &self.path())?;
        let Some((_, checkpoint)) = last else {
            return Ok(0);
        };
        let mut days = Vec::new();
        for day in day_files(disk, &paths.audit)? {
            let len = disk.stat(&day.path)?.map_or(0, |stat| stat.len);
            days.push((day, len));
        }
        let first = begin_of_journal(disk, &days)?;
        let is_of_it = first.is_some_and(|first| self.origin(first) == checkpoint.origin);
        Ok(if is_of_it { checkpoint.size } else { 0 })
    }

    /// The key that others check this log's last checkpoint with; `None` before the first.
    pub fn verifier(&self, disk: &Disk) -> Result<Option<VerifierKey>, CheckpointError> {
        match last_signed(disk, self)? {
            None => Ok(None),
            Some(LastSigned { key: Some(key), .. }) => Ok(Some(key)),
            Some(LastSigned { key: None, .. }) => {
                Err(CheckpointError::Foreign { path: self.path() })
            }
        }
    }

    /// Returns the key that signs this log's next checkpoint, if it is not the last one's: it was
    /// changed from another project.
    pub fn next_verifier(&self, disk: &Disk) -> Result<Option<VerifierKey>, CheckpointError> {
        let Some(last) = last_signed(disk, self)? else {
            return Ok(None);
        };
        let keys = self.keys.verifiers(disk, &last.checkpoint.origin)?;
        let today = keys.into_iter().next_back();
        Ok(today.filter(|today| last.key.as_ref() != Some(today)))
    }

    /// Returns the prefix of the name of each log of this project.
    pub(crate) fn origin_of_project(&self) -> String {
        format!("{ORIGIN}/{}/", &self.project[..32])
    }

    /// Returns the name of the log that begins with this record.
    ///
    /// The path is part of it: a copy of a project that continues differently is another log, and
    /// so is one that is begun from scratch at the same path.
    pub(super) fn origin(&self, first_record: Checksum) -> String {
        let first = first_record.to_string();
        format!("{}{}", self.origin_of_project(), &first[..32])
    }
}

/// The last checkpoint that is kept.
pub(crate) struct LastSigned {
    pub(crate) note: SignedNote,
    pub(crate) checkpoint: Checkpoint,
    /// The key of this machine that signed it, if one did.
    pub(crate) key: Option<VerifierKey>,
}

/// The last of these keys that signed a note.
pub(super) fn signer_among(note: &SignedNote, keys: Vec<VerifierKey>) -> Option<VerifierKey> {
    keys.into_iter()
        .rfind(|key| note.standing(key) == NoteStatus::Signed)
}

/// Reads the last checkpoint, and who signed it.
pub(crate) fn last_signed(
    disk: &Disk,
    witness: &TrustStore,
) -> Result<Option<LastSigned>, KeyError> {
    let (last, _) = store::read_last(disk, &witness.path())?;
    let Some((note, checkpoint)) = last else {
        return Ok(None);
    };
    let keys = witness.keys.verifiers(disk, &checkpoint.origin)?;
    let key = match store::signed_by(&note, &checkpoint.origin, &keys) {
        SignedBy::Us => signer_among(&note, keys),
        SignedBy::Another { .. } | SignedBy::Nobody => None,
    };
    Ok(Some(LastSigned {
        note,
        checkpoint,
        key,
    }))
}

/// Returns the hash of the journal's first record; `None` if there is no valid one.
pub(crate) fn begin_of_journal(
    disk: &Disk,
    days: &[(DayFile, u64)],
) -> Result<Option<Checksum>, DiskError> {
    let mut first = None;
    JournalWalk::new(disk, days).each(|_, line| {
        first = Record::read(line.bytes).ok().map(|record| record.hash);
        false
    })?;
    Ok(first)
}
