//! The checksums of a ledger's entries, and the hashlog's chain and places.

use std::path::Path;

use callosum_host::{Disk, DiskError, DiskFile, OpenHow};

use super::{Fault, Problem, diagnosis::compare_archive, journal::ArchivedCheck};
use crate::{
    chain::{ChainFault, HASHLOG},
    checksum::Checksum,
    entry::{Entry, checksum_at_head, is_sealed},
    hashlog::{self, HashlogLine},
    ledger_file::{LedgerFile, OWN_TAIL, own_entry, own_head_len},
    lines::Lines,
    open_ledger::{OpenLedger, is_corrupt},
    paths::LedgerPaths,
    stock::{Stock, StockFile},
    task_id::TaskId,
};

#[derive(Default)]
pub(super) struct ViewsCheck {
    pub(super) entries: u64,
    pub(super) hashlog_lines: u64,
    /// What the hashlog's first line says that it follows; none where it has no line.
    pub(super) hashlog_from: Option<Checksum>,
    pub(super) problems: Vec<Problem>,
}

#[derive(Default)]
pub(super) struct LedgerCheck {
    pub(super) entries: u64,
    pub(super) bytes: u64,
    pub(super) problem: Option<Problem>,
    /// Offset, length and checksum of each entry.
    places: Vec<(u64, u64, Checksum)>,
}

/// Checks the active ledger and its hashlog.
pub(super) fn check_views(paths: &LedgerPaths, stock: &Stock) -> Result<ViewsCheck, DiskError> {
    let mut views = ViewsCheck::default();
    let Some(ledger) = &stock.ledger else {
        if !stock.days.is_empty() {
            views.problems.push(whole_file(
                &paths.ledger,
                Fault::Missing,
                "there is no ledger, and a journal of one",
            ));
        }
        return Ok(views);
    };
    let ledger = check_file(ledger)?;
    views.entries = ledger.entries;
    views.problems.extend(ledger.problem);
    let is_readable = views.problems.is_empty();
    if let Some(file) = &stock.hashlog {
        let (file, len) = (file.file(), file.len());
        let checked = check_hashlog(file, len, None, &ledger.places, is_readable)?;
        views.hashlog_lines = checked.lines;
        views.hashlog_from = checked.from;
        views.problems.extend(checked.problem);
    } else if !stock.days.is_empty() {
        let detail = "there is no hashlog; the next opening writes it anew";
        views
            .problems
            .push(whole_file(&paths.hashlog, Fault::Missing, detail));
    }
    Ok(views)
}

/// Checks an archived ledger, and its hashlog, where the journal tells of it.
pub(super) fn check_archive(
    disk: &Disk,
    paths: &LedgerPaths,
    path: &Path,
    told: &ArchivedCheck,
) -> Result<LedgerCheck, DiskError> {
    let checked = match OpenLedger::open(disk, path) {
        Ok(OpenLedger::Plain(file)) => StockFile::of(file).and_then(|file| check_file(&file)),
        opened => opened
            .and_then(|ledger| ledger.read_all())
            .map(|bytes| LedgerCheck {
                bytes: bytes.len() as u64,
                ..check_any_layout(path, &bytes)
            }),
    };
    let mut check = match checked {
        Err(error) if is_corrupt(&error) => {
            let text = error.source.to_string();
            return Ok(LedgerCheck {
                problem: Some(whole_file(path, Fault::Unreadable, &text)),
                ..LedgerCheck::default()
            });
        }
        checked => checked?,
    };
    let found = check.places.iter().map(|(_, _, checksum)| *checksum);
    let Some(checksums) = &told.checksums else {
        return Ok(check);
    };
    if check.problem.is_some() || !found.eq(checksums.iter().copied()) {
        let difference = compare_archive(disk, paths, path, told.archived.archive)?;
        check.problem = difference.or(check.problem).or_else(|| {
            let detail = "its entries are not those that the audit journal says";
            Some(whole_file(path, Fault::Edited, detail))
        });
        return Ok(check);
    }
    let hashlog = paths.archived_hashlog(&told.archived.archive);
    let Some(file) = disk.open_if_there(&hashlog, OpenHow::READ)? else {
        check.problem = Some(whole_file(&hashlog, Fault::Missing, "there is no hashlog"));
        return Ok(check);
    };
    let from = Some(told.archived.follows);
    let of_hashlog = check_hashlog(&file, file.size()?, from, &check.places, true)?;
    // It was on disk, all of it, before the archive was.
    check.problem = of_hashlog.problem.map(|problem| match problem.fault {
        Fault::Behind | Fault::Torn => Problem {
            fault: Fault::TailCut,
            number: of_hashlog.lines + 1,
            detail: format!(
                "it has {} lines for {} entries",
                of_hashlog.lines,
                check.places.len()
            ),
            ..problem
        },
        _ => problem,
    });
    if check.problem.is_none() {
        let index = paths.archived_index(&told.archived.archive);
        check.problem = check_index(disk, &index, &hashlog)?;
    }
    Ok(check)
}

