//! Reading the graph: children, ancestors, subtrees, and the intent that a short id names.

use std::ops::Bound;

use super::{
    apply::{Graph, Node, StatusRecord},
    edge::{Edge, Relation},
    id::IntentId,
    intent::Intent,
    status::Status,
};

/// An intent of a subtree, with its distance from the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow<'g> {
    /// The distance from the root, which has 0.
    pub depth: usize,
    /// The intent.
    pub intent: &'g Intent,
    /// The number of its children that are below the requested depth.
    pub hidden: usize,
}

/// A reason why a text names no single intent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No id begins so.
    #[error("no intent `{0}` in this project")]
    None(String),
    /// Several ids begin so.
    #[error("{count} intents begin with `{text}`")]
    Several {
        /// The text.
        text: String,
        /// The number of intents.
        count: usize,
    },
}

impl Graph {
    /// Returns an intent.
    pub fn get(&self, id: &IntentId) -> Option<&Intent> {
        self.intents.get(id).map(|node| &node.intent)
    }

    /// Returns the changes of an intent's state, the oldest first.
    pub fn history(&self, id: &IntentId) -> &[StatusRecord] {
        self.intents
            .get(id)
            .map_or(&[], |node| node.history.as_slice())
    }

    /// Returns the number of intents.
    pub fn len(&self) -> usize {
        self.intents.len()
    }

    /// Returns true if there is no intent.
    pub fn is_empty(&self) -> bool {
        self.intents.is_empty()
    }

    /// Returns all intents, the oldest first.
    pub fn intents(&self) -> Vec<&Intent> {
        let mut nodes: Vec<&Node> = self.intents.values().collect();
        nodes.sort_by_key(|node| node.created);
        nodes.into_iter().map(|node| &node.intent).collect()
    }

    /// Returns the intents that are active or executing, the one that changed last first.
    pub fn active(&self) -> Vec<&Intent> {
        let nodes = self.intents.values();
        let mut nodes: Vec<&Node> = nodes
            .filter(|node| node.intent.status.is_current())
            .collect();
        nodes.sort_by_key(|node| std::cmp::Reverse(node.updated));
        nodes.into_iter().map(|node| &node.intent).collect()
    }

    /// Returns the intent at work: of those that are active or executing, the one that changed last.
    pub fn current(&self) -> Option<&Intent> {
        let nodes = self.intents.values();
        let nodes = nodes.filter(|node| node.intent.status.is_current());
        let newest = nodes.max_by_key(|node| node.updated);
        newest.map(|node| &node.intent)
    }

    /// Returns the intents without a parent, the oldest first.
    pub fn roots(&self) -> Vec<&Intent> {
        let mut roots = self.intents();
        roots.retain(|intent| intent.parent.is_none());
        roots
    }

    /// Returns the intents that are parts of this one, the oldest first.
    pub fn children(&self, id: &IntentId) -> Vec<&Intent> {
        let children = self.sources(id, Relation::IsSubgoalOf);
        let mut nodes: Vec<&Node> = children
            .filter_map(|child| self.intents.get(child))
            .collect();
        nodes.sort_by_key(|node| node.created);
        nodes.into_iter().map(|node| &node.intent).collect()
    }

    /// Returns the parent, its parent, and so on.
    pub fn ancestors(&self, id: &IntentId) -> Vec<&Intent> {
        let parent_of =
            |intent: &Intent| intent.parent.as_ref().and_then(|parent| self.get(parent));
        let first = self.get(id).and_then(parent_of);
        std::iter::successors(first, |intent| parent_of(intent)).collect()
    }

