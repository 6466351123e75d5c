//! Keys that sign compiled plans, and signatures with the id of their key.
//!
//! Ed25519 over the stored bytes with a start of their own, so that a signature of something else is none of a plan.

use std::{fmt, str::FromStr};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use super::blob::{read_hex, write_hex};

/// Start of the text form, the name of the algorithm.
const ALGORITHM: &str = "ed25519:";

/// Start of what is signed.
const SIGNED: &[u8] = b"callosum compiled plan 1\n";

/// Id of a key: the start of the SHA-256 of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId([u8; 8]);

/// A key that signs compiled plans.
#[derive(Clone)]
pub struct PlanSigningKey(SigningKey);

/// A key that signatures of compiled plans are checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanVerifyingKey(VerifyingKey);

/// A signature and the id of its key, as text `ed25519:KEY:SIGNATURE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanSignature {
    pub(super) key: KeyId,
    signature: [u8; 64],
}

/// A text that is no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidSignature;

impl PlanSigningKey {
    /// Returns a key from 32 random bytes.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// Returns the key that its signatures are checked with.
    pub fn verifying_key(&self) -> PlanVerifyingKey {
        PlanVerifyingKey(self.0.verifying_key())
    }

    /// Signs stored bytes.
    pub(super) fn sign(&self, bytes: &[u8]) -> PlanSignature {
        PlanSignature {
            key: self.verifying_key().id(),
            signature: self.0.sign(&[SIGNED, bytes].concat()).to_bytes(),
        }
    }
}

impl fmt::Debug for PlanSigningKey {
    /// Shows the id, not the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanSigningKey({})", self.verifying_key().id())
    }
}

impl PlanVerifyingKey {
    /// Returns a key from its 32 bytes, unless they are no point of the curve.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().map(Self)
    }

    /// Returns its 32 bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Returns its id.
    pub fn id(&self) -> KeyId {
        let digest: [u8; 32] = Sha256::digest(self.0.as_bytes()).into();
        KeyId(digest.first_chunk().copied().unwrap_or_default())
    }

    /// Returns whether the key signed these bytes.
    pub(super) fn has_signed(&self, bytes: &[u8], signature: &PlanSignature) -> bool {
        let signed = [SIGNED, bytes].concat();
        let signature = Signature::from_bytes(&signature.signature);
        self.0.verify_strict(&signed, &signature).is_ok()
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl fmt::Display for PlanSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}:", self.key)?;
        write_hex(f, &self.signature)
    }
}

impl FromStr for PlanSignature {
    type Err = InvalidSignature;

    fn from_str(text: &str) -> Result<Self, InvalidSignature> {
        let text = text.strip_prefix(ALGORITHM).ok_or(InvalidSignature)?;
        let (key, signature) = text.split_once(':').ok_or(InvalidSignature)?;
        Ok(Self {
            key: read_hex(key).map(KeyId).ok_or(InvalidSignature)?,
            signature: read_hex(signature).ok_or(InvalidSignature)?,
        })
    }
}
