//! [`OpenErrors`]: a mark that a session has errors that are not fixed yet.
//!
//! Every hook after a tool looks at it, so that a session without errors never opens the database.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;

use callosum_config::Homes;

/// Most marks; those of sessions that were killed are never removed by themselves.
const MOST: usize = 256;

/// The mark of one session.
#[derive(Clone, Debug)]
pub(super) struct OpenErrors {
    path: PathBuf,
}

impl OpenErrors {
    /// Returns the mark of a session, which need not exist.
    pub(super) fn of_session(homes: &Homes, client: &str, session: &str) -> Self {
        // A client names its session: that is no name of a file.
        let name = Checksum::of(format!("{client}:{session}").as_bytes());
        Self {
            path: homes.open_errors().join(name.to_string()),
        }
    }

    /// Whether the session has errors that are not fixed.
    pub(super) fn any(&self, disk: &Disk) -> Result<bool, DiskError> {
        disk.exists(&self.path)
    }

    /// Sets or removes the mark.
    pub(super) fn set(&self, disk: &Disk, is_open: bool) -> Result<(), DiskError> {
        if !is_open {
            return disk.remove_file(&self.path).map(drop);
        }
        if self.any(disk)? {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            disk.create_private_dir(folder)?;
            let mut known = Vec::new();
            for entry in disk.list_dir(folder)? {
                let path = folder.join(&entry.name);
                let modified = disk.stat(&path)?.map(|stat| stat.modified);
                known.push((modified, path));
            }
            known.sort();
            let surplus = (known.len() + 1).saturating_sub(MOST);
            for (_, path) in known.iter().take(surplus) {
                disk.remove_file(path)?;
            }
        }
        disk.replace_unsynced(&self.path, b"", 0o600)
    }
}
