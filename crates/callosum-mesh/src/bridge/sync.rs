//! [`Bridge`]: brings the file and the log in line.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use callosum_host::{Disk, DiskError, disk::EntryKind};

use super::{
    Conflict, Document, NoDocument, Stray,
    apply::{author_of, merge_in, report_overwritten, report_rejected},
    drop_ins,
    file_version::{FileVersion, is_fresh},
    merge_base::{changes_values, nearest},
    store::{BridgeStore, MODE},
    write_delay::WriteDelay,
};
use crate::{
    agent::AgentName,
    mesh::Mesh,
    mesh_error::MeshError,
    quarantine::{displaced_in, is_lost_link},
    transaction::Transaction,
};

/// The file, in the mesh's folder (Seed CALC §4, layer 3).
pub const FILE: &str = "orchestrator_bridge.json";

/// Folder of additions, next to the file.
pub const DROP_INS: &str = "bridge.d";

/// Folder of the bridge's own files, next to the file.
pub const KEPT: &str = "bridge";

/// Pause between two looks for an author who continues to write.
const GLANCE: Duration = Duration::from_millis(1);

/// Most exchanges of a file that changes each time. The rest is left to the next sync.
const MOST_ROUNDS: usize = 8;

/// For so long one turn goes on with the next of the files that were exchanged away.
const MOST_OF_A_TURN: Duration = Duration::from_millis(100);

/// Result of a sync of file and log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// Edits that were taken over.
    pub edits: usize,
    /// Edits that were not applied.
    pub conflicts: Vec<Conflict>,
    /// Files that were no document, and are kept elsewhere.
    pub rejected: Vec<Rejected>,
    /// Whether the file was written.
    pub is_written: bool,
    /// Whether a link, a folder or another non-file is in the file's place. It is left alone.
    pub is_no_file: bool,
    /// New paths of what was in the place of something of ours.
    pub displaced: Vec<PathBuf>,
}

impl Synced {
    /// Whether there were no edits of others.
    pub fn is_quiet(&self) -> bool {
        self.edits == 0 && self.conflicts.is_empty() && self.rejected.is_empty()
    }

    /// Adds the result of a later sync.
    fn absorb(&mut self, other: Self) {
        self.edits += other.edits;
        self.conflicts.extend(other.conflicts);
        self.rejected.extend(other.rejected);
        self.is_written |= other.is_written;
        self.is_no_file = other.is_no_file;
        self.displaced.extend(other.displaced);
    }
}

/// A file that was no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The file.
    pub path: PathBuf,
    /// Path of the copy of its bytes.
    pub kept: PathBuf,
    /// Reason for the rejection.
    pub error: NoDocument,
    /// Author, if the file names one.
    pub by: Option<AgentName>,
}

/// The bridge file and what belongs to it.
#[derive(Clone, Debug)]
pub struct Bridge {
    pub(super) disk: Disk,
    file: PathBuf,
    drop_ins: PathBuf,
    pub(super) kept: BridgeStore,
    before_replace: BeforeReplace,
}

/// Callback for a file before it replaces the bridge file.
#[derive(Clone, Default)]
struct BeforeReplace(Option<Arc<Tell>>);

type Tell = dyn Fn(&Path) + Send + Sync;

impl fmt::Debug for BeforeReplace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Told").field(&self.0.is_some()).finish()
    }
}

impl Bridge {
    /// The bridge of the mesh in this folder.
    pub fn of(disk: &Disk, mesh: &Mesh) -> Self {
        let folder = mesh.folder();
        Self {
            disk: disk.clone(),
            file: folder.join(FILE),
            drop_ins: folder.join(DROP_INS),
            kept: BridgeStore::new(disk, folder.join(KEPT)),
            before_replace: BeforeReplace::default(),
        }
    }

