//! [`Edge`]: a relation between two intents.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::id::IntentId;

/// The kind of a relation. Each reads from the first intent to the second: `a depends_on b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The first needs the second to be completed.
    DependsOn,
    /// The first is a part of the second, its parent.
    IsSubgoalOf,
    /// Both cannot be reached together. It has no direction.
    ConflictsWith,
    /// The first makes the second possible.
    Enables,
    /// Both are about the same matter. It has no direction.
    RelatedTo,
    /// The first exists because of the second.
    TriggeredBy,
    /// The first keeps the second from being reached.
    Blocks,
}

/// A text that names no kind of relation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a relation of intents")]
pub struct UnknownRelation {
    /// The text.
    pub text: String,
}

/// The strength of a relation, in percent, from 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Weight(u8);

/// A number that is not a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a weight (allowed: 1 to 100)")]
pub struct InvalidWeight(pub u8);

/// A relation between two intents of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The intent that the relation belongs to.
    pub from: IntentId,
    /// Its kind.
    pub relation: Relation,
    /// The other intent.
    pub to: IntentId,
    /// Its strength.
    #[serde(default)]
    pub weight: Weight,
}

/// A relation of an intent that is about to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRelation {
    /// Its kind.
    pub relation: Relation,
    /// The other intent.
    pub to: IntentId,
    /// Its strength.
    #[serde(default)]
    pub weight: Weight,
}

impl Relation {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::DependsOn,
        Self::IsSubgoalOf,
        Self::ConflictsWith,
        Self::Enables,
        Self::RelatedTo,
        Self::TriggeredBy,
        Self::Blocks,
    ];

    /// Returns true if relations of this kind must not form a cycle, alone or together.
    pub const fn is_acyclic(self) -> bool {
        matches!(self, Self::DependsOn | Self::IsSubgoalOf)
    }

    /// Returns true if the relation is the same from both ends.
    pub const fn is_symmetric(self) -> bool {
        matches!(self, Self::ConflictsWith | Self::RelatedTo)
    }

    /// Returns the name of the kind, such as `depends_on`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DependsOn => "depends_on",
            Self::IsSubgoalOf => "is_subgoal_of",
            Self::ConflictsWith => "conflicts_with",
            Self::Enables => "enables",
            Self::RelatedTo => "related_to",
            Self::TriggeredBy => "triggered_by",
            Self::Blocks => "blocks",
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Relation {
    type Err = UnknownRelation;

    fn from_str(text: &str) -> Result<Self, UnknownRelation> {
        let found = Self::ALL.into_iter().find(|one| one.as_str() == text);
        found.ok_or_else(|| UnknownRelation {
            text: text.to_owned(),
        })
    }
}

impl Weight {
    /// Returns the weight in percent.
    pub const fn percent(self) -> u8 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self(100)
    }
}

impl TryFrom<u8> for Weight {
    type Error = InvalidWeight;

    fn try_from(percent: u8) -> Result<Self, InvalidWeight> {
        if (1..=100).contains(&percent) {
            Ok(Self(percent))
        } else {
            Err(InvalidWeight(percent))
        }
    }
}

impl From<Weight> for u8 {
    fn from(weight: Weight) -> Self {
        weight.0
    }
}

impl Edge {
    /// Returns the edge as the graph stores it: the lesser id of a relation without a direction comes first.
    pub(super) fn normal(mut self) -> Self {
        if self.relation.is_symmetric() && self.to < self.from {
            std::mem::swap(&mut self.from, &mut self.to);
        }
        self
    }
}

impl NewRelation {
    /// Makes a relation of full strength.
    pub fn new(relation: Relation, to: IntentId) -> Self {
        Self {
            relation,
            to,
            weight: Weight::default(),
        }
    }
}
