//! The checksums of a ledger's entries, and the hashlog's chain and places.

use std::path::Path;

use callosum_host::{Disk, DiskError, OpenHow};

use super::{
    Problem, VerifyFinding,
    diagnosis::compare_archive,
    hashlog::{self as hashlog_lines, Compared},
    journal::ArchivedCheck,
};
use crate::{
    archive_import::{self, hashlog_over},
    chain::HASHLOG,
    entry::{Entry, checksum_at_head, is_sealed},
    hashlog::{self, HashlogLine},
    inventory::{FileInventory, StockFile},
    ledger_file::{LedgerFile, OWN_TAIL, own_entry, own_head_len},
    lines::Lines,
    open_ledger::{OpenLedger, is_corrupt},
    paths::LedgerPaths,
    task_id::TaskId,
};
use callosum_json::Checksum;

#[derive(Default)]
pub(super) struct ViewsCheck {
    pub(super) entries: u64,
    pub(super) hashlog_lines: u64,
    /// Hash that the hashlog's first line follows; `None` if it has no line.
    pub(super) hashlog_from: Option<Checksum>,
    pub(super) problems: Vec<Problem>,
}

#[derive(Default)]
pub(super) struct LedgerCheck {
    pub(super) entries: u64,
    pub(super) bytes: u64,
    pub(super) problem: Option<Problem>,
    /// Whether its hashlog has the line of each entry, to the byte, and no other.
    has_hashlog: bool,
    checksums: Vec<Checksum>,
}

/// Checks the active ledger and its hashlog.
pub(super) fn check_views(
    paths: &LedgerPaths,
    stock: &FileInventory,
) -> Result<ViewsCheck, DiskError> {
    let mut views = ViewsCheck::default();
    let Some(ledger) = &stock.ledger else {
        if !stock.days.is_empty() {
            views.problems.push(whole_file(
                &paths.ledger,
                VerifyFinding::Missing,
                "the ledger is missing, but its journal exists",
            ));
        }
        return Ok(views);
    };
    let hashlog = stock.hashlog.as_ref();
    views.hashlog_from = hashlog.map(StockFile::follows).transpose()?.flatten();
    let follows = views.hashlog_from.unwrap_or(Checksum::ZERO);
    let checked = check_file(ledger, hashlog.map(|hashlog| (hashlog, follows)))?;
    views.entries = checked.entries;
    let is_readable = checked.problem.is_none();
    views.problems.extend(checked.problem);
    let Some(hashlog) = hashlog else {
        if !stock.days.is_empty() {
            let detail = "there is no hashlog; the next open writes it";
            let missing = whole_file(&paths.hashlog, VerifyFinding::Missing, detail);
            views.problems.push(missing);
        }
        return Ok(views);
    };
    if checked.has_hashlog {
        views.hashlog_lines = checked.entries;
        return Ok(views);
    }
    let found = hashlog.read_all()?;
    views.hashlog_lines = memchr::memchr_iter(b'\n', &found).count() as u64;
    let of_hashlog = if is_readable {
        let made = hashlog_over(&ledger.read_all()?, follows);
        made.and_then(|(lines, _)| of_hashlog(&paths.hashlog, &lines, &found))
    } else {
        broken_chain(&paths.hashlog, &found)
    };
    views.problems.extend(of_hashlog);
    Ok(views)
}

/// Diagnoses a hashlog against the lines that it should have.
pub(super) fn of_hashlog(path: &Path, should: &[u8], found: &[u8]) -> Option<Problem> {
    hashlog_lines::diagnose(should, found).map(|differing| Problem {
        path: path.to_owned(),
        fault: differing.fault,
        number: differing.number,
        task_id: differing.task_id,
        detail: differing.detail,
    })
}

/// Diagnoses the hashlog of an archive. All of it had been on disk before the archive was.
pub(super) fn of_archive(path: &Path, should: &[u8], found: &[u8]) -> Option<Problem> {
    let mut problem = of_hashlog(path, should, found)?;
    if let VerifyFinding::Behind | VerifyFinding::Torn = problem.fault {
        problem.fault = VerifyFinding::TailCut;
    }
    Some(problem)
}

