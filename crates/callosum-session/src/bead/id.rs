//! [`BeadId`]: a bead's name, which is also its file's.

use std::fmt;

/// Longest id, in bytes.
const LONGEST: usize = 80;

/// An id such as `bd-x7y8` or `loa-3.1`: letters and digits beginning with a letter, `-`, and
/// letters, digits and dots, all in lower case. Other files in the folder of beads are another
/// tool's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BeadId(String);

impl BeadId {
    /// Checks an id.
    pub fn new(id: &str) -> Option<Self> {
        let (before, after) = id.split_once('-')?;
        let is_low = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_id = before.starts_with(|c: char| c.is_ascii_lowercase())
            && before.bytes().all(is_low)
            && !after.is_empty()
            && after.bytes().all(|byte| is_low(byte) || byte == b'.')
            && id.len() <= LONGEST;
        is_id.then(|| Self(id.to_owned()))
    }

    /// Returns the id that a file's name gives.
    pub fn of_file(name: &str) -> Option<Self> {
        Self::new(name.strip_suffix(".yaml")?)
    }

    /// Returns its file's name.
    pub fn file(&self) -> String {
        format!("{self}.yaml")
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BeadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-BEAD-1: files of other tools in the folder are not beads, and no name leads out of it.
    #[test]
    fn only_a_file_that_is_named_for_an_id_is_a_bead() {
        for name in ["bd-x7y8.yaml", "loa-3.1.yaml"] {
            assert!(BeadId::of_file(name).is_some(), "{name}");
        }
        for name in [
            "config.yaml",
            "metadata.json",
            "issues.jsonl",
            "bd-1.yml",
            "../bd-1.yaml",
            "bd-../x.yaml",
            "BD-1.yaml",
            "bd-.yaml.tmp",
            "1-a.yaml",
        ] {
            assert!(BeadId::of_file(name).is_none(), "{name}");
        }
    }
}
