//! Making a checkpoint: hashing what is new, signing the root, keeping the note.

use std::{path::PathBuf, time::Duration};

use callosum_host::{Disk, DiskError, FileLock, LockError, OpenHow};

use super::{
    checkpoint_error::CheckpointError,
    format::Checkpoint,
    hash_progress::{Edge, JournalWalk},
    key_ring::new_key,
    store::{self, SignedBy},
    trust_store::{Begin, TrustStore, begin_of_journal, signer_among},
};
use crate::{
    event::{AuditEvent, Event},
    journal::{DayFile, Record, day_files},
    locks,
    merkle::hash_leaf,
    paths::LedgerPaths,
    signed_note::{SignedNote, SigningKey, VerifierKey},
};

/// Timeout for the lock of another process that signs or changes the key.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// A checkpoint that was made and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The signed checkpoint.
    pub checkpoint: Checkpoint,
    /// The note, as it is kept.
    pub note: SignedNote,
    /// The key that others check it with.
    pub key: VerifierKey,
    /// Key that signed the previous checkpoint, if it was another. It signed this one as well if
    /// the key was changed for this project, but not if it was changed for another one.
    pub previous_key: Option<VerifierKey>,
    /// Number of checkpoints that the journal records, if none of them is kept any more.
    pub forgotten: u64,
    /// Whether the earlier checkpoints no longer vouch for the journal.
    pub is_begun_anew: bool,
    /// File to which earlier checkpoints were moved.
    pub set_aside: Option<PathBuf>,
}

impl Made {
    /// Returns the audit event that records this checkpoint, so that its loss would be noticed.
    pub fn event(&self) -> AuditEvent {
        let status = match &self.previous_key {
            _ if self.is_begun_anew => "begun_anew",
            Some(_) => "new_key",
            None => "signed",
        };
        let mut event = AuditEvent::new(Event::Checkpoint)
            .with("size", self.checkpoint.size)
            .with("root", self.checkpoint.root.to_string())
            .with("key", self.key.to_string());
        if let Some(previous) = &self.previous_key {
            event = event.with("previous_key", previous.to_string());
        }
        event.status = Some(status.to_owned());
        event
    }
}

/// The journal as far as it is to be signed.
struct Grown {
    edge: Edge,
    /// Whether there is anything to sign.
    is_new: bool,
    /// Number of checkpoints that the hashed records mention.
    recorded: u64,
}

impl TrustStore {
    /// Signs the journal as it is on disk, and stores the note. Returns `None` if nothing was
    /// recorded since the last checkpoint except the record of that checkpoint.
    ///
    /// Syncs journal, ledger and hashlog first, so that no crash can undo what is signed. Costs the
    /// hashing of the records since the last checkpoint. Signs nothing that does not continue what
    /// was signed last, unless the caller asks to start from scratch.
    pub fn make(
        &self,
        disk: &Disk,
        paths: &LedgerPaths,
        begin: Begin,
        seed: &[u8; 32],
    ) -> Result<Option<Made>, CheckpointError> {
        if !disk.exists(&paths.audit)? {
            return Err(CheckpointError::Empty);
        }
        disk.create_private_dir(&self.folder)?;
        let _held = FileLock::acquire_private(disk, &self.lock(), LOCK_TIMEOUT)?;
        self.keys.sweep(disk);
        let days = days_on_disk(disk, paths)?;
        let first = begin_of_journal(disk, &days)?.ok_or(CheckpointError::Empty)?;
        let mut set_aside = None;
        if begin == Begin::Anew && disk.exists(&self.path())? {
            set_aside = Some(self.set_aside(disk)?);
        }
        let (last, end) = store::read_last(disk, &self.path())?;
        if last.is_none() && end > 0 {
            return Err(CheckpointError::Foreign { path: self.path() });
        }
        let origin = self.origin(first);
        let _changing = match begin {
            Begin::NewKey => {
                self.keys.create(disk)?;
                let lock = self.keys.lock();
                Some(FileLock::acquire_private(disk, &lock, LOCK_TIMEOUT)?)
            }
            Begin::GoOn | Begin::Anew => None,
        };
        let had_key = self.keys.load(disk)?.is_some();
        let mut key = self.keys.load_or_make(disk, seed)?;
        let mut before = None;
        if let Some((note, checkpoint)) = &last {
            let keys = self.keys.verifiers(disk, &checkpoint.origin)?;
            if store::signed_by(note, &checkpoint.origin, &keys) != SignedBy::Us {
                return Err(CheckpointError::Foreign { path: self.path() });
            }
            before = signer_among(note, keys);
        }
        let last = last.map(|(_, checkpoint)| checkpoint);
        let Grown {
            edge,
            is_new,
            recorded,
        } = self.grow(disk, &days, &origin, last.as_ref())?;
        if !is_new && begin == Begin::GoOn {
            return Ok(None);
        }
        let forgotten = match (&last, begin) {
            (None, Begin::GoOn | Begin::NewKey) => recorded,
            (Some(_), _) | (None, Begin::Anew) => 0,
        };

        let checkpoint = Checkpoint {
            root: edge.frontier.root(),
            size: edge.frontier.size(),
            origin,
        };
        let named = |key: &SigningKey| {
            let named = key.named(&checkpoint.origin);
            named.expect("an origin of ours is the name of a key")
        };
        let text = checkpoint.text();
        let sign = |signers: &[&SigningKey]| {
            let signatures = signers.iter().map(|key| named(key).sign(&text)).collect();
            SignedNote::new(text.clone(), signatures).expect("a checkpoint is the text of a note")
        };
        let note = if begin == Begin::NewKey && had_key {
            let new = new_key(seed);
            self.keys.know(disk, &new.verifier())?;
            let note = sign(&[&key, &new]);
            // Before the old key is gone: it could not sign this any more.
            store::append(disk, &self.path(), end, &note)?;
            self.keys.replace(disk, &key, &new)?;
            before = Some(named(&key).verifier());
            key = new;
            note
        } else {
            let note = sign(&[&key]);
            store::append(disk, &self.path(), end, &note)?;
            note
        };
        // If it cannot be stored, the next run computes it again.
        drop(self.keep_edge(disk, &edge));
        let key = named(&key).verifier();
        Ok(Some(Made {
            previous_key: before.filter(|before| !before.is_same_bytes(&key)),
            key,
            checkpoint,
            note,
            is_begun_anew: begin == Begin::Anew,
            set_aside,
            forgotten,
        }))
    }

