//! [`LastTranscript`]: records that a sandboxed client wrote about its session, read before its folder is removed.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use callosum_host::{Disk, DiskError, OpenHow, disk::EntryKind};

use crate::client::Client;

/// Most bytes of a record that are looked at, from its end. A database has what counts anywhere.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Storage for the ends of a sandboxed client's newest records. Clones share the storage.
#[derive(Clone, Debug, Default)]
pub struct LastTranscript(Arc<Mutex<Option<Vec<u8>>>>);

impl LastTranscript {
    /// Takes the records, once; `None` if no sandboxed client keeps any.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reads it in the client's own folder.
    pub(super) fn read(&self, client: &Client, disk: &Disk, own: &Path) -> Result<(), DiskError> {
        let mut all: Option<Vec<u8>> = None;
        for paths in client.records_below(disk, own)? {
            let mut newest = None;
            for path in paths {
                // What the client left in place of a file is no business of ours.
                if let Ok(Some(stat)) = disk.stat(&path)
                    && stat.kind == EntryKind::File
                {
                    newest = newest.max(Some((stat.modified, path)));
                }
            }
            let Some((_, path)) = newest else {
                continue;
            };
            let file = disk.open(&path, OpenHow::READ)?;
            let end = file.read_from(file.size()?.saturating_sub(LARGEST))?;
            let all = all.get_or_insert_default();
            all.push(b'\n');
            all.extend(end);
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = all;
        Ok(())
    }
}
