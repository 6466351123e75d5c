//! [`Versions`]: the content of notes and beads before each change that Callosum made.
//!
//! `.session/versions/log.jsonl` has a line for each change. The content is beside it, compressed and
//! named by its checksum, so that a version that comes back costs nothing more. The oldest are
//! removed when all have more than [`MOST_BYTES`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{Read as _, Write as _},
    path::PathBuf,
};

use callosum_host::{Disk, DiskError, OpenHow};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::zones::{ZoneError, Zones};

/// Folder in [`Zones::own`].
pub(crate) const FOLDER: &str = "versions";

/// The list of changes.
const LOG: &str = "log.jsonl";

/// Most bytes of compressed content. Of more, the older half of the changes is forgotten.
const MOST_BYTES: u64 = 32 << 20;

/// Most bytes of the list of changes.
const MOST_LOG: u64 = 1 << 20;

/// Most bytes of one version.
const LARGEST: u64 = 64 << 20;

/// Bytes at the end of the list that have its last line: a name of a file has at most 255 bytes.
const TAIL: u64 = 2048;

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    /// The time of the change, to the second.
    ts: String,
    /// The file, from the root.
    file: String,
    /// Checksum of the content before; `None` if there was no file.
    before: Option<String>,
    /// Bytes of compressed content that are kept, including this one.
    total: u64,
}

/// The kept versions of notes and beads.
#[derive(Debug)]
pub(crate) struct Versions<'v> {
    disk: &'v Disk,
    folder: PathBuf,
}

impl<'v> Versions<'v> {
    /// Returns the versions of a project, which may have none.
    pub(crate) fn of(disk: &'v Disk, zones: &Zones) -> Result<Self, ZoneError> {
        let folder = zones.real(disk, &zones.own().join(FOLDER))?;
        Ok(Self { disk, folder })
    }

    /// Notes that a file is about to change, and keeps its content. Costs about 0.2 ms; a loss of
    /// power may take it.
    pub(crate) fn keep(
        &self,
        ts: &str,
        file: &str,
        before: Option<&[u8]>,
    ) -> Result<(), DiskError> {
        self.disk.create_dir_all(&self.folder)?;
        let (before, bytes) = match before {
            Some(bytes) => {
                let (sum, len) = self.store(bytes, false)?;
                (Some(sum), len)
            }
            None => (None, 0),
        };
        let log = self
            .disk
            .open(&self.folder.join(LOG), OpenHow::READ_WRITE_CREATE)?;
        let end = log.size()?;
        let tail = log.read_from(end.saturating_sub(TAIL))?;
        let total = last_total(&tail) + bytes;
        let change = Change {
            ts: ts.to_owned(),
            file: file.to_owned(),
            before,
            total,
        };
        let mut line = serde_json::to_vec(&change).unwrap_or_default();
        line.push(b'\n');
        if !tail.is_empty() && !tail.ends_with(b"\n") {
            line.insert(0, b'\n');
        }
        log.write_at(&line, end)?;
        if total > MOST_BYTES || end > MOST_LOG {
            self.prune()?;
        }
        Ok(())
    }

    /// Keeps content under its checksum. Returns that, and how many bytes it took.
    pub(crate) fn store(&self, bytes: &[u8], is_synced: bool) -> Result<(String, u64), DiskError> {
        self.disk.create_dir_all(&self.folder)?;
        let sum = checksum(bytes);
        let path = self.object(&sum);
        if self.disk.exists(&path)? && self.content(&sum)?.is_some() {
            return Ok((sum, 0));
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let compressed = encoder
            .write_all(bytes)
            .and_then(|()| encoder.finish())
            .unwrap_or_default();
        if is_synced {
            self.disk.replace(&path, &compressed, 0o644)?;
        } else {
            self.disk.replace_unsynced(&path, &compressed, 0o644)?;
        }
        Ok((sum, compressed.len() as u64))
    }

    /// Returns content by its checksum; `None` if it is gone or is not that content.
    pub(crate) fn content(&self, sum: &str) -> Result<Option<Vec<u8>>, DiskError> {
        if sum.len() != 64 || !sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let Some(compressed) = self.disk.read_if_there(&self.object(sum))? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let mut decoder = GzDecoder::new(&compressed[..]).take(LARGEST + 1);
        let is_whole = decoder.read_to_end(&mut bytes).is_ok() && checksum(&bytes) == sum;
        Ok(is_whole.then_some(bytes))
    }

    /// Returns the checksum of each changed file's content at a time, which has the form of
    /// [`second`](crate::timestamp::second): before its first later change. `None` means no
    /// file.
    pub(crate) fn at(&self, ts: &str) -> Result<BTreeMap<String, Option<String>>, DiskError> {
        let mut at = BTreeMap::new();
        for change in self.changes()? {
            if change.ts.as_str() > ts {
                at.entry(change.file).or_insert(change.before);
            }
        }
        Ok(at)
    }

    fn object(&self, sum: &str) -> PathBuf {
        self.folder.join(format!("{sum}.gz"))
    }

    fn changes(&self) -> Result<Vec<Change>, DiskError> {
        let log = self.disk.read_if_there(&self.folder.join(LOG))?;
        let log = log.unwrap_or_default();
        // A line that a crash tore is of a change that was not made.
        let lines = log.split(|byte| *byte == b'\n');
        Ok(lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }

    /// Forgets the older half of the changes, and the content that no other one has. Rollbacks keep
    /// theirs.
    fn prune(&self) -> Result<(), DiskError> {
        let changes = self.changes()?;
        let kept = &changes[changes.len() / 2..];
        let mut wanted: BTreeSet<String> = self.of_rollbacks()?;
        wanted.extend(kept.iter().filter_map(|change| change.before.clone()));
        let mut total = 0;
        for entry in self.disk.list_dir(&self.folder)? {
            let sum = entry
                .name
                .to_str()
                .and_then(|name| name.strip_suffix(".gz"));
            let Some(sum) = sum else { continue };
            let path = self.folder.join(&entry.name);
            if wanted.contains(sum) {
                total += self.disk.stat(&path)?.map_or(0, |stat| stat.len);
            } else {
                self.disk.remove_file(&path)?;
            }
        }
        let lines = kept.iter().map(|change| Change {
            total,
            ..change.clone()
        });
        let mut log = Vec::new();
        for line in lines {
            log.extend(serde_json::to_vec(&line).unwrap_or_default());
            log.push(b'\n');
        }
        self.disk
            .replace_unsynced(&self.folder.join(LOG), &log, 0o644)
    }

    fn of_rollbacks(&self) -> Result<BTreeSet<String>, DiskError> {
        let own = self.folder.parent().unwrap_or(&self.folder);
        let records = super::record::records(self.disk, own)?;
        let pending = super::record::pending(self.disk, own)?;
        let files = records.into_iter().chain(pending);
        let files = files.flat_map(|record| record.files);
        Ok(files
            .flat_map(|file| [file.before, file.after])
            .flatten()
            .collect())
    }
}

/// Returns the checksum of bytes: SHA-256, in hexadecimal.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns how many bytes are kept according to the last line of the list.
fn last_total(tail: &[u8]) -> u64 {
    let mut lines = tail.rsplit(|byte| *byte == b'\n');
    let last: Option<Change> = lines.find_map(|line| serde_json::from_slice(line).ok());
    last.map_or(0, |change| change.total)
}
