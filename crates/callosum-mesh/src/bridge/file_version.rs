//! [`FileVersion`]: contents of a bridge file, by its author.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant, SystemTime},
};

use callosum_host::DiskError;
use jiff::Timestamp;

use super::{
    Bridge, Document, NoDocument, drop_ins,
    store::{LATEST, Late, hash},
};

/// Longest wait for another program that still writes the file.
const SETTLING: Duration = Duration::from_millis(200);

/// Pause between two looks during that wait.
const PAUSE: Duration = Duration::from_millis(5);

/// Contents of the file.
pub(super) enum FileVersion {
    /// Nothing: the file was never written, or someone removed it.
    Nothing,
    /// Our own bytes.
    Ours { revision: u64, bytes: Vec<u8> },
    /// Document that someone else wrote.
    Theirs { document: Document, bytes: Vec<u8> },
    /// Bytes that another program is still writing, and that are not a document yet.
    Unfinished { bytes: Vec<u8> },
    /// No document.
    Broken { error: NoDocument, bytes: Vec<u8> },
}

impl FileVersion {
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Nothing => None,
            Self::Ours { bytes, .. }
            | Self::Theirs { bytes, .. }
            | Self::Unfinished { bytes }
            | Self::Broken { bytes, .. } => Some(bytes),
        }
    }

    pub(super) fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Nothing => None,
            Self::Ours { bytes, .. }
            | Self::Theirs { bytes, .. }
            | Self::Unfinished { bytes }
            | Self::Broken { bytes, .. } => Some(bytes),
        }
    }
}

impl Bridge {
    /// Returns the contents of a file once no one writes it any more, or when the wait is over.
    pub(super) fn settled(&self, path: &Path) -> Result<FileVersion, DiskError> {
        let started = Instant::now();
        loop {
            let found = self.read(path)?;
            if !matches!(found, FileVersion::Broken { .. }) {
                return Ok(found);
            }
            // Not asked before: who opens the file at that moment has to wait. Read once more: who has closed it since has
            // written all that is read then.
            let is_open = self.disk.is_being_written(path)?;
            let found = self.read(path)?;
            let FileVersion::Broken { error, bytes } = found else {
                return Ok(found);
            };
            let is_cut =
                bytes.is_empty() || matches!(error, NoDocument::NoJson { is_cut: true, .. });
            let may_be_written = is_cut || is_open == Some(true);
            if may_be_written && started.elapsed() <= SETTLING {
                thread::sleep(PAUSE);
                continue;
            }
            let age = self.disk.stat(path)?.map(|stat| stat.modified.elapsed());
            let is_recent = matches!(age, Some(Ok(age)) if age < LATEST);
            return Ok(if is_open == Some(true) && is_recent {
                FileVersion::Unfinished { bytes }
            } else {
                FileVersion::Broken { error, bytes }
            });
        }
    }

    pub(super) fn read(&self, path: &Path) -> Result<FileVersion, DiskError> {
        match self.disk.read_if_there(path)? {
            Some(bytes) => self.identify(bytes),
            None => Ok(FileVersion::Nothing),
        }
    }

    /// Returns those of the bytes that someone else has written, unless they are in the file now or
    /// were applied from an exchanged file. Truncated bytes are left out, because their author was
    /// still writing.
    pub(super) fn written_before(
        &self,
        before: &[Vec<u8>],
        now: Option<&[u8]>,
        late: &[Late],
    ) -> Result<Vec<FileVersion>, DiskError> {
        let mut written = Vec::new();
        for bytes in before.iter().filter(|bytes| Some(bytes.as_slice()) != now) {
            let hash = hash(bytes);
            if late.iter().any(|late| late.is_taken && late.hash == hash) {
                continue;
            }
            let found = self.identify(bytes.clone())?;
            let is_whole = match &found {
                FileVersion::Nothing
                | FileVersion::Ours { .. }
                | FileVersion::Unfinished { .. } => false,
                FileVersion::Theirs { .. } => true,
                FileVersion::Broken { error, bytes } => {
                    !bytes.is_empty() && !matches!(error, NoDocument::NoJson { is_cut: true, .. })
                }
            };
            if is_whole {
                written.push(found);
            }
        }
        Ok(written)
    }

    /// Distinguishes bytes of others from our own.
    fn identify(&self, bytes: Vec<u8>) -> Result<FileVersion, DiskError> {
        // Most of what is looked at is ours, which need not be read as JSON.
        if let Some(revision) = self.kept.revision_of(&bytes)? {
            return Ok(FileVersion::Ours { revision, bytes });
        }
        Ok(match Document::read(&bytes) {
            Ok(document) => FileVersion::Theirs { document, bytes },
            Err(error) => FileVersion::Broken { error, bytes },
        })
    }
}

/// Whether another program may still be writing a file that was changed then.
pub(super) fn is_fresh(modified: Option<SystemTime>, now: Timestamp) -> bool {
    let age = modified.map(|modified| SystemTime::from(now).duration_since(modified));
    matches!(age, Some(Ok(age)) if age < drop_ins::STILL_WRITTEN)
}
