//! The watermark: a position on disk, so that opening need not read the whole journal.
//!
//! It is derived and safe to lose. It is never trusted: it counts only where the files hold what
//! it says at the places that it names. The format: `docs/formats/watermark.md`.

use callosum_host::{Disk, DiskError, OpenHow};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    chain::HASHLOG,
    checksum::Checksum,
    entry::is_sealed,
    hashlog::HashlogLine,
    journal::{is_at, path_of_day},
    paths::LedgerPaths,
    position::Position,
};

/// The format that this version writes; another one is as good as no watermark.
const FORMAT: u32 = 1;

/// The longest line of a hashlog that is looked for; ids, times and executors are short.
const LONGEST_LINE: u64 = 64 * 1024;

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

/// Reads the watermark; `None` where there is none that the files bear out.
pub(crate) fn read(disk: &Disk, paths: &LedgerPaths) -> Result<Option<Position>, DiskError> {
    let Some(bytes) = disk.read_if_there(&paths.watermark())? else {
        return Ok(None);
    };
    let Some(position) = parse(&bytes) else {
        return Ok(None);
    };
    Ok(is_borne_out(disk, paths, &position)?.then_some(position))
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
    if !is_at(&journal, at)? {
        return Ok(false);
    }
    if view.entries == 0 {
        return Ok(true);
    }
    let (Some(ledger), Some(hashlog)) = (
        disk.open_if_there(&paths.ledger, OpenHow::READ)?,
        disk.open_if_there(&paths.hashlog, OpenHow::READ)?,
    ) else {
        return Ok(false);
    };
    let from = view.hashlog_end.saturating_sub(LONGEST_LINE);
    let end = hashlog.read_range(from, (view.hashlog_end - from) as usize)?;
    let Some(lines) = end.strip_suffix(b"\n") else {
        return Ok(false);
    };
    let last = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or(lines);
    if HASHLOG.check(last) != Ok(view.hashlog_head) {
        return Ok(false);
    }
    let Some(line) = HashlogLine::read(last) else {
        return Ok(false);
    };
    if line.seq != view.entries || line.offset + line.length != view.ledger_end {
        return Ok(false);
    }
    let entry = ledger.read_range(line.offset, line.length as usize)?;
    Ok(entry.len() as u64 == line.length && is_sealed(&entry))
}
