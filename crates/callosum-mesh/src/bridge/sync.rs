//! [`Bridge`]: brings the file and the log in line.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use callosum_host::{Disk, DiskError};
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{Conflict, Document, NoDocument, drop_ins, merge};
use crate::{
    agent::AgentName,
    board::Order,
    event::Draft,
    mesh::{Mesh, MeshError, Orders, Voice, us},
};

/// The file, in the mesh's folder (Seed CALC §4, layer 3).
pub const FILE: &str = "orchestrator_bridge.json";

/// The folder of additions, beside it.
pub const DROP_INS: &str = "bridge.d";

/// What the bridge itself keeps, beside it.
const KEPT: &str = "bridge";

/// Permission bits: what agents tell one another is their user's alone.
const MODE: u32 = 0o600;

/// Projections that are remembered, for those who began with one of them.
const MOST_SHOWN: usize = 256;

/// Files that were exchanged away are looked at for so long: somebody may still write into one.
const MOST_LATE: usize = 4;

/// How long it is waited for somebody who still writes the file.
const SETTLING: Duration = Duration::from_millis(200);

/// The pause between two looks meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// So often the file may change while it is exchanged before the rest is left to the next time.
const MOST_ROUNDS: usize = 8;

/// What came of bringing file and log in line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// Edits that were taken over.
    pub edits: usize,
    /// What was not.
    pub conflicts: Vec<Conflict>,
    /// Files that were no document, and are kept elsewhere.
    pub rejected: Vec<Rejected>,
    /// Whether the file was written.
    pub is_written: bool,
}

/// A file that was no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The file.
    pub path: PathBuf,
    /// Where its bytes are kept.
    pub kept: PathBuf,
    /// What is wrong with it.
    pub error: NoDocument,
}

/// The bridge file and what belongs to it.
#[derive(Clone, Debug)]
pub struct Bridge {
    pub(super) disk: Disk,
    file: PathBuf,
    drop_ins: PathBuf,
    kept: PathBuf,
}

/// What stands in the file.
enum Found {
    /// Nothing: it was never written, or somebody removed it.
    Nothing,
    /// What we wrote.
    Ours { revision: u64, bytes: Vec<u8> },
    /// What somebody made of it.
    Theirs { document: Document, bytes: Vec<u8> },
    /// No document.
    Broken { error: NoDocument, bytes: Vec<u8> },
}

