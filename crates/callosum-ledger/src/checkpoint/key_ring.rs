//! [`KeyRing`]: the machine's key, made on first use, and the public halves of earlier ones.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError, OpenHow};

use crate::signed_note::{InvalidKey, SigningKey, VerifierKey};

/// The name under which the key is written down; it signs under each log's own.
const NAME: &str = "callosum.invalid/machine";

/// Name of the key's file, and prefix of the files next to it.
const KEY: &str = "ledger-ed25519";

/// Permission bits of the key's file.
const MODE: u32 = 0o600;

/// The folder of the keys.
#[derive(Clone, Debug)]
pub(super) struct KeyRing {
    folder: PathBuf,
}

/// Error of obtaining the signing key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Others than its owner may read it.
    #[error("other users may read the key `{}` (mode {mode:o}; allowed: 600)", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file does not hold a key.
    #[error("`{}` is damaged", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Reason that the file holds no key.
        source: InvalidKey,
    },
}

impl KeyRing {
    pub(super) fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the key, if there is one.
    pub(super) fn load(&self, disk: &Disk) -> Result<Option<SigningKey>, KeyError> {
        let path = self.key();
        let Some(file) = disk.open_if_there(&path, OpenHow::READ)? else {
            return Ok(None);
        };
        if let Some(mode) = file.mode()?
            && mode & 0o077 != 0
        {
            let mode = mode & 0o777;
            return Err(KeyError::Exposed { path, mode });
        }
        let key = SigningKey::from_private_text(&text_of(file.read_all()?));
        key.map(Some)
            .map_err(|source| KeyError::Invalid { path, source })
    }

    /// Returns the key, made from `seed` if there is none. An earlier key whose public half alone is
    /// known counts as one of the earlier ones from then on.
    pub(super) fn load_or_make(
        &self,
        disk: &Disk,
        seed: &[u8; 32],
    ) -> Result<SigningKey, KeyError> {
        if let Some(key) = self.load(disk)? {
            self.keep_public(disk, &key)?;
            return Ok(key);
        }
        self.create(disk)?;
        if let Some(lost) = self.public(disk)? {
            self.know(disk, &lost)?;
        }
        let key = new_key(seed);
        if !disk.create(&self.key(), private_file(&key).as_bytes(), MODE)? {
            // Another process was faster, and its key is the machine's.
            return Ok(self.load(disk)?.unwrap_or(key));
        }
        self.keep_public(disk, &key)?;
        Ok(key)
    }

    /// Creates the folder of the keys.
    pub(super) fn create(&self, disk: &Disk) -> Result<(), KeyError> {
        disk.create_private_dir(&self.folder)?;
        Ok(())
    }

    /// Every public key of this machine that `log`'s checkpoints may be signed with, today's last.
    ///
    /// Today's secret is not needed where its public half was kept.
    pub(super) fn verifiers(&self, disk: &Disk, log: &str) -> Result<Vec<VerifierKey>, KeyError> {
        let mut keys = self.retired(disk)?;
        if let Some(today) = self.today(disk)? {
            keys.retain(|key| *key != today);
            keys.push(today);
        }
        let path = self.key();
        keys.iter()
            .map(|key| key.named(log))
            .collect::<Result<_, _>>()
            .map_err(|source| KeyError::Invalid { path, source })
    }

    /// The public half of the key.
    pub(super) fn today(&self, disk: &Disk) -> Result<Option<VerifierKey>, KeyError> {
        match self.load(disk) {
            Ok(Some(key)) => Ok(Some(key.verifier())),
            Ok(None) => self.public(disk),
            Err(error @ KeyError::Disk(_)) => Err(error),
            Err(error) => match self.public(disk) {
                Ok(Some(key)) => Ok(Some(key)),
                Ok(None) | Err(_) => Err(error),
            },
        }
    }

    /// Has `key` known as one of this machine's, before it signs and after.
    pub(super) fn know(&self, disk: &Disk, key: &VerifierKey) -> Result<(), KeyError> {
        let mut known = self.retired(disk)?;
        if !known.contains(key) {
            known.push(key.clone());
            let lines: String = known.iter().map(format_line).collect();
            disk.replace(&self.retired_path(), lines.as_bytes(), MODE)?;
        }
        Ok(())
    }

    /// Puts a new key, which is known already, in the place of the old one, whose public half is
    /// kept.
    pub(super) fn replace(
        &self,
        disk: &Disk,
        old: &SigningKey,
        new: &SigningKey,
    ) -> Result<(), KeyError> {
        // In this order, so that a key that signed is never unknown.
        self.know(disk, &old.verifier())?;
        disk.replace(&self.key(), private_file(new).as_bytes(), MODE)?;
        self.keep_public(disk, new)
    }

    /// Stores the public half, which is enough to check signatures.
    fn keep_public(&self, disk: &Disk, key: &SigningKey) -> Result<(), KeyError> {
        let line = format_line(&key.verifier());
        if disk.read_if_there(&self.public_path())?.as_deref() != Some(line.as_bytes()) {
            disk.replace(&self.public_path(), line.as_bytes(), MODE)?;
        }
        Ok(())
    }

    /// Removes what killed processes were writing here, which may be a secret.
    pub(super) fn sweep(&self, disk: &Disk) {
        // No program reads these files, and the next checkpoint tries again.
        drop(disk.sweep_new_files(&self.folder, |name| name.starts_with(KEY)));
    }

    /// The lock that is held while the key is replaced.
    pub(super) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    fn retired(&self, disk: &Disk) -> Result<Vec<VerifierKey>, KeyError> {
        let path = self.retired_path();
        let text = text_of(disk.read_if_there(&path)?.unwrap_or_default());
        text.lines()
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(|source| KeyError::Invalid { path, source })
    }

    fn public(&self, disk: &Disk) -> Result<Option<VerifierKey>, KeyError> {
        let path = self.public_path();
        let Some(bytes) = disk.read_if_there(&path)? else {
            return Ok(None);
        };
        let key = text_of(bytes).trim_end().parse();
        key.map(Some)
            .map_err(|source| KeyError::Invalid { path, source })
    }

    pub(super) fn key(&self) -> PathBuf {
        self.folder.join(KEY)
    }

    fn public_path(&self) -> PathBuf {
        self.folder.join("ledger-ed25519.pub")
    }

    fn retired_path(&self) -> PathBuf {
        self.folder.join("ledger-ed25519.retired")
    }
}

/// A key of this machine from 32 random bytes.
pub(super) fn new_key(seed: &[u8; 32]) -> SigningKey {
    SigningKey::from_seed(NAME, seed).expect("the name is one of a key")
}

fn private_file(key: &SigningKey) -> String {
    key.to_private_text() + "\n"
}

fn format_line(key: &VerifierKey) -> String {
    format!("{key}\n")
}

fn text_of(bytes: Vec<u8>) -> String {
    // Bytes that are not text are not a key either, and are refused as such.
    String::from_utf8_lossy(&bytes).into_owned()
}
