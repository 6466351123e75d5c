//! [`Graph`], and [`Graph::apply`], the one way to change it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    change::{Change, Created, StatusChanged},
    edge::{Edge, Relation, Weight},
    id::IntentId,
    intent::{Intent, InvalidIntent},
    link::{InvalidLink, Link, LinkRecord},
    status::{IllegalTransition, Status},
};

/// All intents of a project, with their relations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub(super) intents: BTreeMap<IntentId, Node>,
    pub(super) edges: BTreeMap<(IntentId, Relation, IntentId), Weight>,
    /// The edges by their second intent.
    pub(super) incoming: BTreeSet<(IntentId, Relation, IntentId)>,
    changes: u64,
}

/// An intent with its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) intent: Intent,
    /// The number of the change that created it.
    pub(super) created: u64,
    /// The number of its last change.
    pub(super) updated: u64,
    pub(super) history: Vec<StatusRecord>,
    pub(super) links: BTreeSet<Link>,
}

/// A change of an intent's state, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusRecord {
    /// The time of the change.
    pub at: Timestamp,
    /// The state before.
    pub from: Status,
    /// The state after.
    pub to: Status,
    /// The reason.
    pub reason: String,
    /// The run of a plan whose outcome this is.
    pub run: Option<String>,
    /// The agent that made the change, if that is not a person.
    pub agent: Option<String>,
}

/// A reason why a change does not fit the graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// An intent of this id exists.
    #[error("the intent `{id}` exists already")]
    DuplicateIntent {
        /// The id.
        id: IntentId,
    },
    /// No intent has this id.
    #[error("no intent `{id}`")]
    UnknownIntent {
        /// The id.
        id: IntentId,
    },
    /// A field of the new intent is not allowed.
    #[error(transparent)]
    Invalid(#[from] InvalidIntent),
    /// The transition is not in the table.
    #[error("intent `{id}`: {source}")]
    Illegal {
        /// The intent.
        id: IntentId,
        /// The transition.
        source: IllegalTransition,
    },
    /// The intent left the state that the change starts from.
    #[error("the intent `{id}` is {now}, not {expected}: another process changed it")]
    Stale {
        /// The intent.
        id: IntentId,
        /// The state that the change starts from.
        expected: Status,
        /// The state of the intent.
        now: Status,
    },
    /// The relation exists.
    #[error("`{from}` {relation} `{to}` exists already")]
    DuplicateRelation {
        /// The first intent.
        from: IntentId,
        /// The kind.
        relation: Relation,
        /// The second intent.
        to: IntentId,
    },
    /// The relation does not exist, so it has no weight to change.
    #[error("`{from}` {relation} `{to}` does not exist")]
    UnknownRelation {
        /// The first intent.
        from: IntentId,
        /// The kind.
        relation: Relation,
        /// The second intent.
        to: IntentId,
    },
    /// An intent has no relation to itself.
    #[error("the intent `{id}` cannot have a relation to itself")]
    Itself {
        /// The intent.
        id: IntentId,
    },
    /// The intent has a parent, and can have only one.
    #[error("the intent `{id}` is a part of `{parent}` already")]
    HasParent {
        /// The intent.
        id: IntentId,
        /// Its parent.
        parent: IntentId,
    },
    /// The link is not allowed.
    #[error(transparent)]
    InvalidLink(#[from] InvalidLink),
    /// The intent has this link.
    #[error("the intent `{intent}` has the {link} already")]
    DuplicateLink {
        /// The intent.
        intent: IntentId,
        /// The link.
        link: Link,
    },
    /// The intent does not have this link.
    #[error("the intent `{intent}` has no link to the {link}")]
    UnknownLink {
        /// The intent.
        intent: IntentId,
        /// The link.
        link: Link,
    },
    /// The change would close a cycle of dependencies and subgoals.
    #[error("this would make a cycle: {0}")]
    Cycle(Cycle),
}

/// The intents on a cycle. Each depends on the next or is a part of it. The last one leads to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(pub Vec<IntentId>);

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, id) in self.0.iter().chain(self.0.first()).enumerate() {
            let arrow = if number == 0 { "" } else { " -> " };
            write!(f, "{arrow}{id}")?;
        }
        Ok(())
    }
}

