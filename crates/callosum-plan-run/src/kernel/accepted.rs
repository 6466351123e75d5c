//! [`AcceptedManifest`]: the manifest of a capability that this machine last accepted, and what becomes of a newer one.
//!
//! The first sight of a capability is accepted, and so is each compatible change. A major change waits until a person
//! accepts it; until then the kernel refuses calls. Deliberately not here: the file that keeps them.

use std::collections::BTreeSet;

use callosum_plan::{CapabilityName, CapabilityNameError, Schema, SchemaError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    change::{Change, ChangeLevel, compare},
    effect::{Effect, Sensitivity, TrustTier},
    manifest::{CapabilityKind, Manifest, Provenance, Quotas, Unheld},
    version::SemanticVersion,
};

/// A manifest that was accepted, under the version that it has on this machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedManifest {
    /// Its version: as its provider states it, or derived from the changes since the first sight.
    pub version: SemanticVersion,
    /// When it was accepted.
    pub accepted: Timestamp,
    /// The change that led to it; none at the first sight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_change: Option<AcceptedChange>,
    manifest: ManifestRecord,
}

/// A change that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedChange {
    /// The version before it.
    pub from: SemanticVersion,
    /// Level of the change.
    pub level: ChangeLevel,
    /// Descriptions of the changes, the farthest first.
    pub reasons: Vec<String>,
    /// Whether a person accepted it, as a major change needs.
    pub by_person: bool,
}

/// A change that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingChange {
    /// The version that was accepted.
    pub from: SemanticVersion,
    /// The version that it leads to.
    pub to: SemanticVersion,
    /// Difference from the accepted manifest.
    pub change: Change,
}

/// Result of the review of a manifest.
#[derive(Clone, Debug)]
pub enum Review {
    /// It is the one that was accepted.
    Unchanged,
    /// It is accepted without a question: the first sight, or a compatible change.
    Accepted(Box<AcceptedManifest>),
    /// It needs a person.
    Pending(PendingChange),
}

/// Reason that an accepted manifest can't be read back.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AcceptedError {
    /// Its name is none.
    #[error(transparent)]
    Name(#[from] CapabilityNameError),
    /// A type of it is none that this version reads.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// A manifest as a file has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestRecord {
    id: String,
    name: String,
    description: String,
    version: String,
    kind: CapabilityKind,
    skills: BTreeSet<String>,
    input: String,
    output: String,
    effects: BTreeSet<Effect>,
    trust_tier: TrustTier,
    sensitivity: Sensitivity,
    sensitive_fields: BTreeSet<String>,
    quotas: Quotas,
    provenance: Provenance,
    answers_by_key: bool,
    unheld: Unheld,
    unheld_output: Unheld,
}

impl AcceptedManifest {
    /// Accepts a manifest at its first sight.
    pub fn first(manifest: &Manifest, at: Timestamp) -> Self {
        let stated = SemanticVersion::stated(&manifest.version);
        Self {
            version: stated.unwrap_or(SemanticVersion::FIRST),
            accepted: at,
            last_change: None,
            manifest: ManifestRecord::of(manifest),
        }
    }

    /// Compares it with the capability as it is now. `None` means that it was never seen.
    pub fn review(
        accepted: Option<&Self>,
        now: &Manifest,
        at: Timestamp,
    ) -> Result<Review, AcceptedError> {
        let Some(accepted) = accepted else {
            return Ok(Review::Accepted(Box::new(Self::first(now, at))));
        };
        let pending = accepted.change_to(now)?;
        Ok(match pending.change.level() {
            ChangeLevel::Same => Review::Unchanged,
            ChangeLevel::Patch | ChangeLevel::Minor => {
                Review::Accepted(Box::new(Self::updated(now, &pending, at, false)))
            }
            ChangeLevel::Major => Review::Pending(pending),
        })
    }

    /// Returns the change from it to the capability as it is now.
    pub fn change_to(&self, now: &Manifest) -> Result<PendingChange, AcceptedError> {
        let change = compare(&self.manifest.to_manifest()?, now);
        let stated = SemanticVersion::stated(&now.version);
        Ok(PendingChange {
            from: self.version,
            to: self.version.after(change.level(), stated),
            change,
        })
    }

    /// Accepts a change by a person's word.
    #[must_use]
    pub fn accept(now: &Manifest, pending: &PendingChange, at: Timestamp) -> Self {
        Self::updated(now, pending, at, true)
    }

    fn updated(now: &Manifest, pending: &PendingChange, at: Timestamp, by_person: bool) -> Self {
        let reasons = pending.change.reasons.iter();
        Self {
            version: pending.to,
            accepted: at,
            last_change: Some(AcceptedChange {
                from: pending.from,
                level: pending.change.level(),
                reasons: reasons.map(|reason| reason.text.clone()).collect(),
                by_person,
            }),
            manifest: ManifestRecord::of(now),
        }
    }
}

impl ManifestRecord {
    fn of(manifest: &Manifest) -> Self {
        let manifest = manifest.clone();
        Self {
            id: manifest.id.to_string(),
            name: manifest.name,
            description: manifest.description,
            version: manifest.version,
            kind: manifest.kind,
            skills: manifest.skills,
            input: manifest.input.as_str().to_owned(),
            output: manifest.output.as_str().to_owned(),
            effects: manifest.effects,
            trust_tier: manifest.trust_tier,
            sensitivity: manifest.sensitivity,
            sensitive_fields: manifest.sensitive_fields,
            quotas: manifest.quotas,
            provenance: manifest.provenance,
            answers_by_key: manifest.answers_by_key,
            unheld: manifest.unheld,
            unheld_output: manifest.unheld_output,
        }
    }

    fn to_manifest(&self) -> Result<Manifest, AcceptedError> {
        let record = self.clone();
        Ok(Manifest {
            id: CapabilityName::parse(&record.id)?,
            name: record.name,
            description: record.description,
            version: record.version,
            kind: record.kind,
            skills: record.skills,
            input: Schema::read(&record.input)?,
            output: Schema::read(&record.output)?,
            effects: record.effects,
            trust_tier: record.trust_tier,
            sensitivity: record.sensitivity,
            sensitive_fields: record.sensitive_fields,
            quotas: record.quotas,
            provenance: record.provenance,
            answers_by_key: record.answers_by_key,
            unheld: record.unheld,
            unheld_output: record.unheld_output,
        })
    }
}
