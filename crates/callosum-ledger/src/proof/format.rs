//! [`Proof`]: the lines of a proof, read and printed.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use crate::{
    checkpoint::Checkpoint,
    signed_note::{SignedNote, VerifierKey},
};
use callosum_json::Checksum;

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";

/// A tree of more levels than this has more leaves than a number counts.
const MOST_HASHES: usize = 64;

/// That a record is in a log, and who signed that. Nothing in it is checked by reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Key that, according to the proof, signed.
    pub key: VerifierKey,
    /// The record's line, without its line feed.
    pub record: Vec<u8>,
    /// Its index in the log, from 0.
    pub index: u64,
    /// The hashes that lead from it to the root.
    pub path: Vec<Checksum>,
    /// The signed checkpoint.
    pub checkpoint: Checkpoint,
    /// The note that it was signed in.
    pub note: SignedNote,
}

/// Reason that bytes are no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProof {
    /// They do not begin as a proof does.
    #[error("the first line is not `{FIRST_LINE}`")]
    FirstLine,
    /// The second line does not carry a key and a record.
    #[error("the second line is not `extra` with a key and a record in base64")]
    Extra,
    /// The third line is not the place.
    #[error("the third line is not `index` and a number")]
    Index,
    /// A line of the path is not a hash, or there are too many.
    #[error("line {line} is not a hash of 32 bytes in base64")]
    Hash {
        /// Its number, from 1.
        line: usize,
    },
    /// The text after the path is not a checkpoint.
    #[error("the text after the first empty line is not a checkpoint")]
    Checkpoint,
}

impl Proof {
    /// Reads a proof.
    pub fn parse(text: &str) -> Result<Self, InvalidProof> {
        // A copy by way of a terminal or a chat loses the last line break.
        let ended = (!text.ends_with('\n')).then(|| format!("{text}\n"));
        let text = ended.as_deref().unwrap_or(text);
        let (lines, note) = text.split_once("\n\n").ok_or(InvalidProof::Checkpoint)?;
        let mut lines = lines.split('\n');
        if lines.next() != Some(FIRST_LINE) {
            return Err(InvalidProof::FirstLine);
        }
        let extra = lines.next().and_then(|line| line.strip_prefix("extra "));
        let extra = extra.and_then(|extra| BASE64.decode(extra).ok());
        let extra = extra.ok_or(InvalidProof::Extra)?;
        let end_of_key = memchr::memchr(b'\n', &extra).ok_or(InvalidProof::Extra)?;
        let key = str::from_utf8(&extra[..end_of_key]).ok();
        let key = key.and_then(|key| key.parse().ok());
        let index = lines.next().and_then(|line| line.strip_prefix("index "));
        let number: Option<u64> = index.and_then(|index| index.parse().ok());
        let number = number.filter(|number| Some(number.to_string().as_str()) == index);
        let mut path = Vec::new();
        for (at, line) in lines.enumerate() {
            let wrong = InvalidProof::Hash { line: at + 4 };
            let hash = BASE64.decode(line).ok();
            let hash = hash.and_then(|hash| <[u8; 32]>::try_from(hash).ok());
            match hash {
                Some(hash) if path.len() < MOST_HASHES => path.push(Checksum::from_bytes(hash)),
                _ => return Err(wrong),
            }
        }
        let note = SignedNote::parse(note).map_err(|_| InvalidProof::Checkpoint)?;
        Ok(Self {
            key: key.ok_or(InvalidProof::Extra)?,
            record: extra[end_of_key + 1..].to_vec(),
            index: number.ok_or(InvalidProof::Index)?,
            path,
            checkpoint: Checkpoint::parse(note.text()).map_err(|_| InvalidProof::Checkpoint)?,
            note,
        })
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extra = [format!("{}\n", self.key).as_bytes(), &self.record].concat();
        writeln!(f, "{FIRST_LINE}\nextra {}", BASE64.encode(extra))?;
        writeln!(f, "index {}", self.index)?;
        for hash in &self.path {
            writeln!(f, "{}", BASE64.encode(hash.as_bytes()))?;
        }
        write!(f, "\n{}", self.note)
    }
}
