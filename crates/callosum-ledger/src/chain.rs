//! The link between two lines of a chained file: a hash over each line's own bytes.
//!
//! A chained line is a JSON object whose last field carries the hash of everything before that
//! field, as the bytes stand in the file and with their length in front, so that no two lines are
//! hashed alike. The hash of the line before is among those bytes. Nothing is ever parsed and
//! printed again to be checked.

use callosum_json::Checksum;

/// A kind of chained file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// Separates the hashes of one kind of file from those of another.
    domain: &'static str,
    /// The name of the last field.
    field: &'static str,
}

/// The audit journal.
pub(crate) const JOURNAL: Chain = Chain {
    domain: "callosum-audit-1",
    field: "record",
};

/// The hashlog.
pub(crate) const HASHLOG: Chain = Chain {
    domain: "callosum-hashlog-1",
    field: "line",
};

/// The buffer of events that the journal could not take. Its lines are not linked to one another.
pub(crate) const BUFFER: Chain = Chain {
    domain: "callosum-buffer-1",
    field: "line",
};

/// A line whose hash is not that of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChainFault {
    /// It does not end as a chained line does.
    #[error("the line is not a complete record")]
    NotChained,
    /// Its bytes were changed.
    #[error("the line has the hash {actual}, but states {stated}")]
    Edited {
        /// The hash in the line.
        stated: Checksum,
        /// The hash of its bytes.
        actual: Checksum,
    },
}

impl Chain {
    /// Ends the line that begins at `from`, whose last byte is that of its last field but one.
    pub(crate) fn seal(self, out: &mut Vec<u8>, from: usize) -> Checksum {
        let hash = self.hash(&out[from..]);
        out.extend_from_slice(b",\"");
        out.extend_from_slice(self.field.as_bytes());
        out.extend_from_slice(b"\":\"");
        out.extend_from_slice(&hash.hex());
        out.extend_from_slice(b"\"}\n");
        hash
    }

    /// Checks a line, without its line feed, and gives its hash.
    pub(crate) fn check(self, line: &[u8]) -> Result<Checksum, ChainFault> {
        let (body, stated) = self.split(line).ok_or(ChainFault::NotChained)?;
        let actual = self.hash(body);
        if actual == stated {
            Ok(actual)
        } else {
            Err(ChainFault::Edited { stated, actual })
        }
    }

    /// Returns the hash that a line, without its line feed, states for itself.
    pub(crate) fn stated(self, line: &[u8]) -> Option<Checksum> {
        self.split(line).map(|(_, stated)| stated)
    }

    /// Returns the length in bytes of the end of a line, its line feed included.
    pub(crate) const fn end_len(self) -> usize {
        self.field.len() + 5 + 64 + 3
    }

    fn split(self, line: &[u8]) -> Option<(&[u8], Checksum)> {
        let at = line.len().checked_sub(self.end_len() - 1)?;
        let (body, end) = line.split_at(at);
        let hex = end
            .strip_prefix(b",\"")?
            .strip_prefix(self.field.as_bytes())?
            .strip_prefix(b"\":\"")?
            .strip_suffix(b"\"}")?;
        Some((body, Checksum::from_hex(hex)?))
    }

    fn hash(self, body: &[u8]) -> Checksum {
        let len = (body.len() as u64).to_be_bytes();
        Checksum::of_parts(&[self.domain.as_bytes(), &len, body])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_line_is_right_until_a_byte_of_it_changes() {
        let mut line = b"{\"seq\":1".to_vec();
        let hash = JOURNAL.seal(&mut line, 0);
        assert_eq!(line.pop(), Some(b'\n'));
        assert_eq!(JOURNAL.check(&line), Ok(hash));
        assert_eq!(JOURNAL.stated(&line), Some(hash));
        assert_eq!(HASHLOG.check(&line), Err(ChainFault::NotChained));
        for at in 0..line.len() {
            let mut changed = line.clone();
            changed[at] ^= 1;
            assert!(JOURNAL.check(&changed).is_err(), "byte {at}");
        }
        assert_eq!(JOURNAL.check(b"}"), Err(ChainFault::NotChained));
    }
}
