//! [`SearchPlace`]: position that a search through the journal has reached, so that the next one need
//! not start from scratch.
//!
//! It is derived and safe to lose. It counts only if the journal has the line that it ends with.
//! Each line has the hash of all before it, so a match proves that the searched part is unchanged.

use callosum_host::{DiskError, OpenHow};
use jiff::civil::Date;
use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::{
    audit::{AuditReadError, AuditReader},
    event::{AuditRecord, Event},
    journal::{day_files, path_of_day},
    lines::{Lines, last_line},
};
use callosum_json::Checksum;

/// A place in the journal, behind a whole line; by default the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchPlace {
    /// The place, unless it is the beginning.
    behind: Option<Behind>,
}

/// A place behind a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Behind {
    /// The day of its file.
    day: Date,
    /// The bytes of the file up to it.
    offset: u64,
    /// The checksum of the line before it.
    line: Checksum,
}

/// The result of a search that can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searched {
    /// There is no record of the kind up to the end of the journal.
    None,
    /// There is none up to the new place, and the journal continues.
    Unfinished,
    /// The record behind the new place is one.
    Found,
    /// The journal up to the old place is another one now: the new place is the beginning.
    Replaced,
}

impl AuditReader {
    /// Searches for a record of a kind from a place on, in about as many bytes as are `left`, and moves the place behind what
    /// it searched. Takes that from what is left.
    ///
    /// Costs a listing of the day files and the reading of what is searched.
    pub fn search_on(
        &self,
        event: Event,
        place: &mut SearchPlace,
        left: &mut u64,
    ) -> Result<Searched, AuditReadError> {
        if !self.has(place)? {
            *place = SearchPlace::default();
            return Ok(Searched::Replaced);
        }
        let name = format!("\"{event}\"");
        let name = memmem::Finder::new(name.as_bytes());
        let is_one = |line: &[u8]| {
            name.find(line).is_some()
                && serde_json::from_slice::<AuditRecord>(line)
                    .is_ok_and(|record| record.event == event.as_str())
        };
        let begin = place.behind;
        for day_file in day_files(&self.disk, &self.paths.audit)? {
            let from = match begin {
                Some(behind) if day_file.day < behind.day => continue,
                Some(behind) if day_file.day == behind.day => behind.offset,
                _ => 0,
            };
            let file = self.disk.open(&day_file.path, OpenHow::READ)?;
            let mut lines = Lines::new(&file, from, file.size()?);
            let mut end = from;
            let mut searched = Searched::None;
            while let Some(line) = lines.next()? {
                if !line.is_whole {
                    // It is being written.
                    break;
                }
                if *left == 0 {
                    searched = Searched::Unfinished;
                    break;
                }
                if is_one(line.bytes) {
                    searched = Searched::Found;
                    break;
                }
                *left = left.saturating_sub(line.bytes.len() as u64 + 1);
                end = line.end();
            }
            if end > from {
                *place = self.behind(day_file.day, end)?;
            }
            if searched != Searched::None {
                return Ok(searched);
            }
        }
        Ok(Searched::None)
    }

    /// Returns the place in a day's file behind the line that ends at an offset; the beginning if no line does.
    pub(crate) fn behind(&self, day: Date, offset: u64) -> Result<SearchPlace, DiskError> {
        let path = path_of_day(&self.paths.audit, day);
        let file = self.disk.open(&path, OpenHow::READ)?;
        let line = last_line(&file, offset)?;
        let behind = line.map(|line| Behind {
            day,
            offset,
            line: Checksum::of(&line),
        });
        Ok(SearchPlace { behind })
    }

    /// Returns true if the journal has the line that a place is behind.
    fn has(&self, place: &SearchPlace) -> Result<bool, DiskError> {
        let Some(behind) = place.behind else {
            return Ok(true);
        };
        let path = path_of_day(&self.paths.audit, behind.day);
        let Some(file) = self.disk.open_if_there(&path, OpenHow::READ)? else {
            return Ok(false);
        };
        let line = last_line(&file, behind.offset)?;
        Ok(line.is_some_and(|line| Checksum::of(&line) == behind.line))
    }
}