impl Bridge {
    /// The bridge of the mesh in this folder.
    pub fn of(disk: &Disk, mesh: &Mesh) -> Self {
        let folder = mesh.folder();
        Self {
            disk: disk.clone(),
            file: folder.join(FILE),
            drop_ins: folder.join(DROP_INS),
            kept: folder.join(KEPT),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The folder of additions.
    pub fn drop_ins(&self) -> &Path {
        &self.drop_ins
    }

    /// Takes over what somebody wrote into the file, into files that were exchanged away, and into the
    /// folder of additions; then shows how the board stands.
    ///
    /// Nothing that somebody wrote is lost: what is no JSON, and what cannot be taken over, is kept
    /// and told of, and its author gets a message. The file is exchanged and not replaced, so that
    /// bytes that arrive meanwhile are found afterwards. One who still writes is waited for, up to
    /// 0.2 s.
    pub fn sync(&self, mesh: &mut Mesh) -> Result<Synced, MeshError> {
        self.make_folders()?;
        let found = self.settled(&self.file)?;
        let late = self.late()?;
        let drop_ins = drop_ins::found(&self.disk, &self.drop_ins)?;
        let is_quiet = matches!(&found, Found::Ours { revision, .. } if mesh.board()?.rev == *revision)
            && late.iter().all(|late| late.is_taken)
            && drop_ins.is_empty();
        if is_quiet {
            return Ok(Synced::default());
        }
        let mut synced = Synced::default();
        let mut taken = Vec::new();
        mesh.in_turn(|orders| {
            for late in late.iter().filter(|late| !late.is_taken) {
                let found = self.read(&late.path)?;
                if matches!(found, Found::Broken { .. }) && late.is_fresh(orders.now()) {
                    continue;
                }
                self.take(&found, &late.path, orders, &mut synced)?;
                taken.push((late.path.clone(), found.into_bytes()));
            }
            let mut added = Vec::new();
            for path in &drop_ins {
                added.extend(self.add(path, orders, &mut synced)?);
            }
            self.take(&found, &self.file, orders, &mut synced)?;
            self.show(found, orders, &mut synced)?;
            taken.extend(added.into_iter().map(|path| (path, None)));
            Ok(())
        })?;
        // What is in the log and synced is no longer needed where it came from.
        for (path, bytes) in taken {
            match bytes {
                Some(bytes) => self.disk.rename(&path, &self.late_name(&bytes))?,
                None => drop(self.disk.remove_file(&path)?),
            }
        }
        self.tidy()?;
        Ok(synced)
    }

    /// Everything that somebody may write to.
    pub(super) fn watched(&self) -> Result<Vec<PathBuf>, DiskError> {
        let mut paths = drop_ins::found(&self.disk, &self.drop_ins)?;
        let late = self.kept.join("late");
        let kept = self.disk.list_dir(&late)?.into_iter();
        paths.extend(kept.map(|entry| late.join(entry.name)));
        paths.sort();
        paths.push(self.file.clone());
        Ok(paths)
    }

    fn make_folders(&self) -> Result<(), DiskError> {
        for folder in [
            &self.drop_ins,
            &self.kept,
            &self.kept.join("shown"),
            &self.kept.join("late"),
            &self.kept.join("rejected"),
        ] {
            if !self.disk.exists(folder)? {
                self.disk.create_private_dir(folder)?;
            }
        }
        Ok(())
    }

    /// What stands in a file once nobody writes it any more.
    fn settled(&self, path: &Path) -> Result<Found, DiskError> {
        let started = Instant::now();
        loop {
            let found = self.read(path)?;
            let may_be_written = match &found {
                Found::Broken { error, bytes } => {
                    bytes.is_empty() || matches!(error, NoDocument::NoJson { is_cut: true, .. })
                }
                _ => false,
            };
            if !may_be_written || started.elapsed() > SETTLING {
                return Ok(found);
            }
            thread::sleep(PAUSE);
        }
    }

    fn read(&self, path: &Path) -> Result<Found, DiskError> {
        let Some(bytes) = self.disk.read_if_there(path)? else {
            return Ok(Found::Nothing);
        };
        let document = match Document::read(&bytes) {
            Ok(document) => document,
            Err(error) => return Ok(Found::Broken { error, bytes }),
        };
        if let Some(revision) = document.revision()
            && self.disk.read_if_there(&self.shown(revision))? == Some(bytes.clone())
        {
            return Ok(Found::Ours { revision, bytes });
        }
        Ok(Found::Theirs { document, bytes })
    }

    /// Takes over what somebody wrote.
    fn take(
        &self,
        found: &Found,
        path: &Path,
        orders: &mut Orders<'_, '_>,
        synced: &mut Synced,
    ) -> Result<(), MeshError> {
        match found {
            Found::Nothing | Found::Ours { .. } => Ok(()),
            Found::Theirs { document, .. } => {
                let base = match document.revision() {
                    Some(revision) => self.disk.read_if_there(&self.shown(revision))?,
                    None => None,
                };
                let base = base.and_then(|bytes| Document::read(&bytes).ok());
                merge_in(base.as_ref(), document, orders, synced)
            }
            Found::Broken { error, bytes } => self.reject(path, error, bytes, orders, synced),
        }
    }

    fn reject(
        &self,
        path: &Path,
        error: &NoDocument,
        bytes: &[u8],
        orders: &mut Orders<'_, '_>,
        synced: &mut Synced,
    ) -> Result<(), MeshError> {
        let name = format!("{}-{}.json", orders.board().seq, hash(bytes));
        let kept = self.kept.join("rejected").join(name);
        self.disk.replace(&kept, bytes, MODE)?;
        let said = error.to_string();
        let told = json!({ "file": path.to_string_lossy(), "kept": kept.to_string_lossy(), "reason": said });
        tell(orders, "bridge.rejected", told)?;
        if let Some(author) = author_of(bytes) {
            let content = format!(
                "{} was no JSON and was not taken over: {said}. Your bytes are in {}",
                path.display(),
                kept.display()
            );
            write_to(orders, &author, content)?;
        }
        synced.rejected.push(Rejected {
            path: path.to_owned(),
            kept,
            error: error.clone(),
        });
        Ok(())
    }

    /// Takes over an addition; whether it may be removed.
    fn add(
        &self,
        path: &Path,
        orders: &mut Orders<'_, '_>,
        synced: &mut Synced,
    ) -> Result<Option<PathBuf>, MeshError> {
        match self.read(path)? {
            Found::Nothing => Ok(None),
            Found::Ours { .. } => Ok(Some(path.to_owned())),
            Found::Theirs { document, .. } => {
                merge_in(None, &document, orders, synced)?;
                Ok(Some(path.to_owned()))
            }
            Found::Broken { error, bytes } => {
                let modified = self.disk.stat(path)?.map(|stat| stat.modified);
                if is_fresh(modified, orders.now()) {
                    return Ok(None);
                }
                self.reject(path, &error, &bytes, orders, synced)?;
                Ok(Some(path.to_owned()))
            }
        }
    }

    /// Shows the board in the file, and takes over what somebody wrote there since it was read.
    fn show(
        &self,
        found: Found,
        orders: &mut Orders<'_, '_>,
        synced: &mut Synced,
    ) -> Result<(), MeshError> {
        let mut found = found;
        for _ in 0..MOST_ROUNDS {
            let revision = orders.board().rev;
            if matches!(&found, Found::Ours { revision: shown, .. } if *shown == revision) {
                return Ok(());
            }
            let bytes = Document::of(orders.board()).to_bytes();
            // Who reads the file the moment that it stands there can already be told from us.
            self.disk
                .replace_unsynced(&self.shown(revision), &bytes, MODE)?;
            let new = self.kept.join("next.json");
            self.disk.replace_unsynced(&new, &bytes, MODE)?;
            synced.is_written = true;
            let old = found.into_bytes();
            match self.disk.exchange(&new, &self.file) {
                Ok(()) => {}
                Err(error) if error.is_absent() || error.is_unsupported() => {
                    self.disk.rename(&new, &self.file)?;
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
            let gone = self.settled(&new)?;
            if gone.bytes() != old.as_deref() {
                self.take(&gone, &self.file, orders, synced)?;
            }
            if let Some(bytes) = gone.into_bytes() {
                self.disk.rename(&new, &self.late_name(&bytes))?;
            }
            found = self.read(&self.file)?;
            if !matches!(found, Found::Ours { .. }) {
                found = self.settled(&self.file)?;
                self.take(&found, &self.file, orders, synced)?;
            }
        }
        Ok(())
    }

    fn shown(&self, revision: u64) -> PathBuf {
        self.kept.join("shown").join(format!("{revision:020}.json"))
    }

    /// Where a file that was exchanged away is kept, named for the bytes that were taken over.
    fn late_name(&self, bytes: &[u8]) -> PathBuf {
        self.kept.join("late").join(format!("{}.json", hash(bytes)))
    }

    fn late(&self) -> Result<Vec<Late>, DiskError> {
        let folder = self.kept.join("late");
        let mut late = Vec::new();
        for entry in self.disk.list_dir(&folder)? {
            let path = folder.join(&entry.name);
            let Some(bytes) = self.disk.read_if_there(&path)? else {
                continue;
            };
            let modified = self.disk.stat(&path)?.map(|stat| stat.modified);
            late.push(Late {
                is_taken: self.late_name(&bytes) == path,
                path,
                modified,
            });
        }
        late.sort_by_key(|late| std::cmp::Reverse(late.modified));
        Ok(late)
    }

    /// Forgets projections and exchanged files past their number, the oldest first.
    fn tidy(&self) -> Result<(), DiskError> {
        for late in self.late()?.into_iter().skip(MOST_LATE) {
            if late.is_taken {
                self.disk.remove_file(&late.path)?;
            }
        }
        let folder = self.kept.join("shown");
        let mut shown = self.disk.list_dir(&folder)?;
        if shown.len() > MOST_SHOWN * 2 {
            shown.sort_by(|one, other| one.name.cmp(&other.name));
            let surplus = shown.len() - MOST_SHOWN;
            for entry in &shown[..surplus] {
                self.disk.remove_file(&folder.join(&entry.name))?;
            }
        }
        Ok(())
    }
}

/// Takes over what somebody made of a projection, and tells of what cannot be.
fn merge_in(
    base: Option<&Document>,
    theirs: &Document,
    orders: &mut Orders<'_, '_>,
    synced: &mut Synced,
) -> Result<(), MeshError> {
    let merged = merge(base, theirs, orders.board());
    let mut conflicts = merged.conflicts;
    for edit in merged.edits {
        let voice = Voice::of(edit.by.clone());
        let item = subject(&edit.order);
        match orders.give(edit.order, &voice, edit.at) {
            Ok(events) => synced.edits += usize::from(!events.is_empty()),
            Err(MeshError::Refused(refusal)) => conflicts.push(Conflict {
                by: edit.by,
                item,
                reason: refusal.to_string(),
            }),
            Err(error) => return Err(error),
        }
    }
    for conflict in &conflicts {
        let told = json!({
            "by": conflict.by, "item": conflict.item, "reason": conflict.reason,
        });
        tell(orders, "bridge.conflict", told)?;
        let content = format!("{}: {}", conflict.item, conflict.reason);
        write_to(orders, &conflict.by, content)?;
    }
    synced.conflicts.extend(conflicts);
    Ok(())
}

/// A file that was exchanged away.
struct Late {
    path: PathBuf,
    modified: Option<SystemTime>,
    /// Whether all that stands in it was taken over.
    is_taken: bool,
}

impl Late {
    fn is_fresh(&self, now: Timestamp) -> bool {
        is_fresh(self.modified, now)
    }
}

/// Whether somebody may still be writing a file that was changed then.
fn is_fresh(modified: Option<SystemTime>, now: Timestamp) -> bool {
    let age = modified.map(|modified| SystemTime::from(now).duration_since(modified));
    matches!(age, Some(Ok(age)) if age < drop_ins::STILL_WRITTEN)
}

impl Found {
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Nothing => None,
            Self::Ours { bytes, .. } | Self::Theirs { bytes, .. } | Self::Broken { bytes, .. } => {
                Some(bytes)
            }
        }
    }

    fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Nothing => None,
            Self::Ours { bytes, .. } | Self::Theirs { bytes, .. } | Self::Broken { bytes, .. } => {
                Some(bytes)
            }
        }
    }
}

