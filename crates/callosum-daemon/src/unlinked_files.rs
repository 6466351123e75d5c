//! [`Replaced`]: files that were in the bridge file's place until others replaced them, and that another program has open.
//!
//! A program that renames a file over another removes the other's name, and text that is written
//! into that one from then on is lost once it is closed. Therefore each file in the bridge file's
//! place is kept open, and read for as long as anyone may write it.
//!
//! Deliberately not here: files that were exchanged away. They have names, by which they are found.
//! If one of them is read here as well, it is the same text.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use callosum_host::disk::{DiskFile, FileId};
use serde::de::IgnoredAny;

/// Most files that are kept open; the oldest is closed.
const MOST: usize = 64;

/// The file in the bridge file's place, and those before it that may still be written.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    standing: Option<Open>,
    before: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    file: DiskFile,
    id: Option<FileId>,
    /// Of what was read of it last.
    hash: u64,
}

impl Replaced {
    /// Records the file that is in place now, and the bytes that were read from it.
    pub(super) fn record(&mut self, file: DiskFile, id: Option<FileId>, bytes: &[u8]) {
        self.before.retain(|open| open.id != id);
        let was = self.standing.replace(Open {
            file,
            id,
            hash: hash(bytes),
        });
        self.before.extend(was.filter(|was| was.id != id));
        while self.before.len() > MOST {
            self.before.pop_front();
        }
    }

    /// Returns text that was written since into replaced files, if it is complete or no one has the
    /// file open any more. Closes those that no one writes any more. Costs a read of each.
    pub(super) fn written(&mut self, most_bytes: u64) -> Vec<Vec<u8>> {
        let mut written = Vec::new();
        self.before.retain_mut(|open| {
            // Asked before it is read, so that nothing is written after that.
            let is_open = matches!(open.file.is_being_written(), Ok(Some(true)));
            let size = open.file.size().ok().filter(|size| *size <= most_bytes);
            let bytes = size.and_then(|size| open.file.read_range(0, size as usize).ok());
            if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
                let hash = hash(&bytes);
                let is_whole = || serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
                if hash != open.hash && (!is_open || is_whole()) {
                    open.hash = hash;
                    written.push(bytes);
                }
            }
            is_open
        });
        written
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
