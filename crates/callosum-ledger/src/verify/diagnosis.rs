//! Diagnosis of a ledger file that disagrees with the journal.

use std::path::Path;

use callosum_host::{Disk, DiskError, disk::EntryKind};
use jiff::Timestamp;

use super::{Problem, VerifyFinding};
use crate::{
    archive_name::ArchiveName,
    entry::{Entry, seal},
    inventory::FileInventory,
    journal::{follow_segments, stock_of_days},
    ledger_file::{LedgerFile, begun_like},
    open_ledger::OpenLedger,
    paths::LedgerPaths,
    task_id::TaskId,
};
use callosum_json::{Checksum, canonical::DuplicateKeys};

/// An entry as far as it is compared.
#[derive(Clone, Debug)]
struct Compared {
    task_id: Option<TaskId>,
    /// Of its canonical form, the checksum in it included.
    hash: Checksum,
    /// Whether its checksum is right.
    is_right: bool,
    /// Its result, and the time at which it was finished.
    result: Option<(Checksum, Timestamp)>,
}

/// Finds the first entry at which the ledger file differs from the journal, and how.
///
/// `on_disk` entries were on disk in the ledger file itself when a checkpoint was made.
pub(super) fn compare(
    disk: &Disk,
    paths: &LedgerPaths,
    stock: &FileInventory,
    on_disk: usize,
) -> Result<Option<Problem>, DiskError> {
    let problem = |fault, number: usize, task_id, detail: &str| {
        Some(Problem {
            path: paths.ledger.clone(),
            fault,
            number: number as u64,
            task_id,
            detail: detail.to_owned(),
        })
    };
    let Some(ledger) = &stock.ledger else {
        return Ok(problem(
            VerifyFinding::Missing,
            0,
            None,
            "there is no ledger",
        ));
    };
    let bytes = ledger.read_all()?;
    let file = match LedgerFile::parse(&bytes) {
        Ok(file) => file,
        Err(error) => {
            return Ok(problem(
                VerifyFinding::Unreadable,
                0,
                None,
                &error.to_string(),
            ));
        }
    };
    let journaled = match follow_segments(disk, paths, &stock.days, |_| Ok(())) {
        Ok(followed) => followed,
        Err(error) => {
            return Ok(problem(
                VerifyFinding::Unreadable,
                0,
                None,
                &error.to_string(),
            ));
        }
    };
    let expected: Vec<_> = journaled
        .entries
        .iter()
        .map(|entry| Compared::read(entry.json.as_bytes()))
        .collect();
    let found: Vec<_> = file
        .entries
        .iter()
        .map(|at| Compared::read(&bytes[at.clone()]))
        .collect();
    let difference = named(&paths.ledger, &expected, &found, on_disk);
    if difference.is_some() {
        return Ok(difference);
    }
    let head = journaled.position.view.map(|view| view.begun);
    Ok(if begun_like(&bytes).ok() == head {
        problem(
            VerifyFinding::Layout,
            0,
            None,
            "another program wrote it; the next open rewrites it",
        )
    } else {
        problem(
            VerifyFinding::Edited,
            0,
            None,
            "its fields other than `tasks` differ",
        )
    })
}

/// Reports a path that is not a regular file: its target is not what the ledger writes.
pub(super) fn not_a_file(disk: &Disk, path: &Path) -> Result<Option<Problem>, DiskError> {
    let stat = disk.stat(path)?;
    let is_another = stat.is_some_and(|stat| stat.kind != EntryKind::File);
    Ok(is_another.then(|| Problem {
        path: path.to_owned(),
        fault: VerifyFinding::Unreadable,
        number: 0,
        task_id: None,
        detail: "it is not a regular file, but a link or something else".to_owned(),
    }))
}

/// Finds the first entry at which an archive differs from the journal, and how.
///
/// An archive was on disk whole before it got its name.
pub(super) fn compare_archive(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
    archive: ArchiveName,
) -> Result<Option<Problem>, DiskError> {
    let bytes = OpenLedger::open(disk, path)?.read_all()?;
    let Ok(file) = LedgerFile::scan(&bytes) else {
        return Ok(None);
    };
    let mut expected = Vec::new();
    let days = stock_of_days(disk, &paths.audit)?;
    let followed = follow_segments(disk, paths, &days, |passed| {
        if passed.archived.archive == archive {
            let entries = passed.entries.iter();
            expected.extend(entries.map(|entry| Compared::read(entry.json.as_bytes())));
        }
        Ok(())
    });
    if followed.is_err() {
        return Ok(None);
    }
    let entries = file.entries.iter();
    let found: Vec<_> = entries
        .map(|at| Compared::read(&bytes[at.clone()]))
        .collect();
    Ok(named(path, &expected, &found, expected.len()))
}