    /// Hashes on from the last checkpoint.
    fn grow(
        &self,
        disk: &Disk,
        days: &[(DayFile, u64)],
        origin: &str,
        last: Option<&Checkpoint>,
    ) -> Result<Grown, CheckpointError> {
        let mut edge = Edge::start();
        let signed = last.map_or(0, |last| last.size);
        let inconsistent = CheckpointError::Inconsistent { size: signed };
        if let Some(last) = last {
            if last.origin != origin {
                return Err(inconsistent);
            }
            let stored = disk.read_if_there(&self.edge())?;
            let stored = stored.as_deref().and_then(Edge::parse);
            let is_there = |edge: &Edge| {
                days.iter()
                    .any(|(day, len)| edge.day == Some(day.day) && *len >= edge.offset)
            };
            edge = stored
                .filter(|edge| edge.frontier.size() == last.size)
                .filter(|edge| edge.frontier.root() == last.root)
                .filter(is_there)
                .unwrap_or(edge);
        }
        let from = edge.clone();
        let mut broken = None;
        let mut is_as_signed = signed == from.frontier.size();
        let (mut is_new, mut recorded) = (last.is_none(), 0);
        JournalWalk::new(disk, days)
            .after(&from)
            .each(|day, line| {
                if !line.is_whole {
                    // Another process's record, torn by a crash: opening the ledger cuts it off.
                    return false;
                }
                let seq = edge.frontier.size() + 1;
                let record = match Record::read(line.bytes) {
                    Ok(record) if record.head.seq == seq && record.prev == edge.head => record,
                    Ok(_) | Err(_) => {
                        broken = Some(seq);
                        return false;
                    }
                };
                edge.frontier.push(hash_leaf(line.bytes));
                (edge.day, edge.offset, edge.head) = (Some(day), line.end(), record.hash);
                let is_checkpoint = record.head.event == Event::Checkpoint.as_str();
                recorded += u64::from(is_checkpoint);
                is_new |= seq > signed && !is_checkpoint;
                if let Some(last) = last.filter(|last| last.size == seq) {
                    is_as_signed = edge.frontier.root() == last.root;
                }
                is_as_signed || seq < signed
            })?;
        match broken {
            // A stored position that the journal does not confirm is no evidence of tampering yet.
            Some(_) if from.frontier.size() > 0 => {
                disk.remove_file(&self.edge())?;
                self.grow(disk, days, origin, last)
            }
            Some(seq) => Err(CheckpointError::Broken { seq }),
            None if !is_as_signed || edge.frontier.size() < signed => Err(inconsistent),
            None => Ok(Grown {
                edge,
                is_new,
                recorded,
            }),
        }
    }

    /// Gives the checkpoints another name, under which none were kept before.
    fn set_aside(&self, disk: &Disk) -> Result<PathBuf, DiskError> {
        let mut number = 1;
        loop {
            let aside = self.folder.join(format!("checkpoints.{number}"));
            if !disk.exists(&aside)? {
                disk.rename(&self.path(), &aside)?;
                disk.sync_dir(&self.folder)?;
                return Ok(aside);
            }
            number += 1;
        }
    }

    fn keep_edge(&self, disk: &Disk, edge: &Edge) -> Result<(), DiskError> {
        let bytes = serde_json::to_vec(edge).expect("numbers and hashes are printed to memory");
        let file = disk.open(&self.edge(), OpenHow::READ_WRITE_CREATE.with_mode(0o600))?;
        file.set_len(0)?;
        file.write_at(&bytes, 0)
    }
}

/// Lists the day files and their sizes at a moment without a writer.
pub(crate) fn days_at_rest(
    disk: &Disk,
    paths: &LedgerPaths,
) -> Result<Vec<(DayFile, u64)>, LockError> {
    let _still = locks::take_stock(disk, paths)?;
    let mut days = Vec::new();
    for day in day_files(disk, &paths.audit)? {
        let len = disk.stat(&day.path)?.map_or(0, |stat| stat.len);
        days.push((day, len));
    }
    Ok(days)
}

/// The same, with all of it on disk.
fn days_on_disk(disk: &Disk, paths: &LedgerPaths) -> Result<Vec<(DayFile, u64)>, CheckpointError> {
    let days = days_at_rest(disk, paths)?;
    let last = days.last().map(|(day, _)| &day.path);
    for path in last.into_iter().chain([&paths.ledger, &paths.hashlog]) {
        if let Some(file) = disk.open_if_there(path, OpenHow::READ_WRITE)? {
            // Otherwise a retry would sign data that the system takes for written.
            file.sync_data().inspect_err(|_| drop(file.write_again()))?;
        }
    }
    Ok(days)
}
