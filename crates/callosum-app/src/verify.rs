//! Shared body of `ledger verify` and `audit verify`. Each checks both, since one proves nothing
//! without the other.

use callosum_ledger::verify::{Problem, VerifyFinding};
use callosum_ledger::{LedgerPaths, Verification};
use schemars::JsonSchema;
use serde::Serialize;

use crate::many;

/// `callosum ledger verify --json` and `callosum audit verify --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VerificationOutput {
    /// Whether nothing is wrong.
    pub sound: bool,
    /// Entries in the active ledger.
    pub entries: u64,
    /// Entries in the archives.
    pub archived_entries: u64,
    /// Lines of the hashlog.
    pub hashlog_lines: u64,
    /// Records of the audit journal.
    pub records: u64,
    /// Day files of the audit journal.
    pub day_files: u64,
    /// Bytes that were checked.
    pub bytes: u64,
    /// Checkpoints that this machine keeps, and that the journal was held against.
    pub checkpoints: u64,
    /// So many records, from the first on, are those that were signed.
    pub signed_records: u64,
    /// Problems, the first one in each file.
    pub problems: Vec<ProblemOutput>,
    /// Facts that are right and worth knowing, such as a clock that was ahead.
    pub notices: Vec<String>,
}

/// The first thing that is wrong with a file.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ProblemOutput {
    /// The file, relative to the root if it is below it.
    pub path: String,
    /// Kind of the problem: `edited`, `missing`, `deleted`, `inserted`, `reordered`, `duplicated`,
    /// `spliced`, `tail cut`, `rewritten`, `checkpoint missing`, `signed by another key`, `behind`,
    /// `torn`, `laid out otherwise` or `unreadable`.
    pub fault: String,
    /// The number of the record, entry or line, from 1; 0 where the whole file is meant.
    pub number: u64,
    /// The task that it is about, where that is known.
    pub task_id: Option<String>,
    /// Description of the problem.
    pub detail: String,
}

/// Says that others signed checkpoints that this user does not keep; `None` if there are none.
pub fn of_others(found: &Verification) -> Option<String> {
    let count = found.checkpoints_of_others;
    let verb = if count == 1 { "was" } else { "were" };
    (count > 0).then(|| {
        format!(
            "{} in the journal {verb} signed by another user or on another machine; run `verify` there to check",
            many(count, "checkpoint")
        )
    })
}

/// Whether a problem is no more than that what was signed, and by whom, does not go with the journal.
pub fn is_of_signed(problem: &Problem, paths: &LedgerPaths) -> bool {
    let is_of_journal = problem.path.starts_with(&paths.audit);
    matches!(
        problem.fault,
        VerifyFinding::CheckpointMissing | VerifyFinding::OtherKey
    ) || (problem.fault == VerifyFinding::Rewritten && is_of_journal)
}