/// Checks an archived ledger that the journal lists, and its hashlog.
pub(super) fn check_archive(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
    listed: &ArchivedCheck,
) -> Result<LedgerCheck, DiskError> {
    let hashlog = paths.archived_hashlog(&listed.archived.archive);
    let stocked = disk
        .open_if_there(&hashlog, OpenHow::READ)?
        .map(StockFile::new)
        .transpose()?;
    let follows = listed.archived.follows;
    let with = stocked.as_ref().map(|stocked| (stocked, follows));
    let checked = match OpenLedger::open(disk, path) {
        Ok(OpenLedger::Plain(file)) => {
            StockFile::new(file).and_then(|file| check_file(&file, with))
        }
        opened => opened.and_then(|ledger| {
            let bytes = ledger.read_all()?;
            Ok(LedgerCheck {
                bytes: bytes.len() as u64,
                ..check_any_layout(path, &bytes, with)?
            })
        }),
    };
    let mut check = match checked {
        Err(error) if is_corrupt(&error) => {
            let text = error.source.to_string();
            return Ok(LedgerCheck {
                problem: Some(whole_file(path, VerifyFinding::Unreadable, &text)),
                ..LedgerCheck::default()
            });
        }
        checked => checked?,
    };
    let Some(checksums) = &listed.checksums else {
        return Ok(check);
    };
    if check.problem.is_some() || check.checksums != *checksums {
        let difference = compare_archive(disk, paths, path, listed.archived.archive)?;
        check.problem = difference.or(check.problem).or_else(|| {
            let detail = "its entries differ from the audit journal";
            Some(whole_file(path, VerifyFinding::Edited, detail))
        });
        return Ok(check);
    }
    let Some(stocked) = stocked else {
        check.problem = Some(whole_file(
            &hashlog,
            VerifyFinding::Missing,
            "there is no hashlog",
        ));
        return Ok(check);
    };
    check.problem = if check.has_hashlog {
        let index = paths.archived_index(&listed.archived.archive);
        check_index(disk, &index, &hashlog)?
    } else {
        let found = stocked.read_all()?;
        match archive_import::lines_of(disk, paths, &listed.archived)? {
            Some(lines) => of_archive(&hashlog, &lines, &found),
            // Its entries are right and stand elsewhere; only the chain itself can be looked at.
            None => broken_chain(&hashlog, &found).or_else(|| {
                let detail = "another program wrote it; its entries are correct";
                Some(whole_file(path, VerifyFinding::Layout, detail))
            }),
        }
    };
    Ok(check)
}

/// Checks that an index agrees with the hashlog, if there is one of this hashlog.
pub(super) fn check_index(
    disk: &Disk,
    index: &Path,
    hashlog: &Path,
) -> Result<Option<Problem>, DiskError> {
    let is_right = hashlog::is_right(disk, index, hashlog)?;
    let detail =
        "it does not give the positions of the entries; you may delete it, and it is rebuilt";
    Ok((!is_right).then(|| whole_file(index, VerifyFinding::Edited, detail)))
}

/// Checks a ledger, and whether its hashlog is right, given the hash that it should begin with.
fn check_file(
    file: &StockFile,
    hashlog: Option<(&StockFile, Checksum)>,
) -> Result<LedgerCheck, DiskError> {
    let mut check = match check_own_layout(file, hashlog)? {
        Some(check) => check,
        None => check_any_layout(file.path(), &file.read_all()?, hashlog)?,
    };
    check.bytes = file.len();
    Ok(check)
}

