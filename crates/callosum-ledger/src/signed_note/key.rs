//! Keys with names: the one that signs, and the one that others check with.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ed25519_dalek::{Signature, Signer as _};

use super::note::NoteSignature;
use callosum_json::Checksum;

/// The signature type of Ed25519 in a note's keys.
const ED25519: u8 = 1;

/// Prefix of a signing key in text form, as in Go's `sumdb/note`.
const PRIVATE: &str = "PRIVATE+KEY+";

/// A key that signs notes.
#[derive(Clone)]
pub struct SigningKey {
    name: String,
    key: ed25519_dalek::SigningKey,
}

/// A key that checks whether a note was signed; printed as `name+id+base64`.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: u32,
    key: ed25519_dalek::VerifyingKey,
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// The parts are not there, or not in their form.
    #[error("a key has the form name+12345678+base64")]
    Form,
    /// The name has a blank or a plus sign, or is empty.
    #[error("a key's name must not be empty, or contain blanks or `+`")]
    Name,
    /// It is for another algorithm than ours.
    #[error("the key is not an Ed25519 key")]
    Algorithm,
    /// The id is not that of this name and these bytes: something in it was changed.
    #[error("the key's id does not match its name and bytes")]
    Id,
}

impl SigningKey {
    /// A key from 32 random bytes.
    pub fn from_seed(name: &str, seed: &[u8; 32]) -> Result<Self, InvalidKey> {
        check_name(name)?;
        Ok(Self {
            name: name.to_owned(),
            key: ed25519_dalek::SigningKey::from_bytes(seed),
        })
    }

    /// Reads a key from the text of [`to_private_text`](Self::to_private_text).
    pub fn from_private_text(text: &str) -> Result<Self, InvalidKey> {
        let text = text.strip_prefix(PRIVATE).ok_or(InvalidKey::Form)?;
        let (name, id, seed) = split(text)?;
        let key = Self::from_seed(name, &seed)?;
        if key.verifier().id == id {
            Ok(key)
        } else {
            Err(InvalidKey::Id)
        }
    }

    /// Returns the key as text in the form of Go's `sumdb/note`. Its holder can sign.
    pub fn to_private_text(&self) -> String {
        let id = self.verifier().id;
        let bytes = [&[ED25519][..], self.key.as_bytes()].concat();
        format!("{PRIVATE}{}+{id:08x}+{}", self.name, BASE64.encode(bytes))
    }

    /// Returns the 32 secret bytes.
    pub(crate) fn secret(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// The same key under another name.
    pub fn named(&self, name: &str) -> Result<Self, InvalidKey> {
        Self::from_seed(name, self.key.as_bytes())
    }

    /// Returns the key with which others check its signatures.
    pub fn verifier(&self) -> VerifierKey {
        VerifierKey::new(&self.name, self.key.verifying_key())
    }

    /// Signs a text.
    pub fn sign(&self, text: &str) -> NoteSignature {
        NoteSignature {
            name: self.name.clone(),
            key_id: self.verifier().id,
            signature: self.key.sign(text.as_bytes()).to_bytes().to_vec(),
        }
    }
}

impl fmt::Debug for SigningKey {
    /// The secret is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.verifier())
    }
}

impl VerifierKey {
    fn new(name: &str, key: ed25519_dalek::VerifyingKey) -> Self {
        let hash = Checksum::of_parts(&[name.as_bytes(), b"\n", &[ED25519], key.as_bytes()]);
        let [a, b, c, d, ..] = *hash.as_bytes();
        Self {
            name: name.to_owned(),
            id: u32::from_be_bytes([a, b, c, d]),
            key,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number that signatures name it by, together with its name.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The same key under another name.
    pub fn named(&self, name: &str) -> Result<Self, InvalidKey> {
        check_name(name)?;
        Ok(Self::new(name, self.key))
    }

    /// Whether both have the same bytes, regardless of their names.
    pub fn is_same_bytes(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// Whether a signature is this key's over `text`.
    pub(super) fn has_signed(&self, text: &str, signature: &NoteSignature) -> bool {
        Signature::from_slice(&signature.signature)
            .is_ok_and(|signature| self.key.verify_strict(text.as_bytes(), &signature).is_ok())
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&[ED25519][..], self.key.as_bytes()].concat();
        write!(f, "{}+{:08x}+{}", self.name, self.id, BASE64.encode(bytes))
    }
}

impl fmt::Debug for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifierKey({self})")
    }
}

impl FromStr for VerifierKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let (name, id, bytes) = split(text)?;
        check_name(name)?;
        let key =
            ed25519_dalek::VerifyingKey::from_bytes(&bytes).map_err(|_| InvalidKey::Algorithm)?;
        let key = Self::new(name, key);
        if key.id == id {
            Ok(key)
        } else {
            Err(InvalidKey::Id)
        }
    }
}

/// The name, id and bytes of a written-down key.
fn split(text: &str) -> Result<(&str, u32, [u8; 32]), InvalidKey> {
    let mut parts = text.trim_end_matches('\n').splitn(3, '+');
    let (Some(name), Some(id), Some(bytes)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(InvalidKey::Form);
    };
    let is_id = id.len() == 8 && id.bytes().all(|digit| digit.is_ascii_hexdigit());
    let id = u32::from_str_radix(id, 16).map_err(|_| InvalidKey::Form)?;
    let bytes = BASE64.decode(bytes).map_err(|_| InvalidKey::Form)?;
    match bytes.split_first() {
        Some((&ED25519, key)) if is_id => {
            let key = key.try_into().map_err(|_| InvalidKey::Form)?;
            Ok((name, id, key))
        }
        Some(_) if is_id => Err(InvalidKey::Algorithm),
        _ => Err(InvalidKey::Form),
    }
}

/// Refuses what may not be the name of a key.
pub(super) fn check_name(name: &str) -> Result<(), InvalidKey> {
    let is_bad = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    if name.is_empty() || name.contains(is_bad) {
        return Err(InvalidKey::Name);
    }
    Ok(())
}
