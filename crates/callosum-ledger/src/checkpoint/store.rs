//! [`KeptCheckpoints`]: the checkpoints signed so far, as stored on this machine.
//!
//! One file, to which notes are appended with an empty line between two.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, OpenHow};

use super::format::Checkpoint;
use crate::signed_note::{NoteStatus, SignedNote, VerifierKey};

/// A note takes less; the last ones are searched in this many bytes at the end.
const LAST_NOTES: u64 = 16 * 1024;

/// Minimum number of lines of a note.
const LINES: usize = 5;

/// All checkpoints of a project, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptCheckpoints {
    /// The file.
    pub path: PathBuf,
    /// Those that can be read.
    pub kept: Vec<StoredCheckpoint>,
    /// The numbers, from 1, of those that cannot.
    pub unreadable: Vec<u64>,
}

/// A checkpoint and who signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCheckpoint {
    /// Its number in the file, from 1.
    pub number: u64,
    /// The signed checkpoint.
    pub checkpoint: Checkpoint,
    /// By whom.
    pub signed: SignedBy,
}

/// Signer of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedBy {
    /// A key of this machine, today's or an earlier one.
    Us,
    /// Another key.
    Another {
        /// Its name and id, as they stand in the note.
        key: String,
    },
    /// A line names a key of ours, and the signature is not its own: the text was changed.
    Nobody,
}

impl StoredCheckpoint {
    fn read(number: u64, note: &str, keys: &[VerifierKey]) -> Option<Self> {
        let (note, checkpoint) = read_note(note)?;
        let signed = signed_by(&note, &checkpoint.origin, keys);
        Some(Self {
            number,
            checkpoint,
            signed,
        })
    }
}

/// Identifies the signer of a note of the log `origin`, among these keys.
pub(super) fn signed_by(note: &SignedNote, origin: &str, keys: &[VerifierKey]) -> SignedBy {
    let standings: Vec<_> = keys
        .iter()
        .filter_map(|key| key.named(origin).ok())
        .map(|key| note.standing(&key))
        .collect();
    if standings.contains(&NoteStatus::Wrong) {
        return SignedBy::Nobody;
    }
    if standings.contains(&NoteStatus::Signed) {
        return SignedBy::Us;
    }
    let key = note
        .signatures()
        .first()
        .map_or_else(String::new, |by| format!("{}+{:08x}", by.name, by.key_id));
    SignedBy::Another { key }
}

/// Reads all of them.
pub(super) fn read_all(
    disk: &Disk,
    path: &Path,
    keys: &[VerifierKey],
) -> Result<KeptCheckpoints, DiskError> {
    let bytes = disk.read_if_there(path)?.unwrap_or_default();
    // A crash can leave zeros where a note was being appended: they belong to no note before.
    let written = memchr::memchr(0, &bytes).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..written]);
    let mut found = KeptCheckpoints {
        path: path.to_owned(),
        ..KeptCheckpoints::default()
    };
    let notes = notes_of(&text);
    let last = notes.len();
    for (index, note) in notes.into_iter().enumerate() {
        let number = index as u64 + 1;
        match StoredCheckpoint::read(number, note, keys) {
            Some(kept) => found.kept.push(kept),
            // The last one may have been torn by a crash; nothing was promised of it yet.
            None if index + 1 == last && is_torn(note) => {}
            None => found.unreadable.push(number),
        }
    }
    Ok(found)
}

/// The last one, and where in the file the next goes.
pub(super) fn read_last(
    disk: &Disk,
    path: &Path,
) -> Result<(Option<(SignedNote, Checkpoint)>, u64), DiskError> {
    let Some(file) = disk.open_if_there(path, OpenHow::READ)? else {
        return Ok((None, 0));
    };
    let size = file.size()?;
    let from = size.saturating_sub(LAST_NOTES);
    let bytes = file.read_from(from)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut end = text.len();
    // The text behind the last note may be one that a crash tore; nothing else is skipped.
    while let Some(line) = text[..end].rfind('\n') {
        let (notes, rest) = text.split_at(line + 1);
        if !rest.is_empty() && !is_torn(rest) {
            break;
        }
        if let Some(last) = last_note_of(notes).and_then(read_note) {
            return Ok((Some(last), from + notes.len() as u64));
        }
        end = line;
    }
    Ok((None, if is_torn(&text) { 0 } else { size }))
}

fn read_note(note: &str) -> Option<(SignedNote, Checkpoint)> {
    let note = SignedNote::parse(note).ok()?;
    let checkpoint = Checkpoint::parse(note.text()).ok()?;
    Some((note, checkpoint))
}

/// Whether bytes at the end of the file can be a note that was being appended.
fn is_torn(rest: &str) -> bool {
    let rest = rest.trim_start_matches('\n');
    !rest.ends_with('\n') || rest.lines().count() < LINES
}

/// The last note of a file's end, which may begin in the middle of an earlier one.
fn last_note_of(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once("\n\n")?;
    let from = before.rfind("\n\n").map_or(0, |at| at + 2);
    Some(&text[from..])
}

/// Appends a note after `end`, which cuts off anything that a crash left torn behind it.
///
/// After a failed sync the note is cut off again, and everything before it is written again: the
/// next note's sync must not take for written what may be lost.
pub(super) fn append(
    disk: &Disk,
    path: &Path,
    end: u64,
    note: &SignedNote,
) -> Result<(), DiskError> {
    let is_new = end == 0;
    let lead = if is_new { "" } else { "\n" };
    let file = disk.open(path, OpenHow::READ_WRITE_CREATE.with_mode(0o600))?;
    file.set_len(end)?;
    file.write_at(format!("{lead}{note}").as_bytes(), end)?;
    file.sync_data().inspect_err(|_| {
        drop(file.set_len(end));
        drop(file.write_again());
    })?;
    match path.parent() {
        // The next one is the first then, and has the name made durable.
        Some(folder) if is_new => disk
            .sync_dir(folder)
            .inspect_err(|_| drop(file.set_len(end))),
        _ => Ok(()),
    }
}

/// The notes of a file: each a text, an empty line and signature lines, an empty line between two.
fn notes_of(text: &str) -> Vec<&str> {
    let mut notes = Vec::new();
    let mut from = 0;
    for (index, (at, _)) in text.match_indices("\n\n").enumerate() {
        if index % 2 == 1 {
            notes.push(&text[from..=at]);
            from = at + 2;
        }
    }
    if from < text.len() {
        notes.push(&text[from..]);
    }
    notes
}
