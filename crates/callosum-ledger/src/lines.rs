//! [`Lines`]: a file's lines, read in pieces, with the offset of each.

use callosum_host::{DiskError, DiskFile};

/// Number of bytes read at once.
const PIECE: usize = 256 * 1024;

/// Bytes at the end of a file to search first for its last line: ids, times and executors are
/// short.
const USUAL_LINES: u64 = 4 * 1024;

/// Reads a file line by line, up to a given end, without holding more of it than one piece and
/// one line.
pub(crate) struct Lines<'f> {
    file: &'f DiskFile,
    buffer: Vec<u8>,
    /// Start of the part of the buffer that was not returned yet.
    from: usize,
    /// Bytes of the buffer that are filled.
    filled: usize,
    /// The offset in the file of the end of the buffer.
    next_offset: u64,
    end: u64,
}

/// One line, without its line feed.
pub(crate) struct Line<'a> {
    /// Its offset in the file.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) bytes: &'a [u8],
    /// Whether a line feed ends it; only the last line can lack it.
    pub(crate) is_whole: bool,
}

impl Line<'_> {
    /// The offset after its line feed.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64 + u64::from(self.is_whole)
    }
}

impl<'f> Lines<'f> {
    pub(crate) fn new(file: &'f DiskFile, offset: u64, end: u64) -> Self {
        Self {
            file,
            buffer: Vec::new(),
            from: 0,
            filled: 0,
            next_offset: offset,
            end,
        }
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, DiskError> {
        let mut searched = 0;
        loop {
            let unread = &self.buffer[self.from..self.filled];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched..]) {
                return Ok(Some(self.give(searched + at, true)));
            }
            searched = unread.len();
            if !self.fill()? {
                return Ok((searched > 0).then(|| self.give(searched, false)));
            }
        }
    }

    fn give(&mut self, len: usize, is_whole: bool) -> Line<'_> {
        let from = self.from;
        let offset = self.next_offset - (self.filled - from) as u64;
        self.from += len + usize::from(is_whole);
        Line {
            offset,
            bytes: &self.buffer[from..from + len],
            is_whole,
        }
    }

    /// Reads a further piece; `false` at the end.
    fn fill(&mut self) -> Result<bool, DiskError> {
        self.buffer.copy_within(self.from..self.filled, 0);
        self.filled -= self.from;
        self.from = 0;
        let left = self.end.saturating_sub(self.next_offset);
        let wanted = PIECE.min(usize::try_from(left).unwrap_or(PIECE));
        if self.buffer.len() < self.filled + wanted {
            self.buffer.resize(self.filled + wanted, 0);
        }
        let room = &mut self.buffer[self.filled..self.filled + wanted];
        let read = self.file.read_at(room, self.next_offset)?;
        self.filled += read;
        self.next_offset += read as u64;
        Ok(read > 0)
    }
}

/// The line that ends at `end`, without its line feed; `None` where none does.
pub(crate) fn last_line(file: &DiskFile, end: u64) -> Result<Option<Vec<u8>>, DiskError> {
    if end > file.size()? {
        return Ok(None);
    }
    let mut len = USUAL_LINES.min(end);
    loop {
        let mut text = file.read_range(end - len, len as usize)?;
        if text.pop() != Some(b'\n') {
            return Ok(None);
        }
        if let Some(feed) = memchr::memrchr(b'\n', &text) {
            return Ok(Some(text.split_off(feed + 1)));
        }
        if len == end {
            return Ok(Some(text));
        }
        len = len.saturating_mul(8).min(end);
    }
}

#[cfg(test)]
mod tests {
    use callosum_host::{Disk, OpenHow};
    use proptest::prelude::*;

    use super::*;

    fn lines_of(text: &[u8], from: u64, end: u64) -> Vec<(u64, Vec<u8>, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("lines");
        disk.replace(&path, text, 0o600).unwrap();
        let file = disk.open(&path, OpenHow::READ).unwrap();
        let mut lines = Lines::new(&file, from, end);
        let mut read = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            read.push((line.offset, line.bytes.to_vec(), line.is_whole));
        }
        read
    }

    #[test]
    fn lines_longer_than_a_piece_come_whole() {
        let long = vec![b'x'; 3 * PIECE + 7];
        let text = [b"a\n", long.as_slice(), b"\n\nend"].concat();
        let lines = lines_of(&text, 0, text.len() as u64);
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1], (2, long, true));
        assert_eq!(lines[2].1, b"");
        assert_eq!(lines[3], (text.len() as u64 - 3, b"end".to_vec(), false));
        assert_eq!(lines_of(&text, 2, 5), [(2, b"xxx".to_vec(), false)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_lines_put_together_are_the_file(text in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a')], 0..200)) {
            let mut again = Vec::new();
            for (offset, bytes, is_whole) in lines_of(&text, 0, text.len() as u64) {
                prop_assert_eq!(offset, again.len() as u64);
                again.extend(bytes);
                again.extend(is_whole.then_some(b'\n'));
            }
            prop_assert_eq!(again, text);
        }
    }
}
