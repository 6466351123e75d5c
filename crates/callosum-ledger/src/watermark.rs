//! The watermark: a position on disk, so that opening need not read the whole journal.
//!
//! It is derived and safe to lose. It is never trusted: it counts only if the files confirm it at
//! the places that it names. The format: `docs/formats/watermark.md`.

use callosum_host::{Disk, DiskError, OpenHow};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    chain::HASHLOG,
    entry::is_sealed,
    hashlog::HashlogLine,
    journal::{Record, path_of_day},
    lines::last_line,
    paths::LedgerPaths,
    position::{Position, View},
};
use callosum_json::Checksum;

/// The format that this version writes; another one is as good as no watermark.
const FORMAT: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    watermark: u32,
    #[serde(borrow)]
    position: &'a RawValue,
    hash: Checksum,
}

/// Writes the watermark. Journal, ledger and hashlog must have been synced to `position`.
pub(crate) fn write(
    disk: &Disk,
    paths: &LedgerPaths,
    position: &Position,
) -> Result<(), DiskError> {
    let position = serde_json::value::to_raw_value(position)
        .expect("numbers, dates and strings are printed to memory");
    let stored = Stored {
        watermark: FORMAT,
        hash: Checksum::of(position.get().as_bytes()),
        position: &position,
    };
    let mut bytes = serde_json::to_vec(&stored).expect("what was printed once is printed again");
    bytes.push(b'\n');
    disk.replace(&paths.watermark(), &bytes, 0o644)
}

/// Reads the watermark; `None` if the files confirm none.
pub(crate) fn read(disk: &Disk, paths: &LedgerPaths) -> Result<Option<Position>, DiskError> {
    match stated(disk, paths)? {
        Some(position) if is_borne_out(disk, paths, &position)? => Ok(Some(position)),
        Some(_) | None => Ok(None),
    }
}

/// Returns the watermark's position, which nothing has confirmed yet.
pub(crate) fn stated(disk: &Disk, paths: &LedgerPaths) -> Result<Option<Position>, DiskError> {
    let bytes = disk.read_if_there(&paths.watermark())?;
    Ok(bytes.and_then(|bytes| parse(&bytes)))
}

fn parse(bytes: &[u8]) -> Option<Position> {
    let stored: Stored<'_> = serde_json::from_slice(bytes).ok()?;
    if stored.watermark != FORMAT || Checksum::of(stored.position.get().as_bytes()) != stored.hash {
        return None;
    }
    serde_json::from_str(stored.position.get()).ok()
}

/// Whether the record, the hashlog line and the entry that a position ends with are there.
fn is_borne_out(disk: &Disk, paths: &LedgerPaths, at: &Position) -> Result<bool, DiskError> {
    let (Some(day), Some(view)) = (at.day, &at.view) else {
        return Ok(false);
    };
    let Some(journal) = disk.open_if_there(&path_of_day(&paths.audit, day), OpenHow::READ)? else {
        return Ok(false);
    };
    let is_at = last_line(&journal, at.offset)?.is_some_and(|line| {
        Record::read(&line).is_ok_and(|record| (record.head.seq, record.hash) == (at.seq, at.head))
    });
    let has_plausible_id = at.last_id.is_none_or(|(day, _)| at.has_come(day));
    if !is_at || at.synced > at.seq || !has_plausible_id {
        return Ok(false);
    }
    if view.entries == 0 {
        let archived = at
            .archives
            .last()
            .map_or(Checksum::ZERO, |last| last.hashlog);
        return Ok(*view == View::after(view.begun.clone(), archived));
    }
    let (Some(ledger), Some(hashlog)) = (
        disk.open_if_there(&paths.ledger, OpenHow::READ)?,
        disk.open_if_there(&paths.hashlog, OpenHow::READ)?,
    ) else {
        return Ok(false);
    };
    let Some(last) = last_line(&hashlog, view.hashlog_end)? else {
        return Ok(false);
    };
    if HASHLOG.check(&last) != Ok(view.hashlog_head) {
        return Ok(false);
    }
    let Some(line) = HashlogLine::read(&last) else {
        return Ok(false);
    };
    if line.seq != view.entries || line.offset.checked_add(line.length) != Some(view.ledger_end) {
        return Ok(false);
    }
    let entry = line.read_entry(&ledger)?;
    Ok(entry.is_some_and(|entry| is_sealed(&entry)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use callosum_host::{Clock, Ids};
    use serde_json::Map;

    use super::*;
    use crate::{Ledger, NewEntry};

    /// Makes a project with one entry, whose executor has a name of this many bytes, and its
    /// position.
    fn project(name: usize) -> (tempfile::TempDir, Disk, LedgerPaths, Position) {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let paths = LedgerPaths::in_root(folder.path());
        let start = "2026-11-02T10:00:00Z".parse().unwrap();
        let clock = Clock::fixed(start, Duration::ZERO);
        Ledger::create(&disk, &paths, &clock).unwrap();
        let open = || {
            let ids = Ids::sequence();
            Ledger::open(disk.clone(), paths.clone(), clock.clone(), ids).unwrap()
        };
        let entry = NewEntry {
            task_id: "cal_2026_11_02_0001".parse().unwrap(),
            executor: "x".repeat(name),
            summary: "a summary".to_owned(),
            tokens_used: 1,
            linked_tasks: Vec::new(),
            timestamp: start,
            metadata: Map::new(),
        };
        open().commit(entry).unwrap();
        // Without a watermark everything is read, and one is set.
        disk.remove_file(&paths.watermark()).unwrap();
        drop(open());
        let position = read(&disk, &paths)
            .unwrap()
            .expect("a watermark that holds");
        (folder, disk, paths, position)
    }

    #[test]
    fn a_watermark_holds_behind_a_line_of_any_length() {
        let (_folder, _disk, _paths, position) = project(100_000);
        assert!(position.view.unwrap().hashlog_end > 100_000);
    }

    /// CAL-SEC-1: numbers that another program wrote request no more than the files have.
    #[test]
    fn a_watermark_with_wild_numbers_does_not_hold() {
        let (_folder, disk, paths, right) = project(5);
        let check = |change: fn(&mut Position, u64)| {
            for wild in [right.offset + 1, 1 << 40, u64::MAX] {
                let mut position = right.clone();
                change(&mut position, wild);
                write(&disk, &paths, &position).unwrap();
                assert_eq!(read(&disk, &paths).unwrap(), None, "{position:?}");
            }
        };
        check(|position, wild| position.offset = wild);
        check(|position, wild| position.seq = wild);
        check(|position, wild| position.synced = wild);
        check(|position, wild| position.view.as_mut().unwrap().ledger_end = wild);
        check(|position, wild| position.view.as_mut().unwrap().hashlog_end = wild);
        check(|position, wild| {
            let view = position.view.as_mut().unwrap();
            (view.entries, view.ledger_end) = (0, wild);
        });
    }
}
