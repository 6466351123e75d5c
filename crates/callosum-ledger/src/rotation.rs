//! Rotation: archiving the active ledger and beginning a new one.
//!
//! Each file first gets a second name that no program reads, as a test that the archive is possible
//! at all. The journal's `rotation` record then decides: it is synced, and names the archive. Then
//! the ledger file and its hashlog get a second name in the folder of archives. Each is replaced
//! under its first name by an empty one that was written beforehand. So there is no moment without
//! a ledger file. After a crash in between, the next process finishes from the journal: [`finish`]
//! looks at the files and does the rest.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::Timestamp;

use crate::{
    archive_files::{in_the_way, is_file, is_kept, names},
    archive_name::ArchiveName,
    chain::HASHLOG,
    derived_files::{Expected, mode_like},
    entry::checksum_at_head,
    event::{AuditEvent, Event},
    hashlog::{self, HashlogLine},
    journal::{Archived, Batch, JOURNAL_FORMAT, Passed},
    ledger_file::LedgerVersion,
    lines::last_line,
    open_error::OpenError,
    open_files::OpenFiles,
    open_ledger::compressed_path,
    paths::LedgerPaths,
    position::{Position, View},
};

/// A ledger that was archived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotated {
    /// The archive.
    pub archive: PathBuf,
    /// Number of its entries.
    pub entries: u64,
    /// Its size.
    pub bytes: u64,
}

impl Rotated {
    /// Returns its current path, compressed or not.
    pub fn place(&self, disk: &Disk) -> Result<PathBuf, DiskError> {
        let compressed = compressed_path(&self.archive);
        Ok(
            if disk.exists(&compressed)? && !disk.exists(&self.archive)? {
                compressed
            } else {
                self.archive.clone()
            },
        )
    }
}

impl std::fmt::Display for Rotated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.archive.display();
        write!(
            f,
            "{} entries, {} bytes, in `{path}`",
            self.entries, self.bytes
        )
    }
}

/// Reason that a ledger was not archived, or not completely.
#[derive(Debug)]
pub(crate) enum RotateError {
    /// It cannot be: nothing has happened.
    Refused(OpenError),
    /// The journal did not take the record.
    Journal(DiskError),
    /// The journal has the record, and the next alignment does the rest.
    Unfinished(OpenError),
}

/// Archives the ledger, which must be in line with the journal and have entries.
pub(crate) fn rotate(
    disk: &Disk,
    paths: &LedgerPaths,
    files: &mut OpenFiles,
    position: Position,
    view: &View,
    now: Timestamp,
) -> Result<(Position, Rotated), RotateError> {
    let archived = prepare(disk, paths, view, now).map_err(RotateError::Refused)?;
    let next = View::after(view.begun.clone(), view.hashlog_head);
    let mut batch = Batch::begin(position, now);
    batch.push(&event_of(&archived, &next), now, None);
    let written = batch.write(disk, paths, files, true);
    let mut position = written.map_err(RotateError::Journal)?;
    // The open files under the ledger's names are the archive from here on.
    files.close();
    match finish(disk, paths, &archived, &next) {
        Ok(Some(_)) => {}
        Ok(None) => return Err(RotateError::Unfinished(changed(paths))),
        Err(error) => return Err(RotateError::Unfinished(error.into())),
    }
    // It is derived: without it, a lookup reads more.
    drop(hashlog::complete(
        disk,
        &paths.archived_hashlog(&archived.archive),
        &paths.archived_index(&archived.archive),
        &paths.index(),
    ));
    // It is of the archive's hashlog; that of the next ledger is another.
    drop(disk.remove_file(&paths.index()));
    position.view = Some(next);
    let rotated = Rotated {
        archive: paths.archive(&archived.archive),
        entries: archived.entries,
        bytes: archived.bytes,
    };
    position.archives.push(archived);
    Ok((position, rotated))
}