/// What an order is about, as a conflict names it.
fn subject(order: &Order) -> String {
    match order {
        Order::Add(task) => format!("task_queue `{}`", task.id),
        Order::Claim { task, .. } => {
            format!("task_queue `{}`", task.as_deref().unwrap_or_default())
        }
        Order::Release { task, .. }
        | Order::Complete { task, .. }
        | Order::Cancel { task, .. }
        | Order::Change { task, .. } => format!("task_queue `{task}`"),
        Order::Send { id, .. } => format!("messages `{id}`"),
        Order::Move { message, .. } | Order::Retry { message } => format!("messages `{message}`"),
        Order::Share { id, .. } => format!("discoveries `{id}`"),
        Order::Forget { discovery } => format!("discoveries `{discovery}`"),
        Order::Lease { path, .. } | Order::Unlease { path, .. } => format!("lease of {path}"),
        Order::SetField { key, .. } => key.clone(),
    }
}

/// Appends an event of the bridge itself.
fn tell(
    orders: &mut Orders<'_, '_>,
    topic: &str,
    payload: serde_json::Value,
) -> Result<(), MeshError> {
    let topic = topic.parse().expect("it is a topic");
    let payload = match payload {
        serde_json::Value::Object(payload) => payload,
        _ => serde_json::Map::new(),
    };
    orders.tell(Draft::new(topic, us()).with_payload(payload))?;
    Ok(())
}

/// Tells an author, where it is known, what became of what it wrote.
fn write_to(orders: &mut Orders<'_, '_>, to: &AgentName, content: String) -> Result<(), MeshError> {
    if to.as_str() == "unknown" {
        return Ok(());
    }
    let id = format!("bridge-{}", hash(format!("{to} {content}").as_bytes()));
    let order = Order::Send {
        id,
        to: to.clone(),
        content,
        reply_to: None,
        ttl_seconds: None,
    };
    orders.give(order, &Voice::of(us()), None)?;
    Ok(())
}

/// Who wrote bytes that are no JSON, where the key stands in them all the same.
fn author_of(bytes: &[u8]) -> Option<AgentName> {
    let text = String::from_utf8_lossy(bytes);
    let (_, rest) = text.split_once("\"last_writer\"")?;
    let (_, rest) = rest.split_once('"')?;
    let (name, _) = rest.split_once('"')?;
    name.parse().ok()
}

fn hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
    digits.collect()
}
