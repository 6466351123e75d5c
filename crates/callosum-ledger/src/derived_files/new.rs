//! [`NewViews`]: a ledger file and its hashlog, written entry by entry.

use std::path::Path;

use callosum_host::{Disk, DiskError, OpenHow, disk::NewFile};

use crate::{hashlog::ReadRange, journal::EntryRef, position::View};
use callosum_json::{Checksum, Hashing};

/// A ledger file and its hashlog that have not got their names yet.
#[derive(Debug)]
pub(crate) struct NewViews {
    view: View,
    ledger: NewFile,
    hashlog: NewFile,
    entry: Vec<u8>,
    line: Vec<u8>,
}

impl NewViews {
    /// Begins them with a ledger without entries, each with its permissions.
    pub(crate) fn begin(
        disk: &Disk,
        (ledger, hashlog): (&Path, &Path),
        modes: (u32, u32),
        view: View,
    ) -> Result<Self, DiskError> {
        let mut ledger = disk.new_file(ledger, modes.0)?;
        ledger.push(view.begun.head.as_bytes())?;
        Ok(Self {
            hashlog: disk.new_file(hashlog, modes.1)?,
            view,
            ledger,
            entry: Vec::new(),
            line: Vec::new(),
        })
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: EntryRef<'_>) -> Result<(), DiskError> {
        self.entry.clear();
        self.line.clear();
        self.view.push(entry, &mut self.entry, &mut self.line);
        self.ledger.push(&self.entry)?;
        self.hashlog.push(&self.line)
    }

    /// Returns the complete files, and their ends.
    pub(crate) fn end(mut self) -> Result<(View, NewFile, NewFile), DiskError> {
        self.ledger.push(self.view.begun.tail.as_bytes())?;
        Ok((self.view, self.ledger, self.hashlog))
    }
}

/// Number of bytes copied at once.
const PIECE: u64 = 1024 * 1024;

/// Passes the first `len` bytes of a file in pieces; fewer if it ends before.
pub(crate) fn each_piece(
    file: &impl ReadRange,
    len: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), DiskError>,
) -> Result<(), DiskError> {
    let mut at = 0;
    while at < len {
        let bytes = file.read_range(at, PIECE.min(len - at) as usize)?;
        if bytes.is_empty() {
            break;
        }
        take(&bytes)?;
        at += bytes.len() as u64;
    }
    Ok(())
}

/// Appends the first `len` bytes of a file.
pub(crate) fn copy(from: &impl ReadRange, len: u64, to: &mut NewFile) -> Result<(), DiskError> {
    each_piece(from, len, |piece| to.push(piece))
}

/// The SHA-256 of the first `len` bytes of a file.
pub(crate) fn hash_of(file: &impl ReadRange, len: u64) -> Result<Checksum, DiskError> {
    let mut hashing = Hashing::default();
    each_piece(file, len, |piece| {
        hashing.push(piece);
        Ok(())
    })?;
    Ok(hashing.end())
}

/// Returns the permissions for a file with the contents of this one.
pub(crate) fn mode_like(disk: &Disk, path: &Path) -> Result<u32, DiskError> {
    let mode = match disk.open_if_there(path, OpenHow::READ)? {
        Some(file) => file.mode()?,
        None => None,
    };
    Ok(mode.unwrap_or(0o644))
}
