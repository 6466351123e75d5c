//! [`Checkpoint`]: the text that is signed (c2sp.org/tlog-checkpoint).

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use callosum_json::Checksum;

/// Size of a log, and the root of its Merkle tree at that size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the log.
    pub origin: String,
    /// Number of records in the log.
    pub size: u64,
    /// The root of its Merkle tree.
    pub root: Checksum,
}

/// A note's text that is no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCheckpoint {
    /// There is no first line, or a later one is empty.
    #[error("a checkpoint has three lines or more, none of them empty")]
    Lines,
    /// The second line is not a number.
    #[error("a checkpoint's second line is the size, without leading zeros")]
    Size,
    /// The third line is not a hash.
    #[error("a checkpoint's third line is a root of 32 bytes in base64")]
    Root,
}

impl Checkpoint {
    /// The lines that are signed.
    pub fn text(&self) -> String {
        let root = BASE64.encode(self.root.as_bytes());
        format!("{}\n{}\n{root}\n", self.origin, self.size)
    }

    /// Reads a note's text. Lines after the third, which other logs may write, are passed over.
    pub fn parse(text: &str) -> Result<Self, InvalidCheckpoint> {
        let text = text.strip_suffix('\n').ok_or(InvalidCheckpoint::Lines)?;
        let mut lines = text.split('\n');
        let mut next = || lines.next().filter(|line| !line.is_empty());
        let (Some(origin), Some(size), Some(root)) = (next(), next(), next()) else {
            return Err(InvalidCheckpoint::Lines);
        };
        let number: u64 = size.parse().map_err(|_| InvalidCheckpoint::Size)?;
        if number.to_string() != size {
            return Err(InvalidCheckpoint::Size);
        }
        let root = BASE64.decode(root).map_err(|_| InvalidCheckpoint::Root)?;
        let root = <[u8; 32]>::try_from(root).map_err(|_| InvalidCheckpoint::Root)?;
        if lines.any(str::is_empty) {
            return Err(InvalidCheckpoint::Lines);
        }
        Ok(Self {
            origin: origin.to_owned(),
            size: number,
            root: Checksum::from_bytes(root),
        })
    }
}
