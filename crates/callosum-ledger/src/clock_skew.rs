//! Day files dated in the future: the clock was ahead when they were written.
//!
//! Records keep the order in which they were written, so they continue in such a file; each has the
//! time of the clock at its writing. Start with [`day_ahead`], which finds one to show;
//! [`skew_event`] records it once.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::{Timestamp, ToSpan, civil::Date};

use crate::{
    event::{AuditEvent, Event},
    journal::{Record, day_files, day_of, path_of_day},
    lines::{Lines, last_line},
    paths::LedgerPaths,
    position::Position,
};

/// The journal's last file, if its day has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayAhead {
    /// The file.
    pub path: PathBuf,
    /// Its day.
    pub day: Date,
    /// Number of days by which it is ahead.
    pub days: i32,
}

impl std::fmt::Display for DayAhead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, day, days } = self;
        let unit = if *days == 1 { "day" } else { "days" };
        write!(
            f,
            "the clock is or was wrong: the last day file, `{}`, is of {day}, {days} {unit} \
             ahead; new records go into it with their own times, and nothing is lost",
            path.display()
        )
    }
}

/// Returns the journal's last file if its day is after tomorrow: clocks differ by a day where only the zone is wrong.
///
/// Costs the listing of the journal's folder.
pub fn day_ahead(
    disk: &Disk,
    paths: &LedgerPaths,
    now: Timestamp,
) -> Result<Option<DayAhead>, DiskError> {
    let today = day_of(now);
    let last = day_files(disk, &paths.audit)?.pop();
    let ahead = last.filter(|last| is_ahead(last.day, now));
    Ok(ahead.map(|last| DayAhead {
        days: today
            .until(last.day)
            .map_or(i32::MAX, |span| span.get_days()),
        day: last.day,
        path: last.path,
    }))
}

/// Returns the event that records that the clock was ahead, if the journal's last record is of a day after tomorrow.
///
/// Once it is written, the last record has the time of today.
pub(crate) fn skew_event(
    disk: &Disk,
    paths: &LedgerPaths,
    position: &Position,
    now: Timestamp,
) -> Result<Option<AuditEvent>, DiskError> {
    let Some(day) = position.day.filter(|day| is_ahead(*day, now)) else {
        return Ok(None);
    };
    let path = path_of_day(&paths.audit, day);
    let Some(file) = disk.open_if_there(&path, OpenHow::READ)? else {
        return Ok(None);
    };
    let Some(line) = last_line(&file, position.offset)? else {
        return Ok(None);
    };
    let last = Record::read(&line).ok().map(|record| record.head.timestamp);
    let last = last.filter(|last| is_ahead(day_of(*last), now));
    Ok(last.map(|last| {
        AuditEvent::new(Event::ClockSkew)
            .with("day", day.to_string())
            .with("last", last.to_string())
    }))
}

/// Returns true if a file has a record, whole and with its own hash, wherever in it.
pub(crate) fn has_record(disk: &Disk, path: &Path) -> Result<bool, DiskError> {
    let file = disk.open(path, OpenHow::READ)?;
    let mut lines = Lines::new(&file, 0, file.size()?);
    while let Some(line) = lines.next()? {
        if line.is_whole && Record::read(line.bytes).is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if a day is after tomorrow.
fn is_ahead(day: Date, now: Timestamp) -> bool {
    day > day_of(now).saturating_add(1.day())
}
