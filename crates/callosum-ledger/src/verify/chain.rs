//! Diagnosis of a chain of records, computed from the contents of each line.

use std::collections::{HashMap, HashSet};

use super::VerifyFinding;
use crate::task_id::TaskId;
use callosum_json::Checksum;

/// Contents of a line of the journal, and whether its hash is right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    /// Its number, if the line has one.
    pub(super) seq: Option<u64>,
    /// The hash of the record before, as the line states it.
    pub(super) prev: Option<Checksum>,
    /// Its own hash, if that is right.
    pub(super) hash: Option<Checksum>,
    /// Whether a line feed ends it.
    pub(super) is_whole: bool,
    pub(super) task_id: Option<TaskId>,
    /// The checksum of the entry that it stores.
    pub(super) stores: Option<Checksum>,
}

/// The first thing that is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Break {
    pub(super) fault: VerifyFinding,
    /// Index of the line, from 0.
    pub(super) index: usize,
    pub(super) detail: String,
}

/// Facts from outside the chain.
#[derive(Debug, Default)]
pub(super) struct ChainContext {
    /// Number of records, from the first on, that match the signed ones.
    pub(super) proven: u64,
    /// Whether the journal begins with another record than the one that was signed.
    pub(super) has_other_begin: bool,
    /// The checksums of the entries that the ledger and its hashlog have.
    pub(super) entries: HashSet<Checksum>,
}

/// Diagnoses a chain; `None` if it holds.
pub(super) fn diagnose(links: &[Link], context: &ChainContext) -> Option<Break> {
    let good = links
        .iter()
        .enumerate()
        .take_while(|(index, link)| link.follows(*index as u64 + 1, head(links, *index)))
        .count();
    let here = links.get(good)?;
    let found = |fault, index, detail: String| {
        Some(Break {
            fault,
            index,
            detail,
        })
    };
    let (expected, before) = (good as u64 + 1, head(links, good));
    let Some(hash) = here.hash else {
        return wrong_in_itself(links, good, context);
    };
    let by_hash: HashMap<_, _> = links
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(index, link)| Some((link.hash?, index)))
        .collect();
    if by_hash.get(&hash).is_some_and(|first| *first < good) {
        let seq = here.seq.unwrap_or_default();
        let detail = format!("duplicate of record {seq}");
        return found(VerifyFinding::Duplicated, good, detail);
    }
    let follows_one_here = here.prev.is_some_and(|prev| by_hash.contains_key(&prev))
        || (here.prev == Some(Checksum::ZERO) && here.seq == Some(1));
    let successor = (good + 1..links.len()).find(|later| links[*later].follows(expected, before));
    if successor.is_some() {
        return if follows_one_here {
            let detail = format!("record {expected} is further down");
            found(VerifyFinding::Reordered, good, detail)
        } else {
            Some(foreign(links, good))
        };
    }
    let Some(seq) = here.seq.filter(|seq| *seq <= expected) else {
        let run = run_from(links, good);
        if is_of_another_log(&links[good..run], context) {
            return Some(foreign(links, good));
        }
        let last = here.seq.unwrap_or_default().saturating_sub(1);
        let gone = if last > expected {
            format!("records {expected} to {last} are missing")
        } else {
            format!("record {expected} is missing")
        };
        return found(VerifyFinding::Deleted, good, gone);
    };
    if seq < expected {
        let rival = seq as usize - usize::from(seq > 0);
        if !here.follows(seq, head(links, rival)) {
            return Some(foreign(links, good));
        }
        // Two records follow the same one: the one that others follow was there first.
        let next = links.get(good + 1).and_then(|next| next.prev);
        let index = if next == links[good - 1].hash {
            good
        } else {
            rival
        };
        let detail = format!("there are two records {seq} that follow the same one");
        return found(VerifyFinding::Inserted, index, detail);
    }
    // It has the right number, and follows a record that is not there.
    if context.has_other_begin && good > 1 {
        let detail = format!("it and the {} after it belong to another journal", good - 1);
        return found(VerifyFinding::Spliced, 0, detail);
    }
    let run = run_from(links, good);
    let is_to_the_end = run == links.len();
    let has_known = links[good..run]
        .iter()
        .filter_map(|link| link.stores)
        .any(|entry| context.entries.contains(&entry));
    if good > 0 && is_to_the_end && has_known && context.proven < good as u64 {
        let detail = "it was changed and rehashed: the next one follows its original".to_owned();
        return found(VerifyFinding::Edited, good - 1, detail);
    }
    Some(foreign(links, good))
}

impl Link {
    /// Whether it is right in itself, has this number, and follows the record of this hash.
    fn follows(&self, seq: u64, before: Option<Checksum>) -> bool {
        self.is_whole
            && self.hash.is_some()
            && self.seq == Some(seq)
            && self.prev.is_some()
            && self.prev == before
    }
}

/// The hash that the record at `index` is to follow.
fn head(links: &[Link], index: usize) -> Option<Checksum> {
    match index.checked_sub(1) {
        None => Some(Checksum::ZERO),
        Some(before) => links.get(before)?.hash,
    }
}

/// Diagnoses a line that does not match its hash.
fn wrong_in_itself(links: &[Link], at: usize, context: &ChainContext) -> Option<Break> {
    let here = &links[at];
    let found = |fault, detail: &str| {
        Some(Break {
            fault,
            index: at,
            detail: detail.to_owned(),
        })
    };
    if at + 1 == links.len() && !here.is_whole {
        return found(VerifyFinding::Torn, "it is incomplete");
    }
    let expected = at as u64 + 1;
    let goes_on = links[at + 1..]
        .iter()
        .any(|later| later.follows(expected, head(links, at)));
    let is_beyond = at + 1 == links.len() && context.proven == at as u64 && here.seq.is_none();
    if goes_on || is_beyond {
        return found(
            VerifyFinding::Inserted,
            "it is not a record of this journal",
        );
    }
    if here.seq.is_none() && here.prev.is_none() {
        return found(VerifyFinding::Unreadable, "it is not a record");
    }
    found(VerifyFinding::Edited, "its bytes do not match its hash")
}

/// Records that are right in themselves, and belong to another journal.
fn foreign(links: &[Link], at: usize) -> Break {
    let run = run_from(links, at) - at;
    let detail = match run {
        1 => "it follows a record of another journal".to_owned(),
        run => format!("it and the {} after it follow another journal", run - 1),
    };
    Break {
        fault: VerifyFinding::Spliced,
        index: at,
        detail,
    }
}

/// The end of the records that follow one another from `at` on.
fn run_from(links: &[Link], at: usize) -> usize {
    let mut end = at + 1;
    while end < links.len() && links[end].hash.is_some() && links[end].prev == links[end - 1].hash {
        end += 1;
    }
    end
}

/// Whether none of the entries that these records store is known from elsewhere.
fn is_of_another_log(links: &[Link], context: &ChainContext) -> bool {
    let mut stored = links.iter().filter_map(|link| link.stores).peekable();
    stored.peek().is_some() && stored.all(|entry| !context.entries.contains(&entry))
}
