//! Effects of a capability, and the scales of trust and of sensitivity.
//!
//! Each is a closed scale with words of its own on the wire, so that a policy that misspells one is
//! refused instead of never holding.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One kind of thing that a call may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Reads files of the project.
    ReadsFiles,
    /// Reads the ledger or its audit journal.
    ReadsLedger,
    /// Reads notes, beads, trajectories.
    ReadsSession,
    /// Reads messages between agents.
    ReadsMesh,
    /// Reads the catalogue of capabilities.
    ReadsCatalogue,
    /// Writes files of the project.
    WritesFiles,
    /// Writes notes, beads, trajectories.
    WritesSession,
    /// Tells other agents something.
    PublishesOnMesh,
    /// Starts an executor, which itself may do what its confinement lets it.
    StartsExecutor,
    /// Asks a model.
    AsksModel,
    /// Calls a server outside of this program.
    CallsServer,
    /// Does something that its manifest does not say.
    Unknown,
}

impl Effect {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::ReadsFiles,
        Self::ReadsLedger,
        Self::ReadsSession,
        Self::ReadsMesh,
        Self::ReadsCatalogue,
        Self::WritesFiles,
        Self::WritesSession,
        Self::PublishesOnMesh,
        Self::StartsExecutor,
        Self::AsksModel,
        Self::CallsServer,
        Self::Unknown,
    ];

    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadsFiles => "reads-files",
            Self::ReadsLedger => "reads-ledger",
            Self::ReadsSession => "reads-session",
            Self::ReadsMesh => "reads-mesh",
            Self::ReadsCatalogue => "reads-catalogue",
            Self::WritesFiles => "writes-files",
            Self::WritesSession => "writes-session",
            Self::PublishesOnMesh => "publishes-on-mesh",
            Self::StartsExecutor => "starts-executor",
            Self::AsksModel => "asks-model",
            Self::CallsServer => "calls-server",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether it only reads, and only what this machine holds.
    pub fn only_reads(self) -> bool {
        matches!(
            self,
            Self::ReadsFiles
                | Self::ReadsLedger
                | Self::ReadsSession
                | Self::ReadsMesh
                | Self::ReadsCatalogue
        )
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Level of trust, from 0 to 3.
///
/// Of a capability: 0 no one vouches for it; 1 a person configured it on this machine; 2 a person
/// declared it trusted; 3 it is part of this program. Of a run: 0 a model's plan that no one looked
/// at; 1 a model's plan that a person approved; 2 a plan of the project; 3 a plan that a person
/// started.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "u8", into = "u8")]
pub struct TrustTier(u8);

/// Level of sensitivity of data. Data goes only to what is trusted at least as far as its number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Sensitivity {
    /// 0: anyone may know it.
    #[default]
    Public,
    /// 1: the project's files, and statements about them.
    Project,
    /// 2: words of a person or an agent, notes, prompts.
    Personal,
    /// 3: what only this program should hold.
    Secret,
}

/// A number that is no tier.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{0} is not a trust tier (allowed: 0 to 3)")]
pub struct NoTier(pub u8);

impl TrustTier {
    /// No one vouches for it.
    pub const UNKNOWN: Self = Self(0);
    /// A person configured it.
    pub const CONFIGURED: Self = Self(1);
    /// A person declared it trusted.
    pub const TRUSTED: Self = Self(2);
    /// Part of this program, or a person's own doing.
    pub const OWN: Self = Self(3);

    /// Returns its number, 0 to 3.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for TrustTier {
    type Error = NoTier;

    fn try_from(number: u8) -> Result<Self, NoTier> {
        if number > 3 {
            return Err(NoTier(number));
        }
        Ok(Self(number))
    }
}

impl From<TrustTier> for u8 {
    fn from(tier: TrustTier) -> Self {
        tier.0
    }
}

impl fmt::Display for TrustTier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Sensitivity {
    /// All of them, the least first.
    pub const ALL: [Self; 4] = [Self::Public, Self::Project, Self::Personal, Self::Secret];

    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Project => "project",
            Self::Personal => "personal",
            Self::Secret => "secret",
        }
    }

    /// Returns the least tier that may know it.
    pub fn tier(self) -> TrustTier {
        TrustTier(self as u8)
    }
}

impl fmt::Display for Sensitivity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_on_the_wire_are_those_that_are_shown() {
        for effect in Effect::ALL {
            let json = serde_json::to_value(effect).unwrap();
            assert_eq!(json, effect.as_str());
        }
        for sensitivity in Sensitivity::ALL {
            let json = serde_json::to_value(sensitivity).unwrap();
            assert_eq!(json, sensitivity.as_str());
        }
    }

    #[test]
    fn there_are_four_tiers() {
        assert_eq!(
            serde_json::from_str::<TrustTier>("3").unwrap(),
            TrustTier::OWN
        );
        assert!(serde_json::from_str::<TrustTier>("4").is_err());
        assert_eq!(Sensitivity::Secret.tier(), TrustTier::OWN);
    }
}
