//! Rebuilding the ledger from the journal alone, and holding it against the real one.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use jiff::civil::Date;

use crate::{
    align::{Expected, OpenError},
    archive_name::ArchiveName,
    entry::is_sealed,
    error_code::ErrorCode,
    journal::{JournalError, Passed, Until, day_of_path, follow_segments},
    locks,
    open_ledger::read_archive,
    paths::LedgerPaths,
    rotation,
};

/// How a replay went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// How many records were replayed.
    pub records: u64,
    /// How many entries the rebuilt ledger has.
    pub entries: u64,
    /// Whether the journal ends in a record that is not finished, which was left out.
    pub ends_torn: bool,
    /// The rebuilt ledger.
    pub ledger: PathBuf,
    /// The rebuilt hashlog.
    pub hashlog: PathBuf,
    /// How many archives were rebuilt.
    pub archives: u64,
    /// How many entries they have.
    pub archived_entries: u64,
    /// Where the real files first differ from the rebuilt ones.
    pub difference: Option<Difference>,
}

/// The first place at which a real file differs from the rebuilt one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The real file.
    pub path: PathBuf,
    /// The byte, from 0.
    pub offset: u64,
    /// The line, from 1.
    pub line: u64,
    /// That line as it was rebuilt; `None` where the rebuilt file ends before.
    pub expected: Option<String>,
    /// That line as it stands; `None` where the real file ends before, or is not there.
    pub found: Option<String>,
}

/// Why a journal could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The journal, or the lock that keeps it still meanwhile, could not be had.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// The file that was named is not a day of a journal.
    #[error("`{}` is not a day file of an audit journal (YYYY-MM-DD.jsonl)", path.display())]
    NotADayFile {
        /// The file.
        path: PathBuf,
    },
    /// An entry's checksum is wrong in the journal itself.
    #[error("the checksum of entry {number} is wrong in the audit journal")]
    WrongChecksum {
        /// The entry's number in the ledger, from 1.
        number: usize,
    },
}

impl ReplayError {
    /// The seed's code for it, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Journal(error) => error.code(),
            Self::NotADayFile { .. } => None,
            Self::WrongChecksum { .. } => Some(ErrorCode::ChecksumMismatch),
        }
    }
}

impl From<DiskError> for ReplayError {
    fn from(error: DiskError) -> Self {
        Self::Journal(error.into())
    }
}

impl From<JournalError> for ReplayError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error.into())
    }
}

/// Rebuilds ledger, hashlog and archives in the folder `into`, and compares them with the real ones.
///
/// Without a day file all days are replayed and the real files must be the same, byte for byte.
/// With one, that day and those before it in the same folder are replayed, and the real files must
/// begin so. Every record's place in the chain and every entry's checksum is checked on the way.
/// Takes the audit lock meanwhile where the project can be written.
pub fn replay(
    disk: &Disk,
    paths: &LedgerPaths,
    only_day_file: Option<&Path>,
    into: &Path,
) -> Result<Replay, ReplayError> {
    let mut paths = paths.clone();
    let mut last_day = None;
    if let Some(path) = only_day_file {
        let day = day_of_path(path).filter(|_| disk.exists(path).unwrap_or(false));
        if day.is_none() {
            return Err(ReplayError::NotADayFile {
                path: path.to_owned(),
            });
        }
        last_day = day;
        folder_of(path).clone_into(&mut paths.audit);
    }
    let _still = locks::take_stock(disk, &paths).map_err(OpenError::from)?;
    let rebuilt = LedgerPaths::in_root(into);
    let mut rebuilding = Archives {
        disk,
        paths: &paths,
        rebuilt: &rebuilt,
        count: 0,
        entries: 0,
        wrong: None,
        difference: None,
    };
    disk.create_dir_all(&rebuilt.history)?;
    let until = last_day.map_or(Until::End, Until::Day);
    let followed = follow_segments(disk, &paths, until, |passed| rebuilding.pass(&passed))?;
    let Archives {
        count,
        entries: archived_entries,
        wrong,
        difference: of_archives,
        ..
    } = rebuilding;
    if let Some(number) = wrong {
        return Err(ReplayError::WrongChecksum { number });
    }
    let Some(view) = &followed.position.view else {
        return Err(ReplayError::Journal(OpenError::NotCreated {
            root: paths.root,
        }));
    };
    if let Some(index) = followed
        .entries
        .iter()
        .position(|entry| !is_sealed(entry.json.as_bytes()))
    {
        return Err(ReplayError::WrongChecksum { number: index + 1 });
    }
    let expected = Expected::after(view, &followed.entries);
    let body = [view.begun.head.as_bytes(), &expected.ledger].concat();
    let whole = [&body, view.begun.tail.as_bytes()].concat();

    disk.replace(&rebuilt.ledger, &whole, 0o600)?;
    disk.replace(&rebuilt.hashlog, &expected.hashlog, 0o600)?;

    let is_part = last_day.is_some();
    let mut difference = of_archives;
    if let Some(archive) = archived_since(disk, &paths, last_day)? {
        // The day's ledger was archived on a later one.
        difference = match difference {
            None => compare_archive(disk, &paths, &archive, &body, true)?,
            found => found,
        };
        difference = match difference {
            None => {
                let path = paths.archived_hashlog(&archive);
                compare(&path, disk.read_if_there(&path)?, &expected.hashlog, true)
            }
            found => found,
        };
    } else {
        let expected_ledger = if is_part { &body } else { &whole };
        for (path, expected) in [
            (&paths.ledger, expected_ledger),
            (&paths.hashlog, &expected.hashlog),
        ] {
            if difference.is_none() {
                difference = compare(path, disk.read_if_there(path)?, expected, is_part);
            }
        }
    }
    Ok(Replay {
        records: followed.position.seq,
        entries: expected.view.entries,
        ends_torn: followed.torn.is_some(),
        ledger: rebuilt.ledger,
        hashlog: rebuilt.hashlog,
        archives: count,
        archived_entries,
        difference,
    })
}