impl Graph {
    /// Applies a change that happened at `at`, or refuses it and leaves the graph as it is.
    ///
    /// Costs one search over dependencies and subgoals for a new one of those, and the change itself otherwise.
    pub fn apply(&mut self, change: &Change, at: Timestamp) -> Result<(), ChangeError> {
        match change {
            Change::IntentCreated(created) => self.create(created, at)?,
            Change::IntentStatusChanged(changed) => self.change_status(changed, at)?,
            Change::IntentArchived(archived) => {
                let changed = StatusChanged {
                    intent: archived.intent.clone(),
                    from: archived.from,
                    to: Status::Archived,
                    reason: archived.reason.clone(),
                    provenance: archived.provenance.clone(),
                };
                self.change_status(&changed, at)?;
            }
            Change::IntentReactivated(reactivated) => {
                let changed = StatusChanged {
                    intent: reactivated.intent.clone(),
                    from: reactivated.from,
                    to: Status::Active,
                    reason: reactivated.reason.clone(),
                    provenance: reactivated.provenance.clone(),
                };
                self.change_status(&changed, at)?;
            }
            Change::IntentRelationshipCreated(related) => self.relate(&related.edge, at)?,
            Change::IntentRelationshipModified(related) => self.reweigh(&related.edge, at)?,
            Change::IntentLinked(record) => self.change_links(record, at, Self::link)?,
            Change::IntentUnlinked(record) => self.change_links(record, at, Self::unlink)?,
        }
        self.changes += 1;
        Ok(())
    }

