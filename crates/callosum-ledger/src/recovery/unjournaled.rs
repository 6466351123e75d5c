//! Entries that ledger and hashlog agree on, and that the journal has lost.

use std::collections::HashSet;

use callosum_host::{Disk, DiskError, OpenHow};

use crate::{
    chain::HASHLOG,
    entry::is_sealed,
    hashlog::HashlogLine,
    journal::{EntryRef, RecordPlace, ScanVisitor, Until, walk},
    lines::Lines,
    open_error::OpenError,
    paths::LedgerPaths,
    position::Position,
    task_id::TaskId,
};
use callosum_json::Checksum;

/// Checksums of all entries that the journal has ever recorded.
#[derive(Default)]
struct JournaledEntries(HashSet<Checksum>);

impl ScanVisitor for JournaledEntries {
    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        self.0.insert(entry.checksum);
        Ok(())
    }
}

/// Lists the tasks of the entries that are whole in the ledger at the hashlog's position and that
/// the journal records nowhere: neither for the active ledger, nor for one before it.
///
/// Holds a checksum for every entry of the journal.
pub(super) fn find(disk: &Disk, paths: &LedgerPaths) -> Result<Vec<TaskId>, OpenError> {
    let mut beyond = Vec::new();
    let (Some(ledger), Some(hashlog)) = (
        disk.open_if_there(&paths.ledger, OpenHow::READ)?,
        disk.open_if_there(&paths.hashlog, OpenHow::READ)?,
    ) else {
        return Ok(beyond);
    };
    let mut journaled = JournaledEntries::default();
    walk(disk, paths, &Position::start(), Until::End, &mut journaled)?;
    let mut lines = Lines::new(&hashlog, 0, hashlog.size()?);
    while let Some(line) = lines.next()? {
        let Some(read) = HashlogLine::read(line.bytes) else {
            continue;
        };
        if journaled.0.contains(&read.checksum) || HASHLOG.check(line.bytes).is_err() {
            continue;
        }
        let entry = read.read_entry(&ledger)?;
        let is_whole = entry.is_some_and(|entry| {
            is_sealed(&entry) && crate::entry::checksum_at_head(&entry) == Some(read.checksum)
        });
        if let (true, Ok(task_id)) = (is_whole, read.task_id.parse()) {
            beyond.push(task_id);
        }
    }
    Ok(beyond)
}