/// Sees to it that nothing but the disk itself can be in the way of a rotation, and gives the
/// archive its name.
fn prepare(
    disk: &Disk,
    paths: &LedgerPaths,
    view: &View,
    now: Timestamp,
) -> Result<Archived, OpenError> {
    // Nothing but the journal can bring back what the archive lacks, and it is not read for that
    // on opening: so what gets the archive's name is on disk before.
    for path in [&paths.ledger, &paths.hashlog] {
        let file = disk.open(path, OpenHow::READ_WRITE)?;
        // Otherwise a retry would sync data that the system takes for written.
        file.sync_data().inspect_err(|_| drop(file.write_again()))?;
    }
    disk.create_dir_all(&paths.history)?;
    let archived = Archived {
        archive: free_name(disk, paths, now)?,
        bytes: view.ledger_len(),
        entries: view.entries,
        hashlog: view.hashlog_head,
        follows: view.follows,
        is_adopted: false,
    };
    let is_last = match last_line_of(disk, &paths.hashlog, &archived)? {
        Some(line) => match HashlogLine::read(&line) {
            Some(line) => has_as_last(disk, &paths.ledger, &archived, &line)?,
            None => false,
        },
        None => false,
    };
    if !is_last {
        return Err(changed(paths));
    }
    // Those that a crash left may be copies of an earlier state.
    remove_parts(disk, paths)?;
    let kept = paths.archive(&archived.archive);
    let kept_hashlog = paths.archived_hashlog(&archived.archive);
    link(disk, &paths.ledger, &part_of(&kept))
        .and_then(|()| link(disk, &paths.hashlog, &part_of(&kept_hashlog)))
        .inspect_err(|_| drop(remove_parts(disk, paths)))?;
    Ok(archived)
}

fn changed(paths: &LedgerPaths) -> OpenError {
    OpenError::Foreign {
        path: paths.ledger.clone(),
        what: "it does not end with the last committed entry".to_owned(),
    }
}

/// Removes what a rotation that came to nothing left in the folder of archives.
fn remove_parts(disk: &Disk, paths: &LedgerPaths) -> Result<(), DiskError> {
    for entry in disk.list_dir(&paths.history)? {
        let name = entry.name.to_string_lossy();
        let Some(name) = name.strip_suffix(PART) else {
            continue;
        };
        let of = name
            .strip_suffix(".hashlog")
            .map(|stem| format!("{stem}.json"));
        if of.as_deref().unwrap_or(name).parse::<ArchiveName>().is_ok() {
            disk.remove_file(&paths.history.join(&entry.name))?;
        }
    }
    Ok(())
}

/// Returns the lowest name after the existing ones for which no file of any kind exists yet.
fn free_name(disk: &Disk, paths: &LedgerPaths, now: Timestamp) -> Result<ArchiveName, DiskError> {
    let mut name = ArchiveName::next(now, &names(disk, &paths.history)?);
    loop {
        let mut is_free = true;
        for path in [
            paths.archive(&name),
            paths.compressed_archive(&name),
            paths.archived_hashlog(&name),
            paths.archived_index(&name),
        ] {
            is_free &= !disk.exists(&path)?;
        }
        if is_free {
            return Ok(name);
        }
        name = name.following();
    }
}

/// Suffix of the name of a file that is made as a test.
pub(crate) const PART: &str = ".part";

/// The name under which a file is tried in the folder of archives.
fn part_of(archive: &Path) -> PathBuf {
    let mut name = archive.as_os_str().to_owned();
    name.push(PART);
    name.into()
}

fn event_of(archived: &Archived, next: &View) -> AuditEvent {
    AuditEvent::new(Event::Rotation)
        .with("journal", JOURNAL_FORMAT)
        .with("version", LedgerVersion::OURS.to_string())
        .with("head", next.begun.head.as_str())
        .with("tail", next.begun.tail.as_str())
        .with("archive", archived.archive.to_string())
        .with("bytes", archived.bytes)
        .with("entries", archived.entries)
        .with("hashlog", archived.hashlog.to_string())
}

