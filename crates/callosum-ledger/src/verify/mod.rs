//! Comparison of ledger, hashlog and journal with one another, without changing anything.
//!
//! Start with [`verify`]. Two threads share the work: one walks the journal's chain and compares
//! each entry in it with the bytes in the ledger file, the other checks the ledger's checksums and
//! the hashlog. An entry in our own layout is checked by hashing its bytes as they are; only one
//! that another program laid out is parsed.
//!
//! A chain cannot show that its end was cut off, or that all of it was rewritten. [`verify_within`]
//! finds that, because it also compares the journal with the signed checkpoints: a third thread
//! hashes it for that.

mod archives;
mod chain;
mod checkpoint_check;
mod crash_detection;
mod diagnosis;
mod hashlog;
mod journal;
mod ledger;
#[cfg(test)]
mod tampering;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, thread};

use callosum_host::{Disk, DiskError, LockError};

use self::{checkpoint_check::Signed, crash_detection::Proven, journal::JournalCheck};
use crate::{
    checkpoint::{KeyError, TrustStore},
    error_code::ErrorCode,
    inventory::{FileInventory, StockFile},
    ledger_file::LedgerFileError,
    open_error::OpenError,
    paths::LedgerPaths,
    reconcile,
    task_id::TaskId,
};

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Entries in the active ledger.
    pub entries: u64,
    /// Entries in the archives.
    pub archived_entries: u64,
    /// Lines of the hashlog.
    pub hashlog_lines: u64,
    /// Records of the journal.
    pub records: u64,
    /// Day files of the journal.
    pub day_files: u64,
    /// Bytes that were checked.
    pub bytes: u64,
    /// Checkpoints with which the journal was compared.
    pub checkpoints: u64,
    /// Number of records, from the first on, that match the signed ones.
    pub signed_records: u64,
    /// Checkpoints recorded in the journal that another user, or another machine, signed and keeps.
    pub checkpoints_of_others: u64,
    /// Problems, the first in each file.
    pub problems: Vec<Problem>,
    /// Archives with a problem that the journal cannot rebuild, because they are older than it.
    pub not_in_journal: Vec<PathBuf>,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

/// The first thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// Kind of the problem.
    pub fault: VerifyFinding,
    /// The number of the record, entry or line, from 1; 0 where the whole file is meant.
    pub number: u64,
    /// The task that it is about, if known.
    pub task_id: Option<TaskId>,
    /// Description of the problem.
    pub detail: String,
}

/// Kind of change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyFinding {
    /// Something in it was changed.
    Edited,
    /// It should be there, and is not.
    Missing,
    /// Something was taken out of it.
    Deleted,
    /// Something was put into it.
    Inserted,
    /// Its parts changed places.
    Reordered,
    /// Something is in it twice.
    Duplicated,
    /// It contains something that belongs to another log.
    Spliced,
    /// Its end was cut off.
    TailCut,
    /// It was rewritten consistently, but differs from what was signed.
    Rewritten,
    /// The journal records a checkpoint that is not kept.
    CheckpointMissing,
    /// A key that is not this machine's signed it.
    OtherKey,
    /// It ends before it should: an earlier state, which the next opening brings up to date.
    Behind,
    /// It ends in something unfinished, or has holes, as a crash leaves it: the next opening mends
    /// that.
    Torn,
    /// It has another layout; its contents are right.
    Layout,
    /// It is not readable as such a file at all.
    Unreadable,
}

impl std::fmt::Display for VerifyFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Edited => "edited",
            Self::Missing => "missing",
            Self::Deleted => "deleted",
            Self::Inserted => "inserted",
            Self::Reordered => "reordered",
            Self::Duplicated => "duplicated",
            Self::Spliced => "spliced",
            Self::TailCut => "tail cut",
            Self::Rewritten => "rewritten",
            Self::CheckpointMissing => "checkpoint missing",
            Self::OtherKey => "signed by another key",
            Self::Behind => "behind",
            Self::Torn => "torn",
            Self::Layout => "laid out otherwise",
            Self::Unreadable => "unreadable",
        })
    }
}

/// Error that prevents a verification.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process kept writing.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The ledger is of a version that this program cannot judge.
    #[error(transparent)]
    Version(OpenError),
    /// The signers cannot be determined.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl VerifyError {
    /// Returns the seed's code for it, if there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Disk(_) | Self::Lock(LockError::Disk(_)) => Some(ErrorCode::DiskFailure),
            Self::Lock(LockError::Timeout { .. }) => Some(ErrorCode::LockTimeout),
            Self::Version(error) => error.code(),
            Self::Key(_) => None,
        }
    }
}

