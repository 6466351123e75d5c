//! [`Blob`]: the stored bytes of a compiled plan, and the hashes that name it.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// Start of the stored bytes. The number is the version of the form.
const MAGIC: &[u8] = b"callosum-plan 1\n";

/// Start of what a content hash covers, so that it is no hash of anything else.
const CONTENT: &[u8] = b"callosum plan content 1\n";

/// Bytes of a length.
const LENGTH: usize = 8;

/// Hash of a plan's canonical source and its policy. It is the plan's key in the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

/// SHA-256 of a policy's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PolicyHash(pub [u8; 32]);

/// A text that is no hash.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not 64 lowercase hexadecimal digits")]
pub struct InvalidHash(pub String);

/// Fault of stored bytes that are no plan.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum InvalidBlob {
    /// Another start.
    #[error("unknown format")]
    Magic,
    /// The bytes end too early or too late.
    #[error("the length is wrong")]
    Length,
    /// The source is not UTF-8.
    #[error("the source is not UTF-8")]
    Utf8,
}

/// A compiled plan with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) source: String,
    pub(super) policy: PolicyHash,
    pub(super) code: Vec<u8>,
}

impl Blob {
    /// Returns the hash of source and policy.
    pub(super) fn content(&self) -> ContentHash {
        ContentHash::new(&self.source, self.policy)
    }

    /// Returns the stored form: start, policy, and source and code, each with its length.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [MAGIC, &self.policy.0].concat();
        for part in [self.source.as_bytes(), &self.code] {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part);
        }
        bytes
    }

    /// Reads the stored form.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, InvalidBlob> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(InvalidBlob::Magic)?;
        let (policy, rest) = rest.split_first_chunk().ok_or(InvalidBlob::Length)?;
        let (source, rest) = part(rest)?;
        let (code, rest) = part(rest)?;
        if !rest.is_empty() {
            return Err(InvalidBlob::Length);
        }
        let source = str::from_utf8(source).map_err(|_| InvalidBlob::Utf8)?;
        Ok(Self {
            source: source.to_owned(),
            policy: PolicyHash(*policy),
            code: code.to_vec(),
        })
    }
}

/// Splits off a part that follows its length.
fn part(bytes: &[u8]) -> Result<(&[u8], &[u8]), InvalidBlob> {
    let (length, rest) = bytes
        .split_first_chunk::<LENGTH>()
        .ok_or(InvalidBlob::Length)?;
    let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| InvalidBlob::Length)?;
    rest.split_at_checked(length).ok_or(InvalidBlob::Length)
}

impl ContentHash {
    /// Returns the hash of a plan's canonical source and its policy.
    pub fn new(source: &str, policy: PolicyHash) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(CONTENT);
        hasher.update(policy.0);
        hasher.update(source.as_bytes());
        Self(hasher.finalize().into())
    }
}

impl PolicyHash {
    /// Returns the hash of a policy's text.
    pub fn of_policy(text: &[u8]) -> Self {
        Self(Sha256::digest(text).into())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        read_hex(text)
            .map(Self)
            .ok_or_else(|| InvalidHash(text.to_owned()))
    }
}

/// Writes two lowercase hexadecimal digits for each byte.
pub(super) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Reads two lowercase hexadecimal digits for each byte. A pointer has one spelling only.
pub(super) fn read_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(is_hex) {
        return None;
    }
    let mut bytes = [0; N];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}
