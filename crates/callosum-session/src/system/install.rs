//! [`LockedSession::lay`]: creates missing files of the three zones, and records what it wrote.

use super::{
    file_status::{FileStatus, answered_for},
    inspect::{Surveyed, place, survey},
    record::{Checksums, FILE},
    system_files::pieces,
};
use crate::{
    rollback::versions::checksum,
    transaction::{LockedSession, SessionError},
};

impl LockedSession<'_> {
    /// Creates missing files, updates those that an older version wrote, adds to those of others,
    /// and returns the status of each file before. A second call changes nothing.
    ///
    /// The checksums are recorded last: a process that is killed before leaves our files with the
    /// same content that the next call would write.
    ///
    /// `clients` are those that should have their own forms of the files in the system zone.
    pub fn lay(&self, clients: &[&str]) -> Result<Vec<Surveyed>, SessionError> {
        let session = &self.session;
        let found = survey(session, clients)?;
        let mut had = Vec::new();
        for surveyed in found.iter().filter(|found| found.standing.is_written()) {
            let Some(path) = place(session, &surveyed.path)? else {
                continue;
            };
            match (&surveyed.then, surveyed.standing) {
                (None, _) => {
                    session.disk.create_dir_all(&path)?;
                }
                (Some(bytes), FileStatus::Missing) => {
                    if let Some(folder) = path.parent() {
                        session.disk.create_dir_all(folder)?;
                    }
                    session.disk.replace(&path, bytes, surveyed.mode)?;
                }
                (Some(bytes), standing) => {
                    let before = session.disk.read_if_there(&path)?;
                    if let Some(before) = before.filter(|_| standing == FileStatus::Extended) {
                        had.push((surveyed.path.as_str(), checksum(&before)));
                    }
                    session.disk.rewrite(&path, bytes, surveyed.mode)?;
                }
            }
        }
        self.record_sums(&found, &had, clients)?;
        Ok(found)
    }

    fn record_sums(
        &self,
        found: &[Surveyed],
        had: &[(&str, String)],
        clients: &[&str],
    ) -> Result<(), SessionError> {
        let session = &self.session;
        let Some(path) = place(session, FILE)? else {
            return Ok(());
        };
        let there = session.disk.read_if_there(&path)?;
        let Some(before) = Checksums::read(there.as_deref()) else {
            return Ok(());
        };
        let mut sums = before.clone();
        for piece in pieces(clients) {
            let is_ours = found.iter().any(|found| {
                found.path == piece.path
                    && (found.standing.is_written() || found.standing == FileStatus::Current)
            });
            let bytes = match place(session, piece.path)? {
                Some(path) if is_ours => session.disk.read_if_there(&path)?,
                _ => None,
            };
            if let Some(bytes) = bytes {
                sums.set(piece.path, checksum(answered_for(piece, &bytes)));
            }
            if let Some((path, sum)) = had.iter().find(|(path, _)| *path == piece.path) {
                sums.set_before(path, sum.clone());
            }
        }
        if sums != before {
            session.disk.rewrite(&path, &sums.to_bytes(), 0o644)?;
        }
        Ok(())
    }
}
