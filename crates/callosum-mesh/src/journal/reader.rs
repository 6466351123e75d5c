//! [`Reader`]: the log from a cursor on, and what is missing of it.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, DiskFile};

use super::{
    Cursor, JournalError,
    files::{MOST_SEQ, Segment, event_of, place_after},
};
use crate::event::Event;

/// Bytes that are read at once.
const BLOCK: usize = 64 * 1024;

/// About so many bytes of the log are given at once: events may be long, and who reads holds all of a batch.
const MOST_BYTES: u64 = 128 * 1024;

/// Information for a reader apart from the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The cursor is of another log, or beyond the end of this one: it is read from its beginning.
    Reset {
        /// This log.
        origin: String,
    },
    /// Events that came after the cursor are kept no longer.
    Dropped {
        /// Number of events.
        count: u64,
    },
    /// Some lines are not events: torn when a process ended, or changed by someone.
    Damaged {
        /// Number of lines.
        count: u64,
        /// The file of the first of them.
        path: PathBuf,
    },
}

/// Some events, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Notices that come before the events.
    pub notices: Vec<Notice>,
    /// The events.
    pub events: Vec<Event>,
    /// Whether there were no more just now.
    pub is_end: bool,
}

/// Reads the log from a place on; holds one file open.
#[derive(Debug)]
pub struct Reader {
    disk: Disk,
    folder: PathBuf,
    origin: String,
    /// The last event that was given, or the one before the first that can be.
    seq: u64,
    place: Option<LogPosition>,
    notices: Vec<Notice>,
    /// Whether it is known that the log goes as far as the cursor that was begun with.
    is_within: bool,
}

#[derive(Debug)]
struct LogPosition {
    segment: Segment,
    file: DiskFile,
    offset: u64,
    /// Lines of it that are no event, as far as it was read.
    damaged: u64,
    /// Number of those lines that account for missing events, which are not reported again.
    explained: u64,
    /// Whether no file came after it when that was last looked at.
    is_last: bool,
}

impl Reader {
    pub(super) fn begin(disk: &Disk, folder: &Path, origin: &str, cursor: &Cursor) -> Self {
        let mut reader = Self {
            disk: disk.clone(),
            folder: folder.to_owned(),
            origin: origin.to_owned(),
            seq: cursor.seq.min(MOST_SEQ),
            place: None,
            notices: Vec::new(),
            is_within: cursor.seq == 0,
        };
        if cursor
            .origin
            .as_deref()
            .is_some_and(|named| named != origin)
        {
            reader.reset();
        }
        reader
    }

    fn reset(&mut self) {
        self.seq = 0;
        // A reset to the beginning is reported once, even if nothing has been appended yet.
        self.is_within = true;
        self.place = None;
        self.notices.push(Notice::Reset {
            origin: self.origin.clone(),
        });
    }

    /// Returns the position of the reader.
    pub fn cursor(&self) -> Cursor {
        Cursor {
            origin: Some(self.origin.clone()),
            seq: self.seq,
        }
    }

    /// The next events, at most `most` and about 128 KiB of the log; none where there are none yet.
    ///
    /// No event comes twice, and none is left out but those that a notice tells of. Asked again it
    /// goes on from there, so that asking from time to time follows the log.
    pub fn next_batch(&mut self, most: usize) -> Result<Batch, JournalError> {
        self.next_batch_within(most, MOST_BYTES)
    }

    /// The same, of about so many bytes of the log at most: one event may have more.
    pub fn next_batch_within(&mut self, most: usize, bytes: u64) -> Result<Batch, JournalError> {
        let mut batch = Batch {
            notices: std::mem::take(&mut self.notices),
            events: Vec::new(),
            is_end: false,
        };
        loop {
            let Some(mut place) = self.place.take() else {
                if self.find_place(&mut batch)? {
                    continue;
                }
                if self.is_past_the_end(0, &mut batch) {
                    continue;
                }
                batch.is_end = true;
                return Ok(batch);
            };
            let from = place.segment.first;
            let is_at_end = self.read_file(&mut place, most, bytes, &mut batch)?;
            if !is_at_end || batch.events.len() >= most {
                self.place = Some(place);
                return Ok(batch);
            }
            if place.file.size()? < place.offset {
                // The file was cut: new events are before the place.
                continue;
            }
            // A file after this one is begun only when no one appends to this one any more.
            if let Some(following) = self.file_after(&mut place)? {
                // What was appended to the one before the other was begun.
                let is_more = place.file.size()? > place.offset && !is_torn_at(&place)?;
                if is_more {
                    self.place = Some(place);
                    continue;
                }
                let missing = following.first - self.seq - 1;
                let count = missing.saturating_sub(place.damaged - place.explained);
                if count > 0 {
                    batch.notices.push(Notice::Dropped { count });
                }
                self.seq = following.first - 1;
                self.place = Some(LogPosition {
                    file: following.open(&self.disk)?,
                    segment: following,
                    offset: 0,
                    damaged: 0,
                    explained: 0,
                    is_last: false,
                });
                continue;
            }
            self.place = Some(place);
            if self.is_past_the_end(from, &mut batch) {
                continue;
            }
            batch.is_end = true;
            return Ok(batch);
        }
    }

