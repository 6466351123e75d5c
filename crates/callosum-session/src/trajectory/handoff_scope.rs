//! [`Over`]: the claims that hand-offs cover, if their place in the files does not show it.
//!
//! Claims after a hand-off in its own file count. The files of earlier days, and of other agents,
//! can still be written to by merges, and no one has checked what comes from another branch. So a
//! hand-off names the claims of those files that it covers.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value;

use super::record::{Record, RecordForm};

/// The member of a hand-off that has the names.
pub(crate) const COVERS: &str = "covers";

/// Most claims that a hand-off names; one of more covers everything before it.
const MOST_COVERED: usize = 20_000;

/// Scope of an agent's hand-offs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Over {
    /// Whether the last one names the claims that it covers.
    pub(super) has_names: bool,
    /// The names.
    covered: HashSet<u64>,
    /// The time before which everything is covered.
    pub(super) before: Option<Timestamp>,
}

impl Over {
    /// Adds the coverage of the hand-offs among these records, and returns whether each of them
    /// names it.
    pub(super) fn take<R: RecordForm>(&mut self, records: &[R]) -> bool {
        let records = records.iter().rev().filter_map(RecordForm::record);
        for record in records.filter(|record| record.phase() == "session_handoff") {
            if !self.take_one(record) {
                self.before = record.ts().parse().ok().max(self.before);
                return false;
            }
            self.has_names = true;
        }
        true
    }

    fn take_one(&mut self, handoff: &Record) -> bool {
        let Some(Value::Array(names)) = handoff.members.get(COVERS) else {
            return false;
        };
        let names = names.iter().filter_map(Value::as_str);
        let names = names.filter_map(|name| u64::from_str_radix(name, 16).ok());
        self.covered.extend(names);
        true
    }

    /// Whether a claim before the last hand-off came there since.
    pub(crate) fn lacks<R: RecordForm>(&self, kept: &R) -> bool {
        let is_before = |before: Timestamp| {
            let ts = kept.ts().parse::<Timestamp>();
            ts.is_ok_and(|ts| ts <= before)
        };
        let name = kept.covered_as();
        self.has_names
            && name.is_some_and(|name| !self.covered.contains(&name))
            && !self.before.is_some_and(is_before)
    }

    /// Whether a line of this name that cannot be read, and is in an earlier file or another agent's, came there since.
    pub(crate) fn lacks_line(&self, name: u64) -> bool {
        self.has_names && !self.covered.contains(&name)
    }

    /// Whether the last hand-off names the claims that it covers.
    pub(crate) fn names_covered(&self) -> bool {
        self.has_names
    }
}

/// Returns the names of claims and of unreadable lines, as a hand-off has them; `None` if there are
/// too many.
pub(crate) fn covers(names: impl Iterator<Item = u64>) -> Option<Value> {
    let names: Vec<Value> = names.map(|name| format!("{name:016x}").into()).collect();
    (names.len() <= MOST_COVERED).then(|| names.into())
}
