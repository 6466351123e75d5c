//! [`Graph::conflicts`]: intents that get in each other's way, as far as facts show it.
//!
//! Three facts count, and only between intents that are active or executing:
//!
//! - a relation `conflicts_with` or `blocks` between them;
//! - the same goal in both, apart from case, white space and the final period: the work would be done twice;
//! - both are executing, and a path of one's `paths` constraint is, or is within, a path of the other's.
//!
//! Goals that contradict each other in meaning, such as "add a cache" and "remove all caches", are not found: that takes a
//! model or a person, who records it as `conflicts_with`. Paths are compared as text: globs and links are not resolved. An intent
//! is no conflict for its own ancestors: a part works on the files of the whole.

use std::fmt;

use super::{apply::Graph, edge::Relation, id::IntentId, intent::Intent, status::Status};

/// Two intents that get in each other's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The intent with the lesser id.
    pub one: IntentId,
    /// The other intent.
    pub other: IntentId,
    /// The fact that shows it.
    pub kind: ConflictKind,
}

/// The fact that shows a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A relation states it.
    Stated(Relation),
    /// Both have the same goal.
    SameGoal,
    /// Both are executing on these paths.
    SamePaths(Vec<String>),
}

impl ConflictKind {
    /// Returns the name of the kind, such as `same_paths`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Stated(relation) => relation.as_str(),
            Self::SameGoal => "same_goal",
            Self::SamePaths(_) => "same_paths",
        }
    }
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stated(relation) => write!(f, "related by {relation}"),
            Self::SameGoal => f.write_str("both have the same goal"),
            Self::SamePaths(paths) => write!(f, "both are executing on {}", paths.join(", ")),
        }
    }
}

impl Graph {
    /// Finds all conflicts between active or executing intents. Costs a comparison of each pair of those.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut active = self.active();
        active.sort_by(|one, other| one.id.cmp(&other.id));
        let mut conflicts = Vec::new();
        for (number, one) in active.iter().enumerate() {
            for other in &active[number + 1..] {
                conflicts.extend(self.between(one, other));
            }
        }
        conflicts
    }

    /// Finds the conflicts of one intent with active or executing ones; none if it is neither.
    pub fn conflicts_of(&self, id: &IntentId) -> Vec<Conflict> {
        let Some(intent) = self.get(id).filter(|intent| intent.status.is_current()) else {
            return Vec::new();
        };
        let mut active = self.active();
        active.retain(|other| other.id != *id);
        active.sort_by(|one, other| one.id.cmp(&other.id));
        let conflicts = active.into_iter();
        conflicts
            .flat_map(|other| {
                let (one, other) = if intent.id < other.id {
                    (intent, other)
                } else {
                    (other, intent)
                };
                self.between(one, other)
            })
            .collect()
    }

    fn between(&self, one: &Intent, other: &Intent) -> Vec<Conflict> {
        let mut kinds = Vec::new();
        for relation in [Relation::ConflictsWith, Relation::Blocks] {
            let is_stated = |from: &Intent, to: &Intent| {
                let key = (from.id.clone(), relation, to.id.clone());
                self.edges.contains_key(&key)
            };
            if is_stated(one, other) || is_stated(other, one) {
                kinds.push(ConflictKind::Stated(relation));
            }
        }
        if goal(one) == goal(other) {
            kinds.push(ConflictKind::SameGoal);
        }
        let are_executing = [one, other]
            .iter()
            .all(|intent| intent.status == Status::Executing);
        if are_executing && !self.is_part_of(one, other) && !self.is_part_of(other, one) {
            let paths = shared_paths(one.paths(), other.paths());
            if !paths.is_empty() {
                kinds.push(ConflictKind::SamePaths(paths));
            }
        }
        let conflict = |kind| Conflict {
            one: one.id.clone(),
            other: other.id.clone(),
            kind,
        };
        kinds.into_iter().map(conflict).collect()
    }

    fn is_part_of(&self, part: &Intent, whole: &Intent) -> bool {
        let ancestors = self.ancestors(&part.id);
        ancestors.iter().any(|ancestor| ancestor.id == whole.id)
    }
}

/// Returns a goal in the form in which goals are compared.
fn goal(intent: &Intent) -> String {
    let words: Vec<String> = intent
        .goal
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    words.join(" ").trim_end_matches(['.', '!']).to_owned()
}

/// Returns the narrower of each two paths, one of each list, that are the same or within each other.
fn shared_paths(one: &[String], other: &[String]) -> Vec<String> {
    let mut shared = Vec::new();
    for left in one {
        for right in other {
            let (short, long) = (normal(left), normal(right));
            let narrower = if is_within(&short, &long) {
                short
            } else if is_within(&long, &short) {
                long
            } else {
                continue;
            };
            if !shared.contains(&narrower) {
                shared.push(narrower);
            }
        }
    }
    shared
}

/// Returns a path without `.` segments and doubled or final slashes; `.` for the whole tree.
fn normal(path: &str) -> String {
    let segments: Vec<&str> = path
        .split('/')
        .filter(|segment| !segment.is_empty() && *segment != ".")
        .collect();
    if segments.is_empty() {
        ".".to_owned()
    } else {
        segments.join("/")
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    let below = path.strip_prefix(folder);
    folder == "." || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
