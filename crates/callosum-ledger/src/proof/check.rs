//! Checking a proof with nothing else at hand.

use super::format::Proof;
use crate::{
    entry::Entry,
    journal::Record,
    merkle::{hash_leaf, root_of_inclusion},
    signed_note::{NoteStatus, VerifierKey},
};

/// Facts that a proof shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The entry that the record stored.
    pub entry: Entry,
    /// The record's number.
    pub seq: u64,
    /// The key that signed.
    pub key: VerifierKey,
    /// Whether that is the key that was asked for; `false` where none was.
    pub is_key_known: bool,
}

/// Reason that a proof shows nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The key that was asked for did not sign.
    #[error("the checkpoint is not signed by `{key}`")]
    OtherKey {
        /// The key.
        key: Box<VerifierKey>,
    },
    /// The key is that of another log. One machine signs all its logs with the same bytes, so a
    /// right signature alone does not say which.
    #[error("the checkpoint is of the log `{origin}`, but the key is of `{}`", key.name())]
    OtherLog {
        /// The log that was signed.
        origin: String,
        /// The key.
        key: Box<VerifierKey>,
    },
    /// The signature is wrong.
    #[error("the checkpoint's signature is wrong")]
    Signature,
    /// The path does not lead from the record to the root.
    #[error("the signed tree does not contain the record")]
    NotIncluded,
    /// The record is in the tree, and is not one of an audit journal.
    #[error("the signed data is not a record of an audit journal: {reason}")]
    NotARecord {
        /// Cause of the failure.
        reason: String,
    },
    /// The record's number is not its place.
    #[error("the record states number {seq}, but is at {place}")]
    Misplaced {
        /// Its number.
        seq: u64,
        /// Its place in the log, from 1.
        place: u64,
    },
    /// The record stores no entry, or one whose checksum is wrong.
    #[error("the record contains no entry: {reason}")]
    NoEntry {
        /// Cause of the failure.
        reason: String,
    },
}

impl Proof {
    /// Checks signature, log, path, record and entry. With a key, that it is the one that signed,
    /// and that of this log.
    pub fn check(&self, trusted: Option<&VerifierKey>) -> Result<Checked, ProofError> {
        let key = trusted.unwrap_or(&self.key);
        match self.note.standing(key) {
            NoteStatus::Signed => {}
            NoteStatus::Wrong => return Err(ProofError::Signature),
            NoteStatus::NotNamed => {
                let key = Box::new(key.clone());
                return Err(ProofError::OtherKey { key });
            }
        }
        if self.checkpoint.origin != key.name() {
            return Err(ProofError::OtherLog {
                origin: self.checkpoint.origin.clone(),
                key: Box::new(key.clone()),
            });
        }
        let size = self.checkpoint.size;
        let root = root_of_inclusion(hash_leaf(&self.record), self.index, size, &self.path);
        if root != Some(self.checkpoint.root) {
            return Err(ProofError::NotIncluded);
        }
        let record = Record::read(&self.record).map_err(|fault| ProofError::NotARecord {
            reason: fault.to_string(),
        })?;
        let (seq, place) = (record.head.seq, self.index + 1);
        if seq != place {
            return Err(ProofError::Misplaced { seq, place });
        }
        let entry = record.entry.filter(|_| record.stores());
        let Some(entry) = entry else {
            let reason = format!("it is a `{}`", record.head.event);
            return Err(ProofError::NoEntry { reason });
        };
        let entry = Entry::read(entry.as_bytes()).and_then(|entry| {
            entry.check()?;
            Ok(entry)
        });
        Ok(Checked {
            entry: entry.map_err(|error| ProofError::NoEntry {
                reason: error.to_string(),
            })?,
            seq,
            key: key.clone(),
            is_key_known: trusted.is_some(),
        })
    }
}
