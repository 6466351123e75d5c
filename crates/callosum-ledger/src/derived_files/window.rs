//! [`Window`]: a part of a file in memory, which moves on as later parts are asked for.

use callosum_host::DiskError;

use crate::hashlog::ReadRange;

/// A part of a file in memory.
#[derive(Debug)]
pub(crate) struct Window<R> {
    file: R,
    from: u64,
    bytes: Vec<u8>,
}

/// Number of bytes read at once.
const PIECE: usize = 256 * 1024;

impl<R: ReadRange> ReadRange for &R {
    fn size(&self) -> Result<u64, DiskError> {
        R::size(self)
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        R::read_range(self, offset, len)
    }
}

impl<R: ReadRange> Window<R> {
    pub(crate) fn new(file: R) -> Self {
        Self {
            file,
            from: 0,
            bytes: Vec::new(),
        }
    }

    /// The size of the file.
    pub(crate) fn size(&self) -> Result<u64, DiskError> {
        self.file.size()
    }

    /// The bytes at an offset; fewer where the file ends.
    pub(crate) fn get(&mut self, offset: u64, len: usize) -> Result<&[u8], DiskError> {
        let end = self.from + self.bytes.len() as u64;
        if offset < self.from || offset + len as u64 > end {
            self.bytes = self.file.read_range(offset, len.max(PIECE))?;
            self.from = offset;
        }
        let at = (offset - self.from) as usize;
        let filled = self.bytes.len();
        Ok(&self.bytes[at.min(filled)..(at + len).min(filled)])
    }
}
