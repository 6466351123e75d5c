//! [`FileState`]: the state of a path, by a fingerprint of its content.

use std::path::Path;

use callosum_host::{Disk, DiskError, OpenHow, disk::EntryKind};
use callosum_json::Checksum;
use serde::{Deserialize, Serialize};

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// SHA-256 of its bytes.
        sum: String,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// The path that it holds.
        target: String,
    },
    /// A file or link as a snapshot holds it.
    Object {
        /// Git's name of the content.
        blob: String,
        /// Git's mode, such as `100644`.
        mode: String,
    },
    /// It was not read or kept.
    Unknown {
        /// The reason.
        reason: String,
    },
}

impl FileState {
    /// Something whose content is not known.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown {
            reason: reason.into(),
        }
    }

    /// Returns whether both hold the same bytes; `false` if that is not known.
    pub fn has_content_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) => true,
            (Self::File { sum, .. }, Self::File { sum: other, .. }) => sum == other,
            (Self::Link { target }, Self::Link { target: other }) => target == other,
            (Self::Object { .. }, Self::Object { .. }) => self == other,
            _ => false,
        }
    }

    /// Returns whether nothing is known of the content.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

/// Reads what is at a path, links not followed, with the bytes of a regular file of at most `largest` bytes.
pub fn observe(
    disk: &Disk,
    path: &Path,
    largest: u64,
) -> Result<(FileState, Option<Vec<u8>>), DiskError> {
    let Some(stat) = disk.stat(path)? else {
        return Ok((FileState::Absent, None));
    };
    Ok(match stat.kind {
        EntryKind::File if stat.len > largest => {
            let reason = format!("larger than {} MiB", largest >> 20);
            (FileState::unknown(reason), None)
        }
        EntryKind::File => {
            let file = disk.open(path, OpenHow::READ)?;
            let bytes = file.read_all()?;
            let state = FileState::File {
                sum: Checksum::of(&bytes).to_string(),
                mode: file.mode()?.unwrap_or(0o644) & 0o7777,
            };
            (state, Some(bytes))
        }
        EntryKind::Link => match disk.read_link(path)?.to_str() {
            Some(target) => {
                let target = target.to_owned();
                (FileState::Link { target }, None)
            }
            None => (FileState::unknown("a link whose target is not UTF-8"), None),
        },
        EntryKind::Folder => (FileState::unknown("a folder"), None),
        EntryKind::Other => (FileState::unknown("not a regular file"), None),
    })
}
