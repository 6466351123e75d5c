//! [`BridgeStore`]: files that the bridge keeps next to its file: projections, files that were exchanged away, and rejected text. Each of them is bounded; the oldest goes first.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, FileId, FileStat},
};
use callosum_redact::secrets::mask;
use sha2::{Digest as _, Sha256};

use super::{Document, merge_base};
use crate::quarantine::{displace, displaced_in, is_folder, is_lost_link, is_no_folder};

/// Permission bits: what agents tell one another is their user's alone.
pub(super) const MODE: u32 = 0o600;

/// Projections that are remembered, for those who began with one of them.
const MOST_SHOWN: Bound = Bound {
    files: 256,
    bytes: 32 * 1024 * 1024,
};

/// Text that could not be applied.
const MOST_REJECTED: Bound = Bound {
    files: 100,
    bytes: 16 * 1024 * 1024,
};

/// Files that were exchanged away.
const MOST_LATE: Bound = Bound {
    files: 64,
    bytes: 16 * 1024 * 1024,
};

/// Edited projections that were applied.
const MOST_TAKEN: Bound = Bound {
    files: 64,
    bytes: 8 * 1024 * 1024,
};

/// Time after its last change in which an author may still write into a file that was exchanged
/// away.
pub(super) const LATEST: Duration = Duration::from_mins(1);

/// Name, in the bridge's own folder, of the next projection, and for a moment of the file that it
/// was exchanged for.
pub const NEXT: &str = "next.json";

/// Ending of the name of a standby copy.
const SPARE: &str = "-spare.json";

/// Minimum age of a file whose modification time identifies its contents. A write after the look at
/// an older file changes its time: file systems distinguish times by a few milliseconds.
const CLEARLY_BEFORE: Duration = Duration::from_millis(100);

/// The folder and what is in it.
#[derive(Clone, Debug)]
pub(super) struct BridgeStore {
    disk: Disk,
    folder: PathBuf,
    /// Of files that were exchanged away and have not changed since they were read.
    read: Arc<Mutex<HashMap<PathBuf, Unchanged>>>,
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
struct Unchanged {
    id: Option<FileId>,
    len: u64,
    modified: SystemTime,
    hash: String,
}

impl Unchanged {
    fn is(&self, stat: &FileStat) -> bool {
        self.id.is_some()
            && self.id == stat.id
            && self.len == stat.len
            && self.modified == stat.modified
    }
}

/// A file that was exchanged away.
pub(super) struct Late {
    pub(super) path: PathBuf,
    pub(super) modified: Option<SystemTime>,
    /// Whether all of its contents were applied.
    pub(super) is_taken: bool,
    /// Hash of its contents.
    pub(super) hash: String,
}

/// Limit for a folder, in addition to its newest file.
struct Bound {
    files: usize,
    bytes: u64,
}

impl BridgeStore {
    pub(super) fn new(disk: &Disk, folder: PathBuf) -> Self {
        Self {
            disk: disk.clone(),
            folder,
            read: Arc::default(),
        }
    }

    /// Creates missing folders. Anything in the place of one is moved aside; returns the new paths.
    pub(super) fn make_folders(&self) -> Result<Vec<PathBuf>, DiskError> {
        let mut displaced = Vec::new();
        for folder in self.folders() {
            if is_no_folder(&self.disk, &folder)? {
                displaced.push(displace(&self.disk, &folder)?);
            }
            if !self.disk.exists(&folder)? {
                self.disk.create_private_dir(&folder)?;
            }
        }
        if is_folder(&self.disk, &self.next())? {
            displaced.push(displace(&self.disk, &self.next())?);
        }
        Ok(displaced)
    }

    fn folders(&self) -> [PathBuf; 5] {
        let [shown, taken, late, rejected] =
            ["shown", "taken", "late", "rejected"].map(|name| self.folder.join(name));
        [self.folder.clone(), shown, taken, late, rejected]
    }

    /// Returns what is in the place of something of ours, and will be moved aside by the next sync.
    /// Changes nothing.
    pub(super) fn in_the_way(&self) -> Result<Vec<PathBuf>, DiskError> {
        let mut found = Vec::new();
        for folder in self.folders() {
            if is_no_folder(&self.disk, &folder)? {
                found.push(folder);
            }
        }
        // What would stand in a folder that is none cannot be looked at.
        if found.is_empty() && is_folder(&self.disk, &self.next())? {
            found.push(self.next());
        }
        Ok(found)
    }

    /// The first link in the place of one of the folders that leads to none, and is left alone. Changes nothing.
    pub(super) fn lost_link(&self) -> Result<Option<PathBuf>, DiskError> {
        for folder in self.folders() {
            if is_lost_link(&self.disk, &folder)? {
                return Ok(Some(folder));
            }
        }
        Ok(None)
    }

