//! [`LastTranscript`]: what a held client had written of its session, before its folder goes.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use callosum_host::{Disk, DiskError, OpenHow};

use crate::client::Client;

/// Most bytes of a transcript that are looked at, from its end.
const LARGEST: u64 = 1024 * 1024;

/// Where the end of a held client's newest transcript is put. Clones are the same place.
#[derive(Clone, Debug, Default)]
pub struct LastTranscript(Arc<Mutex<Option<Vec<u8>>>>);

impl LastTranscript {
    /// The end of the transcript, once; nothing where no client was held that keeps one.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reads it in the client's own folder.
    pub(super) fn read(&self, client: &Client, disk: &Disk, own: &Path) -> Result<(), DiskError> {
        let mut newest = None;
        for path in client.transcripts_below(disk, own)? {
            // What the client left in place of a file is no business of ours.
            if let Ok(Some(stat)) = disk.stat(&path) {
                newest = newest.max(Some((stat.modified, path)));
            }
        }
        let Some((_, path)) = newest else {
            return Ok(());
        };
        let file = disk.open(&path, OpenHow::READ)?;
        let end = file.read_from(file.size()?.saturating_sub(LARGEST))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        Ok(())
    }
}
