//! Comparison of the journal with its checkpoints, which shows more than a chain can.
//!
//! [`diagnose`] is a function of gathered facts; [`roots`] gathers the costly one.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError};

use super::{Problem, VerifyFinding};
use crate::{
    checkpoint::{Checkpoint, JournalWalk, KeptCheckpoints, SignedBy, begin_of_journal},
    inventory::FileInventory,
    merkle::{Frontier, hash_leaf},
    signed_note::VerifierKey,
};
use callosum_json::Checksum;

/// Checkpoint according to a `checkpoint` record of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) size: u64,
    pub(super) root: Checksum,
    /// The key that signed it, if the record names one.
    pub(super) key: Option<VerifierKey>,
    /// Whether it records that earlier checkpoints were set aside.
    pub(super) is_anew: bool,
}

/// The raw bytes of the journal, regardless of their meaning.
#[derive(Debug, Default)]
pub(super) struct Hashed {
    /// The root at each size that was signed, as far as the journal reaches.
    pub(super) roots: HashMap<u64, Checksum>,
    /// Number of its lines.
    pub(super) lines: u64,
    /// The hash of its first record.
    pub(super) begin: Option<Checksum>,
}

/// Everything that the diagnosis rests on.
pub(super) struct Facts<'a> {
    pub(super) kept: &'a KeptCheckpoints,
    pub(super) hashed: &'a Hashed,
    /// In the order of the journal, as far as its chain holds.
    pub(super) recorded: &'a [Recorded],
    /// The keys of this user on this machine, today's and earlier ones.
    pub(super) own_keys: &'a [VerifierKey],
    /// Whether the chain holds to the journal's end.
    pub(super) is_chained: bool,
    /// The day files, and the number of each one's first record.
    pub(super) files: &'a [(PathBuf, u64)],
    /// Path of the journal, whether it exists or not.
    pub(super) audit: &'a Path,
    /// Prefix of the name of each log of this project.
    pub(super) project: &'a str,
}

impl Facts<'_> {
    /// Returns true if a key of this user signed a checkpoint, or no one says whose key did.
    fn is_own(&self, recorded: &Recorded) -> bool {
        recorded.key.as_ref().is_none_or(|key| {
            let mut own = self.own_keys.iter();
            own.any(|own| own.is_same_bytes(key))
        })
    }

    /// Returns true if a checkpoint is kept here.
    fn is_kept(&self, recorded: &Recorded) -> bool {
        let is_it = |size, root| (size, root) == (recorded.size, recorded.root);
        let mut kept = self.kept.kept.iter();
        kept.any(|kept| is_it(kept.checkpoint.size, kept.checkpoint.root))
    }

    /// Whether a checkpoint was made of another log: of another project, or, if some are of the
    /// existing journal, of another journal than that.
    fn is_of_another_log(&self, checkpoint: &Checkpoint) -> bool {
        let begin = self.hashed.begin.map(|begin| begin.to_string());
        let is_of_journal = |checkpoint: &Checkpoint| {
            let first = checkpoint.origin.strip_prefix(self.project);
            first
                .zip(begin.as_ref())
                .is_some_and(|(first, begin)| begin.starts_with(first))
        };
        !checkpoint.origin.starts_with(self.project)
            || (!is_of_journal(checkpoint)
                && self
                    .kept
                    .kept
                    .iter()
                    .any(|kept| is_of_journal(&kept.checkpoint)))
    }
}

/// Result of the comparison with the checkpoints.
#[derive(Debug, Default)]
pub(super) struct Signed {
    /// The first thing that is wrong with the journal, and with the file of checkpoints.
    pub(super) problems: Vec<Problem>,
    /// Number of records covered by the last checkpoint that matches the journal.
    pub(super) proven: u64,
    /// Number of all records of this journal that were signed.
    pub(super) in_all: u64,
    /// Number of checkpoints recorded in the journal that others signed, and that are not kept
    /// here.
    pub(super) by_others: u64,
    /// Whether the journal begins with another record than the one that was signed.
    pub(super) has_other_begin: bool,
}

/// Hashes the journal for the sizes that were signed.
pub(super) fn roots(
    disk: &Disk,
    stock: &FileInventory,
    kept: &KeptCheckpoints,
) -> Result<Hashed, DiskError> {
    let sizes: HashSet<u64> = kept.kept.iter().map(|kept| kept.checkpoint.size).collect();
    let mut hashed = Hashed {
        begin: begin_of_journal(disk, &stock.days)?,
        ..Hashed::default()
    };
    let last = sizes.iter().copied().max().unwrap_or(0);
    let mut frontier = Frontier::default();
    JournalWalk::new(disk, &stock.days).each(|_, line| {
        if !line.is_whole {
            return true;
        }
        hashed.lines += 1;
        if hashed.lines <= last {
            frontier.push(hash_leaf(line.bytes));
            if sizes.contains(&hashed.lines) {
                hashed.roots.insert(hashed.lines, frontier.root());
            }
        }
        true
    })?;
    Ok(hashed)
}

/// Leaves out checkpoints made after the snapshot: of records that did not exist yet, and not kept
/// `before` either.
pub(super) fn leave_out_later(
    kept: &mut KeptCheckpoints,
    before: &KeptCheckpoints,
    hashed: &Hashed,
) {
    let numbers = before.kept.iter().map(|kept| kept.number);
    let last = numbers.chain(before.unreadable.iter().copied()).max();
    let is_before = |number| last.is_some_and(|last| number <= last);
    kept.kept
        .retain(|kept| is_before(kept.number) || kept.checkpoint.size <= hashed.lines);
}