    /// Returns an intent and everything below it, down to `depth` levels, in the order of a printed tree.
    pub fn subtree(&self, id: &IntentId, depth: usize) -> Vec<TreeRow<'_>> {
        let mut rows = Vec::new();
        let mut open: Vec<(usize, &Intent)> =
            self.get(id).map(|root| (0, root)).into_iter().collect();
        while let Some((level, intent)) = open.pop() {
            let children = self.children(&intent.id);
            let hidden = if level >= depth { children.len() } else { 0 };
            rows.push(TreeRow {
                depth: level,
                intent,
                hidden,
            });
            if level < depth {
                open.extend(children.into_iter().rev().map(|child| (level + 1, child)));
            }
        }
        rows
    }

    /// Returns all relations of an intent, from either end, in a fixed order.
    pub fn edges_of(&self, id: &IntentId) -> Vec<Edge> {
        let outgoing = self.outgoing(id).map(|(relation, to)| (id, relation, to));
        let incoming = self
            .incoming_of(id)
            .map(|(relation, from)| (from, relation, id));
        let edges = outgoing.chain(incoming);
        edges
            .filter_map(|(from, relation, to)| self.edge(from, relation, to))
            .collect()
    }

    /// Returns all relations, in a fixed order.
    pub fn edges(&self) -> Vec<Edge> {
        let edges = self.edges.iter();
        let edges = edges.map(|((from, relation, to), weight)| Edge {
            from: from.clone(),
            relation: *relation,
            to: to.clone(),
            weight: *weight,
        });
        edges.collect()
    }

    /// Returns true if the relation exists, of any weight.
    pub fn has(&self, edge: &Edge) -> bool {
        let edge = edge.clone().normal();
        let key = (edge.from, edge.relation, edge.to);
        self.edges.contains_key(&key)
    }

    /// Returns the intents that this one depends on and that are not completed.
    pub fn waits_for(&self, id: &IntentId) -> Vec<&Intent> {
        let needs = self.outgoing(id);
        let needs = needs.filter(|(relation, _)| *relation == Relation::DependsOn);
        needs
            .filter_map(|(_, to)| self.get(to))
            .filter(|needed| needed.status != Status::Completed)
            .collect()
    }

    /// Returns the intent whose id is `text` or alone begins with it; the beginning `int-` may be left out.
    pub fn find(&self, text: &str) -> Result<&Intent, FindError> {
        let none = || FindError::None(text.chars().take(80).collect());
        if text.is_empty() {
            return Err(none());
        }
        if let Ok(id) = text.parse::<IntentId>()
            && let Some(intent) = self.get(&id)
        {
            return Ok(intent);
        }
        let begins = |node: &&Node| {
            let id = node.intent.id.as_str();
            let short = id.strip_prefix(IntentId::PREFIX).unwrap_or(id);
            id.starts_with(text) || short.starts_with(text)
        };
        let fitting: Vec<&Node> = self.intents.values().filter(begins).collect();
        match fitting.as_slice() {
            [] => Err(none()),
            [one] => Ok(&one.intent),
            several => Err(FindError::Several {
                text: text.to_owned(),
                count: several.len(),
            }),
        }
    }

    fn edge(&self, from: &IntentId, relation: Relation, to: &IntentId) -> Option<Edge> {
        let key = (from.clone(), relation, to.clone());
        let weight = *self.edges.get(&key)?;
        let (from, relation, to) = key;
        Some(Edge {
            from,
            relation,
            to,
            weight,
        })
    }

    /// Returns the kinds and second ends of the edges that start at an intent.
    pub(super) fn outgoing(&self, id: &IntentId) -> impl Iterator<Item = (Relation, &IntentId)> {
        let start = first_key(id);
        let edges = self.edges.range((Bound::Included(start), Bound::Unbounded));
        let edges = edges.take_while(move |((from, _, _), _)| from == id);
        edges.map(|((_, relation, to), _)| (*relation, to))
    }

    /// Returns the kinds and first ends of the edges that end at an intent.
    pub(super) fn incoming_of(&self, id: &IntentId) -> impl Iterator<Item = (Relation, &IntentId)> {
        let start = first_key(id);
        let edges = self
            .incoming
            .range((Bound::Included(start), Bound::Unbounded));
        let edges = edges.take_while(move |(to, _, _)| to == id);
        edges.map(|(_, relation, from)| (*relation, from))
    }

    fn sources(&self, id: &IntentId, relation: Relation) -> impl Iterator<Item = &IntentId> {
        let incoming = self.incoming_of(id);
        incoming.filter_map(move |(its, from)| (its == relation).then_some(from))
    }
}

/// Returns a key that sorts before every edge of an intent.
fn first_key(id: &IntentId) -> (IntentId, Relation, IntentId) {
    (id.clone(), Relation::ALL[0], IntentId::least())
}
