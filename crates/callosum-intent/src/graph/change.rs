//! [`Change`]: an event of the graph, as the audit journal records it.

use serde::{Deserialize, Serialize};

use super::{
    edge::Edge,
    id::IntentId,
    intent::{NewIntent, Provenance},
    link::LinkRecord,
    status::Status,
};

/// An event of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// An intent was created, with its parent and relations.
    IntentCreated(Box<Created>),
    /// An intent went from one state to another.
    IntentStatusChanged(StatusChanged),
    /// Two intents were related.
    IntentRelationshipCreated(RelationRecord),
    /// The weight of a relation was changed.
    IntentRelationshipModified(RelationRecord),
    /// An intent was archived.
    IntentArchived(Archived),
    /// An intent that had ended became active again.
    IntentReactivated(Reactivated),
    /// A task or bead was linked to an intent.
    IntentLinked(LinkRecord),
    /// The link of an intent to a task or bead was removed.
    IntentUnlinked(LinkRecord),
}

/// The creation of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// Its id.
    pub intent: IntentId,
    /// Its fields, its parent and its relations.
    #[serde(flatten)]
    pub new: NewIntent,
}

/// A transition between two states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusChanged {
    /// The intent.
    pub intent: IntentId,
    /// The state before.
    pub from: Status,
    /// The state after.
    pub to: Status,
    /// The reason.
    #[serde(default)]
    pub reason: String,
    /// The author of the change; its `run` is the run of a plan whose outcome this is.
    #[serde(default)]
    pub provenance: Provenance,
}

/// The creation or change of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationRecord {
    /// The relation.
    #[serde(flatten)]
    pub edge: Edge,
    /// The author of the change.
    #[serde(default)]
    pub provenance: Provenance,
}

/// The archiving of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    /// The intent.
    pub intent: IntentId,
    /// The state before.
    pub from: Status,
    /// The reason.
    #[serde(default)]
    pub reason: String,
    /// The author of the change.
    #[serde(default)]
    pub provenance: Provenance,
}

/// The return of an intent that had ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactivated {
    /// The intent.
    pub intent: IntentId,
    /// The state before.
    pub from: Status,
    /// The reason.
    #[serde(default)]
    pub reason: String,
    /// The author of the change.
    #[serde(default)]
    pub provenance: Provenance,
}

impl Change {
    /// The names of all kinds.
    pub const KINDS: [&str; 8] = [
        "intent_created",
        "intent_status_changed",
        "intent_relationship_created",
        "intent_relationship_modified",
        "intent_archived",
        "intent_reactivated",
        "intent_linked",
        "intent_unlinked",
    ];

    /// Makes the change that takes an intent to a state: archiving and reactivation are kinds of their own.
    pub fn of_status(
        intent: IntentId,
        from: Status,
        to: Status,
        reason: String,
        provenance: Provenance,
    ) -> Self {
        match to {
            Status::Archived => Self::IntentArchived(Archived {
                intent,
                from,
                reason,
                provenance,
            }),
            Status::Active if from.is_closed() => Self::IntentReactivated(Reactivated {
                intent,
                from,
                reason,
                provenance,
            }),
            _ => Self::IntentStatusChanged(StatusChanged {
                intent,
                from,
                to,
                reason,
                provenance,
            }),
        }
    }

    /// Returns the name of the kind, such as `intent_created`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::IntentCreated(_) => Self::KINDS[0],
            Self::IntentStatusChanged(_) => Self::KINDS[1],
            Self::IntentRelationshipCreated(_) => Self::KINDS[2],
            Self::IntentRelationshipModified(_) => Self::KINDS[3],
            Self::IntentArchived(_) => Self::KINDS[4],
            Self::IntentReactivated(_) => Self::KINDS[5],
            Self::IntentLinked(_) => Self::KINDS[6],
            Self::IntentUnlinked(_) => Self::KINDS[7],
        }
    }

    /// Returns the intent that the change belongs to.
    pub const fn intent(&self) -> &IntentId {
        match self {
            Self::IntentCreated(created) => &created.intent,
            Self::IntentStatusChanged(changed) => &changed.intent,
            Self::IntentRelationshipCreated(related)
            | Self::IntentRelationshipModified(related) => &related.edge.from,
            Self::IntentArchived(archived) => &archived.intent,
            Self::IntentReactivated(reactivated) => &reactivated.intent,
            Self::IntentLinked(linked) | Self::IntentUnlinked(linked) => &linked.intent,
        }
    }
}
