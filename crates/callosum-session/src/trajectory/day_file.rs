//! [`DayFile`]: a file of one agent and one day, plain or compressed.
//!
//! Start with [`day_files`], which lists those of every agent. Old files are in the archive, next to
//! the others, and compressed.

use std::{io::Read as _, path::PathBuf};

use callosum_host::{Disk, OpenHow, disk::EntryKind};
use flate2::read::MultiGzDecoder;

use super::agent::Agent;
use crate::zones::{ZoneError, Zones};

/// Most bytes of one file that are held at once, from its end; of a compressed one, most that it may
/// have.
pub(super) const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// Folder of compressed files, next to the others.
pub(super) const ARCHIVE: &str = "archive";

/// Letters of a day, as 2026-01-02.
const DAY: usize = 10;

/// A file of one agent and one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayFile {
    pub(crate) agent: Agent,
    pub(crate) day: String,
    pub(crate) path: PathBuf,
    /// Whether it is compressed.
    pub(crate) is_archived: bool,
    /// Whether it is a file, and not a folder, a link or a device of such a name.
    pub(crate) is_file: bool,
}

/// Returns the files of every agent, oldest first; of a day that has both, the compressed one
/// first.
pub(crate) fn day_files(disk: &Disk, zones: &Zones) -> Result<Vec<DayFile>, ZoneError> {
    let folder = zones.real(disk, &zones.trajectories())?;
    let archive = zones.real(disk, &folder.join(ARCHIVE))?;
    let mut files = Vec::new();
    for (folder, end) in [(archive, ".jsonl.gz"), (folder, ".jsonl")] {
        for entry in disk.list_dir(&folder)? {
            let stem = entry.name.to_str().and_then(|name| name.strip_suffix(end));
            let parts = stem.and_then(|stem| stem.split_at_checked(stem.len().checked_sub(DAY)?));
            let Some((agent, day)) = parts else {
                continue;
            };
            let is_day = day.parse::<jiff::civil::Date>().is_ok();
            let agent = agent.strip_suffix('-').map(Agent::new);
            if is_day && let Some(Ok(agent)) = agent {
                files.push(DayFile {
                    agent,
                    day: day.to_owned(),
                    path: folder.join(&entry.name),
                    is_archived: end != ".jsonl",
                    is_file: entry.kind == EntryKind::File,
                });
            }
        }
    }
    // Stable sort: compressed records come before those written to the same day since.
    files.sort_by(|a, b| a.day.cmp(&b.day));
    Ok(files)
}

/// Returns the content of a file, of a long one the end; `None` if it is not a file, or a
/// compressed one is broken.
pub(crate) fn content_of(disk: &Disk, day: &DayFile) -> Result<Option<Vec<u8>>, ZoneError> {
    if !day.is_file {
        return Ok(None);
    }
    let file = disk.open(&day.path, OpenHow::READ)?;
    if day.is_archived {
        return Ok(decompressed(&file.read_all()?));
    }
    let skipped = file.size()?.saturating_sub(LARGEST_FILE);
    Ok(Some(file.read_from(skipped)?))
}

/// Returns the content of a compressed trajectory; `None` if it is broken or larger than the read
/// limit.
pub(super) fn decompressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(LARGEST_FILE + 1);
    decoder.read_to_end(&mut text).ok()?;
    (text.len() as u64 <= LARGEST_FILE).then_some(text)
}
