//! [`Lines`]: a trajectory line by line, so that reading a long one costs the memory of its longest
//! record.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Read},
};

use callosum_host::{DiskError, DiskFile};

use super::record::LONGEST;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// A file from an offset on, up to a number of bytes.
pub(super) struct FileReader<'f> {
    file: &'f DiskFile,
    at: u64,
    /// Error that stopped the reading of the file.
    failed: &'f mut Option<DiskError>,
}

impl<'f> FileReader<'f> {
    /// Reads the file from `start` on. A read error is stored in `failed`.
    pub(super) fn new(file: &'f DiskFile, start: u64, failed: &'f mut Option<DiskError>) -> Self {
        Self {
            file,
            at: start,
            failed,
        }
    }

    /// Adds a buffer.
    pub(super) fn buffered(self) -> io::BufReader<Self> {
        io::BufReader::with_capacity(CHUNK, self)
    }
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.file.read_at(buffer, self.at) {
            Ok(read) => {
                self.at += read as u64;
                Ok(read)
            }
            Err(error) => {
                *self.failed = Some(error);
                Err(io::Error::other("the file cannot be read from disk"))
            }
        }
    }
}

/// A line without its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Its bytes; of one that is longer than any record, the first.
    pub(super) bytes: Vec<u8>,
    /// Number of its bytes.
    pub(super) len: usize,
    /// Whether it is nothing but zeros and blanks, as a crash leaves it.
    pub(super) is_zeros: bool,
    /// Whether a line end follows it.
    pub(super) is_ended: bool,
}

impl Line {
    /// Whether it is longer than any record, so that its bytes are not all of it.
    pub(super) fn is_cut(&self) -> bool {
        self.len > self.bytes.len()
    }
}

/// The lines of a source, with a look ahead.
pub(super) struct Lines<R> {
    source: R,
    ahead: VecDeque<Line>,
    /// Whether the source has ended.
    is_over: bool,
    /// Number of bytes read.
    pub(super) read: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            ahead: VecDeque::new(),
            is_over: false,
            read: 0,
        }
    }

    /// Takes the next line.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        match self.ahead.pop_front() {
            Some(line) => Ok(Some(line)),
            None => self.pull(),
        }
    }

    /// Looks at the line after `skipped` others, which stays to be taken.
    pub(super) fn peek(&mut self, skipped: usize) -> io::Result<Option<&Line>> {
        while self.ahead.len() <= skipped {
            match self.pull()? {
                Some(line) => self.ahead.push_back(line),
                None => return Ok(None),
            }
        }
        Ok(self.ahead.get(skipped))
    }

    /// Skips so many lines that were looked at.
    pub(super) fn skip(&mut self, lines: usize) {
        self.ahead.drain(..lines.min(self.ahead.len()));
    }

    fn pull(&mut self) -> io::Result<Option<Line>> {
        if self.is_over {
            return Ok(None);
        }
        let mut line = Line {
            is_zeros: true,
            ..Line::default()
        };
        loop {
            let there = self.source.fill_buf()?;
            if there.is_empty() {
                self.is_over = true;
                return Ok((line.len > 0).then_some(line));
            }
            let end = memchr::memchr(b'\n', there);
            let piece = &there[..end.unwrap_or(there.len())];
            let room = (LONGEST + 1).saturating_sub(line.bytes.len());
            line.bytes
                .extend_from_slice(&piece[..piece.len().min(room)]);
            line.len += piece.len();
            line.is_zeros &= piece
                .iter()
                .all(|byte| *byte == 0 || byte.is_ascii_whitespace());
            let used = piece.len() + usize::from(end.is_some());
            self.source.consume(used);
            self.read += used as u64;
            if end.is_some() {
                line.is_ended = true;
                return Ok(Some(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_and_an_endless_one_in_part() {
        let long = "x".repeat(LONGEST + 100);
        let text = format!("a\n\n{long}\n\0\0\nlast");
        let mut lines = Lines::new(io::BufReader::with_capacity(7, text.as_bytes()));
        assert_eq!(lines.peek(1).unwrap().unwrap().len, 0);
        let first = lines.next().unwrap().unwrap();
        assert_eq!((first.bytes.as_slice(), first.is_ended), (&b"a"[..], true));
        lines.skip(1);
        let long = lines.next().unwrap().unwrap();
        assert!(long.is_cut() && long.len == LONGEST + 100 && long.bytes.len() == LONGEST + 1);
        assert!(lines.next().unwrap().unwrap().is_zeros);
        let last = lines.next().unwrap().unwrap();
        assert!(!last.is_ended && last.bytes == b"last");
        assert!(lines.next().unwrap().is_none());
        assert_eq!(lines.read, text.len() as u64);
    }
}
