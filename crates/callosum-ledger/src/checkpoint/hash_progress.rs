//! [`JournalWalk`]: the journal's lines one after the other, and [`Edge`]: how far they were hashed.

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{
    journal::DayFile,
    lines::{Line, Lines},
    merkle::Frontier,
};
use callosum_json::Checksum;

/// The format that this version writes; another one is as good as none.
const FORMAT: u32 = 1;

/// The journal's tree up to a record, and where in the files that record ends.
///
/// It is derived and safe to lose: it counts only where its root is the one that was signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Edge {
    format: u32,
    pub(super) day: Option<Date>,
    pub(super) offset: u64,
    /// The chain's hash of the last record.
    pub(super) head: Checksum,
    pub(super) frontier: Frontier,
}

impl Edge {
    /// Before the first record.
    pub(super) fn start() -> Self {
        Self {
            format: FORMAT,
            day: None,
            offset: 0,
            head: Checksum::ZERO,
            frontier: Frontier::default(),
        }
    }

    /// Reads it; `None` if the bytes are invalid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let edge: Self = serde_json::from_slice(bytes).ok()?;
        (edge.format == FORMAT && edge.frontier.is_sound()).then_some(edge)
    }
}

/// The day files as they were at one moment, read from a place on.
pub(crate) struct JournalWalk<'a> {
    disk: &'a Disk,
    days: &'a [(DayFile, u64)],
    day: Option<Date>,
    offset: u64,
}

impl<'a> JournalWalk<'a> {
    /// All of it.
    pub(crate) fn new(disk: &'a Disk, days: &'a [(DayFile, u64)]) -> Self {
        Self {
            disk,
            days,
            day: None,
            offset: 0,
        }
    }

    /// Skips everything before a position.
    pub(super) fn after(mut self, edge: &Edge) -> Self {
        (self.day, self.offset) = (edge.day, edge.offset);
        self
    }

    /// Passes each line to `take`, until it returns `false`.
    pub(crate) fn each(
        self,
        mut take: impl FnMut(Date, &Line<'_>) -> bool,
    ) -> Result<(), DiskError> {
        for (day, len) in self.days {
            if self.day.is_some_and(|first| day.day < first) {
                continue;
            }
            let from = if self.day == Some(day.day) {
                self.offset
            } else {
                0
            };
            let file = self.disk.open(&day.path, OpenHow::READ)?;
            let mut lines = Lines::new(&file, from, *len);
            while let Some(line) = lines.next()? {
                if !take(day.day, &line) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