/// Checks that an index, where there is one of this hashlog, says what the hashlog says.
pub(super) fn check_index(
    disk: &Disk,
    index: &Path,
    hashlog: &Path,
) -> Result<Option<Problem>, DiskError> {
    let is_right = hashlog::is_right(disk, index, hashlog)?;
    let detail = "it does not say where the entries stand; it may be deleted, and is made anew";
    Ok((!is_right).then(|| whole_file(index, Fault::Edited, detail)))
}

fn check_file(file: &StockFile) -> Result<LedgerCheck, DiskError> {
    let mut check = match check_own_layout(file.file(), file.len(), file.end())? {
        Some(check) => check,
        None => check_any_layout(file.path(), &file.read_all()?),
    };
    check.bytes = file.len();
    Ok(check)
}

/// Checks a ledger in our own layout as it is read; `None` for any other, or where anything is
/// wrong, so that it is looked at in earnest.
///
/// The tail is not read there: the next append may be overwriting it.
fn check_own_layout(
    file: &DiskFile,
    len: u64,
    end: &[u8],
) -> Result<Option<LedgerCheck>, DiskError> {
    if !end.ends_with(OWN_TAIL.as_bytes()) {
        return Ok(None);
    }
    let start = file.read_range(0, len.min(64 * 1024) as usize)?;
    let Some(head_len) = own_head_len(&start) else {
        return Ok(None);
    };
    let mut check = LedgerCheck::default();
    let mut lines = Lines::new(file, head_len as u64, len - OWN_TAIL.len() as u64);
    // What is left of the line on which the array begins.
    lines.next()?;
    let mut goes_on = true;
    while let Some(line) = lines.next()? {
        let Some(entry) = own_entry(line.bytes, &mut goes_on) else {
            return Ok(None);
        };
        match checksum_at_head(entry) {
            Some(checksum) if is_sealed(entry) => {
                check
                    .places
                    .push((line.offset + 4, entry.len() as u64, checksum));
            }
            _ => return Ok(None),
        }
    }
    if goes_on && !check.places.is_empty() {
        return Ok(None);
    }
    check.entries = check.places.len() as u64;
    Ok(Some(check))
}

fn check_any_layout(path: &Path, bytes: &[u8]) -> LedgerCheck {
    let mut check = LedgerCheck::default();
    let file = match LedgerFile::scan(bytes) {
        Ok(file) => file,
        Err(error) => {
            let text = error.to_string();
            check.problem = Some(whole_file(path, Fault::Unreadable, &text));
            return check;
        }
    };
    for at in file.entries {
        check.entries += 1;
        let stored = &bytes[at.clone()];
        let entry = Entry::read(stored);
        let wrong = match &entry {
            Ok(entry) => entry.check().err().map(|error| (Fault::Edited, error)),
            Err(_) => None,
        };
        let (fault, detail, task_id) = match (entry, wrong) {
            (Ok(entry), None) => {
                let place = (at.start as u64, at.len() as u64, entry.checksum);
                check.places.push(place);
                continue;
            }
            (Ok(entry), Some((fault, error))) => (fault, error.to_string(), Some(entry.task_id)),
            (Err(error), _) => (Fault::Unreadable, error.to_string(), None),
        };
        check.problem.get_or_insert(Problem {
            path: path.to_owned(),
            fault,
            number: check.entries,
            task_id,
            detail,
        });
    }
    check
}

