//! [`Condition`]: contents of a log's files, for maintenance.

use std::path::PathBuf;

use callosum_host::OpenHow;

use super::{Cursor, Journal, JournalError, Notice, files::Segment};

/// Events that are read at once.
const BATCH: usize = 1024;

/// Contents of a log's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Number of files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Events that can be read.
    pub events: u64,
    /// Lines that are none, and the file of the first of them.
    pub damaged: Option<(u64, PathBuf)>,
    /// Whether the last line has no end. It was never acknowledged, and the next writer ends it.
    pub is_torn: bool,
}

impl Journal {
    /// Reads the whole log once, and holds a batch of it at a time. Locks, mends and writes nothing.
    pub fn condition(&self) -> Result<Condition, JournalError> {
        let (bytes, files) = self.size()?;
        let mut condition = Condition {
            files,
            bytes,
            ..Condition::default()
        };
        let mut reader = self.read_after(&Cursor {
            origin: Some(self.origin().to_owned()),
            seq: 0,
        });
        loop {
            let batch = reader.next_batch(BATCH)?;
            condition.events += batch.events.len() as u64;
            for notice in batch.notices {
                if let Notice::Damaged { count, path } = notice {
                    let (before, first) = condition.damaged.take().unwrap_or((0, path));
                    condition.damaged = Some((before + count, first));
                }
            }
            if batch.is_end {
                break;
            }
        }
        condition.is_torn = self.is_torn()?;
        Ok(condition)
    }

    fn is_torn(&self) -> Result<bool, JournalError> {
        let Some(last) = Segment::list(&self.disk, &self.events())?.pop() else {
            return Ok(false);
        };
        let file = self.disk.open(&last.path, OpenHow::READ)?;
        let len = file.size()?;
        let end = file.read_range(len.saturating_sub(1), 1)?;
        Ok(len > 0 && end != b"\n")
    }
}
