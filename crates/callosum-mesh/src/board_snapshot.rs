//! Snapshots of the board. One is a shortcut so that the log need not be read from its beginning,
//! and one replaces the parts that the log has dropped.
//!
//! The first is next to the log, written often and not synced. The second, [`KEPT`], is written and
//! synced once for each file of the log, as of a moment after the file before. The log drops no
//! file unless that snapshot covers all of it ([`journal`](crate::journal)).

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use serde::{Deserialize, Serialize};

use crate::{
    board::Board,
    quarantine::{displace, is_folder},
};

/// The file that remembers the board, so that the log need not be read from its beginning.
pub(crate) const BOARD: &str = "board.json";

/// The file that keeps it for when the log has dropped what it follows from.
pub(crate) const KEPT: &str = "board.kept.json";

/// Format version of the snapshots. It is raised with each change of what the board remembers, or
/// of what an event does to it.
///
/// - 4 is read as it is: what an event does to the board is the same, but that of 5 forgets more of
///   what is over.
/// - 5 is read as it is: 6 also remembers which session sent a message, left a task, or found
///   something.
/// - 6 is read as it is: 7 also remembers receipts for output files.
///
/// A board in any other format is built from the log again, as far as the log goes back. A change
/// that raises this number must keep reading the formats before, since events that the log has
/// dropped exist nowhere else.
const FORMAT: u32 = 7;

/// The oldest version that is read.
const OLDEST: u32 = 4;

/// So many events after the last time the board is remembered again.
const REMEMBER_AFTER: u64 = 256;

/// Permission bits of the files.
const MODE: u32 = 0o600;

/// The only part of the file that every version has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// The board as it is remembered.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Remembered<B> {
    format: u32,
    origin: String,
    /// The last event that the kept board knows, so that it is not read each time.
    #[serde(default)]
    kept: u64,
    board: B,
}

/// As much of the kept board as says how far it goes.
#[derive(Deserialize)]
struct Reach {
    origin: String,
    board: Seq,
}

#[derive(Deserialize)]
struct Seq {
    seq: u64,
}

/// Both snapshots of a board, in the folder of its log.
#[derive(Debug)]
pub(crate) struct BoardSnapshots {
    disk: Disk,
    folder: PathBuf,
    /// Id of the log.
    origin: String,
    /// Last event of the board in the first. `None` if that file is from a newer version, which
    /// alone may write it.
    remembered: Option<u64>,
    /// Last event of the board in the second.
    kept: u64,
}

impl BoardSnapshots {
    /// Names the snapshots of a log. Reads nothing.
    pub(crate) fn new(disk: &Disk, folder: &Path, origin: &str) -> Self {
        Self {
            disk: disk.clone(),
            folder: folder.to_owned(),
            origin: origin.to_owned(),
            remembered: Some(0),
            kept: 0,
        }
    }

    /// Last event of the board in the first; 0 if there is none, or it is from a newer version.
    pub(crate) fn remembered(&self) -> u64 {
        self.remembered.unwrap_or(0)
    }

    /// Returns the board of the first snapshot if it is usable, else that of the second, else an
    /// empty one.
    pub(crate) fn recall(&mut self) -> Board {
        let Some((format, known)) = self.read(BOARD) else {
            return self.recall_kept();
        };
        if format > FORMAT {
            self.remembered = None;
        }
        let Some(Remembered { board, kept, .. }) = known else {
            return self.recall_kept();
        };
        self.remembered = Some(board.seq);
        self.kept = kept;
        board
    }

    fn recall_kept(&mut self) -> Board {
        let Some(board) = self.kept_board() else {
            return Board::default();
        };
        self.kept = board.seq;
        board
    }

    /// Returns the durable snapshot, if it is usable.
    pub(crate) fn kept_board(&self) -> Option<Board> {
        let (_, known) = self.read(KEPT)?;
        Some(known?.board)
    }

    /// Returns the format of a file, and its contents if they are usable and of this log.
    fn read(&self, name: &str) -> Option<(u32, Option<Remembered<Board>>)> {
        // Derived: a snapshot that cannot be read is built from the log again.
        let bytes = self.disk.read_if_there(&self.folder.join(name)).ok()??;
        let Version { format } = serde_json::from_slice(&bytes).ok()?;
        let known = serde_json::from_slice::<Remembered<Board>>(&bytes).ok();
        let known = known.filter(|_| (OLDEST..=FORMAT).contains(&format));
        Some((format, known.filter(|known| known.origin == self.origin)))
    }

    fn document(&self, board: &Board) -> Vec<u8> {
        let remembered = Remembered {
            format: FORMAT,
            origin: self.origin.clone(),
            kept: self.kept,
            board,
        };
        serde_json::to_vec(&remembered).unwrap_or_default()
    }

    /// Writes the durable snapshot, once for each file that the log has begun. `first` is the first
    /// event of the log's last file. If that fails, as for a reader without write access or on a
    /// full disk, the log drops nothing until it succeeds.
    pub(crate) fn keep(&mut self, board: &Board, first: u64) {
        if self.kept + 1 >= first || board.seq + 1 < first || self.remembered.is_none() {
            return;
        }
        // Another process may have done it.
        let there = reach(&self.disk, &self.folder, &self.origin);
        let there = there.ok().flatten().unwrap_or(0);
        if there + 1 < first {
            let path = self.folder.join(KEPT);
            let known = self.kept;
            self.kept = board.seq;
            if self
                .disk
                .replace(&path, &self.document(board), MODE)
                .is_err()
            {
                self.kept = known;
            }
        } else {
            self.kept = there;
        }
    }

    /// Writes the first snapshot if enough events came since. If it cannot be written, as by a
    /// reader without write access or on a full disk, more of the log is read the next time.
    pub(crate) fn remember(&mut self, board: &Board) {
        let is_due = self
            .remembered
            .is_some_and(|seq| board.seq < seq || board.seq - seq >= REMEMBER_AFTER);
        if !is_due {
            return;
        }
        let bytes = self.document(board);
        let path = self.folder.join(BOARD);
        let mut done = self.disk.replace_unsynced(&path, &bytes, MODE);
        if done.is_err() && is_folder(&self.disk, &path).unwrap_or(false) {
            done = displace(&self.disk, &path)
                .and_then(|_| self.disk.replace_unsynced(&path, &bytes, MODE));
        }
        if done.is_ok() {
            self.remembered = Some(board.seq);
        }
    }
}

/// The last event that the kept board of this log knows; `None` where none is kept, 0 where it is of another log or cannot be
/// read.
pub(crate) fn reach(disk: &Disk, folder: &Path, origin: &str) -> Result<Option<u64>, DiskError> {
    let Some(bytes) = disk.read_if_there(&folder.join(KEPT))? else {
        return Ok(None);
    };
    let reach = serde_json::from_slice::<Reach>(&bytes).ok();
    let reach = reach.filter(|reach| reach.origin == origin);
    Ok(Some(reach.map_or(0, |reach| reach.board.seq)))
}