/// What was found in a hashlog.
struct HashlogCheck {
    lines: u64,
    /// What its first line says that it follows.
    from: Option<Checksum>,
    problem: Option<Problem>,
}

/// Checks the chain of a hashlog, and that its lines name the entries where they stand. Without
/// `from`, what the first line follows is for the caller to check.
fn check_hashlog(
    file: &DiskFile,
    len: u64,
    from: Option<Checksum>,
    places: &[(u64, u64, Checksum)],
    with_places: bool,
) -> Result<HashlogCheck, DiskError> {
    let mut said_from = None;
    let (lines, problem) = walk_hashlog(file, len, from, &mut said_from, places, with_places)?;
    Ok(HashlogCheck {
        lines,
        from: said_from,
        problem,
    })
}

fn walk_hashlog(
    file: &DiskFile,
    len: u64,
    from: Option<Checksum>,
    said_from: &mut Option<Checksum>,
    places: &[(u64, u64, Checksum)],
    with_places: bool,
) -> Result<(u64, Option<Problem>), DiskError> {
    let mut lines = Lines::new(file, 0, len);
    let mut head = from;
    let mut number = 0;
    while let Some(line) = lines.next()? {
        number += 1;
        let problem = |fault, task_id: Option<TaskId>, detail: &str| Problem {
            path: file.path().to_owned(),
            fault,
            number,
            task_id,
            detail: detail.to_owned(),
        };
        let hash = match HASHLOG.check(line.bytes) {
            Ok(hash) if line.is_whole => hash,
            Ok(_) | Err(ChainFault::NotChained) if !line.is_whole => {
                let torn = problem(Fault::Torn, None, "the line is not finished");
                return Ok((number - 1, Some(torn)));
            }
            Ok(_) => unreachable!("a line is whole or it is not"),
            Err(fault) => {
                return Ok((
                    number,
                    Some(problem(Fault::Edited, None, &fault.to_string())),
                ));
            }
        };
        let Some(read) = HashlogLine::read(line.bytes) else {
            let unreadable = problem(Fault::Unreadable, None, "it is not a hashlog line");
            return Ok((number, Some(unreadable)));
        };
        let task_id: Option<TaskId> = read.task_id.parse().ok();
        said_from.get_or_insert(read.prev);
        if head.is_some_and(|head| read.prev != head) || read.seq != number {
            let fault = if read.seq > number {
                Fault::Deleted
            } else {
                Fault::Inserted
            };
            let detail = format!("line {} stands where {number} should", read.seq);
            return Ok((number, Some(problem(fault, task_id, &detail))));
        }
        head = Some(hash);
        let place = (read.offset, read.length, read.checksum);
        if with_places && places.get(number as usize - 1) != Some(&place) {
            let detail = "the ledger does not have this entry where the line says";
            return Ok((number, Some(problem(Fault::Edited, task_id, detail))));
        }
    }
    let is_behind = with_places && number < places.len() as u64;
    Ok((
        number,
        is_behind.then(|| {
            let detail = format!("it has {number} lines for {} entries", places.len());
            whole_file(file.path(), Fault::Behind, &detail)
        }),
    ))
}

pub(super) fn whole_file(path: &Path, fault: Fault, detail: &str) -> Problem {
    Problem {
        path: path.to_owned(),
        fault,
        number: 0,
        task_id: None,
        detail: detail.to_owned(),
    }
}