    /// Returns the paths that were moved aside.
    pub(super) fn displaced(&self) -> Result<Vec<PathBuf>, DiskError> {
        let is_there = self.disk.exists(&self.folder)? && !is_no_folder(&self.disk, &self.folder)?;
        if is_there {
            displaced_in(&self.disk, &self.folder)
        } else {
            Ok(Vec::new())
        }
    }

    /// Returns the path for the next projection before it is exchanged.
    pub(super) fn next(&self) -> PathBuf {
        self.folder.join(NEXT)
    }

    /// The projection of a revision.
    pub(super) fn shown(&self, revision: u64) -> PathBuf {
        self.folder
            .join("shown")
            .join(format!("{revision:020}.json"))
    }

    /// Returns the revision of the projection that these bytes are, if they are one of ours. Costs
    /// a stat of the projection, and a read of it if it has the same length.
    pub(super) fn revision_of(&self, bytes: &[u8]) -> Result<Option<u64>, DiskError> {
        let Some(revision) = revision_in(bytes) else {
            return Ok(None);
        };
        let path = self.shown(revision);
        let stat = self.disk.stat(&path)?;
        if stat.is_none_or(|stat| stat.len != bytes.len() as u64) {
            return Ok(None);
        }
        let shown = self.disk.read_if_there(&path)?;
        Ok(shown
            .is_some_and(|shown| shown == bytes)
            .then_some(revision))
    }

    /// Returns the last versions of the projection of a revision that were applied, oldest first.
    pub(super) fn taken(&self, revision: u64) -> Result<Vec<Document>, DiskError> {
        let folder = self.folder.join("taken");
        let of_it = format!("{revision:020}-");
        let mut found = Vec::new();
        for entry in self.disk.list_dir(&folder)? {
            let path = folder.join(&entry.name);
            if name_of(&path).starts_with(&of_it)
                && let Some(stat) = self.disk.stat(&path)?
            {
                found.push((stat.modified, path));
            }
        }
        found.sort();
        let mut documents = Vec::new();
        let surplus = found.len().saturating_sub(merge_base::MOST);
        for (_, path) in found.drain(surplus..) {
            let bytes = self.disk.read_if_there(&path)?;
            documents.extend(bytes.and_then(|bytes| Document::read(&bytes).ok()));
        }
        Ok(documents)
    }

    /// Keeps what was made of the projection of a revision and is taken over: another may go on with it. What holds a secret is
    /// not kept.
    pub(super) fn keep_taken(&self, revision: u64, bytes: &[u8]) -> Result<(), DiskError> {
        if !mask(&String::from_utf8_lossy(bytes)).found.is_empty() {
            return Ok(());
        }
        let name = format!("{revision:020}-{}.json", hash(bytes));
        let path = self.folder.join("taken").join(name);
        self.disk.replace_unsynced(&path, bytes, MODE)
    }

    /// Keeps bytes that are not taken over, without their secrets; the same bytes once.
    pub(super) fn reject(&self, bytes: &[u8]) -> Result<PathBuf, DiskError> {
        let text = String::from_utf8_lossy(bytes);
        let masked = mask(&text);
        let kept = if masked.found.is_empty() {
            bytes
        } else {
            masked.text.as_bytes()
        };
        let name = format!("{}.json", hash(kept));
        let path = self.folder.join("rejected").join(name);
        self.disk.replace(&path, kept, MODE)?;
        Ok(path)
    }

    /// Moves a file with these bytes aside, after its `taken` bytes were applied: another program
    /// may have it open and still write into it. A file that holds a secret is removed at once.
    /// Another process may have taken the file away already.
    pub(super) fn set_aside(
        &self,
        path: &Path,
        bytes: &[u8],
        taken: &[u8],
    ) -> Result<(), DiskError> {
        if !mask(&String::from_utf8_lossy(bytes)).found.is_empty() {
            return self.disk.remove_file(path).map(drop);
        }
        self.set_aside_as_it_is(path, taken)
    }

    /// Does the same without a check for secrets. This is for projections, which hold no secrets,
    /// and for files that are still being written, whose text would be lost otherwise. The latter
    /// are removed once they were applied.
    pub(super) fn set_aside_as_it_is(&self, path: &Path, taken: &[u8]) -> Result<(), DiskError> {
        match self.disk.rename(path, &self.late_name(taken, ".json")?) {
            Err(error) if error.is_absent() => Ok(()),
            done => done,
        }
    }

    /// Writes a standby copy of a projection into the folder of files that were exchanged away.
    /// Returns its path.
    pub(super) fn spare(&self, shown: &[u8]) -> Result<PathBuf, DiskError> {
        let new = self.folder.join("spare.json");
        self.disk.replace_unsynced(&new, shown, MODE)?;
        let path = self.late_name(shown, SPARE)?;
        self.disk.rename(&new, &path)?;
        Ok(path)
    }

    /// Returns the folder of the files that were exchanged away.
    pub(super) fn late_folder(&self) -> PathBuf {
        self.folder.join("late")
    }