    /// Returns the number of changes that were applied.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    fn create(&mut self, created: &Created, at: Timestamp) -> Result<(), ChangeError> {
        let Created { intent: id, new } = created;
        new.check()?;
        if self.intents.contains_key(id) {
            return Err(ChangeError::DuplicateIntent { id: id.clone() });
        }
        let edge = |relation, to: &IntentId, weight| Edge {
            from: id.clone(),
            relation,
            to: to.clone(),
            weight,
        };
        let mut edges = Vec::new();
        let mut parent = new.parent.clone();
        if let Some(parent) = &parent {
            edges.push(edge(Relation::IsSubgoalOf, parent, Weight::default()));
        }
        for relation in &new.relations {
            if relation.relation == Relation::IsSubgoalOf {
                if let Some(parent) = parent {
                    return Err(ChangeError::HasParent {
                        id: id.clone(),
                        parent,
                    });
                }
                parent = Some(relation.to.clone());
            }
            edges.push(edge(relation.relation, &relation.to, relation.weight));
        }
        let mut seen = BTreeSet::new();
        for edge in &edges {
            self.check_ends(edge, Some(id))?;
            if !seen.insert((edge.relation, &edge.to)) {
                return Err(duplicate(edge));
            }
        }
        // A new intent has no incoming edge, so its edges close no cycle.
        let mut intent = new.clone().into_intent(id.clone(), at);
        intent.parent = parent;
        let node = Node {
            intent,
            created: self.changes,
            updated: self.changes,
            history: Vec::new(),
            links: BTreeSet::new(),
        };
        self.intents.insert(id.clone(), node);
        for edge in edges {
            self.insert(edge);
        }
        Ok(())
    }

    fn change_status(&mut self, changed: &StatusChanged, at: Timestamp) -> Result<(), ChangeError> {
        let StatusChanged {
            intent: id,
            from,
            to,
            reason,
            provenance,
        } = changed;
        let number = self.changes;
        let node = self.intents.get_mut(id);
        let node = node.ok_or_else(|| ChangeError::UnknownIntent { id: id.clone() })?;
        let now = node.intent.status;
        now.check(*to).map_err(|source| ChangeError::Illegal {
            id: id.clone(),
            source,
        })?;
        if now != *from {
            return Err(ChangeError::Stale {
                id: id.clone(),
                expected: *from,
                now,
            });
        }
        node.intent.status = *to;
        node.intent.updated = at;
        node.updated = number;
        node.history.push(StatusRecord {
            at,
            from: *from,
            to: *to,
            reason: reason.clone(),
            run: provenance.run.clone(),
            agent: provenance.agent.clone(),
        });
        Ok(())
    }

    fn relate(&mut self, edge: &Edge, at: Timestamp) -> Result<(), ChangeError> {
        self.check_ends(edge, None)?;
        let edge = edge.clone().normal();
        if self.edges.contains_key(&key(&edge)) {
            return Err(duplicate(&edge));
        }
        if edge.relation == Relation::IsSubgoalOf
            && let Some(parent) = &self.intents[&edge.from].intent.parent
        {
            return Err(ChangeError::HasParent {
                id: edge.from,
                parent: parent.clone(),
            });
        }
        if edge.relation.is_acyclic()
            && let Some(cycle) = self.path(&edge.to, &edge.from)
        {
            // The path ends with the intent that the new edge starts from.
            let mut ids = cycle;
            ids.rotate_right(1);
            return Err(ChangeError::Cycle(Cycle(ids)));
        }
        self.touch(&edge.from, at);
        if edge.relation == Relation::IsSubgoalOf
            && let Some(child) = self.intents.get_mut(&edge.from)
        {
            child.intent.parent = Some(edge.to.clone());
        }
        self.insert(edge);
        Ok(())
    }

    fn reweigh(&mut self, edge: &Edge, at: Timestamp) -> Result<(), ChangeError> {
        self.check_ends(edge, None)?;
        let edge = edge.clone().normal();
        let Some(weight) = self.edges.get_mut(&key(&edge)) else {
            return Err(ChangeError::UnknownRelation {
                from: edge.from,
                relation: edge.relation,
                to: edge.to,
            });
        };
        *weight = edge.weight;
        self.touch(&edge.from, at);
        Ok(())
    }

    fn change_links(
        &mut self,
        record: &LinkRecord,
        at: Timestamp,
        change: fn(&mut Self, &LinkRecord) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        change(self, record)?;
        self.touch(&record.intent, at);
        Ok(())
    }

    /// Checks that both ends exist and differ; `created` counts as an intent that exists.
    fn check_ends(&self, edge: &Edge, created: Option<&IntentId>) -> Result<(), ChangeError> {
        for id in [&edge.from, &edge.to] {
            if Some(id) != created && !self.intents.contains_key(id) {
                return Err(ChangeError::UnknownIntent { id: id.clone() });
            }
        }
        if edge.from == edge.to {
            return Err(ChangeError::Itself {
                id: edge.from.clone(),
            });
        }
        Ok(())
    }

    fn insert(&mut self, edge: Edge) {
        let edge = edge.normal();
        let (from, relation, to) = key(&edge);
        self.incoming.insert((to.clone(), relation, from.clone()));
        self.edges.insert((from, relation, to), edge.weight);
    }

    fn touch(&mut self, id: &IntentId, at: Timestamp) {
        let number = self.changes;
        if let Some(node) = self.intents.get_mut(id) {
            node.intent.updated = at;
            node.updated = number;
        }
    }

    /// Returns the ids on a path of dependencies and subgoals, both ends included; `None` if there is none.
    fn path(&self, from: &IntentId, to: &IntentId) -> Option<Vec<IntentId>> {
        let mut before: BTreeMap<&IntentId, &IntentId> = BTreeMap::new();
        let mut open = vec![from];
        let mut seen = BTreeSet::from([from]);
        while let Some(id) = open.pop() {
            if id == to {
                let mut path = vec![id.clone()];
                let mut last = id;
                while let Some(earlier) = before.get(last) {
                    path.push((*earlier).clone());
                    last = earlier;
                }
                path.reverse();
                return Some(path);
            }
            for (relation, next) in self.outgoing(id) {
                if relation.is_acyclic() && seen.insert(next) {
                    before.insert(next, id);
                    open.push(next);
                }
            }
        }
        None
    }
}

fn key(edge: &Edge) -> (IntentId, Relation, IntentId) {
    (edge.from.clone(), edge.relation, edge.to.clone())
}

fn duplicate(edge: &Edge) -> ChangeError {
    ChangeError::DuplicateRelation {
        from: edge.from.clone(),
        relation: edge.relation,
        to: edge.to.clone(),
    }
}
