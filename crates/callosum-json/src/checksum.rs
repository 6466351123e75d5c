//! [`Checksum`]: a SHA-256, as it is stored and printed.

use std::{fmt, str::FromStr};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes; 64 lower-case hexadecimal digits when printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Checksum([u8; 32]);

impl Checksum {
    /// Value before the first link of a chain.
    pub const ZERO: Self = Self([0; 32]);

    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes `parts` as if they stood in one piece.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Authenticates `parts`, as if they stood in one piece, with a key: HMAC-SHA-256.
    pub fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> Self {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
            unreachable!("a key may have any length");
        };
        for part in parts {
            mac.update(part);
        }
        Self(mac.finalize().into_bytes().into())
    }

    /// A hash that was stored as bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hexadecimal digits.
    pub fn hex(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        hex
    }

    /// Reads 64 hexadecimal digits of either case.
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        let mut bytes = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }
}

/// A hash that is being taken of bytes that come in pieces.
#[derive(Clone, Debug, Default)]
pub struct Hashing(Sha256);

impl Hashing {
    /// Adds the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all bytes.
    pub fn end(self) -> Checksum {
        Checksum(self.0.finalize().into())
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex()
            .iter()
            .try_for_each(|digit| fmt::Write::write_char(f, char::from(*digit)))
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({self})")
    }
}

/// A text that is not a checksum.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a SHA-256 (64 hexadecimal digits)")]
pub struct InvalidChecksum {
    /// The text.
    pub text: String,
}

impl FromStr for Checksum {
    type Err = InvalidChecksum;

    fn from_str(text: &str) -> Result<Self, InvalidChecksum> {
        Self::from_hex(text.as_bytes()).ok_or_else(|| InvalidChecksum {
            text: text.to_owned(),
        })
    }
}

impl Serialize for Checksum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Checksum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// REQ-COM-002: a checksum is 64 hexadecimal digits. The value is that of `printf abc | sha256sum`.
    #[test]
    fn a_checksum_prints_as_sha256sum_does_and_is_read_back() {
        let printed = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let checksum = Checksum::of(b"abc");
        assert_eq!(checksum.to_string(), printed);
        assert_eq!(printed.parse(), Ok(checksum));
        assert_eq!(printed.to_uppercase().parse(), Ok(checksum));
        assert_eq!(Checksum::of_parts(&[b"a", b"", b"bc"]), checksum);
    }

    /// The value is that of Python's `hmac.new(bytes([11]) * 32, b"Hi There", "sha256")`.
    #[test]
    fn a_keyed_checksum_is_the_hmac() {
        let printed = "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7";
        let keyed = Checksum::keyed(&[11; 32], &[b"Hi ", b"There"]);
        assert_eq!(keyed.to_string(), printed);
        assert_ne!(Checksum::keyed(&[12; 32], &[b"Hi There"]), keyed);
    }

    #[test]
    fn what_is_not_64_hexadecimal_digits_is_refused() {
        for text in ["", "ab", &"g".repeat(64), &"a".repeat(65), &"é".repeat(32)] {
            assert!(text.parse::<Checksum>().is_err(), "{text}");
        }
    }
}
