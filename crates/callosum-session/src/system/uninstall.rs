//! [`LockedSession::lift`]: removes the system zone from a project, and leaves what people wrote.
//!
//! A file that is as we wrote it is removed. From one that others had before, our block is removed,
//! with the line ends that were put before it. Changed files stay. The state zone and the beads are
//! the project's, and are not touched.

use std::path::Path;

use super::{
    file_status::{block_of, extended},
    inspect::place,
    record::{Checksums, FILE},
    system_files::{CLIENTS, Piece, pieces},
};
use crate::{
    rollback::versions::checksum,
    transaction::{LockedSession, Session, SessionError},
};

/// A file of the system zone that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifted {
    /// Path from the root.
    pub path: String,
    /// Its outcome.
    pub fate: RemovalOutcome,
}

/// Outcome of a removal for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalOutcome {
    /// It is removed.
    Removed,
    /// Our block is taken out, and this is left.
    Restored(Vec<u8>),
    /// Someone changed what we wrote: it stays.
    Stays,
}

/// Lists the files that would be removed, and changes nothing. Empty if no zone was recorded here.
pub fn to_lift(session: &Session<'_>) -> Result<Vec<Lifted>, SessionError> {
    let Some(sums) = recorded(session)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for piece in pieces(&CLIENTS) {
        let Some(path) = place(session, piece.path)? else {
            continue;
        };
        if let (Some(bytes), Some(sum)) = (session.disk.read_if_there(&path)?, sums.of(piece.path))
        {
            found.push(Lifted {
                path: piece.path.to_owned(),
                fate: fate(piece, &bytes, sum, sums.before(piece.path)),
            });
        }
    }
    Ok(found)
}

fn recorded(session: &Session<'_>) -> Result<Option<Checksums>, SessionError> {
    let Some(path) = place(session, FILE)? else {
        return Ok(None);
    };
    let there = session.disk.read_if_there(&path)?;
    Ok(there.and_then(|bytes| Checksums::read(Some(&bytes))))
}

impl LockedSession<'_> {
    /// Removes the system zone, and returns the outcome for each file.
    pub fn lift(&self) -> Result<Vec<Lifted>, SessionError> {
        let session = &self.session;
        let found = to_lift(session)?;
        let Some(mut sums) = recorded(session)? else {
            return Ok(found);
        };
        for lifted in &found {
            let Some(path) = place(session, &lifted.path)? else {
                continue;
            };
            match &lifted.fate {
                RemovalOutcome::Removed => {
                    session.disk.remove_file(&path)?;
                    self.remove_empty(&path)?;
                }
                RemovalOutcome::Restored(bytes) => session.disk.rewrite(&path, bytes, 0o644)?,
                RemovalOutcome::Stays => continue,
            }
            sums.forget(&lifted.path);
        }
        let Some(path) = place(session, FILE)? else {
            return Ok(found);
        };
        if sums.is_bare() {
            session.disk.remove_file(&path)?;
            self.remove_empty(&path)?;
        } else {
            session.disk.rewrite(&path, &sums.to_bytes(), 0o644)?;
        }
        Ok(found)
    }

    /// Removes the folders above a file that are empty now, as far as the root.
    fn remove_empty(&self, path: &Path) -> Result<(), SessionError> {
        let session = &self.session;
        let root = session.disk.canonicalize(&session.zones.root)?;
        for folder in path.ancestors().skip(1) {
            let is_below = folder.starts_with(&root) && folder != root;
            if !is_below || !session.disk.list_dir(folder)?.is_empty() {
                break;
            }
            session.disk.remove_dir(folder)?;
        }
        Ok(())
    }
}

/// Returns the outcome for a file with these bytes. `sum` is the checksum of our part, and `before`
/// that of the file before us.
fn fate(piece: &Piece, bytes: &[u8], sum: &str, before: Option<&str>) -> RemovalOutcome {
    let block = block_of(bytes).filter(|_| piece.block.is_some());
    let at = block.unwrap_or(0..bytes.len());
    let ours = &bytes[at.clone()];
    if checksum(ours) != sum {
        return RemovalOutcome::Stays;
    }
    if ours.len() == bytes.len() {
        return RemovalOutcome::Removed;
    }
    let (above, below) = (&bytes[..at.start], &bytes[at.end..]);
    // The number of line ends put before the block (none, one or two) cannot be determined from the
    // file alone.
    let could_be = (0..=2)
        .filter_map(|ends| above.len().checked_sub(ends))
        .map(|end| &above[..end])
        .filter(|known| extended(known, ours) == [above, ours].concat());
    let mut could_be: Vec<&[u8]> = could_be.collect();
    could_be.sort_by_key(|known| before.is_some_and(|sum| sum != checksum(known)));
    let above = could_be.first().copied().unwrap_or(above);
    RemovalOutcome::Restored([above, below].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PIECE: Piece = Piece {
        path: "CLAUDE.md",
        text: "",
        block: Some("ours\n"),
        mode: 0o644,
    };

    proptest! {
        /// LOA-ZONE-1: the content of others is restored byte for byte, with any ending, and so is
        /// what they wrote below our block since.
        #[test]
        fn what_others_had_is_left(before in "[a-z \n]{0,20}", since in "[a-z\n]{0,5}") {
            let block = PIECE.whole().into_bytes();
            let there = [extended(before.as_bytes(), &block), since.clone().into_bytes()].concat();
            let sums = (checksum(&block), checksum(before.as_bytes()));
            let fate = fate(&PIECE, &there, &sums.0, Some(&sums.1));
            let left = [before.as_bytes(), since.as_bytes()].concat();
            let is_alone = there.len() == block.len();
            prop_assert_eq!(fate, if is_alone { RemovalOutcome::Removed } else { RemovalOutcome::Restored(left) });
        }
    }

    #[test]
    fn changed_files_stay() {
        let block = PIECE.whole();
        let changed = block.replace("ours", "mine");
        let sum = checksum(block.as_bytes());
        assert_eq!(
            fate(&PIECE, changed.as_bytes(), &sum, None),
            RemovalOutcome::Stays
        );
        assert_eq!(fate(&PIECE, b"# Mine\n", &sum, None), RemovalOutcome::Stays);
    }
}
