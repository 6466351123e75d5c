//! [`Manifest`]: a capability's description of itself, or ours if it has none.

use std::{collections::BTreeSet, fmt};

use callosum_json::Checksum;
use callosum_plan::{CapabilityName, Schema};
use serde::{Deserialize, Serialize};

use super::effect::{Effect, Sensitivity, TrustTier};

/// Facts about one capability before it is called.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Name by which plans call it.
    pub id: CapabilityName,
    /// Name for people.
    pub name: String,
    /// Description in a sentence or two.
    pub description: String,
    /// Its version, as its provider writes it.
    pub version: String,
    /// Kind of the capability.
    pub kind: CapabilityKind,
    /// Skills by which it can be searched.
    pub skills: BTreeSet<String>,
    /// Type of its input: of the one argument, or of the vector of them if a call has none or
    /// several.
    pub input: Schema,
    /// Type of its answer.
    pub output: Schema,
    /// Its effects. None means that it computes and reads nothing but its arguments.
    pub effects: BTreeSet<Effect>,
    /// Level of trust in it.
    pub trust_tier: TrustTier,
    /// Sensitivity of its answers.
    pub sensitivity: Sensitivity,
    /// Names of fields of its arguments, at any depth, that are withheld where it is trusted less than
    /// [`TrustTier::TRUSTED`].
    pub sensitive_fields: BTreeSet<String>,
    /// Limits of one run's use of it.
    pub quotas: Quotas,
    /// Provider that performs it.
    pub provenance: Provenance,
    /// Whether a call can be asked after by its idempotency key, or made again under it without doing
    /// anything twice. Where it can't, a call whose end is not known is a person's to settle.
    pub answers_by_key: bool,
    /// Keywords of JSON Schema in a server's own schema of arguments that `input` does not enforce.
    pub unheld: Unheld,
    /// The same of what it answers, and `output`.
    pub unheld_output: Unheld,
}

/// Parts of a server's schema that none of our types enforces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unheld {
    /// The keywords of JSON Schema that ask for it.
    pub keywords: BTreeSet<String>,
    /// The hash of all that they ask for, so that a change is noticed; none where they ask for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Checksum>,
}

/// Kind of implementation of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapabilityKind {
    /// One thing, done once.
    Primitive,
    /// A fixed sequence of others.
    Composite,
    /// Something that chooses, loops or delegates by itself.
    Agent,
}

/// Limits of one run's use of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotas {
    /// Calls in one run; none means as many as the run has.
    pub calls_per_run: Option<u64>,
    /// Milliseconds that one call may take.
    pub milliseconds: u64,
    /// Bytes that one answer may have.
    pub answer_bytes: u64,
}

/// Provider of a capability.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "source", content = "provider", rename_all = "kebab-case")]
pub enum Provenance {
    /// This program.
    BuiltIn,
    /// An executor of the registry, by its id.
    Executor(String),
    /// A server of tools, by its id in the registry.
    ToolServer(String),
}

impl Manifest {
    /// Returns whether all that it does is to read what this machine holds, or nothing.
    pub fn only_reads(&self) -> bool {
        self.effects.iter().all(|effect| effect.only_reads())
    }

    /// Returns whether a call may use tokens or money, in an amount that no one knows before it is
    /// over.
    pub fn may_cost(&self) -> bool {
        self.effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::StartsExecutor | Effect::AsksModel | Effect::CallsServer | Effect::Unknown
            )
        })
    }
}

impl CapabilityKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Primitive, Self::Composite, Self::Agent];

    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primitive => "primitive",
            Self::Composite => "composite",
            Self::Agent => "agent",
        }
    }
}

impl fmt::Display for CapabilityKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Default for Quotas {
    /// Any number of calls, 60 seconds each, answers of 1 MiB.
    fn default() -> Self {
        Self {
            calls_per_run: None,
            milliseconds: 60_000,
            answer_bytes: 1 << 20,
        }
    }
}

impl Provenance {
    /// Returns the word for the kind of provider.
    pub fn source(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Executor(_) => "executor",
            Self::ToolServer(_) => "tool-server",
        }
    }

    /// Returns the provider's id, empty for this program.
    pub fn provider(&self) -> &str {
        match self {
            Self::BuiltIn => "",
            Self::Executor(id) | Self::ToolServer(id) => id,
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("built in"),
            Self::Executor(id) => write!(formatter, "executor {id}"),
            Self::ToolServer(id) => write!(formatter, "tool server {id}"),
        }
    }
}
