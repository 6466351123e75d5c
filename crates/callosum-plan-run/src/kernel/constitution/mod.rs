//! [`Constitution`]: the policies that a kernel decides by.
//!
//! Start with [`Constitution::built_in`] and [`Constitution::read`]. Policies are written in Cedar and held
//! to one schema when they are read; what can't be read, or fails while it is evaluated, permits
//! nothing.
//!
//! What is deliberately not here: files, keys, and asking a person.
//!
//! Format: `docs/formats/constitution.md`.

pub mod document;
mod limits;
pub(super) mod request_context;
pub mod signature;

use std::{collections::BTreeMap, fmt, sync::Arc};

use callosum_json::Checksum;
use cedar_policy::{Authorizer, Decision, PolicySet};

pub use self::document::{ConstitutionError, Origin, PolicyNote};
use self::{document::Document, request_context::Facts};

/// Text of the built-in constitution.
pub const BUILT_IN: &str = include_str!("default.cedar");

/// Policies that were read, and their hash.
#[derive(Clone)]
pub struct Constitution {
    policies: Arc<PolicySet>,
    notes: Arc<BTreeMap<String, PolicyNote>>,
    version: u64,
    hash: String,
    /// Reason that it permits nothing, if it can't be relied on.
    closed: Option<String>,
}

/// Verdict of a constitution on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may go ahead.
    Permitted {
        /// The policies that permit it.
        policies: Vec<String>,
    },
    /// A person decides.
    Asked {
        /// The policies that ask.
        policies: Vec<String>,
        /// Questions of these policies.
        why: String,
    },
    /// It may not.
    Forbidden {
        /// The policies that forbid it.
        policies: Vec<String>,
        /// Hints of these policies.
        hint: Option<String>,
    },
    /// Nothing permits it.
    NotPermitted,
    /// There is no saying.
    Failed(String),
}

impl Constitution {
    /// Returns the constitution that holds if no one wrote another.
    ///
    /// Should it not hold to its own schema, which a test excludes, it is closed.
    pub fn built_in() -> Self {
        Self::of(BUILT_IN, Origin::BuiltIn)
            .unwrap_or_else(|error| Self::closed(&format!("the built-in constitution: {error}")))
    }

    /// Reads the constitution that this machine's user wrote, which replaces the built-in one.
    ///
    /// Does not check who signed it: [`signature::check`] does.
    pub fn read(text: &str) -> Result<Self, ConstitutionError> {
        Self::of(text, Origin::Machine)
    }

    /// Returns one that permits nothing, for where the right one can't be relied on.
    pub fn closed(reason: &str) -> Self {
        Self {
            policies: Arc::default(),
            notes: Arc::default(),
            version: 0,
            hash: hash(&[b"closed"]),
            closed: Some(reason.to_owned()),
        }
    }

    /// Adds what a project forbids. Nothing is permitted then that was not before.
    pub fn tightened(self, project: &str) -> Result<Self, ConstitutionError> {
        let document = document::read(project, Origin::Project)?;
        let mut policies = (*self.policies).clone();
        let mut notes = (*self.notes).clone();
        add(&mut policies, &mut notes, document)?;
        Ok(Self {
            policies: Arc::new(policies),
            notes: Arc::new(notes),
            hash: hash(&[self.hash.as_bytes(), project.as_bytes()]),
            ..self
        })
    }

    fn of(text: &str, origin: Origin) -> Result<Self, ConstitutionError> {
        let document = document::read(text, origin)?;
        let version = document.version;
        let mut policies = PolicySet::new();
        let mut notes = BTreeMap::new();
        add(&mut policies, &mut notes, document)?;
        Ok(Self {
            policies: Arc::new(policies),
            notes: Arc::new(notes),
            version,
            hash: hash(&[text.as_bytes()]),
            closed: None,
        })
    }

    /// Returns what it is known by on the chain: `sha256:` over the texts, each with its length.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the version that its first line says; 0 of a closed one.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns its policies in the order of their ids.
    pub fn policies(&self) -> impl Iterator<Item = &PolicyNote> {
        self.notes.values()
    }

    /// Returns why it permits nothing at all, where that is so.
    pub fn why_closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    pub(super) fn decide(&self, facts: &Facts<'_>) -> Verdict {
        if let Some(reason) = &self.closed {
            return Verdict::Failed(reason.clone());
        }
        let (request, entities) = match facts.put(None) {
            Ok(put) => put,
            Err(reason) => return Verdict::Failed(reason),
        };
        let response = Authorizer::new().is_authorized(&request, &self.policies, &entities);
        // A policy that failed is passed over by the authorizer, and may be the one that forbids.
        if let Some(error) = response
            .diagnostics()
            .errors()
            .map(ToString::to_string)
            .min()
        {
            return Verdict::Failed(error);
        }
        let mut policies: Vec<String> = response
            .diagnostics()
            .reason()
            .map(ToString::to_string)
            .collect();
        policies.sort_unstable();
        if response.decision() == Decision::Allow {
            return self.permitted(policies);
        }
        if policies.is_empty() {
            return Verdict::NotPermitted;
        }
        let hint = policies
            .iter()
            .find_map(|id| self.notes.get(id)?.hint.clone());
        Verdict::Forbidden { policies, hint }
    }

    /// Of policies that permit, those that ask win.
    fn permitted(&self, policies: Vec<String>) -> Verdict {
        let ask = |id: &String| self.notes.get(id)?.ask.clone();
        let why: Vec<String> = policies.iter().filter_map(ask).collect();
        if why.is_empty() {
            return Verdict::Permitted { policies };
        }
        Verdict::Asked {
            policies: policies
                .into_iter()
                .filter(|id| ask(id).is_some())
                .collect(),
            why: why.join("; "),
        }
    }
}

fn add(
    policies: &mut PolicySet,
    notes: &mut BTreeMap<String, PolicyNote>,
    document: Document,
) -> Result<(), ConstitutionError> {
    for (policy, note) in document.policies {
        if notes.contains_key(&note.id) {
            return Err(ConstitutionError::Twice(note.id));
        }
        policies
            .add(policy)
            .map_err(|error| ConstitutionError::Unreadable(error.to_string()))?;
        notes.insert(note.id.clone(), note);
    }
    Ok(())
}

fn hash(parts: &[&[u8]]) -> String {
    let mut framed: Vec<u8> = b"callosum constitution 1\n".to_vec();
    for part in parts {
        framed.extend_from_slice(&(part.len() as u64).to_be_bytes());
        framed.extend_from_slice(part);
    }
    format!("sha256:{}", Checksum::of(&framed))
}

impl fmt::Debug for Constitution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Constitution")
            .field("version", &self.version)
            .field("hash", &self.hash)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
