//! Archives that are older than the journal: those of other programs, and our own if the journal
//! that lists them is lost.
//!
//! The record that begins the journal lists the same of each archive as a rotation would: its
//! number of entries, its size, and the hash of its hashlog's last line. Only archives whose every
//! checksum is right are listed; nothing reads the others.

use std::{ops::Range, path::PathBuf};

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::{
    archive_files,
    archive_name::ArchiveName,
    chain::HASHLOG,
    derived_files::mode_like,
    entry::Entry,
    hashlog::{self, HashlogLine},
    journal::Archived,
    ledger_file::LedgerFile,
    lines::last_line,
    open_ledger::{is_corrupt, read_archive},
    paths::LedgerPaths,
    position::Position,
    quarantine,
    task_id::TaskId,
};
use callosum_json::Checksum;

/// The archives that a new journal lists.
#[derive(Debug, Default)]
pub(crate) struct Adopted {
    /// The earliest first.
    pub(crate) archives: Vec<Archived>,
    /// The highest dated id in them.
    pub(crate) last_id: Option<TaskId>,
    /// The files that have an archive's name and are not one.
    pub(crate) passed_over: Vec<PathBuf>,
}

impl Adopted {
    /// Hash that the first hashlog line of the ledger after these archives continues from.
    pub(crate) fn head(&self) -> Checksum {
        let last = self.archives.last();
        last.map_or(Checksum::ZERO, |last| last.hashlog)
    }

    /// The archives as the record that begins the journal has them.
    pub(crate) fn to_json(&self) -> Value {
        let archived = self.archives.iter().map(|archived| {
            json!({
                "archive": archived.archive.to_string(),
                "bytes": archived.bytes,
                "entries": archived.entries,
                "hashlog": archived.hashlog.to_string(),
                "follows": archived.follows.to_string(),
            })
        });
        archived.collect()
    }

    /// Finds the existing archives. Costs the reading of every archive, one at a time in memory.
    pub(crate) fn find(disk: &Disk, paths: &LedgerPaths, today: Date) -> Result<Self, DiskError> {
        let mut adopted = Self::default();
        let mut ids = Position::start();
        ids.day = Some(today);
        for name in archive_files::names(disk, &paths.history)? {
            let read = match read_archive(disk, paths, &name) {
                Err(error) if is_corrupt(&error) => None,
                read => read?,
            };
            let entries = read.as_deref().and_then(entries_of);
            let (Some(bytes), Some(entries), true) = (read, entries, name.has_come(today)) else {
                adopted.passed_over.push(paths.archive(&name));
                continue;
            };
            let head_over = |follows| hashlog_head(&bytes, &entries, follows);
            let mut follows = adopted.head();
            let mut hashlog = head_over(follows);
            // Our own may continue an archive that is gone since, and is right all the same.
            if let Some([of_its_own, last]) = ends(disk, paths, &name)?
                && head_over(of_its_own) == last
            {
                (follows, hashlog) = (of_its_own, last);
            }
            for placed in &entries {
                ids.note_id(&placed.task_id);
            }
            adopted.archives.push(Archived {
                archive: name,
                bytes: bytes.len() as u64,
                entries: entries.len() as u64,
                hashlog,
                follows,
                is_adopted: true,
            });
        }
        adopted.last_id = ids
            .last_id
            .and_then(|(day, number)| TaskId::dated(day, number));
        Ok(adopted)
    }
}

/// Writes the hashlog of an adopted archive if it is missing, and returns its path. Returns `None`
/// if it exists, or if the archive does not have the entries that were adopted.
pub(crate) fn restore_hashlog(
    disk: &Disk,
    paths: &LedgerPaths,
    archived: &Archived,
) -> Result<Option<PathBuf>, DiskError> {
    let path = paths.archived_hashlog(&archived.archive);
    if ends(disk, paths, &archived.archive)? == Some([archived.follows, archived.hashlog]) {
        return Ok(None);
    }
    let Some(lines) = lines_of(disk, paths, archived)? else {
        return Ok(None);
    };
    let mode = mode_like(disk, &paths.archive(&archived.archive))?;
    if let Some(found) = disk.read_if_there(&path)? {
        quarantine::keep(disk, paths, &path, &found)?;
    }
    disk.replace(&path, &lines, mode)?;
    Ok(Some(path))
}

/// The hashlog of an adopted archive, made of its entries; `None` where those are not the ones that
/// were adopted.
pub(crate) fn lines_of(
    disk: &Disk,
    paths: &LedgerPaths,
    archived: &Archived,
) -> Result<Option<Vec<u8>>, DiskError> {
    let read = match read_archive(disk, paths, &archived.archive) {
        Err(error) if is_corrupt(&error) => None,
        read => read?,
    };
    Ok(read.and_then(|bytes| lines_over(&bytes, archived)))
}

/// Computes the hashlog of a ledger's bytes. Returns `None` unless they are the archive that the
/// journal lists: each checksum is right, and the last line's hash is the recorded one.
pub(crate) fn lines_over(bytes: &[u8], archived: &Archived) -> Option<Vec<u8>> {
    let (lines, head) = hashlog_over(bytes, archived.follows)?;
    (head == archived.hashlog).then_some(lines)
}

/// Computes the hashlog of a ledger's bytes, and its last line's hash, if every checksum is right.
pub(crate) fn hashlog_over(bytes: &[u8], follows: Checksum) -> Option<(Vec<u8>, Checksum)> {
    let (mut lines, mut head) = (Vec::new(), follows);
    for (number, placed) in (1..).zip(&entries_of(bytes)?) {
        let stored = &bytes[placed.at.clone()];
        let offset = placed.at.start as u64;
        head = hashlog::write_line(&mut lines, number, offset, stored, placed.checksum, head);
    }
    Some((lines, head))
}

/// Returns the hash that the first line of an archive's hashlog follows, and the hash of its last
/// line.
fn ends(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
) -> Result<Option<[Checksum; 2]>, DiskError> {
    let path = paths.archived_hashlog(name);
    let Some(file) = disk.open_if_there(&path, OpenHow::READ)? else {
        return Ok(None);
    };
    let bytes = file.read_all()?;
    let Some(feed) = memchr::memchr(b'\n', &bytes) else {
        return Ok(None);
    };
    let first = HashlogLine::read(&bytes[..feed]).map(|first| first.prev);
    let last = last_line(&file, bytes.len() as u64)?;
    let last = last.and_then(|line| HASHLOG.check(&line).ok());
    Ok(first.zip(last).map(|(first, last)| [first, last]))
}

/// An entry, by what its line in a hashlog needs.
struct Placed {
    at: Range<usize>,
    task_id: TaskId,
    checksum: Checksum,
}

/// Returns the entries of a ledger and their positions, if every checksum is right.
fn entries_of(bytes: &[u8]) -> Option<Vec<Placed>> {
    let file = LedgerFile::scan(bytes).ok()?;
    let read = |at: Range<usize>| {
        let entry = Entry::read(&bytes[at.clone()]).ok()?;
        entry.check().ok()?;
        Some(Placed {
            at,
            checksum: entry.checksum,
            task_id: entry.task_id,
        })
    };
    file.entries.into_iter().map(read).collect()
}

fn hashlog_head(bytes: &[u8], entries: &[Placed], follows: Checksum) -> Checksum {
    let lines = entries
        .iter()
        .map(|placed| (placed.at.start, &bytes[placed.at.clone()], placed.checksum));
    hashlog::head_of(lines, follows)
}
