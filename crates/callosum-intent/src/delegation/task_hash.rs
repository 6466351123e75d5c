//! [`TaskHash`]: the mixed hash of a call's argument types and its runtime context.
//!
//! Seed CCOS §3.b.2 combines the two by XOR. Then equal hashes cancel to 0 and swapped ones collide, so calls that differ
//! share an entry. Here each half passes a full avalanche before and after the other joins it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The fraction of the golden ratio, as an odd 64-bit number.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A mixed 64-bit hash, shown as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskHash(u64);

/// A text that is no task hash.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid task hash {0:?}: expected 16 hexadecimal digits")]
pub struct InvalidTaskHash(pub String);

impl TaskHash {
    /// Mixes a type fingerprint and a context hash.
    pub fn new(arg_type_fingerprint: u64, runtime_context_hash: u64) -> Self {
        Self(mix(arg_type_fingerprint, runtime_context_hash))
    }

    /// Returns its number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// Returns a hash from its number.
    pub(super) fn from_number(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for TaskHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for TaskHash {
    type Err = InvalidTaskHash;

    fn from_str(text: &str) -> Result<Self, InvalidTaskHash> {
        let is_hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(text, 16)
            .ok()
            .filter(|_| is_hex)
            .map(Self)
            .ok_or_else(|| InvalidTaskHash(text.to_owned()))
    }
}

impl TryFrom<String> for TaskHash {
    type Error = InvalidTaskHash;

    fn try_from(text: String) -> Result<Self, InvalidTaskHash> {
        text.parse()
    }
}

impl From<TaskHash> for String {
    fn from(hash: TaskHash) -> Self {
        hash.to_string()
    }
}

/// Returns a hash in which each bit depends on all bits of both numbers, and on which of them is first.
///
/// With one number fixed, no two values of the other have the same hash.
#[inline]
pub(super) fn mix(first: u64, second: u64) -> u64 {
    let first = avalanche(first.wrapping_add(GOLDEN));
    avalanche(first.rotate_left(29).wrapping_add(second) ^ GOLDEN)
}

/// Spreads each bit over all others. It has an inverse, so no two numbers have the same result.
#[inline]
fn avalanche(number: u64) -> u64 {
    // The constants of SplitMix64.
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Returns where an entry begins in a table, in the upper bits, and what tells it from its neighbors, in the lower ones.
#[inline]
pub(super) fn spread(symbol: u32, task: u64) -> u64 {
    (task ^ u64::from(symbol).wrapping_mul(GOLDEN)).wrapping_mul(GOLDEN)
}

/// Returns a hash of some parts that is the same in every process: the start of their SHA-256, each with its length.
///
/// For fingerprints of argument types and of runtime contexts. `["ab", "c"]` and `["a", "bc"]` have different hashes.
pub fn stable_hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    digest
        .first_chunk()
        .map_or(0, |start| u64::from_be_bytes(*start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_hash_is_shown_as_16_digits_and_read_back() {
        let hash = TaskHash::from_number(0xAB);
        assert_eq!(hash.to_string(), "00000000000000ab");
        assert_eq!("00000000000000ab".parse(), Ok(hash));
        for text in ["", "ab", "+0000000000000ab", "00000000000000zz"] {
            assert!(text.parse::<TaskHash>().is_err(), "{text}");
        }
    }

    #[test]
    fn parts_do_not_flow_into_each_other() {
        let hash = |parts: &[&str]| stable_hash(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_eq!(hash(&["ab", "c"]), hash(&["ab", "c"]));
    }
}