/// Compares the checkpoints with the journal, in both directions.
pub(super) fn diagnose(facts: &Facts<'_>) -> Signed {
    let mut signed = Signed {
        by_others: by_others(facts),
        ..Signed::default()
    };
    if let Some(problem) = of_checkpoints(facts) {
        signed.problems.push(problem);
    }
    let ours = facts
        .kept
        .kept
        .iter()
        .filter(|kept| kept.signed == SignedBy::Us)
        .map(|kept| &kept.checkpoint)
        .filter(|checkpoint| !facts.is_of_another_log(checkpoint));
    let sizes = ours.clone().map(|checkpoint| checkpoint.size);
    let in_all = sizes.max().unwrap_or(0);
    for checkpoint in ours {
        let problem = |fault, number: u64, detail: String| Problem {
            path: path_of(facts, number),
            fault,
            number,
            task_id: None,
            detail,
        };
        let size = checkpoint.size;
        if facts.hashed.lines == 0 {
            let detail = format!("a journal of {size} records was signed, but there is none");
            signed
                .problems
                .push(problem(VerifyFinding::Missing, 0, detail));
            break;
        }
        let begin = facts.hashed.begin.map(|begin| begin.to_string());
        let stated = checkpoint.origin.rsplit('/').next().unwrap_or_default();
        if begin.is_some_and(|begin| !begin.starts_with(stated)) {
            let detail = format!("it is not the journal whose first {size} records were signed");
            signed
                .problems
                .push(problem(VerifyFinding::Rewritten, 1, detail));
            signed.has_other_begin = true;
            break;
        }
        signed.in_all = in_all;
        let first = signed.proven + 1;
        match facts.hashed.roots.get(&size) {
            Some(root) if *root == checkpoint.root => signed.proven = size,
            Some(_) => {
                let detail = format!("records {first} to {size} differ from the signed ones");
                signed
                    .problems
                    .push(problem(VerifyFinding::Rewritten, first, detail));
                break;
            }
            None => {
                let number = facts.hashed.lines + 1;
                let detail = format!(
                    "{in_all} records were signed, but it ends after {}, and the first {} of \
                     those are proven",
                    facts.hashed.lines, signed.proven
                );
                signed
                    .problems
                    .push(problem(VerifyFinding::TailCut, number, detail));
                break;
            }
        }
    }
    signed
}

/// The first thing that is wrong with the file of checkpoints itself.
fn of_checkpoints(facts: &Facts<'_>) -> Option<Problem> {
    let kept = facts.kept;
    let problem = |fault, number, detail: String| {
        Some(Problem {
            path: kept.path.clone(),
            fault,
            number,
            task_id: None,
            detail,
        })
    };
    let mut before: Option<(u64, Checksum)> = None;
    let unreadable = kept.unreadable.first().copied().unwrap_or(u64::MAX);
    for one in kept.kept.iter().take_while(|one| one.number < unreadable) {
        match &one.signed {
            SignedBy::Us => {}
            SignedBy::Another { key } => {
                let detail = format!("signed by `{key}`, which is not a key of this machine");
                return problem(VerifyFinding::OtherKey, one.number, detail);
            }
            SignedBy::Nobody => {
                let detail = "its text differs from the signed text".to_owned();
                return problem(VerifyFinding::Edited, one.number, detail);
            }
        }
        if facts.is_of_another_log(&one.checkpoint) {
            let detail = format!("it is of another log, `{}`", one.checkpoint.origin);
            return problem(VerifyFinding::Spliced, one.number, detail);
        }
        let this = (one.checkpoint.size, one.checkpoint.root);
        if before == Some(this) {
            let detail = "it is there twice".to_owned();
            return problem(VerifyFinding::Duplicated, one.number, detail);
        }
        if before.is_some_and(|(size, _)| size > this.0) {
            let detail = "the one before it covers more records".to_owned();
            return problem(VerifyFinding::Reordered, one.number, detail);
        }
        before = Some(this);
    }
    if unreadable < u64::MAX {
        let detail = "it is not a checkpoint".to_owned();
        return problem(VerifyFinding::Unreadable, unreadable, detail);
    }
    // Another user of the project keeps the ones that they signed.
    let recorded: Vec<&Recorded> = facts
        .recorded
        .iter()
        .filter(|recorded| facts.is_own(recorded))
        .collect();
    let restart = recorded.iter().rposition(|recorded| recorded.is_anew);
    let recorded = recorded.get(restart.unwrap_or(0)..).unwrap_or_default();
    let index = recorded
        .iter()
        .position(|recorded| !facts.is_kept(recorded))?;
    // Of a journal that is not its own any more, the records are no witnesses.
    if !facts.is_chained {
        return None;
    }
    let size = recorded.get(index)?.size;
    if kept.kept.is_empty() {
        let many = recorded.len();
        let detail = format!("the journal lists {many}, but this machine has none of it");
        return problem(VerifyFinding::CheckpointMissing, 0, detail);
    }
    let detail = format!("the journal lists the one of its first {size} records");
    problem(VerifyFinding::CheckpointMissing, index as u64 + 1, detail)
}

/// Counts the checkpoints recorded in the journal that others signed, and that are not kept here.
fn by_others(facts: &Facts<'_>) -> u64 {
    let recorded = facts.recorded.iter();
    recorded
        .filter(|recorded| !facts.is_own(recorded) && !facts.is_kept(recorded))
        .count() as u64
}

/// Returns the day file that contains a record, or would.
fn path_of(facts: &Facts<'_>, number: u64) -> PathBuf {
    let file = facts.files.iter().rfind(|(_, first)| *first <= number);
    match file {
        Some((path, _)) if number > 0 => path.clone(),
        _ => facts.audit.to_owned(),
    }
}