    /// A free name for a file that was exchanged away, which begins with what was taken over of it. Another that held the same
    /// may still be written into.
    fn late_name(&self, bytes: &[u8], end: &str) -> Result<PathBuf, DiskError> {
        let (folder, hash) = (self.late_folder(), hash(bytes));
        let mut path = folder.join(format!("{hash}{end}"));
        let mut nth = 2;
        while self.disk.exists(&path)? {
            path = folder.join(format!("{hash}-{nth}{end}"));
            nth += 1;
        }
        Ok(path)
    }

    /// The paths of the files that were exchanged away. Reads none of them.
    pub(super) fn late_paths(&self) -> Result<Vec<PathBuf>, DiskError> {
        let folder = self.late_folder();
        let entries = self.disk.list_dir(&folder)?.into_iter();
        let entries = entries.filter(|entry| entry.kind == EntryKind::File);
        Ok(entries.map(|entry| folder.join(entry.name)).collect())
    }

    /// The files that were exchanged away, the newest first. Reads those that may have changed since they were read.
    pub(super) fn late(&self) -> Result<Vec<Late>, DiskError> {
        let known = std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner));
        let mut unchanged = HashMap::new();
        let mut late = Vec::new();
        for path in self.late_paths()? {
            let Some(before) = self.disk.stat(&path)? else {
                continue;
            };
            let is_clearly_before =
                matches!(before.modified.elapsed(), Ok(age) if age > CLEARLY_BEFORE);
            let known = known.get(&path).filter(|known| known.is(&before));
            let hash = if let Some(known) = known {
                known.hash.clone()
            } else if let Some(bytes) = self.disk.read_if_there(&path)? {
                hash(&bytes)
            } else {
                continue;
            };
            if is_clearly_before {
                let read = Unchanged {
                    id: before.id,
                    len: before.len,
                    modified: before.modified,
                    hash: hash.clone(),
                };
                unchanged.insert(path.clone(), read);
            }
            late.push(Late {
                is_taken: name_of(&path).starts_with(&hash),
                path,
                modified: Some(before.modified),
                hash,
            });
        }
        late.sort_by_key(|late| std::cmp::Reverse(late.modified));
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = unchanged;
        Ok(late)
    }

    /// Removes files past their limits, oldest first, and files that no one writes into any more. A
    /// file that another program has open for writing stays.
    pub(super) fn tidy(&self, now: SystemTime) -> Result<(), DiskError> {
        let mut is_any_old = false;
        for path in self.late_paths()? {
            let stat = self.disk.stat(&path)?;
            let age = stat.map(|stat| now.duration_since(stat.modified));
            let is_spare = name_of(&path).ends_with(SPARE);
            is_any_old |= !is_spare && matches!(age, Some(Ok(age)) if age > LATEST);
        }
        for late in if is_any_old { self.late()? } else { Vec::new() } {
            let age = late.modified.map(|modified| now.duration_since(modified));
            let is_spare = name_of(&late.path).ends_with(SPARE);
            let is_old = matches!(age, Some(Ok(age)) if age > LATEST);
            if late.is_taken && !is_spare && is_old && !self.is_being_written(&late.path)? {
                self.disk.remove_file(&late.path)?;
            }
        }
        self.bound("late", &MOST_LATE, |path| self.is_being_written(path))?;
        self.bound("rejected", &MOST_REJECTED, |_| Ok(false))?;
        self.bound("taken", &MOST_TAKEN, |_| Ok(false))?;
        self.bound("shown", &MOST_SHOWN, |_| Ok(false))
    }

    fn is_being_written(&self, path: &Path) -> Result<bool, DiskError> {
        Ok(self.disk.is_being_written(path)? == Some(true))
    }

    fn bound(
        &self,
        name: &str,
        most: &Bound,
        stays: impl Fn(&Path) -> Result<bool, DiskError>,
    ) -> Result<(), DiskError> {
        let folder = self.folder.join(name);
        let mut files = Vec::new();
        for entry in self.disk.list_dir(&folder)? {
            let path = folder.join(&entry.name);
            if let Some(stat) = self.disk.stat(&path)?
                && stat.kind == EntryKind::File
            {
                files.push((stat.modified, path, stat.len));
            }
        }
        files.sort();
        let mut bytes = 0;
        for (at, (_, path, len)) in files.iter().rev().enumerate() {
            bytes += len;
            let is_past = at > 0 && (at >= most.files || bytes > most.bytes);
            if is_past && !stays(path)? {
                self.disk.remove_file(path)?;
            }
        }
        Ok(())
    }
}

fn name_of(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Returns the revision that bytes of ours claim, without parsing them as JSON: it has a line of
/// its own, after all text of others.
fn revision_in(bytes: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\n  \"revision\": ";
    let at = bytes.windows(KEY.len()).rposition(|window| window == KEY)?;
    let digits = bytes.get(at + KEY.len()..)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

/// A short name for bytes.
pub(super) fn hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
    digits.collect()
}