    /// Returns the same bridge with a callback. It gets the path of each file that is about to
    /// replace the bridge file.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&Path) + Send + Sync + 'static) -> Self {
        Self {
            before_replace: BeforeReplace(Some(Arc::new(tell))),
            ..self
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

    /// Returns the additions that are not applied yet, and other files in their folder, which are
    /// left alone. Changes nothing.
    pub fn waiting(&self) -> Result<(Vec<PathBuf>, Vec<Stray>), DiskError> {
        if !self.disk.exists(&self.drop_ins)? {
            return Ok((Vec::new(), Vec::new()));
        }
        let found = drop_ins::found(&self.disk, &self.drop_ins)?;
        Ok((found.files, found.strays))
    }

    /// Applies edits of the file, of files that were exchanged away, and of the folder of
    /// additions. Then writes the board to the file.
    ///
    /// No edit is lost: invalid JSON and edits that cannot be applied are kept and reported, and
    /// their author gets a message. The file is exchanged and not replaced, so that bytes that
    /// arrive during the sync are found afterwards. Waits up to 0.2 s for an author who is still
    /// writing.
    pub fn sync(&self, mesh: &mut Mesh) -> Result<Synced, MeshError> {
        self.bring_in_line(mesh, &[], 0, None)
    }

    /// Does the same, and first applies earlier contents of the file, oldest first: text that
    /// another author has overwritten since. Reports the number of overwritten texts that no one
    /// has read as conflicts of an unidentified author. Leaves text in place for a moment if
    /// someone has just written it.
    pub fn sync_with(
        &self,
        mesh: &mut Mesh,
        before: &[Vec<u8>],
        overwritten: usize,
        resting: &mut WriteDelay,
    ) -> Result<Synced, MeshError> {
        self.bring_in_line(mesh, before, overwritten, Some(resting))
    }

    fn bring_in_line(
        &self,
        mesh: &mut Mesh,
        before: &[Vec<u8>],
        overwritten: usize,
        mut resting: Option<&mut WriteDelay>,
    ) -> Result<Synced, MeshError> {
        let displaced = self.make_folders()?;
        let is_file = self.is_file()?;
        let found = if is_file {
            self.settled(&self.file)?
        } else {
            FileVersion::Nothing
        };
        let late = self.kept.late()?;
        let before = self.written_before(before, found.bytes(), &late)?;
        let drop_ins = drop_ins::found(&self.disk, &self.drop_ins)?.files;
        let is_known = match (&found, &mut resting) {
            (FileVersion::Theirs { bytes, .. }, Some(resting)) => resting.knows(bytes),
            (_, Some(resting)) => {
                resting.end();
                false
            }
            _ => false,
        };
        let is_left = is_known && resting.as_ref().is_some_and(|resting| !resting.is_over());
        let is_elsewhere = !before.is_empty() || late.iter().any(|late| !late.is_taken);
        if let Some(resting) = resting.as_mut().filter(|_| is_elsewhere) {
            resting.heard();
        }
        let is_shown = match &found {
            FileVersion::Theirs { .. } => is_left,
            FileVersion::Ours { revision, .. } => mesh.board()?.rev == *revision,
            FileVersion::Unfinished { .. } => true,
            _ => !is_file,
        };
        let is_quiet = is_shown
            && before.is_empty()
            && overwritten == 0
            && late.iter().all(|late| late.is_taken)
            && drop_ins.is_empty();
        let mut synced = Synced {
            is_no_file: !is_file,
            displaced,
            ..Synced::default()
        };
        if is_quiet {
            self.kept.tidy(mesh.journal().now().into())?;
            return Ok(synced);
        }
        let mut taken = Vec::new();
        let mut dropped = Vec::new();
        mesh.in_turn(|orders| {
            let begun = Instant::now();
            for late in late.iter().filter(|late| !late.is_taken) {
                // The rest waits for the next time, because no one else can append during a turn.
                if begun.elapsed() > MOST_OF_A_TURN {
                    break;
                }
                let mut found = self.read(&late.path)?;
                if matches!(found, FileVersion::Broken { .. }) {
                    let is_open = self.disk.is_being_written(&late.path)? == Some(true);
                    if is_open || is_fresh(late.modified, orders.now()) {
                        continue;
                    }
                    found = self.read(&late.path)?;
                }
                self.take(&found, &late.path, orders, &mut synced)?;
                taken.push((late.path.clone(), found.into_bytes()));
            }
            let mut added = Vec::new();
            for path in &drop_ins {
                added.extend(self.add(path, orders, &mut synced)?);
            }
            for found in &before {
                let is_taken =
                    |(_, bytes): &(PathBuf, Option<Vec<u8>>)| bytes.as_deref() == found.bytes();
                if !taken.iter().any(is_taken) {
                    self.take(found, &self.file, orders, &mut synced)?;
                }
            }
            if !is_known {
                self.take(&found, &self.file, orders, &mut synced)?;
            }
            report_overwritten(overwritten, orders, &mut synced)?;
            if is_file {
                self.show(found, resting, orders, &mut synced)?;
            }
            dropped = added;
            Ok(())
        })?;
        // What is in the log and synced is no longer needed where it came from.
        for (path, bytes) in taken {
            match bytes {
                Some(bytes) => self.kept.set_aside(&path, &bytes, &bytes)?,
                None => drop(self.disk.remove_file(&path)?),
            }
        }
        for (path, bytes) in dropped {
            // Someone may have put another file there since, which the next sync applies.
            if self.disk.read_if_there(&path)?.as_deref() == Some(&*bytes) {
                self.disk.remove_file(&path)?;
            }
        }
        self.kept.tidy(mesh.journal().now().into())?;
        Ok(synced)
    }

    /// Returns all paths that others may write to.
    pub(super) fn watched(&self) -> Result<Vec<PathBuf>, DiskError> {
        let mut paths = drop_ins::found(&self.disk, &self.drop_ins)?.files;
        paths.extend(self.kept.late_paths()?);
        paths.sort();
        paths.push(self.file.clone());
        Ok(paths)
    }

    /// Does the same, and continues as long as someone writes: until no one has written for
    /// `quiet`, at most for `most`. This catches more of what several authors write within moments.
    pub fn sync_until_quiet(
        &self,
        mesh: &mut Mesh,
        quiet: Duration,
        most: Duration,
    ) -> Result<Synced, MeshError> {
        let started = Instant::now();
        let mut all = self.sync(mesh)?;
        if all.is_quiet() {
            return Ok(all);
        }
        let mut last_edit = Instant::now();
        let mut seen = self.disk.stat(&self.file)?;
        while last_edit.elapsed() < quiet && started.elapsed() < most {
            thread::sleep(GLANCE);
            if self.disk.stat(&self.file)? == seen {
                continue;
            }
            let synced = self.sync(mesh)?;
            seen = self.disk.stat(&self.file)?;
            if !synced.is_quiet() {
                last_edit = Instant::now();
            }
            all.absorb(synced);
        }
        all.absorb(self.sync(mesh)?);
        Ok(all)
    }

    /// Whether the file is a regular file, or missing.
    fn is_file(&self) -> Result<bool, DiskError> {
        let stat = self.disk.stat(&self.file)?;
        Ok(stat.is_none_or(|stat| stat.kind == EntryKind::File))
    }

    /// Returns what is in the place of something that we keep next to the file, and will be moved
    /// aside by the next sync. Also returns what was moved aside before. Changes nothing.
    pub fn in_the_way(&self) -> Result<(Vec<PathBuf>, Vec<PathBuf>), DiskError> {
        let mut displaced = self.kept.displaced()?;
        if let Some(folder) = self.file.parent() {
            displaced.splice(..0, displaced_in(&self.disk, folder)?);
        }
        Ok((self.kept.in_the_way()?, displaced))
    }

    /// A link that leads to no folder where one of ours should be, so that nothing can be brought in line. Changes nothing.
    pub fn lost_link(&self) -> Result<Option<PathBuf>, DiskError> {
        match self.kept.lost_link()? {
            None if is_lost_link(&self.disk, &self.drop_ins)? => Ok(Some(self.drop_ins.clone())),
            found => Ok(found),
        }
    }

    fn make_folders(&self) -> Result<Vec<PathBuf>, DiskError> {
        if !self.disk.exists(&self.drop_ins)? {
            self.disk.create_private_dir(&self.drop_ins)?;
        }
        self.kept.make_folders()
    }

    /// Applies what someone wrote.
    fn take(
        &self,
        found: &FileVersion,
        path: &Path,
        orders: &mut Transaction<'_, '_>,
        synced: &mut Synced,
    ) -> Result<(), MeshError> {
        match found {
            FileVersion::Nothing | FileVersion::Ours { .. } | FileVersion::Unfinished { .. } => {
                Ok(())
            }
            FileVersion::Theirs { document, bytes } => {
                match self.take_document(document, orders, synced)? {
                    Some(revision) => Ok(self.kept.keep_taken(revision, bytes)?),
                    None => Ok(()),
                }
            }
            FileVersion::Broken { error, bytes } => {
                // Of two who wrote it at once the last may be whole, before the rest of a longer one.
                let beginning = Document::beginning(bytes);
                if let Some(document) = beginning.filter(|whole| whole.revision().is_some()) {
                    self.take_document(&document, orders, synced)?;
                }
                self.reject(path, error, bytes, None, orders, synced)
            }
        }
    }

    /// Applies an edited projection. Returns its revision if it is known and remembered.
    fn take_document(
        &self,
        document: &Document,
        orders: &mut Transaction<'_, '_>,
        synced: &mut Synced,
    ) -> Result<Option<u64>, MeshError> {
        let revision = document.revision();
        let base = match revision {
            Some(revision) => self.disk.read_if_there(&self.kept.shown(revision))?,
            None => None,
        };
        let base = base.and_then(|bytes| Document::read(&bytes).ok());
        let (Some(revision), Some(base)) = (revision, base) else {
            merge_in(&self.kept, None, None, document, orders, synced)?;
            return Ok(None);
        };
        let is_known_task = |id: &str| orders.board().task(id).is_some();
        let taken = if changes_values(document, &base, is_known_task) {
            self.kept.taken(revision)?
        } else {
            Vec::new()
        };
        let found = nearest(document, &base, &taken);
        merge_in(&self.kept, Some(&base), found, document, orders, synced)?;
        Ok(Some(revision))
    }

    fn reject(
        &self,
        path: &Path,
        error: &NoDocument,
        bytes: &[u8],
        owner: Option<AgentName>,
        orders: &mut Transaction<'_, '_>,
        synced: &mut Synced,
    ) -> Result<(), MeshError> {
        let kept = self.kept.reject(bytes)?;
        let by = author_of(bytes).or(owner);
        report_rejected(orders, by.as_ref(), path, &kept, error)?;
        synced.rejected.push(Rejected {
            path: path.to_owned(),
            kept,
            error: error.clone(),
            by,
        });
        Ok(())
    }

    /// Returns the agent whose folder of additions a file is in, if it is in one.
    fn owner_of(&self, path: &Path) -> Option<AgentName> {
        let folder = path.parent().filter(|folder| *folder != self.drop_ins)?;
        let owner = folder.file_name()?.to_str()?;
        AgentName::of_speaker(owner).ok()
    }

    /// Takes over an addition; it may be removed then, as long as these are its bytes.
    fn add(
        &self,
        path: &Path,
        orders: &mut Transaction<'_, '_>,
        synced: &mut Synced,
    ) -> Result<Option<(PathBuf, Vec<u8>)>, MeshError> {
        match self.read(path)? {
            FileVersion::Nothing | FileVersion::Unfinished { .. } => Ok(None),
            FileVersion::Ours { bytes, .. } => Ok(Some((path.to_owned(), bytes))),
            FileVersion::Theirs { document, bytes } => {
                let document = document.added_by(self.owner_of(path));
                merge_in(&self.kept, None, None, &document, orders, synced)?;
                Ok(Some((path.to_owned(), bytes)))
            }
            FileVersion::Broken { error, bytes } => {
                let modified = self.disk.stat(path)?.map(|stat| stat.modified);
                if is_fresh(modified, orders.now()) {
                    return Ok(None);
                }
                let owner = self.owner_of(path);
                self.reject(path, &error, &bytes, owner, orders, synced)?;
                Ok(Some((path.to_owned(), bytes)))
            }
        }
    }

    /// Writes the board to the file, and applies edits that were made there since it was read.
    fn show(
        &self,
        found: FileVersion,
        mut resting: Option<&mut WriteDelay>,
        orders: &mut Transaction<'_, '_>,
        synced: &mut Synced,
    ) -> Result<(), MeshError> {
        let mut found = found;
        for _ in 0..MOST_ROUNDS {
            let revision = orders.board().rev;
            let is_left = match &found {
                FileVersion::Ours {
                    revision: shown, ..
                } => *shown == revision,
                // It is shown once they have done.
                FileVersion::Unfinished { .. } => true,
                // An author who names no revision could not be distinguished from one who writes
                // the same again.
                FileVersion::Theirs { document, bytes } if document.revision().is_some() => {
                    let resting = resting.as_mut();
                    resting.is_some_and(|resting| resting.leaves(bytes))
                }
                _ => false,
            };
            if is_left {
                return Ok(());
            }
            if let Some(resting) = &mut resting {
                resting.end();
            }
            let bytes = Document::of(orders.board()).to_bytes();
            // A program that reads the file the moment that it is in place can then already tell
            // that it is ours.
            self.disk
                .replace_unsynced(&self.kept.shown(revision), &bytes, MODE)?;
            let new = self.kept.next();
            self.disk.replace_unsynced(&new, &bytes, MODE)?;
            if let Some(tell) = &self.before_replace.0 {
                tell(&new);
            }
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
            // An author who is still writing is not waited for, because no one else can append
            // during a turn. The text is applied from the file that is moved aside.
            let gone = self.read(&new)?;
            match &gone {
                FileVersion::Nothing => {}
                FileVersion::Ours { bytes, .. } => self.kept.set_aside_as_it_is(&new, bytes)?,
                FileVersion::Theirs { bytes, .. } => {
                    if old.as_deref() != Some(bytes) {
                        self.take(&gone, &self.file, orders, synced)?;
                    }
                    self.kept.set_aside(&new, bytes, bytes)?;
                }
                FileVersion::Broken { bytes, .. } | FileVersion::Unfinished { bytes } => {
                    if old.as_deref() == Some(bytes) {
                        self.kept.set_aside(&new, bytes, bytes)?;
                    } else {
                        self.kept.set_aside_as_it_is(&new, &[])?;
                    }
                }
            }
            found = match self.read(&self.file)? {
                FileVersion::Broken { bytes, .. } => FileVersion::Unfinished { bytes },
                found => found,
            };
            self.take(&found, &self.file, orders, synced)?;
        }
        Ok(())
    }
}
