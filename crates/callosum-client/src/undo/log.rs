//! [`UndoLog`]: the records of one tree, and the bytes that files had, a folder for each day.
//!
//! It is in the folder of the tree's snapshots, for its user alone. Whole days are removed once they are older than
//! snapshots are kept. A line that was cut short, or that a later version wrote, is passed over.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, FileLock, LockError, OpenHow};
use callosum_json::Checksum;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::file_state::FileState;

/// Most bytes of files that are kept in one day. Past that, the oldest half goes.
const MOST_BYTES: u64 = 250_000_000;

/// File names of a day's records, and of the number of bytes that are kept next to them.
const LINES: &str = "calls.jsonl";
const SIZE: &str = "size";

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A call is about to run.
    Call(CallLine),
    /// A call has run.
    After(AfterLine),
    /// Calls are about to be undone.
    Undo(UndoLine),
}

/// A call that is about to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLine {
    /// The id of the record.
    pub id: String,
    /// When it happened.
    pub at: Timestamp,
    /// The client, such as `claude`.
    pub agent: String,
    /// The agent's session, if its client named one.
    pub session: Option<String>,
    /// The turn of the session: all that happens from one prompt to the next.
    pub turn: Option<String>,
    /// The client's own id of the call.
    pub call: Option<String>,
    /// The tool that made the change, if known.
    pub tool: Option<String>,
    /// The beginning of the command, or the files, without secrets.
    pub label: String,
    /// The files that a file tool is about to write, in their state before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileLine>,
    /// Whether it is a command for which a snapshot is taken.
    #[serde(default)]
    pub is_command: bool,
    /// The permission bits of the files that the command names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modes: BTreeMap<String, u32>,
}

/// One file of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLine {
    /// The file, as seen from the top of the tree; absolute if it is outside.
    pub path: String,
    /// The file before the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileState>,
    /// The file after the change, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileState>,
}

/// A call that has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterLine {
    /// The call.
    pub id: String,
    /// The files, one entry each.
    pub files: Vec<FileLine>,
    /// The names that the command's snapshot was to hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Number of further changed files that are not recorded.
    #[serde(default)]
    pub more: usize,
}

/// Calls that are about to be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoLine {
    /// The id of the record.
    pub id: String,
    /// When it happened.
    pub at: Timestamp,
    /// The agent that made the change.
    pub agent: String,
    /// The agent's session, if its client named one.
    pub session: Option<String>,
    /// The calls and undos that are undone.
    pub targets: Vec<String>,
    /// A line that describes it to a person.
    pub label: String,
    /// The files, one entry each.
    pub files: Vec<FileLine>,
}

/// The reason why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// The records of one tree.
#[derive(Clone, Debug)]
pub struct UndoLog {
    disk: Disk,
    folder: PathBuf,
    /// Time for which records are kept.
    age: Duration,
}

impl UndoLog {
    /// The log of the tree whose snapshots are in `snapshots`. Creates nothing.
    pub fn new(disk: &Disk, snapshots: &Path, age: Duration) -> Self {
        Self {
            disk: disk.clone(),
            folder: snapshots.join("undo"),
            age,
        }
    }

    /// Appends a record, after the bytes that it names by their sums. Waits up to `patience` for another process.
    pub fn append(
        &self,
        now: Timestamp,
        line: &Line,
        blobs: &BTreeMap<String, Vec<u8>>,
        patience: Duration,
    ) -> Result<(), LogError> {
        let disk = &self.disk;
        disk.create_private_dir(&self.folder)?;
        let _lock = FileLock::acquire_private(disk, &self.folder.join("lock"), patience)?;
        let day = self.folder.join(day(now));
        if !disk.exists(&day)? {
            disk.create_private_dir(&day)?;
            self.remove_old(now)?;
        }
        self.keep(&day, blobs)?;
        let how = OpenHow::READ_WRITE_CREATE.with_mode(0o600);
        let file = disk.open(&day.join(LINES), how)?;
        let end = file.size()?;
        let mut bytes = serde_json::to_vec(line).expect("plain data has a JSON form");
        bytes.push(b'\n');
        // A process that was killed may have left half a line.
        if end > 0 && file.read_range(end - 1, 1)? != b"\n" {
            bytes.insert(0, b'\n');
        }
        file.write_at(&bytes, end)?;
        Ok(())
    }

    /// Returns every record, the oldest first, each with the folder of its day.
    pub fn read(&self) -> Result<Vec<(PathBuf, Line)>, DiskError> {
        let mut days: Vec<PathBuf> = self
            .disk
            .list_dir(&self.folder)?
            .into_iter()
            .map(|entry| self.folder.join(entry.name))
            .collect();
        days.sort();
        let mut lines = Vec::new();
        for day in days {
            let read = self.disk.read_if_there(&day.join(LINES));
            // The lock is no folder of a day.
            let Ok(Some(bytes)) = read else {
                continue;
            };
            let parsed = bytes.split(|byte| *byte == b'\n');
            let parsed = parsed.filter_map(|line| serde_json::from_slice(line).ok());
            lines.extend(parsed.map(|line| (day.clone(), line)));
        }
        Ok(lines)
    }