    /// The file after one that was read to its end; `None` where there is none yet.
    ///
    /// It is named for the event after the last that was read, unless that one was damaged, or files between were
    /// removed. The folder is listed only where that may be.
    fn file_after(&self, place: &mut LogPosition) -> Result<Option<Segment>, DiskError> {
        let following = Segment::new(&self.folder, self.seq + 1);
        if following.first != place.segment.first && self.disk.exists(&following.path)? {
            return Ok(Some(following));
        }
        if place.is_last && place.damaged == 0 {
            return Ok(None);
        }
        let segments = Segment::list(&self.disk, &self.folder)?;
        let mut later = segments.into_iter();
        let later = later.find(|segment| segment.first > place.segment.first.max(self.seq));
        place.is_last = later.is_none();
        Ok(later)
    }

    /// Whether the cursor that was begun with is beyond the end of the log, where its last file begins with `first`
    /// and was read; it is then read from its beginning.
    fn is_past_the_end(&mut self, first: u64, batch: &mut Batch) -> bool {
        if self.is_within || self.seq < first {
            return false;
        }
        self.is_within = true;
        self.reset();
        batch.notices.append(&mut self.notices);
        true
    }

    /// Finds the file and the place in it; whether there is one.
    fn find_place(&mut self, batch: &mut Batch) -> Result<bool, JournalError> {
        let segments = Segment::list(&self.disk, &self.folder)?;
        let Some(oldest) = segments.first() else {
            return Ok(false);
        };
        if self.seq + 1 < oldest.first {
            batch.notices.push(Notice::Dropped {
                count: oldest.first - self.seq - 1,
            });
            self.seq = oldest.first - 1;
        }
        let after = segments.partition_point(|segment| segment.first <= self.seq + 1);
        let at = after.saturating_sub(1);
        let segment = segments[at].clone();
        let file = match segment.open(&self.disk) {
            Ok(file) => file,
            // Removed since the folder was listed, as the oldest is.
            Err(error) if error.is_absent() => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        let offset = place_after(&file, self.seq)?;
        self.place = Some(LogPosition {
            segment,
            file,
            offset,
            damaged: 0,
            explained: 0,
            is_last: at + 1 == segments.len(),
        });
        Ok(true)
    }

    /// Reads whole lines of a file into the batch; whether its end was reached.
    fn read_file(
        &mut self,
        place: &mut LogPosition,
        most: usize,
        bytes: u64,
        batch: &mut Batch,
    ) -> Result<bool, JournalError> {
        let mut damaged = 0;
        let mut is_at_end = false;
        let usual = usize::try_from(bytes).map_or(BLOCK, |bytes| bytes.clamp(1, BLOCK));
        let mut wanted = usual;
        let start = place.offset;
        'blocks: while batch.events.len() < most {
            let block = place.file.read_range(place.offset, wanted)?;
            let Some(end) = block.iter().rposition(|byte| *byte == b'\n') else {
                if block.len() < wanted {
                    is_at_end = true;
                    break;
                }
                // A line that is longer than what was read.
                wanted *= 2;
                continue;
            };
            for line in block[..end].split(|byte| *byte == b'\n') {
                let is_long = place.offset - start >= bytes && !batch.events.is_empty();
                if is_long || batch.events.len() >= most {
                    break 'blocks;
                }
                place.offset += line.len() as u64 + 1;
                match event_of(line) {
                    Some(event) if event.seq > self.seq => {
                        // What stood between was taken out of the file, or is damaged.
                        let missing = event.seq - self.seq - 1;
                        let explained = missing.min(place.damaged + damaged - place.explained);
                        place.explained += explained;
                        let count = missing - explained;
                        if count > 0 {
                            batch.notices.push(Notice::Dropped { count });
                        }
                        self.seq = event.seq;
                        self.is_within = true;
                        batch.events.push(event);
                    }
                    // Seen already: the place was found by blocks. Damage before it was reported
                    // then.
                    Some(event) => {
                        self.is_within |= event.seq == self.seq;
                        (damaged, place.damaged, place.explained) = (0, 0, 0);
                    }
                    None if line.is_empty() => {}
                    None => damaged += 1,
                }
            }
            wanted = usual;
        }
        place.damaged += damaged;
        if damaged > 0 {
            batch.notices.push(Notice::Damaged {
                count: damaged,
                path: place.segment.path.clone(),
            });
        }
        Ok(is_at_end)
    }
}

/// Whether all that is left of a file has no end.
fn is_torn_at(place: &LogPosition) -> Result<bool, DiskError> {
    let left = place.file.read_from(place.offset)?;
    Ok(!left.contains(&b'\n'))
}
