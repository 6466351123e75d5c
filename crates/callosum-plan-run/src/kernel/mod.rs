//! The one gate that each effect of a plan passes.
//!
//! Start with [`Kernel::gate`]: it takes a [`CallRequest`] and the state of its run. It returns
//! whether the call is approved, needs a person, or is denied, and by which policies.
//! [`ApprovedCall`] is what a [`Provider`] performs; only the kernel makes one. [`Manifest`]
//! describes a capability, and [`Catalogue`] holds them under one spelling of their names.
//!
//! What is deliberately not here: performing a call, keeping records of it, asking a person, files.

pub mod accepted;
pub mod built_in;
mod call_target;
pub mod catalogue;
pub mod change;
pub mod constitution;
pub mod decision;
pub mod effect;
pub mod executor_capabilities;
pub mod gate;
pub mod literal_arguments;
pub mod manifest;
pub mod outcomes;
pub mod provider;
pub mod query;
pub mod redaction;
pub mod request;
pub mod run_grants;
mod tool_schema;
pub mod version;

pub use self::{
    accepted::{AcceptedManifest, PendingChange, Review},
    built_in::built_in_manifests,
    catalogue::QueryOrder,
    catalogue::{Catalogue, CatalogueError, CatalogueQuery},
    change::{Change, ChangeLevel, compare},
    constitution::{Constitution, ConstitutionError, Origin, PolicyNote},
    decision::{ApprovalRequest, ApprovedCall, CallLimits, Denial, DenialKind, Reasons, Ruling},
    effect::{Effect, Sensitivity, TrustTier},
    executor_capabilities::{EntryError, Holding, is_held_at_best, registered_manifests},
    gate::Kernel,
    literal_arguments::{ArgumentFault, argument_fault, repeats_effect},
    manifest::{CapabilityKind, Manifest, Provenance, Quotas, Unheld},
    provider::{Answer, AnsweredCost, KnownOutcome, Provider, ProviderFailure},
    query::{QueryError, answer_query, read_query},
    request::CallRequest,
    run_grants::{PersonsDecision, RunCaps, RunGrants, RunSpent},
    version::SemanticVersion,
};

#[cfg(test)]
mod tests;
