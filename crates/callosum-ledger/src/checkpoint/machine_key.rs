//! [`MachineKey`]: the machine's key, for what is signed beside checkpoints.

use std::path::Path;

use callosum_host::Disk;

use super::key_ring::{KeyError, KeyRing};
use crate::signed_note::{SigningKey, VerifierKey};

/// The key of a machine, under a name that says what it signs.
///
/// The name is part of the key's id, so a note that was signed for one purpose names no key of another.
#[derive(Clone, Debug)]
pub struct MachineKey {
    keys: KeyRing,
    name: String,
}

impl MachineKey {
    /// The one in the machine's home, for what `purpose` names. Creates nothing.
    pub fn in_home(home: &Path, purpose: &str) -> Self {
        Self {
            keys: KeyRing::in_folder(home.join("keys")),
            name: format!("callosum.invalid/{purpose}"),
        }
    }

    /// Returns the key to sign with, made from `seed` where the machine has none yet.
    pub fn load_or_make(&self, disk: &Disk, seed: &[u8; 32]) -> Result<SigningKey, KeyError> {
        let key = self.keys.load_or_make(disk, seed)?;
        key.named(&self.name).map_err(|source| KeyError::Invalid {
            path: self.keys.key(),
            source,
        })
    }

    /// Returns every public key of this machine, today's and earlier ones. Creates nothing.
    pub fn verifiers(&self, disk: &Disk) -> Result<Vec<VerifierKey>, KeyError> {
        self.keys.verifiers(disk, &self.name)
    }
}