/// Completes a rotation that the journal records; returns whether anything was left to do.
///
/// Returns `None` if no rotation can have left the files so, and the journal must give their
/// contents.
pub(crate) fn finish(
    disk: &Disk,
    paths: &LedgerPaths,
    archived: &Archived,
    next: &View,
) -> Result<Option<bool>, DiskError> {
    if in_the_way(disk, paths, &archived.archive)?.is_some() {
        return Ok(None);
    }
    let kept_hashlog = paths.archived_hashlog(&archived.archive);
    let active_line = last_line_of(disk, &paths.hashlog, archived)?;
    let kept_line = last_line_of(disk, &kept_hashlog, archived)?;
    let Some(line) = active_line.as_ref().or(kept_line.as_ref()) else {
        return Ok(None);
    };
    let Some(line) = HashlogLine::read(line) else {
        return Ok(None);
    };
    let is_still_active = has_as_last(disk, &paths.ledger, archived, &line)?;
    let kept = paths.archive(&archived.archive);
    let mut did = false;
    if disk.exists(&kept)? {
        if !has_as_last(disk, &kept, archived, &line)? {
            return Ok(None);
        }
    } else if !is_kept(disk, paths, &archived.archive)? {
        if !is_still_active {
            return Ok(None);
        }
        let tried = part_of(&kept);
        if is_file(disk, &tried)? && has_as_last(disk, &tried, archived, &line)? {
            disk.rename(&tried, &kept)?;
        } else {
            link_unless_taken(disk, &paths.ledger, &kept)?;
            if !has_as_last(disk, &kept, archived, &line)? {
                return Ok(None);
            }
        }
        did = true;
    }
    if kept_line.is_none() {
        if disk.exists(&kept_hashlog)? {
            return Ok(None);
        }
        let tried = part_of(&kept_hashlog);
        if is_file(disk, &tried)? && last_line_of(disk, &tried, archived)?.is_some() {
            disk.rename(&tried, &kept_hashlog)?;
        } else {
            link_unless_taken(disk, &paths.hashlog, &kept_hashlog)?;
            if last_line_of(disk, &kept_hashlog, archived)?.is_none() {
                return Ok(None);
            }
        }
        did = true;
    }
    // Also names that an interrupted process gave: it is unknown whether they are on disk.
    if did || is_still_active || active_line.is_some() {
        disk.sync_dir(&paths.history)?;
    }
    if is_still_active {
        disk.rewrite(&paths.ledger, next.empty_file().as_bytes(), 0o644)?;
        did = true;
    }
    if active_line.is_some() {
        disk.rewrite(&paths.hashlog, b"", 0o644)?;
        did = true;
    }
    Ok(Some(did))
}

/// Computes the contents of an archived ledger and its hashlog.
pub(crate) fn files_of(passed: &Passed<'_>) -> (Vec<u8>, Vec<u8>) {
    let expected = Expected::after(passed.begun, passed.entries);
    let begun = &passed.begun.begun;
    let ledger = [
        begun.head.as_bytes(),
        &expected.ledger,
        begun.tail.as_bytes(),
    ]
    .concat();
    (ledger, expected.hashlog)
}

/// Returns the last line of a hashlog, if it is the archived one's.
fn last_line_of(
    disk: &Disk,
    path: &Path,
    archived: &Archived,
) -> Result<Option<Vec<u8>>, DiskError> {
    let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
        return Ok(None);
    };
    let line = last_line(&file, file.size()?)?;
    Ok(line.filter(|line| HASHLOG.check(line) == Ok(archived.hashlog)))
}

/// Whether a ledger file ends with the entry that a hashlog's last line is of.
fn has_as_last(
    disk: &Disk,
    path: &Path,
    archived: &Archived,
    line: &HashlogLine<'_>,
) -> Result<bool, DiskError> {
    let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
        return Ok(false);
    };
    if file.size()? != archived.bytes {
        return Ok(false);
    }
    let entry = line.read_entry(&file)?;
    Ok(entry.is_some_and(|entry| checksum_at_head(&entry) == Some(line.checksum)))
}

/// Gives a file a second name, unless it is taken: a recovery of archives runs without the lock,
/// and writes the same contents there.
fn link_unless_taken(disk: &Disk, from: &Path, to: &Path) -> Result<(), DiskError> {
    match link(disk, from, to) {
        Err(error) if error.is_taken() => Ok(()),
        linked => linked,
    }
}

/// Gives a file a second name, or makes a copy on a file system without second names.
fn link(disk: &Disk, from: &Path, to: &Path) -> Result<(), DiskError> {
    match disk.hard_link(from, to) {
        Err(error) if error.is_denied() || error.is_unsupported() => {
            let mode = mode_like(disk, from)?;
            disk.create(to, &disk.read(from)?, mode).map(drop)
        }
        linked => linked,
    }
}
