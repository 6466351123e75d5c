//! [`Checksums`]: the checksums of our files in the system zone, in `.claude/checksums.json`.
//!
//! The file is the Loa framework's own; what others keep in it stays.

use serde_json::{Map, Value};

/// Path from the root.
pub(super) const FILE: &str = ".claude/checksums.json";

/// The key of the checksums of files that others had before ours was added.
const BEFORE: &str = "before";

/// The checksums of a project's system zone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Checksums {
    members: Map<String, Value>,
}

impl Checksums {
    /// Parses them; `None` if the file has another form, and cannot be written either.
    pub(super) fn read(bytes: Option<&[u8]>) -> Option<Self> {
        let Some(bytes) = bytes else {
            return Some(Self::default());
        };
        let members: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        let files = members.get("files");
        files
            .is_none_or(Value::is_object)
            .then_some(Self { members })
    }

    /// Returns the recorded checksum of a file.
    pub(super) fn of(&self, path: &str) -> Option<&str> {
        self.members.get("files")?.get(path)?.as_str()
    }

    /// Returns the recorded checksum of a file as others had it, before ours was added.
    pub(super) fn before(&self, path: &str) -> Option<&str> {
        self.members.get(BEFORE)?.get(path)?.as_str()
    }

    /// Records a file.
    pub(super) fn set(&mut self, path: &str, sum: String) {
        let usual = || Value::from("sha256");
        self.members.entry("algorithm").or_insert_with(usual);
        self.put("files", path, sum);
    }

    /// Records a file as others have it.
    pub(super) fn set_before(&mut self, path: &str, sum: String) {
        self.put(BEFORE, path, sum);
    }

    fn put(&mut self, key: &str, path: &str, sum: String) {
        let files = self
            .members
            .entry(key)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(files) = files {
            files.insert(path.to_owned(), sum.into());
        }
    }

    /// Removes the record of a file.
    pub(super) fn forget(&mut self, path: &str) {
        for key in ["files", BEFORE] {
            if let Some(Value::Object(files)) = self.members.get_mut(key) {
                files.remove(path);
                if files.is_empty() {
                    self.members.remove(key);
                }
            }
        }
    }

    /// Whether nothing is recorded, of us or of others.
    pub(super) fn is_bare(&self) -> bool {
        self.members.keys().all(|key| key == "algorithm")
    }

    /// Returns the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(&self.members).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::versions::checksum;

    /// LOA-ZONE-1: checksums of others stay in the file.
    #[test]
    fn what_others_recorded_stays() {
        let there = br#"{"version":"0.9","files":{".claude/x":"1"}}"#;
        let mut sums = Checksums::read(Some(there)).unwrap();
        sums.set("y", checksum(b""));
        let again = Checksums::read(Some(&sums.to_bytes())).unwrap();
        assert_eq!(again.of(".claude/x"), Some("1"));
        assert_eq!(
            again.of("y"),
            Some("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        );
        assert_eq!(again.members["version"], "0.9");
        for wrong in [&b"[]"[..], b"{\"files\":7}", b"{"] {
            assert_eq!(Checksums::read(Some(wrong)), None);
        }
    }
}
