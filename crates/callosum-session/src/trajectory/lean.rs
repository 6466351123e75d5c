//! [`AnyRecord`]: skips records that are not about claims, features or checkpoints.
//!
//! Agents write down far more than they claim. Their thoughts and calls are most of a long
//! trajectory.

use super::record::{Record, RecordForm};

/// The phases that are needed.
const NEEDED: [&str; 7] = [
    "cite",
    "delta_sync",
    "ghost",
    "ghost_feature",
    "ghost_refuted",
    "negative_grounding",
    "session_handoff",
];

/// A record, needed or not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnyRecord(pub(crate) Record);

impl RecordForm for AnyRecord {
    fn quickly(_: &[u8], _: usize) -> Option<Self> {
        None
    }

    fn of(record: Record) -> Self {
        Self(record)
    }

    fn ts(&self) -> &str {
        self.0.ts()
    }

    fn record(&self) -> Option<&Record> {
        Some(&self.0)
    }

    fn covered_as(&self) -> Option<u64> {
        self.0.covered_as()
    }

    fn is_needed(&self) -> bool {
        NEEDED.contains(&self.0.phase())
    }
}
