//! [`MachineKey`]: the machine's key, for signatures other than those of checkpoints.

use std::path::Path;

use callosum_host::Disk;

use super::key_ring::{KeyError, KeyRing};
use crate::signed_note::{SigningKey, VerifierKey};
use callosum_json::Checksum;

/// Start of what a derived secret is authenticated over.
const DERIVED: &[u8] = b"callosum derived key 1\n";

/// The key of a machine, under a name that gives its purpose.
///
/// The name is part of the key's id, so a note that was signed for one purpose names no key of
/// another.
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

    /// Returns 32 secret bytes for this purpose, derived from the machine's key, which is made from `seed` if the machine has
    /// none yet.
    ///
    /// They are for signatures in another form than that of notes. From them no one learns the key, or the bytes for another
    /// purpose; a new key of the machine gives other bytes.
    pub fn derived_secret(&self, disk: &Disk, seed: &[u8; 32]) -> Result<[u8; 32], KeyError> {
        let key = self.keys.load_or_make(disk, seed)?;
        Ok(self.derived(&key))
    }

    /// Returns the same if the machine has a key. Creates nothing.
    pub fn derived_secret_if_there(&self, disk: &Disk) -> Result<Option<[u8; 32]>, KeyError> {
        let key = self.keys.load(disk)?;
        Ok(key.map(|key| self.derived(&key)))
    }

    fn derived(&self, key: &SigningKey) -> [u8; 32] {
        let parts = [DERIVED, self.name.as_bytes()];
        *Checksum::keyed(key.secret(), &parts).as_bytes()
    }

    /// Returns every public key of this machine, today's and earlier ones. Creates nothing.
    pub fn verifiers(&self, disk: &Disk) -> Result<Vec<VerifierKey>, KeyError> {
        self.keys.verifiers(disk, &self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret is the same each time, and another one for each purpose and each key.
    #[test]
    fn each_purpose_has_a_secret_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let key = |purpose| MachineKey::in_home(home.path(), purpose);
        let none = key("plans").derived_secret_if_there(&disk).unwrap();
        assert_eq!(none, None);
        let secret = key("plans").derived_secret(&disk, &[1; 32]).unwrap();
        let again = key("plans").derived_secret_if_there(&disk).unwrap();
        assert_eq!(again, Some(secret));
        let other = key("other").derived_secret(&disk, &[2; 32]).unwrap();
        assert_ne!(other, secret);
        assert_ne!(secret, [1; 32]);
        std::fs::remove_dir_all(home.path().join("keys")).unwrap();
        let new = key("plans").derived_secret(&disk, &[2; 32]).unwrap();
        assert_ne!(new, secret);
    }
}