/// The first difference between two lists of entries, in words.
fn named(
    path: &Path,
    expected: &[Compared],
    found: &[Compared],
    on_disk: usize,
) -> Option<Problem> {
    let (index, fault) = first_difference(expected, found, on_disk)?;
    let (has, should) = (found.len(), expected.len());
    let detail = match fault {
        VerifyFinding::Behind => {
            format!("it has {has} of {should} entries; the next open updates it")
        }
        VerifyFinding::TailCut => {
            format!(
                "it has {has} of {should} entries; {on_disk} of them are known to have been on \
                 disk"
            )
        }
        VerifyFinding::Rewritten => {
            format!("none of its {has} entries is among the {should} of the audit journal")
        }
        VerifyFinding::Spliced => "it is an entry of another ledger".to_owned(),
        _ => "it differs from the audit journal".to_owned(),
    };
    let journaled = expected.get(index).and_then(|entry| entry.task_id.clone());
    let here = found.get(index).and_then(|entry| entry.task_id.clone());
    Some(Problem {
        path: path.to_owned(),
        fault,
        number: index as u64 + 1,
        task_id: match fault {
            // A report of a missing entry names that entry.
            VerifyFinding::Deleted => journaled.or(here),
            _ => here.or(journaled),
        },
        detail,
    })
}

impl Compared {
    fn read(bytes: &[u8]) -> Self {
        let canonical = seal_as_it_is(bytes);
        let entry = Entry::read(bytes).ok();
        Self {
            is_right: entry.as_ref().is_some_and(|entry| entry.check().is_ok()),
            result: entry
                .as_ref()
                .map(|entry| (Checksum::of(entry.summary.as_bytes()), entry.timestamp)),
            task_id: entry.map(|entry| entry.task_id),
            hash: Checksum::of(canonical.as_deref().unwrap_or(bytes)),
        }
    }
}

/// The canonical form with the checksum that is stored, right or wrong.
fn seal_as_it_is(bytes: &[u8]) -> Option<Vec<u8>> {
    if Entry::read(bytes).is_ok_and(|entry| entry.check().is_ok()) {
        return seal(bytes, DuplicateKeys::LastWins)
            .ok()
            .map(|(_, canonical)| canonical.into_bytes());
    }
    callosum_json::canonical::canonicalize(bytes, DuplicateKeys::LastWins).ok()
}

/// Finds the first difference of two lists of entries, and the change to the second that explains
/// it.
fn first_difference(
    expected: &[Compared],
    found: &[Compared],
    on_disk: usize,
) -> Option<(usize, VerifyFinding)> {
    let same = |a: Option<&Compared>, b: Option<&Compared>| match (a, b) {
        (Some(a), Some(b)) => a.hash == b.hash,
        (None, None) => true,
        _ => false,
    };
    let longest = expected.len().max(found.len());
    let at = (0..longest).find(|index| !same(expected.get(*index), found.get(*index)))?;
    let is_journaled = |entry: &Compared| {
        expected
            .iter()
            .any(|journaled| journaled.hash == entry.hash)
    };
    let Some(here) = found.get(at) else {
        let fault = if at < on_disk {
            VerifyFinding::TailCut
        } else {
            VerifyFinding::Behind
        };
        return Some((at, fault));
    };
    let Some(journaled) = expected.get(at) else {
        let fault = if is_journaled(here) {
            VerifyFinding::Duplicated
        } else {
            VerifyFinding::Inserted
        };
        return Some((at, fault));
    };
    let journaled_comes_later = found[at..].iter().any(|entry| entry.hash == journaled.hash);
    let here_before = expected[..at].iter().any(|entry| entry.hash == here.hash);
    let here_later = expected[at..].iter().any(|entry| entry.hash == here.hash);
    let fault = match (journaled_comes_later, here_before, here_later) {
        (_, true, _) => VerifyFinding::Duplicated,
        (true, _, true) => VerifyFinding::Reordered,
        (true, _, false) => VerifyFinding::Inserted,
        (false, _, true) => VerifyFinding::Deleted,
        (false, _, false) if found.len() > 1 && !found.iter().any(is_journaled) => {
            VerifyFinding::Rewritten
        }
        (false, _, false) if is_foreign(&found[at..], expected) => VerifyFinding::Spliced,
        (false, _, false) => VerifyFinding::Edited,
    };
    Some((at, fault))
}

/// Whether these entries begin with one of another ledger. Such an entry is right in itself,
/// unknown to the journal, and of a task that is not ours; or it has another result than ours, and
/// another time; or there are several such in a row. An editor of an entry leaves its time, and one
/// who changes the time leaves the rest.
fn is_foreign(found: &[Compared], expected: &[Compared]) -> bool {
    let is_unknown = |entry: &Compared| {
        entry.is_right
            && !expected
                .iter()
                .any(|journaled| journaled.hash == entry.hash)
    };
    let Some(here) = found.first().filter(|here| is_unknown(here)) else {
        return false;
    };
    let journaled = expected
        .iter()
        .find(|journaled| journaled.task_id == here.task_id);
    let is_another = journaled.is_none_or(|journaled| match (journaled.result, here.result) {
        (Some(journaled), Some(here)) => journaled.0 != here.0 && journaled.1 != here.1,
        _ => false,
    });
    is_another || found.get(1).is_some_and(is_unknown)
}
