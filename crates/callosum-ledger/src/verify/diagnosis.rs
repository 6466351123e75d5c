//! What was done to a ledger file that is not what the journal says.

use callosum_host::{Disk, DiskError, OpenHow};

use super::{Fault, Problem, Stock, read_with_end};
use crate::{
    canonical::DuplicateKeys,
    checksum::Checksum,
    entry::{Entry, seal},
    journal::follow,
    ledger_file::{LedgerFile, begun_like},
    paths::LedgerPaths,
    position::Position,
    task_id::TaskId,
};

/// An entry as far as it is compared.
#[derive(Debug)]
struct Compared {
    task_id: Option<TaskId>,
    /// Of its canonical form, the checksum in it included.
    hash: Checksum,
}

/// Finds the first entry at which the ledger file differs from the journal, and how.
pub(super) fn compare(
    disk: &Disk,
    paths: &LedgerPaths,
    stock: &Stock,
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
    let Some(len) = stock.ledger else {
        return Ok(problem(Fault::Missing, 0, None, "there is no ledger"));
    };
    let file = disk.open(&paths.ledger, OpenHow::READ)?;
    let bytes = read_with_end(&file, len, &stock.ledger_end)?;
    let file = match LedgerFile::parse(&bytes) {
        Ok(file) => file,
        Err(error) => return Ok(problem(Fault::Unreadable, 0, None, &error.to_string())),
    };
    let told = match follow(disk, paths, &Position::start()) {
        Ok(followed) => followed,
        Err(error) => return Ok(problem(Fault::Unreadable, 0, None, &error.to_string())),
    };
    let expected: Vec<_> = told
        .entries
        .iter()
        .map(|entry| Compared::of(entry.json.as_bytes()))
        .collect();
    let found: Vec<_> = file
        .entries
        .iter()
        .map(|at| Compared::of(&bytes[at.clone()]))
        .collect();
    if let Some((index, fault)) = first_difference(&expected, &found) {
        let detail = match fault {
            Fault::Behind => format!(
                "it has {} of {} entries; the next opening brings it up to date",
                found.len(),
                expected.len()
            ),
            _ => "it is not what the audit journal says".to_owned(),
        };
        let task_id = found
            .get(index)
            .or(expected.get(index))
            .and_then(|entry| entry.task_id.clone());
        return Ok(problem(fault, index + 1, task_id, &detail));
    }
    let head = told.position.view.map(|view| view.begun);
    Ok(if begun_like(&bytes).ok() == head {
        problem(
            Fault::Layout,
            0,
            None,
            "another program wrote it; the next opening writes it anew",
        )
    } else {
        problem(Fault::Edited, 0, None, "its fields beside `tasks` differ")
    })
}

impl Compared {
    fn of(bytes: &[u8]) -> Self {
        let canonical = seal_as_it_is(bytes);
        Self {
            task_id: Entry::read(bytes).ok().map(|entry| entry.task_id),
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
    crate::canonical::canonicalize(bytes, DuplicateKeys::LastWins).ok()
}

/// Where two lists of entries first differ, and what was done to the second to make it so.
fn first_difference(expected: &[Compared], found: &[Compared]) -> Option<(usize, Fault)> {
    let same = |a: Option<&Compared>, b: Option<&Compared>| match (a, b) {
        (Some(a), Some(b)) => a.hash == b.hash,
        (None, None) => true,
        _ => false,
    };
    let longest = expected.len().max(found.len());
    let at = (0..longest).find(|index| !same(expected.get(*index), found.get(*index)))?;
    let Some(here) = found.get(at) else {
        return Some((at, Fault::Behind));
    };
    let Some(told) = expected.get(at) else {
        let is_again = expected.iter().any(|entry| entry.hash == here.hash);
        let fault = if is_again {
            Fault::Duplicated
        } else {
            Fault::Inserted
        };
        return Some((at, fault));
    };
    let told_comes_later = found[at..].iter().any(|entry| entry.hash == told.hash);
    let here_before = expected[..at].iter().any(|entry| entry.hash == here.hash);
    let here_later = expected[at..].iter().any(|entry| entry.hash == here.hash);
    let fault = match (told_comes_later, here_before, here_later) {
        (_, true, _) => Fault::Duplicated,
        (true, _, true) => Fault::Reordered,
        (true, _, false) => Fault::Inserted,
        (false, _, true) => Fault::Missing,
        (false, _, false) => Fault::Edited,
    };
    Some((at, fault))
}