    /// Returns the bytes with this sum that were kept on a day; `None` if they are gone or damaged.
    pub fn bytes(&self, day: &Path, sum: &str) -> Option<Vec<u8>> {
        let is_sum = sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = is_sum.then(|| self.disk.read(&day.join(sum)).ok())??;
        (Checksum::of(&bytes).to_string() == sum).then_some(bytes)
    }

    fn keep(&self, day: &Path, blobs: &BTreeMap<String, Vec<u8>>) -> Result<(), DiskError> {
        let disk = &self.disk;
        let size = disk.read_if_there(&day.join(SIZE))?.unwrap_or_default();
        let size = String::from_utf8_lossy(&size).trim().parse();
        let before: u64 = size.unwrap_or_default();
        let mut held = before;
        for (sum, bytes) in blobs {
            let path = day.join(sum);
            let len = bytes.len() as u64;
            let found = disk.stat(&path)?;
            // One that a power loss cut short is written again.
            if found.is_none_or(|found| found.len != len) {
                disk.replace_unsynced(&path, bytes, 0o600)?;
                held += len;
            }
        }
        if held > MOST_BYTES {
            held = self.make_room(day, blobs)?;
        }
        if held != before {
            disk.replace_unsynced(&day.join(SIZE), held.to_string().as_bytes(), 0o600)?;
        }
        Ok(())
    }

    /// Removes the oldest files that are kept until half the room is free, but none of `needed`.
    fn make_room(&self, day: &Path, needed: &BTreeMap<String, Vec<u8>>) -> Result<u64, DiskError> {
        let mut all = Vec::new();
        for entry in self.disk.list_dir(day)? {
            let name = entry.name.to_string_lossy().into_owned();
            let path = day.join(&name);
            let is_blob = name != LINES && name != SIZE;
            if let Some(stat) = self.disk.stat(&path)?.filter(|_| is_blob) {
                all.push((stat.modified, stat.len, needed.contains_key(&name), path));
            }
        }
        all.sort();
        let mut held: u64 = all.iter().map(|(_, len, ..)| len).sum();
        for (_, len, is_needed, path) in all {
            if held <= MOST_BYTES / 2 {
                break;
            }
            if !is_needed && self.disk.remove_file(&path)? {
                held -= len;
            }
        }
        Ok(held)
    }

    fn remove_old(&self, now: Timestamp) -> Result<(), DiskError> {
        let age = SignedDuration::try_from(self.age).unwrap_or(SignedDuration::MAX);
        let Ok(oldest) = now.checked_sub(age) else {
            return Ok(());
        };
        let oldest = day(oldest);
        for entry in self.disk.list_dir(&self.folder)? {
            let is_old = entry.name.to_str().is_some_and(|name| {
                name.len() == oldest.len() && name.starts_with('2') && name < oldest.as_str()
            });
            if is_old {
                self.disk.remove_tree(&self.folder.join(entry.name))?;
            }
        }
        Ok(())
    }
}

/// The name of a day's folder, in UTC.
fn day(now: Timestamp) -> String {
    now.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str) -> Line {
        Line::After(AfterLine {
            id: id.to_owned(),
            files: Vec::new(),
            names: Vec::new(),
            more: 0,
        })
    }

    fn ids(log: &UndoLog) -> Vec<String> {
        let lines = log.read().unwrap().into_iter();
        let ids = lines.map(|(_, line)| match line {
            Line::After(after) => after.id,
            Line::Call(call) => call.id,
            Line::Undo(undo) => undo.id,
        });
        ids.collect()
    }

    #[test]
    fn a_line_that_was_cut_short_is_passed_over_and_old_days_go() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let log = UndoLog::new(&disk, folder.path(), Duration::from_hours(72));
        let first: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let wait = Duration::from_secs(1);
        let blobs = BTreeMap::from([(Checksum::of(b"a").to_string(), b"a".to_vec())]);
        log.append(first, &line("1"), &blobs, wait).unwrap();
        let lines = folder.path().join("undo/2026-01-02/calls.jsonl");
        let mut bytes = disk.read(&lines).unwrap();
        bytes.extend(b"{\"call\":{\"id\"");
        disk.replace(&lines, &bytes, 0o600).unwrap();
        log.append(first, &line("2"), &blobs, wait).unwrap();
        assert_eq!(ids(&log), ["1", "2"]);
        let day = folder.path().join("undo/2026-01-02");
        assert_eq!(
            log.bytes(&day, &Checksum::of(b"a").to_string()).unwrap(),
            b"a"
        );
        assert_eq!(log.bytes(&day, "../../x"), None);
        let later: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        log.append(later, &line("3"), &BTreeMap::new(), wait)
            .unwrap();
        assert_eq!(ids(&log), ["1", "2", "3"]);
        let later: Timestamp = "2026-01-06T00:00:00Z".parse().unwrap();
        log.append(later, &line("4"), &BTreeMap::new(), wait)
            .unwrap();
        assert_eq!(ids(&log), ["3", "4"]);
    }
}
