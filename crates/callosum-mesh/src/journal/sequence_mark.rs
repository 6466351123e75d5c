//! The highest `seq` that was ever used, next to the log. A log that was cut, as by a loss of power
//! or by hand, uses no number twice.
//!
//! It is written with each append and not synced, like the events themselves.

use callosum_host::{DiskError, DiskFile, OpenHow};

use super::{
    Journal,
    files::{MODE, MOST_SEQ},
};

/// Its folder, in the mesh's: a watcher of the mesh's folder, which waits for the bridge file, is
/// not woken by each append.
const FOLDER: &str = "marks";

/// The file: the log's id, a space, and the number in 20 digits.
const FILE: &str = "events.end";

/// Opens it; and what it says of this log, 0 where it says nothing.
pub(super) fn open(journal: &Journal) -> Result<(DiskFile, u64), DiskError> {
    let folder = journal.folder.join(FOLDER);
    journal.disk.create_private_dir(&folder)?;
    let how = OpenHow::READ_WRITE_CREATE.with_mode(MODE);
    let file = journal.disk.open(&folder.join(FILE), how)?;
    let seq = seq_in(&file.read_all()?, &journal.origin);
    // Where it stood before it had a folder of its own.
    let before = journal.disk.read_if_there(&journal.folder.join(FILE))?;
    let before = before.map_or(0, |bytes| seq_in(&bytes, &journal.origin));
    Ok((file, seq.max(before)))
}

/// The number that a mark says of a log; 0 where it is of another, or none.
fn seq_in(bytes: &[u8], origin: &str) -> u64 {
    let text = String::from_utf8_lossy(bytes);
    let known = text.split_once(' ').filter(|(of, _)| *of == origin);
    let seq = known.and_then(|(_, seq)| seq.trim().parse().ok());
    seq.filter(|seq| *seq < MOST_SEQ).unwrap_or(0)
}

/// Records that this number was used.
pub(super) fn write(file: &DiskFile, origin: &str, seq: u64) -> Result<(), DiskError> {
    file.write_at(format!("{origin} {seq:020}\n").as_bytes(), 0)
}
