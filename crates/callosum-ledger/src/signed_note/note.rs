//! [`SignedNote`]: the text of a note and its signature lines.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use super::key::{VerifierKey, check_name};

/// Start of a signature line: an em dash and a space.
const SIGNED_BY: &str = "\u{2014} ";

/// More signatures than any note has; what has more is refused before anything is checked.
const MOST_SIGNATURES: usize = 64;

/// A text with signatures; reading it checks none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedNote {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// A line that names a key as a signer of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    /// The key's name.
    pub name: String,
    /// The key's id.
    pub key_id: u32,
    /// The signature's bytes.
    pub signature: Vec<u8>,
}

/// Relation of a key to a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteStatus {
    /// It signed the text.
    Signed,
    /// A line names it as a signer, and the signature is wrong.
    Wrong,
    /// No line names it.
    NotNamed,
}

/// Reason that a text is not a signed note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNote {
    /// It has control characters.
    #[error("the only control characters allowed in a note are line feeds")]
    Control,
    /// Text and signatures are not separated by an empty line.
    #[error("a note ends in an empty line and signature lines")]
    Form,
    /// A signature line is not one.
    #[error("line {line} of the signatures is not `\u{2014} name base64`")]
    Signature {
        /// Its number, from 1.
        line: usize,
    },
    /// There are more signatures than any note has.
    #[error("a note may have at most {MOST_SIGNATURES} signatures")]
    TooMany,
}

impl SignedNote {
    /// A text, of whole lines without control characters, with its signatures.
    pub fn new(text: String, signatures: Vec<NoteSignature>) -> Result<Self, InvalidNote> {
        let note = Self { text, signatures };
        // What could not be read back is not a note.
        match Self::parse(&note.to_string())? {
            read if read == note => Ok(note),
            _ => Err(InvalidNote::Form),
        }
    }

    /// Reads a note, without checking it: ask [`standing`](Self::standing) of a key.
    pub fn parse(note: &str) -> Result<Self, InvalidNote> {
        if note.bytes().any(|byte| byte < b' ' && byte != b'\n') {
            return Err(InvalidNote::Control);
        }
        let at = note.rfind("\n\n").ok_or(InvalidNote::Form)?;
        let (text, lines) = (&note[..=at], &note[at + 2..]);
        let lines = lines.strip_suffix('\n').ok_or(InvalidNote::Form)?;
        let mut signatures = Vec::new();
        for (index, line) in lines.split('\n').enumerate() {
            if index == MOST_SIGNATURES {
                return Err(InvalidNote::TooMany);
            }
            let wrong = InvalidNote::Signature { line: index + 1 };
            signatures.push(NoteSignature::parse(line).ok_or(wrong)?);
        }
        Ok(Self {
            text: text.to_owned(),
            signatures,
        })
    }

    /// The text that was signed, which ends in a line feed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signature lines.
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Whether `key` signed it. Of several lines of one key, a wrong one makes all wrong.
    pub fn standing(&self, key: &VerifierKey) -> NoteStatus {
        let mut standing = NoteStatus::NotNamed;
        for signature in &self.signatures {
            if signature.name != key.name() || signature.key_id != key.id() {
                continue;
            }
            if !key.has_signed(&self.text, signature) {
                return NoteStatus::Wrong;
            }
            standing = NoteStatus::Signed;
        }
        standing
    }
}

impl fmt::Display for SignedNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for signature in &self.signatures {
            let bytes = [
                &signature.key_id.to_be_bytes()[..],
                signature.signature.as_slice(),
            ]
            .concat();
            let encoded = BASE64.encode(bytes);
            writeln!(f, "{SIGNED_BY}{} {encoded}", signature.name)?;
        }
        Ok(())
    }
}

impl NoteSignature {
    fn parse(line: &str) -> Option<Self> {
        let (name, encoded) = line.strip_prefix(SIGNED_BY)?.split_once(' ')?;
        check_name(name).ok()?;
        let bytes = BASE64.decode(encoded).ok()?;
        let (key_id, signature) = bytes.split_first_chunk::<4>()?;
        if signature.is_empty() {
            return None;
        }
        Some(Self {
            name: name.to_owned(),
            key_id: u32::from_be_bytes(*key_id),
            signature: signature.to_vec(),
        })
    }
}
