//! The text of a file, or the reason why it has none.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use callosum_host::{Disk, OpenHow, disk::EntryKind};

use super::tree::{SourceFile, SourceTree, Why};

/// Files above this size (1 MiB) are not read: what is written by hand stays far below it.
pub const MAX_TEXT_BYTES: u64 = 1 << 20;

/// How many first bytes are searched for a NUL, the sign of a binary file.
pub const BINARY_PROBE: usize = 8 * 1024;

impl SourceTree {
    /// Reads the text of a file, without a byte order mark.
    ///
    /// Fails with the reason where it is no text that we read. What is no regular file (any
    /// more) is not opened, since opening a pipe may wait for ever.
    pub fn text(&self, disk: &Disk, file: &SourceFile) -> Result<String, Why> {
        let path = self.root.join(&file.path);
        let refused = |error: callosum_host::DiskError| Why::Unreadable(error.source.to_string());
        let found = disk.stat(&path).map_err(refused)?;
        match found.map(|found| (found.kind, found.len)) {
            Some((EntryKind::File, bytes)) if bytes > MAX_TEXT_BYTES => {
                return Err(Why::TooLarge(bytes));
            }
            Some((EntryKind::File, _)) => {}
            Some((EntryKind::Link, _)) => return Err(Why::Link),
            Some((EntryKind::Other, _)) => return Err(Why::Special),
            Some((EntryKind::Folder, _)) | None => {
                return Err(Why::Unreadable("no longer there".to_owned()));
            }
        }
        let bytes = disk
            .open(&path, OpenHow::READ)
            .and_then(|open| open.read_range(0, MAX_TEXT_BYTES as usize + 1))
            .map_err(refused)?;
        decode(bytes)
    }

    /// Reads every file and gives each text to `look`, on every core; results in the order of
    /// [`SourceTree::files`].
    ///
    /// Holds at most one text per core in memory.
    pub fn map_texts<T: Send>(
        &self,
        disk: &Disk,
        look: impl Fn(&SourceFile, String) -> T + Sync,
    ) -> Vec<Result<T, Why>> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(self.files.len()));
        thread::scope(|scope| {
            for _ in 0..workers.min(self.files.len()) {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(file) = self.files.get(index) else {
                            break;
                        };
                        let result = self.text(disk, file).map(|text| look(file, text));
                        mine.push((index, result));
                    }
                    results
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .append(&mut mine);
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

fn decode(mut bytes: Vec<u8>) -> Result<String, Why> {
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        return Err(Why::TooLarge(bytes.len() as u64));
    }
    if bytes[..bytes.len().min(BINARY_PROBE)].contains(&0) {
        return Err(Why::Binary);
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|_| Why::NotUtf8)
}
