//! Crash damage, as distinct from tampering.
//!
//! Start with [`settle`], which comes last: the other checks name a difference by its form, and
//! cannot know that a hole was never written. Here the journal's contents are compared with the
//! bytes, sector by sector. A crash leaves each sector in its intended state, an earlier one, or as
//! zeros; and it damages nothing before the part that is known to be on disk.
//!
//! Zeros that a person writes into a file look the same as a crash. They are reported all the same.

use std::path::Path;

use callosum_host::{Disk, DiskError, OpenHow};

use super::{Problem, VerifyFinding, journal::JournalCheck, ledger::of_hashlog};
use crate::{
    archive_name::ArchiveName,
    chain::HASHLOG,
    derived_files::Expected,
    inventory::{FileInventory, StockFile},
    journal::{Followed, JournalError, StoredEntry, Torn, follow_segments},
    lines::Lines,
    paths::LedgerPaths,
    position::View,
    quarantine, rotation, watermark,
};

/// Unit that a disk writes whole, or not at all.
const SECTOR: usize = 512;

/// Reclassifies findings that a crash can have caused, and drops those that are no fault then.
///
/// `proven` counts the records that are proven to have been on disk, and the entries in the ledger
/// file itself. Costs the reading of the journal and of both views; call it only if something is
/// wrong.
pub(super) fn settle(
    disk: &Disk,
    paths: &LedgerPaths,
    stock: &FileInventory,
    of_journal: &JournalCheck,
    proven: Proven,
    problems: &mut Vec<Problem>,
) -> Result<(), DiskError> {
    let mut last_archived = None;
    let followed = follow_segments(disk, paths, &stock.days, |passed| {
        last_archived = Some((passed.archived.archive, rotation::files_of(&passed)));
        Ok(())
    });
    let mut followed = match followed {
        Ok(followed) => followed,
        Err(JournalError::Disk(error)) => return Err(error),
        // Its fault was reported.
        Err(JournalError::Damaged { .. } | JournalError::Newer { .. }) => return Ok(()),
    };
    if of_journal.problem.is_none() {
        followed.entries.truncate(of_journal.entries as usize);
    }
    if let Some(torn) = &followed.torn
        && proven.records <= followed.position.seq
    {
        settle_journal(disk, torn, &followed, problems)?;
    }
    let Some(view) = &followed.position.view else {
        return Ok(());
    };
    let expected = Expected::after(view, &followed.entries);
    let known = on_disk(disk, paths, &expected)?;
    let ledger = Growing::ledger(view, &expected);
    let hashlog = Growing::hashlog(&expected);
    // Signed records had been synced before, in all three files.
    let ledger_known = known.ledger.max(ledger.end_of(proven.entries));
    let hashlog_known = known.hashlog.max(hashlog.end_of(proven.entries));
    let found = CrashEvidence {
        ledger: read_all(stock.ledger.as_ref())?,
        hashlog: read_all(stock.hashlog.as_ref())?,
    };
    for (path, found, growing, known) in [
        (&paths.ledger, &found.ledger, &ledger, ledger_known),
        (&paths.hashlog, &found.hashlog, &hashlog, hashlog_known),
    ] {
        if let Some(left) = found.as_ref().and_then(|found| growing.left(found, known)) {
            problems.retain(|problem| problem.path != *path);
            problems.extend(left.problem(path, growing, &followed.entries));
        }
    }
    if let Some(found) = &found.hashlog
        && (of_journal.problem.is_none() || *found == expected.hashlog)
    {
        settle_hashlog(paths, &expected.hashlog, found, hashlog_known, problems);
    }
    if let Some((archive, archived)) = last_archived
        && followed.entries.is_empty()
    {
        settle_rotation(paths, &archive, &archived, &found, problems);
    }
    Ok(())
}

/// Diagnoses the hashlog by the journal's contents: the ledger, with which it was compared before,
/// may be another one itself.
fn settle_hashlog(
    paths: &LedgerPaths,
    should: &[u8],
    found: &[u8],
    known: usize,
    problems: &mut Vec<Problem>,
) {
    let is_left_by_a_crash = |problem: &Problem| {
        problem.path == paths.hashlog
            && matches!(problem.fault, VerifyFinding::Behind | VerifyFinding::Torn)
    };
    let is_alike = |(one, other): &(&u8, &u8)| one == other;
    let alike = found.iter().zip(should).take_while(is_alike).count();
    if problems.iter().any(is_left_by_a_crash) && alike >= known {
        return;
    }
    let before = problems.len();
    problems.retain(|problem| problem.path != paths.hashlog);
    if problems.len() == before {
        return;
    }
    let mut differing = of_hashlog(&paths.hashlog, should, found);
    if let Some(problem) = &mut differing
        && matches!(problem.fault, VerifyFinding::Behind | VerifyFinding::Torn)
    {
        problem.fault = VerifyFinding::TailCut;
        problem.detail = format!("{}, which were on disk", problem.detail);
    }
    problems.extend(differing);
}

