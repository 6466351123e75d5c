//! Signature of a constitution: a note with its version and hash, signed by a key of this machine.
//!
//! The note is in a file next to the text, so that the text stays what Cedar's own tools read.

use callosum_json::Checksum;
use callosum_ledger::signed_note::{InvalidNote, NoteStatus, SignedNote, SigningKey, VerifierKey};
use thiserror::Error;

use super::document::{ConstitutionError, header};

/// Reason that a note is no valid signature of a text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SignatureError {
    /// It can't be read.
    #[error("cannot read the signature: {0}")]
    Note(#[from] InvalidNote),
    /// The text can't be.
    #[error(transparent)]
    Text(#[from] ConstitutionError),
    /// It was made for other bytes, or another version.
    #[error("the signature is for another text: the text changed after it was signed")]
    Other,
    /// No key that is trusted here signed it.
    #[error("it is not signed by a key of this machine")]
    Stranger,
    /// It names a key that didn't sign it.
    #[error("the signature is wrong")]
    Wrong,
}

/// Signs a text: returns the note with its version and hash.
pub fn sign(text: &str, key: &SigningKey) -> Result<SignedNote, SignatureError> {
    let statement = statement(text)?;
    let signature = key.sign(&statement);
    Ok(SignedNote::new(statement, vec![signature])?)
}

/// Checks that one of these keys signed this text.
pub fn check(text: &str, note: &str, keys: &[VerifierKey]) -> Result<(), SignatureError> {
    let note = SignedNote::parse(note)?;
    if note.text() != statement(text)? {
        return Err(SignatureError::Other);
    }
    let standings: Vec<NoteStatus> = keys.iter().map(|key| note.standing(key)).collect();
    if standings.contains(&NoteStatus::Wrong) {
        return Err(SignatureError::Wrong);
    }
    if !standings.contains(&NoteStatus::Signed) {
        return Err(SignatureError::Stranger);
    }
    Ok(())
}

fn statement(text: &str) -> Result<String, ConstitutionError> {
    let version = header(text)?;
    let hash = Checksum::of(text.as_bytes());
    Ok(format!(
        "callosum constitution\nversion {version}\nsha256 {hash}\n"
    ))
}
