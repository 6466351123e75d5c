//! [`Catalogue`]: the capabilities that there are, each once, in the order of their names.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callosum_plan::CapabilityName;
use thiserror::Error;

use super::{
    accepted::PendingChange,
    effect::TrustTier,
    manifest::{CapabilityKind, Manifest},
    outcomes::Outcomes,
};

/// Manifests by the normal form of their names.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    manifests: BTreeMap<CapabilityName, Arc<Manifest>>,
    pending: BTreeMap<CapabilityName, PendingChange>,
}

/// Reason that a manifest was not accepted into the catalog.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CatalogueError {
    /// Two have one name.
    #[error("duplicate `{id}`: from {first} and from {second}")]
    Twice {
        /// The name.
        id: CapabilityName,
        /// Provider that has it already.
        first: String,
        /// Other provider that claims it.
        second: String,
    },
}

/// Filters for a search of capabilities; an empty or absent one does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueQuery {
    /// Its kind.
    pub kind: Option<CapabilityKind>,
    /// Skills, all required.
    pub skills: BTreeSet<String>,
    /// The least trust it must have.
    pub trust_tier: TrustTier,
    /// The order of what is found.
    pub order: QueryOrder,
}

/// The order of what a query finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueryOrder {
    /// By name.
    #[default]
    Name,
    /// The best score first, and those of one score by name.
    Score,
}

impl Catalogue {
    /// Makes a catalogue; fails where two manifests have one name, however they spell it.
    pub fn new(manifests: impl IntoIterator<Item = Manifest>) -> Result<Self, CatalogueError> {
        let mut catalogue = Self::default();
        for manifest in manifests {
            catalogue.add(manifest)?;
        }
        Ok(catalogue)
    }

    /// Adds a manifest; fails, and changes nothing, where there is one of its name.
    pub fn add(&mut self, manifest: Manifest) -> Result<(), CatalogueError> {
        if let Some(first) = self.manifests.get(&manifest.id) {
            return Err(CatalogueError::Twice {
                id: manifest.id,
                first: first.provenance.to_string(),
                second: manifest.provenance.to_string(),
            });
        }
        self.manifests
            .insert(manifest.id.clone(), Arc::new(manifest));
        Ok(())
    }

    /// Holds a capability back until a person accepts how it changed.
    pub fn hold_back(&mut self, id: CapabilityName, change: PendingChange) {
        self.pending.insert(id, change);
    }

    /// Returns the change of a capability that waits for a person.
    pub fn pending(&self, id: &CapabilityName) -> Option<&PendingChange> {
        self.pending.get(id)
    }

    /// Returns the manifest of that name.
    pub fn get(&self, id: &CapabilityName) -> Option<&Arc<Manifest>> {
        self.manifests.get(id)
    }

    /// Returns all manifests in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Manifest>> {
        self.manifests.values()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.manifests.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.manifests.is_empty()
    }

    /// Returns those that a query asks for, in its order.
    pub fn query(&self, query: &CatalogueQuery, outcomes: &Outcomes) -> Vec<&Arc<Manifest>> {
        let taken = self.iter().filter(|manifest| query.takes(manifest));
        let mut taken: Vec<&Arc<Manifest>> = taken.collect();
        if query.order == QueryOrder::Score {
            let of = |manifest: &Arc<Manifest>| {
                let own = outcomes.get(&manifest.id).cloned();
                own.unwrap_or_default()
            };
            // Stable, so that the order is one of names where scores are equal.
            taken.sort_by(|one, other| of(other).compare_score(&of(one)));
        }
        taken
    }
}

impl CatalogueQuery {
    /// Returns whether the query asks for this one.
    pub fn takes(&self, manifest: &Manifest) -> bool {
        self.kind.is_none_or(|kind| kind == manifest.kind)
            && self.skills.is_subset(&manifest.skills)
            && manifest.trust_tier >= self.trust_tier
    }
}
