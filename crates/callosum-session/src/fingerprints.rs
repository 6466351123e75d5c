//! [`Fingerprints`]: the content of each cited file when its citations last held, to find the file
//! again after a move.
//!
//! Git knows only files that were added to it. For a file that was never committed, or a project
//! without git, nothing else identifies a moved file. The file is derived: without it, only git is
//! asked.

use std::fmt::Write as _;

use callosum_host::{Disk, disk::EntryKind};
use sha2::{Digest as _, Sha256};

use crate::{
    bead::Mark,
    transaction::{LockedSession, Session, SessionError},
    zones::{FINGERPRINTS, ZoneError},
};

/// The first line of the file; another version is not read.
const HEAD: &str = "callosum-cited/1";

/// Most files that are remembered; the ones cited last stay.
const MOST_FILES: usize = 4096;

/// Largest file that is remembered, in bytes. A larger one cannot be cited.
const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// The size and the SHA-256 of a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(crate) len: u64,
    digest: String,
}

impl Fingerprint {
    /// Returns the SHA-256, in hexadecimal digits.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn new(content: &[u8]) -> Self {
        let mut digest = String::new();
        for byte in Sha256::digest(content) {
            let _ = write!(digest, "{byte:02x}");
        }
        Self {
            len: content.len() as u64,
            digest,
        }
    }
}

/// A remembered file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    path: String,
    digest: String,
    /// Size, time of change and inode, by which an unchanged file is not read again.
    mark: String,
}

/// The remembered files, the one cited last at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprints {
    entries: Vec<Entry>,
}

impl Fingerprints {
    /// Returns the last known fingerprint of a file, by its path from the root of the tree.
    pub(crate) fn get(&self, path: &str) -> Option<Fingerprint> {
        let entry = self.entries.iter().rfind(|entry| entry.path == path)?;
        Some(Fingerprint {
            len: entry.mark.split(' ').next()?.parse().ok()?,
            digest: entry.digest.clone(),
        })
    }

    fn read(text: &str) -> Self {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Self::default();
        }
        let entries = lines.filter_map(|line| {
            let (digest, rest) = line.split_once(' ')?;
            let (mark, path) = rest.split_once('\t')?;
            Some(Entry {
                path: path.to_owned(),
                digest: digest.to_owned(),
                mark: mark.to_owned(),
            })
        });
        Self {
            entries: entries.collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        let skipped = self.entries.len().saturating_sub(MOST_FILES);
        for entry in &self.entries[skipped..] {
            let _ = writeln!(text, "{} {}\t{}", entry.digest, entry.mark, entry.path);
        }
        text
    }

    /// Takes in how a file is now; returns whether that was not known.
    fn note(&mut self, disk: &Disk, root: &std::path::Path, path: &str) -> bool {
        let file = root.join(path);
        let Ok(Some(stat)) = disk.stat(&file) else {
            return false;
        };
        if stat.kind != EntryKind::File || stat.len > LARGEST_FILE || path.contains(['\n', '\r']) {
            return false;
        }
        let mark = Mark::of(&stat).line().trim_end().to_owned();
        let known = self.entries.iter().position(|entry| entry.path == path);
        if known.is_some_and(|at| self.entries[at].mark == mark) {
            return false;
        }
        let Ok(content) = disk.read_at_most(&file, LARGEST_FILE) else {
            return false;
        };
        if let Some(at) = known {
            self.entries.remove(at);
        }
        self.entries.push(Entry {
            path: path.to_owned(),
            digest: Fingerprint::new(&content).digest,
            mark,
        });
        true
    }
}

impl Session<'_> {
    /// Reads the fingerprints; empty if there is no readable file.
    pub(crate) fn fingerprints(&self) -> Fingerprints {
        let path = self
            .zones
            .real(self.disk, &self.zones.own().join(FINGERPRINTS));
        let bytes = path.ok().and_then(|path| self.disk.read(&path).ok());
        Fingerprints::read(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
    }
}

impl LockedSession<'_> {
    /// Records the current content of these cited files. Looks at each, and reads those that
    /// changed.
    pub(crate) fn note_cited<'p>(
        &self,
        paths: impl Iterator<Item = &'p str>,
    ) -> Result<(), SessionError> {
        let mut paths: Vec<&str> = paths.collect();
        paths.sort_unstable();
        paths.dedup();
        if paths.is_empty() {
            return Ok(());
        }
        let session = &self.session;
        let mut known = session.fingerprints();
        let mut is_new = false;
        for path in paths {
            is_new |= known.note(session.disk, &session.zones.tree, path);
        }
        if !is_new {
            return Ok(());
        }
        let path = session.zones.own().join(FINGERPRINTS);
        let path = session.zones.real(session.disk, &path)?;
        let text = known.text();
        let written = session.disk.replace_unsynced(&path, text.as_bytes(), 0o644);
        Ok(written.map_err(ZoneError::from)?)
    }
}
