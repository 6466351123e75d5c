//! [`SnapshotOutcome`]: the state of the snapshot before a call, for its answer and its record.

use serde::Deserialize;

/// The state of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SnapshotOutcome {
    /// It is being taken while a person is asked.
    Begun,
    /// It was taken before the answer.
    Taken(Option<SnapshotDetails>),
    /// It was not done in time, and goes on; what the command names may be held by itself.
    Late(Option<SnapshotDetails>),
    /// There is none.
    Failed,
}

/// Details of a snapshot that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct SnapshotDetails {
    /// Its id.
    #[serde(rename = "snapshot_id")]
    pub(super) id: String,
    /// The files in it that differ from the checked-out commit; outside of a repository, all of
    /// them.
    #[serde(rename = "dirty_files")]
    pub(super) uncommitted: Vec<String>,
    /// The paths as named: the only ones to save, and those in addition to the tree.
    pub(super) only: Vec<String>,
    pub(super) also: Vec<String>,
    #[serde(rename = "snapshot_missing")]
    lacks: Lacks,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Lacks {
    named: Vec<String>,
}

impl SnapshotDetails {
    /// Of what the command names, what going back would not bring back.
    pub(super) fn lacks(&self) -> &[String] {
        &self.lacks.named
    }
}

impl SnapshotOutcome {
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Taken(_) => "taken",
            Self::Late(_) => "late",
            Self::Failed => "failed",
        }
    }

    /// Returns the details of the snapshot, if it was taken.
    pub(super) const fn held(&self) -> Option<&SnapshotDetails> {
        match self {
            Self::Taken(held) | Self::Late(held) => held.as_ref(),
            Self::Begun | Self::Failed => None,
        }
    }
}
