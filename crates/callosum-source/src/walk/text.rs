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

/// Number of first bytes that are searched for a NUL, the sign of a binary file.
pub const BINARY_PROBE: usize = 8 * 1024;

impl SourceTree {
    /// Reads the text of a file, without a byte order mark.
    ///
    /// Fails with the reason if it is no text that we read. An entry that is no regular file (any
    /// more) is not opened, since opening a pipe may wait forever.
    pub fn text(&self, disk: &Disk, file: &SourceFile) -> Result<String, Why> {
        decode(self.bytes(disk, file)?)
    }

    /// Reads the text also in another encoding: UTF-16 with a byte order mark, else Latin-1 if it
    /// has no zero bytes.
    pub fn text_in_any_encoding(&self, disk: &Disk, file: &SourceFile) -> Result<String, Why> {
        decode_any(self.bytes(disk, file)?)
    }

    fn bytes(&self, disk: &Disk, file: &SourceFile) -> Result<Vec<u8>, Why> {
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
        disk.open(&path, OpenHow::READ)
            .and_then(|open| open.read_range(0, MAX_TEXT_BYTES as usize + 1))
            .map_err(refused)
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
        self.map_files(|file| self.text(disk, file).map(|text| look(file, text)))
    }

    /// Does the same for texts in [any encoding](Self::text_in_any_encoding).
    pub fn map_texts_in_any_encoding<T: Send>(
        &self,
        disk: &Disk,
        look: impl Fn(&SourceFile, String) -> T + Sync,
    ) -> Vec<Result<T, Why>> {
        let text = |file: &SourceFile| self.text_in_any_encoding(disk, file);
        self.map_files(|file| text(file).map(|text| look(file, text)))
    }

    /// Calls `look` with every file, on every core; results in the order of [`SourceTree::files`].
    pub fn map_files<T: Send>(
        &self,
        look: impl Fn(&SourceFile) -> Result<T, Why> + Sync,
    ) -> Vec<Result<T, Why>> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(self.files.len()));
        let work = || {
            let mut mine = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = self.files.get(index) else {
                    break;
                };
                mine.push((index, look(file)));
            }
            results
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .append(&mut mine);
        };
        thread::scope(|scope| {
            // This thread works too, so all files are read even if the system gives no further thread.
            for _ in 1..workers.min(self.files.len()) {
                let worker = thread::Builder::new().spawn_scoped(scope, work);
                if worker.is_err() {
                    break;
                }
            }
            work();
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

fn decode_any(bytes: Vec<u8>) -> Result<String, Why> {
    let units = |of: fn([u8; 2]) -> u16| {
        let pairs = bytes[2..].chunks_exact(2);
        let units = pairs.map(move |pair| of([pair[0], pair[1]]));
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map_err(|_| Why::Binary)
    };
    if bytes.len() as u64 <= MAX_TEXT_BYTES {
        match bytes.get(..2) {
            Some([0xff, 0xfe]) => return units(u16::from_le_bytes),
            Some([0xfe, 0xff]) => return units(u16::from_be_bytes),
            _ => {}
        }
        if std::str::from_utf8(&bytes).is_err() && !bytes.contains(&0) {
            return Ok(bytes.into_iter().map(char::from).collect());
        }
    }
    decode(bytes)
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
