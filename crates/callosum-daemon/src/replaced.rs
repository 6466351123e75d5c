//! [`Replaced`]: files that stood in the bridge file's place until others were put there, and that somebody has open.
//!
//! Who puts a file over another takes away its name, and what is written into it from then on is gone once it is closed. Each file that
//! stands there is therefore kept open, and read for as long as anybody may write it.
//!
//! Deliberately not here: files that were exchanged away. They have names, by which they are found; where one of them is read here as well it is
//! the same text.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use callosum_host::disk::{DiskFile, FileId};
use serde::de::IgnoredAny;

/// Most that are kept open; the oldest is let go.
const MOST: usize = 64;

/// The file that stands there, and those before it that may still be written.
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
    /// Takes in which file stands there now, and what was read of it.
    pub(super) fn stands(&mut self, file: DiskFile, id: Option<FileId>, bytes: &[u8]) {
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

    /// What was written since into those that stand there no more, as far as it is whole or nobody goes on with it. Lets go of those that nobody writes any
    /// more. Costs a reading of each.
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