/// Scope of [`verify_within`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// Whether archives are checked as well.
    pub archives: bool,
    /// Store of the checkpoints of the journal.
    pub witness: Option<&'a TrustStore>,
}

/// Checks the active ledger, the archives, the hashlog and the journal.
///
/// Takes the audit lock for a moment, if the project is writable, and then reads the files as of
/// that moment. Costs the reading and hashing of every byte.
pub fn verify(disk: &Disk, paths: &LedgerPaths) -> Result<Verification, VerifyError> {
    let scope = Scope {
        archives: true,
        witness: None,
    };
    verify_within(disk, paths, scope)
}

/// Checks as [`verify()`] does, but only the given scope, and that the journal matches its
/// checkpoints.
pub fn verify_within(
    disk: &Disk,
    paths: &LedgerPaths,
    scope: Scope<'_>,
) -> Result<Verification, VerifyError> {
    let read = |witness: &TrustStore| witness.read(disk);
    let signed_before = scope.witness.map(read).transpose()?;
    let stock = FileInventory::take(disk, paths)?;
    // A checkpoint that the journal records by now was stored before.
    let mut kept = scope.witness.map(read).transpose()?;
    let mut verification = Verification::default();
    let check_views = || ledger::check_views(paths, &stock);
    let hash = || {
        let kept = kept.as_ref();
        kept.map(|kept| checkpoint_check::roots(disk, &stock, kept))
            .transpose()
    };
    let (of_journal, of_views, hashed) = thread::scope(|scoped| {
        let of_views = thread::Builder::new().spawn_scoped(scoped, check_views);
        let hashed = thread::Builder::new().spawn_scoped(scoped, hash);
        let of_journal = journal::check(disk, paths, &stock);
        // Where the system gives no thread, this one does its work.
        (
            of_journal,
            of_views.map_or_else(|_| check_views(), joined),
            hashed.map_or_else(|_| hash(), joined),
        )
    });
    let (mut of_journal, of_views, hashed) = (of_journal?, of_views?, hashed?);

    verification.records = of_journal.records;
    verification.day_files = stock.days.len() as u64;
    verification.entries = of_views.entries;
    verification.hashlog_lines = of_views.hashlog_lines;
    verification.bytes = stock.days.iter().map(|(_, len)| len).sum::<u64>()
        + stock.ledger.as_ref().map_or(0, StockFile::len)
        + stock.hashlog.as_ref().map_or(0, StockFile::len);
    let mut signed = Signed::default();
    if let (Some(kept), Some(hashed), Some(before), Some(witness)) =
        (&mut kept, &hashed, &signed_before, scope.witness)
    {
        checkpoint_check::leave_out_later(kept, before, hashed);
        signed = checkpoint_check::diagnose(&checkpoint_check::Facts {
            kept,
            hashed,
            recorded: &of_journal.recorded,
            own_keys: &witness.own_keys(disk)?,
            is_chained: of_journal.problem.is_none(),
            files: &of_journal.files,
            audit: &paths.audit,
            project: &witness.origin_of_project(),
        });
        verification.checkpoints = kept.kept.len() as u64;
        verification.signed_records = signed.proven;
        verification.checkpoints_of_others = signed.by_others;
    }
    if of_journal.problem.is_some() {
        let is_unlike = |problem: &Problem| !problem.path.starts_with(&paths.audit);
        let is_cut = |problem: &&Problem| problem.fault == VerifyFinding::TailCut;
        let cut = signed.problems.iter().find(is_cut).cloned();
        // The chain names the record itself; the signature only the records it is among.
        signed.problems.retain(is_unlike);
        if let Some(found) = journal::diagnose(disk, &stock, &signed)? {
            // No crash takes a record that was signed, however the last line looks.
            let is_torn = found.fault == VerifyFinding::Torn;
            of_journal.problem = Some(cut.filter(|_| is_torn).unwrap_or(found));
        }
    }
    let is_short = signed
        .problems
        .iter()
        .any(|problem| problem.fault == VerifyFinding::TailCut);
    verification.problems.extend(of_views.problems);
    if of_journal.problem.is_none()
        && of_views
            .hashlog_from
            .is_some_and(|from| from != of_journal.hashlog_from)
    {
        let detail = "its first line does not follow the last of the archive before";
        let broken = ledger::whole_file(&paths.hashlog, VerifyFinding::Edited, detail);
        verification.problems.push(broken);
    }
    if !verification.is_sound() || !of_journal.is_like_ledger {
        refuse_other_version(disk, paths)?;
    }
    let is_like_ledger = of_journal.is_like_ledger && of_journal.entries == of_views.entries;
    let problems = &mut verification.problems;
    let is_being_replaced = of_journal.recovered
        && crash_detection::settle_recovery(disk, paths, &stock, is_like_ledger, problems)?;
    let on_disk = of_journal.recorded_by.iter();
    let on_disk = on_disk.filter(|seq| **seq <= signed.proven).count();
    if let Some(problem) = &of_journal.problem {
        verification.problems.push(problem.clone());
    } else if !is_like_ledger && !is_being_replaced {
        let difference = diagnosis::compare(disk, paths, &stock, on_disk)?;
        let is_view_sound = verification.problems.is_empty();
        // A wrong checksum and a difference from the journal are one finding if both exist.
        verification
            .problems
            .retain(|problem| problem.path != paths.ledger);
        let is_beyond = of_journal.entries < of_views.entries
            && difference
                .as_ref()
                .is_some_and(|problem| problem.number == of_journal.entries + 1);
        if is_beyond && is_view_sound && of_views.hashlog_lines == of_views.entries {
            // What ledger and hashlog agree on was in the journal, unless the journal is proven.
            if !is_short && signed.proven < of_journal.records {
                let task_id = difference.and_then(|problem| problem.task_id);
                verification
                    .problems
                    .push(cut_journal(&stock, &of_journal, paths, task_id));
            } else if !is_short {
                verification.problems.extend(difference);
            }
        } else {
            verification.problems.extend(difference);
        }
    }
    if of_journal.problem.is_none() {
        verification.problems.append(&mut of_journal.other_problems);
        let strangers = archives::strangers(paths, &stock.history, &of_journal.archives);
        verification.problems.extend(strangers);
    }
    verification.problems.extend(signed.problems);
    let is_of_hashlog = |problem: &Problem| problem.path == paths.hashlog;
    if !verification.problems.iter().any(is_of_hashlog) {
        let of_index = ledger::check_index(disk, &paths.index(), &paths.hashlog)?;
        verification.problems.extend(of_index);
    }
    if scope.archives {
        archives::check_archives(disk, paths, &of_journal.archives, &mut verification)?;
    }
    if !verification.is_sound() {
        let proven = Proven {
            records: signed.in_all,
            entries: on_disk,
        };
        let problems = &mut verification.problems;
        crash_detection::settle(disk, paths, &stock, &of_journal, proven, problems)?;
    }
    for path in [&paths.ledger, &paths.hashlog] {
        let not_a_file = diagnosis::not_a_file(disk, path)?;
        verification.problems.extend(not_a_file);
    }
    Ok(verification)
}