/// The archives, rebuilt and compared one after the other.
struct Archives<'a> {
    disk: &'a Disk,
    paths: &'a LedgerPaths,
    rebuilt: &'a LedgerPaths,
    count: u64,
    entries: u64,
    /// The number of the first entry whose checksum is wrong.
    wrong: Option<usize>,
    difference: Option<Difference>,
}

impl Archives<'_> {
    fn pass(&mut self, passed: &Passed<'_>) -> Result<(), DiskError> {
        let wrong = passed
            .entries
            .iter()
            .position(|entry| !is_sealed(entry.json.as_bytes()));
        if let Some(index) = wrong {
            self.wrong.get_or_insert(self.entries as usize + index + 1);
        }
        self.count += 1;
        self.entries += passed.entries.len() as u64;
        let name = &passed.archived.archive;
        let (ledger, hashlog) = rotation::files_of(passed);
        self.disk
            .replace(&self.rebuilt.archive(name), &ledger, 0o600)?;
        let rebuilt_hashlog = self.rebuilt.archived_hashlog(name);
        self.disk.replace(&rebuilt_hashlog, &hashlog, 0o600)?;
        if self.difference.is_none() {
            self.difference = compare_archive(self.disk, self.paths, name, &ledger, false)?;
        }
        if self.difference.is_none() {
            let path = self.paths.archived_hashlog(name);
            self.difference = compare(&path, self.disk.read_if_there(&path)?, &hashlog, false);
        }
        Ok(())
    }
}

/// The archive that the ledger of a day's end has become since; `None` where it is still active.
fn archived_since(
    disk: &Disk,
    paths: &LedgerPaths,
    day: Option<Date>,
) -> Result<Option<ArchiveName>, ReplayError> {
    let Some(day) = day else {
        return Ok(None);
    };
    let up_to_it = follow_segments(disk, paths, Until::Day(day), |_| Ok(()))?;
    let all = follow_segments(disk, paths, Until::End, |_| Ok(()))?;
    Ok(all
        .archived
        .get(up_to_it.archived.len())
        .map(|archived| archived.archive))
}

fn compare_archive(
    disk: &Disk,
    paths: &LedgerPaths,
    name: &ArchiveName,
    expected: &[u8],
    is_part: bool,
) -> Result<Option<Difference>, DiskError> {
    let path = paths.archive(name);
    let found = read_archive(disk, paths, name)?;
    Ok(compare(&path, found, expected, is_part))
}

/// The folder that a file stands in; of a bare name, the one that is worked in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn compare(
    path: &Path,
    found: Option<Vec<u8>>,
    expected: &[u8],
    is_part: bool,
) -> Option<Difference> {
    let found = found.unwrap_or_default();
    let found = if is_part {
        &found[..found.len().min(expected.len())]
    } else {
        &found[..]
    };
    if found == expected {
        return None;
    }
    let offset = expected
        .iter()
        .zip(found)
        .position(|(expected, found)| expected != found)
        .unwrap_or(expected.len().min(found.len()));
    let line_from = memchr::memrchr(b'\n', &expected[..offset]).map_or(0, |at| at + 1);
    Some(Difference {
        path: path.to_owned(),
        offset: offset as u64,
        line: 1 + memchr::memchr_iter(b'\n', &expected[..offset]).count() as u64,
        expected: line_at(expected, line_from),
        found: line_at(found, line_from),
    })
}

fn line_at(text: &[u8], from: usize) -> Option<String> {
    let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-GOV-2: a day file may be named as it is named from within its own folder.
    #[test]
    fn a_bare_name_is_of_a_file_in_the_folder_that_is_worked_in() {
        let check = |path: &str, folder: &str| {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder));
        };
        check("2026-11-02.jsonl", ".");
        check("./2026-11-02.jsonl", ".");
        check("cal_audit/2026-11-02.jsonl", "cal_audit");
    }
}
