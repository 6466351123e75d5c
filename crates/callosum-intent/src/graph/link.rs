//! [`Link`]: a task or a bead that does a part of an intent's work.
//!
//! The graph keeps which links exist. Whether the task or bead exists, and how far it is, the caller finds out.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    apply::{ChangeError, Graph},
    id::IntentId,
    intent::{Intent, MOST_TERMS, Provenance},
};

/// The most characters of the id of a task or bead.
pub const LONGEST_LINK: usize = 200;

/// The kind of work item that a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// A task that one agent leaves for another.
    Task,
    /// A bead of the project.
    Bead,
}

/// A task or bead, by its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// Its kind.
    pub to: LinkKind,
    /// Its id.
    pub id: String,
}

/// The creation or removal of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// The intent.
    pub intent: IntentId,
    /// The task or bead.
    #[serde(flatten)]
    pub link: Link,
    /// The author of the change.
    #[serde(default)]
    pub provenance: Provenance,
}

/// A reason why a link cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLink {
    /// It has no id, or one with control characters.
    #[error("a link needs the id of a {0}")]
    NoId(LinkKind),
    /// The id is too long.
    #[error("the id of a {to} has {chars} characters (allowed: {LONGEST_LINK})")]
    TooLong {
        /// The kind.
        to: LinkKind,
        /// The length of the id in characters.
        chars: usize,
    },
    /// The intent has as many links as it may have.
    #[error("the intent `{intent}` has {MOST_TERMS} links already")]
    TooMany {
        /// The intent.
        intent: IntentId,
    },
}

impl LinkKind {
    /// Returns the name of the kind, such as `task`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Bead => "bead",
        }
    }
}

impl Link {
    /// Makes a link to a task.
    pub fn task(id: impl Into<String>) -> Self {
        Self {
            to: LinkKind::Task,
            id: id.into(),
        }
    }

    /// Makes a link to a bead.
    pub fn bead(id: impl Into<String>) -> Self {
        Self {
            to: LinkKind::Bead,
            id: id.into(),
        }
    }

    fn check(&self) -> Result<(), InvalidLink> {
        if self.id.trim().is_empty() || self.id.chars().any(char::is_control) {
            return Err(InvalidLink::NoId(self.to));
        }
        let chars = self.id.chars().count();
        if chars > LONGEST_LINK {
            return Err(InvalidLink::TooLong { to: self.to, chars });
        }
        Ok(())
    }
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.to, self.id)
    }
}

impl Graph {
    /// Returns the tasks and beads of an intent: the tasks first, each kind by id.
    pub fn links(&self, id: &IntentId) -> impl Iterator<Item = &Link> {
        self.intents
            .get(id)
            .into_iter()
            .flat_map(|node| &node.links)
    }

    /// Returns the intents that a task or bead works for, the oldest first.
    pub fn intents_of(&self, link: &Link) -> Vec<&Intent> {
        let nodes = self.intents.values();
        let mut nodes: Vec<_> = nodes.filter(|node| node.links.contains(link)).collect();
        nodes.sort_by_key(|node| node.created);
        nodes.into_iter().map(|node| &node.intent).collect()
    }

    /// Adds a link to the links of an intent.
    pub(super) fn link(&mut self, record: &LinkRecord) -> Result<(), ChangeError> {
        let LinkRecord { intent, link, .. } = record;
        link.check()?;
        let node = self.intents.get_mut(intent);
        let node = node.ok_or_else(|| ChangeError::UnknownIntent { id: intent.clone() })?;
        if node.links.contains(link) {
            return Err(ChangeError::DuplicateLink {
                intent: intent.clone(),
                link: link.clone(),
            });
        }
        if node.links.len() >= MOST_TERMS {
            let intent = intent.clone();
            return Err(InvalidLink::TooMany { intent }.into());
        }
        node.links.insert(link.clone());
        Ok(())
    }

    /// Takes a link away from the links of an intent.
    pub(super) fn unlink(&mut self, record: &LinkRecord) -> Result<(), ChangeError> {
        let LinkRecord { intent, link, .. } = record;
        let node = self.intents.get_mut(intent);
        let node = node.ok_or_else(|| ChangeError::UnknownIntent { id: intent.clone() })?;
        if !node.links.remove(link) {
            return Err(ChangeError::UnknownLink {
                intent: intent.clone(),
                link: link.clone(),
            });
        }
        Ok(())
    }
}
