//! [`FormToken`]: the secret that every form of the page carries, so that no other page can post one.

use std::{fmt::Write as _, path::Path};

use callosum_host::{Disk, DiskError, Ids};
use sha2::{Digest as _, Sha256};

/// Hexadecimal digits of the secret: a SHA-256.
const DIGITS: usize = 64;

/// The secret of this machine's page.
///
/// It is kept in a file that only this user can read, so that a form of an open page still counts after a restart of the daemon.
#[derive(Clone)]
pub struct FormToken(String);

impl FormToken {
    /// Reads the secret of `file`, or makes one there.
    ///
    /// # Errors
    /// If the file can neither be read nor written.
    pub fn open(disk: &Disk, file: &Path) -> Result<Self, DiskError> {
        if let Some(bytes) = disk.read_if_there(file)?
            && let Ok(text) = String::from_utf8(bytes)
            && text.len() == DIGITS
            && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return Ok(Self(text));
        }
        // Random also in a test that fixes the ids of events.
        let ids = Ids::random();
        let secret = Sha256::digest(ids.uuid_v4() + &ids.uuid_v4());
        let text = hexadecimal(&secret);
        disk.replace_unsynced(file, text.as_bytes(), 0o600)?;
        Ok(Self(text))
    }

    /// The secret as a form carries it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a form carried the secret. Takes the same time for every text of the same length.
    pub(crate) fn is(&self, given: &str) -> bool {
        is_same(&self.0, given)
    }
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
pub(crate) fn is_same(secret: &str, given: &str) -> bool {
    secret.len() == given.len()
        && secret
            .bytes()
            .zip(given.bytes())
            .fold(0, |difference, (a, b)| difference | (a ^ b))
            == 0
}