/// Reports as behind the files that a recovery set aside and has not replaced yet. Returns whether
/// the ledger file is one of them.
pub(super) fn settle_recovery(
    disk: &Disk,
    paths: &LedgerPaths,
    stock: &FileInventory,
    is_like_ledger: bool,
    problems: &mut Vec<Problem>,
) -> Result<bool, DiskError> {
    let mut is_of_ledger = false;
    for file in [&stock.ledger, &stock.hashlog].into_iter().flatten() {
        let path = file.path();
        let differs = if path == paths.ledger {
            !is_like_ledger
        } else {
            problems.iter().any(|problem| problem.path == path)
        };
        if differs && quarantine::has(disk, paths, file.file())? {
            is_of_ledger |= path == paths.ledger;
            problems.retain(|problem| problem.path != path);
            problems.push(Problem {
                path: path.to_owned(),
                fault: VerifyFinding::Behind,
                number: 0,
                task_id: None,
                detail: "a recovery was replacing it; the next open completes that".to_owned(),
            });
        }
    }
    Ok(is_of_ledger)
}

/// Part that was signed, and so had been on disk.
#[derive(Clone, Copy)]
pub(super) struct Proven {
    /// Records of the journal, whether they are still there or not.
    pub(super) records: u64,
    /// Entries of the active ledger, in the ledger file itself.
    pub(super) entries: usize,
}

fn read_all(file: Option<&StockFile>) -> Result<Option<Vec<u8>>, DiskError> {
    file.map(StockFile::read_all).transpose()
}

struct CrashEvidence {
    ledger: Option<Vec<u8>>,
    hashlog: Option<Vec<u8>>,
}

/// Reports as torn a record that ends in the middle of its line, or has zeros in it, if nothing
/// shows that it had been on disk.
fn settle_journal(
    disk: &Disk,
    torn: &Torn,
    followed: &Followed,
    problems: &mut [Problem],
) -> Result<(), DiskError> {
    let file = disk.open(&torn.path, OpenHow::READ)?;
    let mut lines = Lines::new(&file, torn.offset, file.size()?);
    let is_torn = lines
        .next()?
        .is_some_and(|line| !line.is_whole || line.bytes.contains(&0));
    if !is_torn {
        return Ok(());
    }
    for problem in problems
        .iter_mut()
        .filter(|problem| problem.path == torn.path)
    {
        problem.fault = VerifyFinding::Torn;
        problem.number = followed.position.seq + 1;
        problem.task_id = None;
        "it is incomplete; the next open cuts it off".clone_into(&mut problem.detail);
    }
    Ok(())
}

/// Reports as behind a ledger that the journal lists as archived, and that is only not in its place
/// yet.
fn settle_rotation(
    paths: &LedgerPaths,
    archive: &ArchiveName,
    (ledger, hashlog): &(Vec<u8>, Vec<u8>),
    found: &CrashEvidence,
    problems: &mut Vec<Problem>,
) {
    for (path, kept_at, is_still_there) in [
        (
            &paths.ledger,
            paths.archive(archive),
            found.ledger.as_ref() == Some(ledger),
        ),
        (
            &paths.hashlog,
            paths.archived_hashlog(archive),
            found.hashlog.as_ref() == Some(hashlog),
        ),
    ] {
        if is_still_there {
            // The process that finishes the rotation gives it that name.
            let is_missing = |problem: &Problem| {
                problem.path == kept_at && problem.fault == VerifyFinding::Missing
            };
            problems.retain(|problem| problem.path != *path && !is_missing(problem));
            problems.push(Problem {
                path: path.clone(),
                fault: VerifyFinding::Behind,
                number: 0,
                task_id: None,
                detail: "it was being archived; the next open completes that".to_owned(),
            });
        }
    }
}

/// Synced lengths of ledger file and hashlog, as far as they are known.
#[derive(Default)]
struct OnDisk {
    ledger: usize,
    hashlog: usize,
}

/// Returns the lengths that the watermark vouches for, if it is of this ledger.
fn on_disk(disk: &Disk, paths: &LedgerPaths, expected: &Expected) -> Result<OnDisk, DiskError> {
    let Some(view) = watermark::read(disk, paths)?.and_then(|position| position.view) else {
        return Ok(OnDisk::default());
    };
    let hashlog = view.hashlog_end as usize;
    let lines = expected.hashlog.get(..hashlog);
    let last = lines.and_then(|lines| lines.strip_suffix(b"\n"));
    let last = last.and_then(|lines| lines.rsplit(|byte| *byte == b'\n').next());
    Ok(match last {
        Some(last) if HASHLOG.check(last) == Ok(view.hashlog_head) => OnDisk {
            ledger: view.ledger_end as usize,
            hashlog,
        },
        _ => OnDisk::default(),
    })
}