/// Returns a thread's result, or resumes its panic.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reports a journal that ends before entries that ledger and hashlog have.
fn cut_journal(
    stock: &FileInventory,
    of_journal: &JournalCheck,
    paths: &LedgerPaths,
    task_id: Option<TaskId>,
) -> Problem {
    let last = stock.days.last().map(|(day, _)| day.path.clone());
    Problem {
        path: last.unwrap_or_else(|| paths.audit.clone()),
        fault: VerifyFinding::TailCut,
        number: of_journal.records + 1,
        task_id,
        detail: format!(
            "ledger and hashlog have entries that it does not list: they were in it, or were \
             added to both; it lists {}",
            of_journal.entries
        ),
    }
}

/// Refuses a ledger that a later version wrote, or that has no valid version: an apparent fault may
/// be right there.
fn refuse_other_version(disk: &Disk, paths: &LedgerPaths) -> Result<(), VerifyError> {
    let Some(ledger) = disk.read_if_there(&paths.ledger)? else {
        return Ok(());
    };
    match reconcile::refuse_other_version(paths, &ledger) {
        Err(
            error @ (OpenError::Newer { .. }
            | OpenError::NotALedger {
                source: LedgerFileError::Version { .. },
                ..
            }),
        ) => Err(VerifyError::Version(error)),
        _ => Ok(()),
    }
}