/// Checks a ledger in our own layout as it is read; `None` for any other, or where anything is
/// wrong, so that it is looked at in earnest.
///
/// The tail is not read there: the next append may be overwriting it.
fn check_own_layout(
    file: &StockFile,
    hashlog: Option<(&StockFile, Checksum)>,
) -> Result<Option<LedgerCheck>, DiskError> {
    let (file, len, end) = (file.file(), file.len(), file.end());
    let mut hashlog = hashlog.map(|(file, follows)| Compared::new(file, follows));
    if !end.ends_with(OWN_TAIL.as_bytes()) {
        return Ok(None);
    }
    let start = file.read_range(0, len.min(64 * 1024) as usize)?;
    let Some(head_len) = own_head_len(&start) else {
        return Ok(None);
    };
    let mut check = LedgerCheck::default();
    let mut lines = Lines::new(file, head_len as u64, len - OWN_TAIL.len() as u64);
    // The rest of the line on which the array begins.
    lines.next()?;
    let mut goes_on = true;
    while let Some(line) = lines.next()? {
        let Some(entry) = own_entry(line.bytes, &mut goes_on) else {
            return Ok(None);
        };
        match checksum_at_head(entry) {
            Some(checksum) if is_sealed(entry) => {
                if let Some(hashlog) = &mut hashlog {
                    hashlog.push(line.offset + 4, entry, checksum)?;
                }
                check.checksums.push(checksum);
            }
            _ => return Ok(None),
        }
    }
    if goes_on && !check.checksums.is_empty() {
        return Ok(None);
    }
    check.entries = check.checksums.len() as u64;
    check.has_hashlog = hashlog.is_some_and(|hashlog| hashlog.is_right());
    Ok(Some(check))
}

fn check_any_layout(
    path: &Path,
    bytes: &[u8],
    hashlog: Option<(&StockFile, Checksum)>,
) -> Result<LedgerCheck, DiskError> {
    let mut check = LedgerCheck::default();
    let mut hashlog = hashlog.map(|(file, follows)| Compared::new(file, follows));
    let file = match LedgerFile::scan(bytes) {
        Ok(file) => file,
        Err(error) => {
            let text = error.to_string();
            check.problem = Some(whole_file(path, VerifyFinding::Unreadable, &text));
            return Ok(check);
        }
    };
    for at in file.entries {
        check.entries += 1;
        let stored = &bytes[at.clone()];
        let entry = Entry::read(stored);
        let wrong = match &entry {
            Ok(entry) => entry
                .check()
                .err()
                .map(|error| (VerifyFinding::Edited, error)),
            Err(_) => None,
        };
        let (fault, detail, task_id) = match (entry, wrong) {
            (Ok(entry), None) => {
                if let Some(hashlog) = &mut hashlog {
                    hashlog.push(at.start as u64, stored, entry.checksum)?;
                }
                check.checksums.push(entry.checksum);
                continue;
            }
            (Ok(entry), Some((fault, error))) => (fault, error.to_string(), Some(entry.task_id)),
            (Err(error), _) => (VerifyFinding::Unreadable, error.to_string(), None),
        };
        check.problem.get_or_insert(Problem {
            path: path.to_owned(),
            fault,
            number: check.entries,
            task_id,
            detail,
        });
    }
    check.has_hashlog =
        check.problem.is_none() && hashlog.is_some_and(|hashlog| hashlog.is_right());
    Ok(check)
}

/// Finds the first line of a hashlog that is wrong in itself or does not follow the one before.
/// More cannot be checked if the ledger does not give the positions of its entries.
fn broken_chain(path: &Path, found: &[u8]) -> Option<Problem> {
    let mut head = None;
    for (number, line) in (1..).zip(found.split_inclusive(|byte| *byte == b'\n')) {
        let problem = |fault, task_id, detail: &str| {
            Some(Problem {
                path: path.to_owned(),
                fault,
                number,
                task_id,
                detail: detail.to_owned(),
            })
        };
        let Some(line) = line.strip_suffix(b"\n") else {
            return problem(VerifyFinding::Torn, None, "the line is incomplete");
        };
        let Some(read) = HashlogLine::read(line) else {
            return problem(VerifyFinding::Unreadable, None, "it is not a hashlog line");
        };
        let task_id: Option<TaskId> = read.task_id.parse().ok();
        let hash = match HASHLOG.check(line) {
            Ok(hash) => hash,
            Err(fault) => return problem(VerifyFinding::Edited, task_id, &fault.to_string()),
        };
        if read.seq != number || head.is_some_and(|head| read.prev != head) {
            let detail = "it does not continue from the line before";
            return problem(VerifyFinding::Edited, task_id, detail);
        }
        head = Some(hash);
    }
    None
}

pub(super) fn whole_file(path: &Path, fault: VerifyFinding, detail: &str) -> Problem {
    Problem {
        path: path.to_owned(),
        fault,
        number: 0,
        task_id: None,
        detail: detail.to_owned(),
    }
}