/// A file that grows by whole entries before its tail, each time over the tail.
#[derive(Debug)]
struct Growing<'a> {
    /// Without the tail.
    body: Vec<u8>,
    tail: &'a [u8],
    /// End of the body after each number of entries, from zero on.
    ends: Vec<usize>,
}

/// State in which a crash left a file.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    /// The intended state.
    All,
    /// An earlier state, with this many entries.
    Earlier(usize),
    /// Neither, from the entry after this many on.
    Torn(usize),
}

impl<'a> Growing<'a> {
    fn ledger(view: &'a View, expected: &Expected) -> Self {
        let head = view.begun.head.len();
        let ends = expected.ends().iter().map(|end| head + end);
        Self {
            body: [view.begun.head.as_bytes(), &expected.ledger].concat(),
            tail: view.begun.tail.as_bytes(),
            ends: std::iter::once(head).chain(ends).collect(),
        }
    }

    fn hashlog(expected: &Expected) -> Self {
        let feeds = memchr::memchr_iter(b'\n', &expected.hashlog).map(|at| at + 1);
        Self {
            body: expected.hashlog.clone(),
            tail: b"",
            ends: std::iter::once(0).chain(feeds).collect(),
        }
    }

    /// Returns the end of this many entries; the end of all, if there are fewer.
    fn end_of(&self, entries: usize) -> usize {
        self.ends[entries.min(self.ends.len() - 1)]
    }

    /// Returns the state in which a crash can have left this file, which had been on disk up to
    /// `known`; `None` if no crash produces such a file.
    fn left(&self, found: &[u8], known: usize) -> Option<Left> {
        let whole = self.body.len() + self.tail.len();
        if found.len() > whole || found.len() < known {
            return None;
        }
        let last = self.ends.len() - 1;
        if self.is_state(found, 0, last) && found.len() == whole {
            return Some(Left::All);
        }
        let is_exact = |entries: &usize| {
            found.len() == self.ends[*entries] + self.tail.len()
                && self.is_state(found, 0, *entries)
        };
        let from = known.saturating_sub(self.tail.len());
        let from = self.ends.partition_point(|end| *end < from);
        if let Some(entries) = (from..=last).find(is_exact) {
            return (self.ends[entries] >= known).then_some(Left::Earlier(entries));
        }
        let mut first = found.len();
        for (number, sector) in found.chunks(SECTOR).enumerate() {
            let at = number * SECTOR;
            if self.is_state(sector, at, last) {
                continue;
            }
            let differs =
                (0..sector.len()).find(|i| !self.is_state(&sector[*i..=*i], at + i, last));
            let differs = at + differs.unwrap_or(0);
            if differs < known {
                return None;
            }
            first = first.min(differs);
            // One whose tail ends before this sector had nothing in it, as one that was not written.
            let from = self.ends.partition_point(|end| end + self.tail.len() <= at);
            let to = self.ends.partition_point(|end| *end < at + sector.len());
            let is_earlier = (from..to).any(|entries| self.is_state(sector, at, entries));
            if !is_earlier && sector.iter().any(|byte| *byte != 0) {
                return None;
            }
        }
        let before = self.ends.partition_point(|end| *end <= first);
        Some(Left::Torn(before.saturating_sub(1)))
    }

    /// Whether these bytes are at `at` in the state with this many entries, followed by zeros.
    fn is_state(&self, bytes: &[u8], at: usize, entries: usize) -> bool {
        let end = self.ends[entries];
        let parts = [&self.body[..end], self.tail];
        let mut from = at;
        let mut rest = bytes;
        for part in parts {
            let here = part.get(from..).unwrap_or_default();
            let len = here.len().min(rest.len());
            if here[..len] != rest[..len] {
                return false;
            }
            rest = &rest[len..];
            from = from.saturating_sub(part.len());
        }
        rest.iter().all(|byte| *byte == 0)
    }
}

impl Left {
    fn problem(
        &self,
        path: &Path,
        growing: &Growing<'_>,
        entries: &[StoredEntry],
    ) -> Option<Problem> {
        let should = growing.ends.len() - 1;
        let (fault, first, detail) = match self {
            Self::All => return None,
            Self::Earlier(has) => (
                VerifyFinding::Behind,
                *has,
                format!("it has {has} of {should} entries; the next open updates it"),
            ),
            Self::Torn(first) => (
                VerifyFinding::Torn,
                *first,
                "it is incomplete; the next open repairs it".to_owned(),
            ),
        };
        Some(Problem {
            path: path.to_owned(),
            fault,
            number: first as u64 + 1,
            task_id: entries.get(first).and_then(StoredEntry::task_id),
            detail,
        })
    }
}
