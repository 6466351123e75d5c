//! [`LockedSession::prune`]: trajectories of days long past are compressed, and gone after a year
//! (Seed LOA §5.4).
//!
//! A compressed file is read back before the other one goes, and readers see both.

use std::{collections::HashSet, io::Write as _, path::Path};

use callosum_host::disk::EntryKind;
use flate2::{Compression, write::GzEncoder};
use jiff::civil::Date;

use super::day_file::{ARCHIVE, LARGEST_FILE, decompressed};
use crate::transaction::{LockedSession, SessionError};

/// Time spans for which trajectories are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// `trajectory.retention_days`: days until they are compressed.
    pub days: u64,
    /// `trajectory.archive_days`: days until the compressed ones are removed.
    pub archive_days: u64,
    /// `trajectory.compression_level`, from 0 to 9.
    pub level: u32,
}

impl Default for Retention {
    /// Seed LOA §5.4: 30 days, 365 days, level 6.
    fn default() -> Self {
        Self {
            days: 30,
            archive_days: 365,
            level: 6,
        }
    }
}

/// Result of pruning old trajectories; each is named from the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Those that are compressed now.
    pub archived: Vec<String>,
    /// Those that are gone.
    pub removed: Vec<String>,
    /// Those that were left as they are, and why.
    pub left: Vec<(String, &'static str)>,
}

impl LockedSession<'_> {
    /// Compresses trajectories that are old enough, and removes compressed ones that are older.
    pub fn prune(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        let session = &self.session;
        let today = session.clock.now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let folder = session
            .zones
            .real(session.disk, &session.zones.trajectories())?;
        let archive = session.zones.real(session.disk, &folder.join(ARCHIVE))?;
        let mut pruned = Pruned::default();
        let mut compressed: HashSet<String> = HashSet::new();
        for (name, day) in self.days_in(&folder, ".jsonl")? {
            if !is_past(day, today, retention.days) {
                continue;
            }
            let path = folder.join(&name);
            let named = session.zones.named(&path);
            match self.archive(&path, &archive.join(format!("{name}.gz")), retention)? {
                None => {
                    compressed.insert(format!("{name}.gz"));
                    pruned.archived.push(named);
                }
                Some(why) => pruned.left.push((named, why)),
            }
        }
        for (name, day) in self.days_in(&archive, ".jsonl.gz")? {
            // A file that was compressed just now is not removed in the same run: the clock may be
            // wrong.
            let is_new = compressed.contains(&name);
            if is_past(day, today, retention.archive_days) && !is_new {
                let path = archive.join(&name);
                session.disk.remove_file(&path)?;
                pruned.removed.push(session.zones.named(&path));
            }
        }
        Ok(pruned)
    }

    /// Returns the files of a folder that belong to a day, of any agent.
    fn days_in(&self, folder: &Path, end: &str) -> Result<Vec<(String, Date)>, SessionError> {
        let mut found = Vec::new();
        for entry in self.session.disk.list_dir(folder)? {
            let name = entry.name.to_str().unwrap_or_default();
            let day = name.strip_suffix(end).and_then(|stem| {
                let at = stem.len().checked_sub(10)?;
                stem.get(at..)?.parse::<Date>().ok()
            });
            if let Some(day) = day.filter(|_| entry.kind == EntryKind::File) {
                found.push((name.to_owned(), day));
            }
        }
        Ok(found)
    }

    /// Compresses a file; says why it was left as it is.
    fn archive(
        &self,
        path: &Path,
        into: &Path,
        retention: &Retention,
    ) -> Result<Option<&'static str>, SessionError> {
        let disk = self.session.disk;
        let is_large = disk.stat(path)?.is_some_and(|stat| stat.len > LARGEST_FILE);
        if is_large {
            return Ok(Some("it is too large"));
        }
        let bytes = disk.read(path)?;
        let known = match disk.read_if_there(into)? {
            Some(compressed) => decompressed(&compressed),
            None => Some(Vec::new()),
        };
        // Written to again after it was compressed, or a process was killed between two steps.
        let Some(known) =
            known.filter(|known| bytes.starts_with(known) || known.starts_with(&bytes))
        else {
            return Ok(Some("its archive has different content"));
        };
        if known.len() < bytes.len() || known.is_empty() {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(retention.level.min(9)));
            let compressed = encoder
                .write_all(&bytes)
                .and_then(|()| encoder.finish())
                .unwrap_or_default();
            if let Some(folder) = into.parent() {
                disk.create_dir_all(folder)?;
            }
            disk.replace(into, &compressed, 0o644)?;
            if decompressed(&disk.read(into)?).as_deref() != Some(&bytes[..]) {
                return Ok(Some("its archive cannot be read back"));
            }
        }
        disk.remove_file(path)?;
        Ok(None)
    }
}

fn is_past(day: Date, today: Date, days: u64) -> bool {
    let age = (today - day).get_days();
    u64::try_from(age).is_ok_and(|age| age > days)
}
