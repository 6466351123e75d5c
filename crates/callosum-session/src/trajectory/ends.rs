//! [`Ends`]: the end of a trajectory file, before records are added to it.

use std::collections::HashSet;

use callosum_host::DiskFile;

use super::lines::{FileReader, Lines};
use crate::zones::ZoneError;

/// Facts about a file that are needed to add records to it.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Number of bytes to keep: without a last line that is the first new record as a crash leaves
    /// it, cut short, or with blocks of it never written.
    pub(super) len: u64,
    /// Number of line ends in them.
    pub(super) lines: usize,
    /// Whether the last of them is at their end.
    pub(super) is_ended: bool,
    /// The new records that are already there word for word.
    pub(super) known: HashSet<Vec<u8>>,
}

impl Ends {
    /// Reads a file to which these records are added.
    pub(super) fn read(file: &DiskFile, new: &[Vec<u8>]) -> Result<Self, ZoneError> {
        let mut failed = None;
        let mut lines = Lines::new(FileReader::new(file, 0, &mut failed).buffered());
        let mut ends = Self {
            is_ended: true,
            ..Self::default()
        };
        // An error ends the lines here, and is reported below.
        while let Ok(Some(line)) = lines.next() {
            let is_last = !matches!(lines.peek(0), Ok(Some(_)));
            if is_last && !line.is_cut() && is_torn(&line.bytes, new.first()) {
                break;
            }
            ends.len += line.len as u64 + u64::from(line.is_ended);
            ends.lines += usize::from(line.is_ended);
            ends.is_ended = line.is_ended;
            if new.contains(&line.bytes) {
                ends.known.insert(line.bytes);
            }
        }
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(ends),
        }
    }
}

/// Whether a last line is `line` as a crash leaves it.
fn is_torn(last: &[u8], line: Option<&Vec<u8>>) -> bool {
    // Its line end may be in the part that was never written.
    line.is_some_and(|line| {
        !last.is_empty()
            && last != line
            && last.len() <= line.len() + 1
            && last
                .iter()
                .zip(line.iter().chain(b"\n"))
                .all(|(there, meant)| *there == 0 || there == meant)
    })
}
