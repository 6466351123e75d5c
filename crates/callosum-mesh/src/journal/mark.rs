//! The highest `seq` that was ever handed out, beside the log: a log that was cut, as by a loss of power or by hand,
//! gives no number twice.
//!
//! It is written with each append and not synced, like what it stands for.

use callosum_host::{DiskError, DiskFile, OpenHow};

use super::{
    Journal,
    files::{MODE, MOST_SEQ},
};

/// The file, in the mesh's folder: the log's id, a space, and the number in 20 digits.
const FILE: &str = "events.end";

/// Opens it; and what it says of this log, 0 where it says nothing.
pub(super) fn open(journal: &Journal) -> Result<(DiskFile, u64), DiskError> {
    let path = journal.folder.join(FILE);
    let how = OpenHow::READ_WRITE_CREATE.with_mode(MODE);
    let file = journal.disk.open(&path, how)?;
    let bytes = file.read_all()?;
    let text = String::from_utf8_lossy(&bytes);
    let known = text
        .split_once(' ')
        .filter(|(origin, _)| *origin == journal.origin);
    let seq = known.and_then(|(_, seq)| seq.trim().parse().ok());
    Ok((file, seq.filter(|seq| *seq < MOST_SEQ).unwrap_or(0)))
}

/// Says that this number was handed out.
pub(super) fn write(file: &DiskFile, origin: &str, seq: u64) -> Result<(), DiskError> {
    file.write_at(format!("{origin} {seq:020}\n").as_bytes(), 0)
}
