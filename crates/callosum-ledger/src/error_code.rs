//! [`ErrorCode`]: the seed's eight codes for failures.
//!
//! A code is a property of an error, never the error itself: each failing operation has its own
//! error type, which returns its code if the seed has one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A failure, in the seed's words (Seed CAL §7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ErrorCode {
    /// E001: an executor ended with a non-zero status or by a signal.
    #[serde(rename = "E001")]
    ExecutorCrash,
    /// E002: an executor showed no sign of life for too long, or its service refuses for now: a rate
    /// limit (429) passes with time, as a timeout does.
    #[serde(rename = "E002")]
    Timeout,
    /// E003: an answer that is not what the protocol asks for.
    #[serde(rename = "E003")]
    MalformedAnswer,
    /// E004: a checksum that does not belong to the bytes it came with.
    #[serde(rename = "E004")]
    ChecksumMismatch,
    /// E005: the disk failed, or is full.
    #[serde(rename = "E005")]
    DiskFailure,
    /// E006: an answer too large to hold, or memory running out.
    #[serde(rename = "E006")]
    MemoryOverflow,
    /// E007: another process locked the ledger for too long.
    #[serde(rename = "E007")]
    LockTimeout,
    /// E008: the audit journal could not be written.
    #[serde(rename = "E008")]
    AuditFailure,
}

impl ErrorCode {
    /// All codes, in the seed's order.
    pub const ALL: [Self; 8] = [
        Self::ExecutorCrash,
        Self::Timeout,
        Self::MalformedAnswer,
        Self::ChecksumMismatch,
        Self::DiskFailure,
        Self::MemoryOverflow,
        Self::LockTimeout,
        Self::AuditFailure,
    ];

    /// The code as it is printed and stored, such as `E004`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExecutorCrash => "E001",
            Self::Timeout => "E002",
            Self::MalformedAnswer => "E003",
            Self::ChecksumMismatch => "E004",
            Self::DiskFailure => "E005",
            Self::MemoryOverflow => "E006",
            Self::LockTimeout => "E007",
            Self::AuditFailure => "E008",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is not one of the eight codes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an error code (allowed: E001 to E008)")]
pub struct UnknownErrorCode {
    /// The text.
    pub text: String,
}

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        Self::ALL
            .into_iter()
            .find(|code| code.as_str() == text)
            .ok_or_else(|| UnknownErrorCode {
                text: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seed CAL §7.1: the codes are E001 to E008.
    #[test]
    fn every_code_is_read_back_from_its_text_and_stored_as_it() {
        for code in ErrorCode::ALL {
            assert_eq!(code.as_str().parse(), Ok(code));
            assert_eq!(serde_json::to_string(&code).unwrap(), format!("\"{code}\""));
        }
        assert!("E009".parse::<ErrorCode>().is_err());
    }
}
