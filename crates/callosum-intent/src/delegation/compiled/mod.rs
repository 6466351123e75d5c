//! Compiled plans in a content-addressed store (L4 of Seed CCOS §3.b.1).
//!
//! Start with [`CompiledPlans::store`], which signs a compiled plan and returns its target, and [`CompiledPlans::open`],
//! which verifies one. Only `open` makes a [`VerifiedPlan`]. The key of a plan is the hash of its canonical source and of
//! the policy that it was checked under, so a change of either is another plan. [`SimilarPlans`] only proposes. Deliberately
//! not here: where the store is, and the files of keys.

mod blob;
mod signature;
mod similarity;
mod store;
#[cfg(test)]
mod tests;

use thiserror::Error;

use self::{
    blob::{Blob, InvalidBlob},
    signature::PlanSignature,
};
pub use self::{
    blob::{ContentHash, InvalidHash, PolicyHash},
    signature::{KeyId, PlanSigningKey, PlanVerifyingKey},
    similarity::{SimilarPlan, SimilarPlans},
    store::{MemoryStore, PlanStore, StoreError},
};
use super::target::ExecTarget;

/// Compiled plans of a store, and the keys that may sign them.
#[derive(Clone, Debug)]
pub struct CompiledPlans<S> {
    store: S,
    keys: Vec<PlanVerifyingKey>,
}

/// A compiled plan whose content and signature were checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedPlan {
    source: String,
    code: Vec<u8>,
    content: ContentHash,
    key: KeyId,
}

/// Reason not to use a compiled plan.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlanRefusal {
    /// The target is of another kind.
    #[error("{0} is not a compiled plan")]
    OtherTarget(ExecTarget),
    /// The pointer is no content hash.
    #[error("the pointer of the plan is not a content hash: {0}")]
    Pointer(#[from] InvalidHash),
    /// The signature has another form.
    #[error("the signature of the plan has an unknown form: expected ed25519:KEY:SIGNATURE")]
    SignatureForm,
    /// No key of this machine has the id.
    #[error("the plan is signed by the unknown key {0}")]
    UnknownKey(KeyId),
    /// The store has no such plan.
    #[error("the plan {0} is not in the store")]
    Missing(ContentHash),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored bytes are no plan.
    #[error("the stored plan {0} cannot be read: {1}")]
    Form(ContentHash, InvalidBlob),
    /// The stored bytes are another plan.
    #[error("the stored plan {asked} has the content of {found}")]
    OtherContent {
        /// Plan that was asked for.
        asked: ContentHash,
        /// Plan that the bytes are.
        found: ContentHash,
    },
    /// The plan was compiled under another policy.
    #[error("the plan {0} was compiled under another policy")]
    OtherPolicy(ContentHash),
    /// The key did not sign these bytes.
    #[error("the signature of the plan {0} is wrong: a byte was changed")]
    WrongSignature(ContentHash),
}

impl<S: PlanStore> CompiledPlans<S> {
    /// Returns the plans of a store. Only plans that one of the keys signed can be opened.
    pub fn new(store: S, keys: Vec<PlanVerifyingKey>) -> Self {
        Self { store, keys }
    }

    /// Signs a compiled plan, writes it to the store, and returns its target.
    pub fn store(
        &self,
        source: &str,
        policy: PolicyHash,
        code: &[u8],
        key: &PlanSigningKey,
    ) -> Result<ExecTarget, StoreError> {
        let blob = Blob {
            source: source.to_owned(),
            policy,
            code: code.to_vec(),
        };
        let bytes = blob.to_bytes();
        let pointer = blob.content().to_string();
        self.store.put(&pointer, &bytes)?;
        Ok(ExecTarget::L4CacheHit {
            storage_pointer: pointer,
            signature: key.sign(&bytes).to_string(),
        })
    }

    /// Reads a compiled plan and checks it: content, policy, and signature.
    ///
    /// `policy` is the current one. A plan that was compiled under another is refused.
    pub fn open(
        &self,
        target: &ExecTarget,
        policy: PolicyHash,
    ) -> Result<VerifiedPlan, PlanRefusal> {
        let ExecTarget::L4CacheHit {
            storage_pointer,
            signature,
        } = target
        else {
            return Err(PlanRefusal::OtherTarget(target.clone()));
        };
        let asked: ContentHash = storage_pointer.parse()?;
        let signature: PlanSignature = signature.parse().map_err(|_| PlanRefusal::SignatureForm)?;
        let key = self.keys.iter().find(|key| key.id() == signature.key);
        let key = key.ok_or(PlanRefusal::UnknownKey(signature.key))?;
        let bytes = self.store.get(storage_pointer)?;
        let bytes = bytes.ok_or(PlanRefusal::Missing(asked))?;
        // The signature comes before the content, so that bytes of others are not parsed further than needed.
        if !key.has_signed(&bytes, &signature) {
            return Err(PlanRefusal::WrongSignature(asked));
        }
        let blob = Blob::read(&bytes).map_err(|error| PlanRefusal::Form(asked, error))?;
        let found = blob.content();
        if found != asked {
            return Err(PlanRefusal::OtherContent { asked, found });
        }
        if blob.policy != policy {
            return Err(PlanRefusal::OtherPolicy(asked));
        }
        Ok(VerifiedPlan {
            source: blob.source,
            code: blob.code,
            content: asked,
            key: key.id(),
        })
    }
}

impl VerifiedPlan {
    /// Returns the canonical source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the compiled form.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Returns the hash of source and policy.
    pub fn content(&self) -> ContentHash {
        self.content
    }

    /// Returns the key that signed it.
    pub fn key(&self) -> KeyId {
        self.key
    }
}
