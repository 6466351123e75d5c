//! Replay: rebuilding the ledger from the journal alone, and comparing it with the real one.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, OpenHow};

use crate::{
    archive_name::ArchiveName,
    derived_files::{NewViews, difference},
    entry::is_sealed,
    error_code::ErrorCode,
    hashlog::ReadRange,
    inventory::FileInventory,
    journal::{
        Begins, EntryRef, IgnoreEntries, JournalError, RecordPlace, ScanVisitor, Until,
        day_of_path, walk_days,
    },
    open_error::OpenError,
    open_ledger::OpenLedger,
    paths::LedgerPaths,
    position::{Position, View},
};

/// Result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Number of records replayed.
    pub records: u64,
    /// Number of entries in the rebuilt ledger.
    pub entries: u64,
    /// Whether the journal ends in a record that is not finished, which was left out.
    pub ends_torn: bool,
    /// The rebuilt ledger.
    pub ledger: PathBuf,
    /// The rebuilt hashlog.
    pub hashlog: PathBuf,
    /// Number of archives rebuilt.
    pub archives: u64,
    /// Number of their entries.
    pub archived_entries: u64,
    /// First difference of the real files from the rebuilt ones.
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
    /// The actual line; `None` if the real file ends before it, or is missing.
    pub found: Option<String>,
}

/// Error of a replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The journal, or the lock that keeps it unchanged during the read, was not available.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// The file that was named is not there.
    #[error("`{}` does not exist", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
    },
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
    /// Returns the seed's code for it, if there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Journal(error) => error.code(),
            Self::NoFile { .. } | Self::NotADayFile { .. } => None,
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

/// Rebuilds ledger, hashlog and archives in the folder `into`, and compares them with the real
/// ones.
///
/// Without a day file all days are replayed and the real files must be the same, byte for byte.
/// With one, that day and those before it in the same folder are replayed, and the real files must
/// begin so. Every record's place in the chain and every entry's checksum is checked on the way.
/// Holds an entry at a time. Takes the audit lock for a moment, if the project is writable, and
/// reads the state of that moment.
pub fn replay(
    disk: &Disk,
    paths: &LedgerPaths,
    only_day_file: Option<&Path>,
    into: &Path,
) -> Result<Replay, ReplayError> {
    let mut paths = paths.clone();
    let mut last_day = None;
    if let Some(path) = only_day_file {
        let day = day_of_path(path);
        let path = path.to_owned();
        if day.is_none() {
            return Err(ReplayError::NotADayFile { path });
        }
        if !disk.exists(&path)? {
            return Err(ReplayError::NoFile { path });
        }
        last_day = day;
        folder_of(&path).clone_into(&mut paths.audit);
    }
    let stock = FileInventory::take(disk, &paths).map_err(OpenError::from)?;
    let rebuilt = LedgerPaths::in_root(into);
    disk.create_dir_all(&rebuilt.history)?;
    let mut rebuilding = Rebuilding {
        disk,
        rebuilt: &rebuilt,
        new: None,
        active: 0,
        archived: 0,
        wrong: None,
    };
    let (start, until) = (Position::start(), last_day.map_or(Until::End, Until::Day));
    let followed = walk_days(disk, &paths, &stock.days, &start, until, &mut rebuilding)?;
    if let Some(number) = rebuilding.wrong {
        return Err(ReplayError::WrongChecksum { number });
    }
    let (entries, archived_entries) = (rebuilding.active, rebuilding.archived);
    let Some(new) = rebuilding.new else {
        return Err(ReplayError::Journal(OpenError::NotCreated {
            root: paths.root,
        }));
    };
    let (view, ledger, hashlog) = new.end()?;
    ledger.replace()?;
    hashlog.replace()?;

    let mut pairs = Vec::new();
    for archived in &followed.archived {
        pairs.extend(of_archive(disk, &paths, &rebuilt, &archived.archive)?);
    }
    let mut since = None;
    if last_day.is_some() {
        // The day's ledger may have been archived on a later one.
        let all = walk_days(
            disk,
            &paths,
            &stock.days,
            &start,
            Until::End,
            &mut IgnoreEntries,
        )?;
        since = all.archived.get(followed.archived.len()).cloned();
    }
    let mut last = match since {
        Some(archived) => of_archive(disk, &paths, &rebuilt, &archived.archive)?,
        None => [
            Pair {
                rebuilt: rebuilt.ledger.clone(),
                path: paths.ledger.clone(),
                found: stock.ledger.map(in_a_box),
                part: None,
            },
            Pair {
                rebuilt: rebuilt.hashlog.clone(),
                path: paths.hashlog.clone(),
                found: stock.hashlog.map(in_a_box),
                part: None,
            },
        ],
    };
    if last_day.is_some() {
        // The real files continue from there.
        last[0].part = Some(view.ledger_end);
        last[1].part = Some(view.hashlog_end);
    }
    last[0].rebuilt.clone_from(&rebuilt.ledger);
    last[1].rebuilt.clone_from(&rebuilt.hashlog);
    pairs.extend(last);
    let mut difference = None;
    for pair in &pairs {
        if difference.is_none() {
            difference = pair.difference(disk)?;
        }
    }
    Ok(Replay {
        records: followed.position.seq,
        entries,
        ends_torn: followed.torn.is_some(),
        ledger: rebuilt.ledger,
        hashlog: rebuilt.hashlog,
        archives: followed.archived.len() as u64,
        archived_entries,
        difference,
    })
}

/// The files, rebuilt one ledger after the other.
struct Rebuilding<'a> {
    disk: &'a Disk,
    rebuilt: &'a LedgerPaths,
    new: Option<NewViews>,
    active: u64,
    archived: u64,
    /// The number of the first entry whose checksum is wrong.
    wrong: Option<usize>,
}

impl ScanVisitor for Rebuilding<'_> {
    fn begins(&mut self, _before: Option<&View>, begins: &Begins) -> Result<(), DiskError> {
        let rebuilt = self.rebuilt;
        if let (Some(archived), Some(new)) = (&begins.archived, self.new.take()) {
            let (_, ledger, hashlog) = new.end()?;
            ledger.replace_as(&rebuilt.archive(&archived.archive))?;
            hashlog.replace_as(&rebuilt.archived_hashlog(&archived.archive))?;
            self.archived += self.active;
        }
        self.active = 0;
        let places = (&*rebuilt.ledger, &*rebuilt.hashlog);
        let modes = (0o600, 0o600);
        self.new = Some(NewViews::begin(self.disk, places, modes, begins.view())?);
        Ok(())
    }

    fn stores(&mut self, entry: EntryRef<'_>, _at: RecordPlace) -> Result<(), DiskError> {
        self.active += 1;
        if !is_sealed(entry.json.as_bytes()) {
            let number = self.archived + self.active;
            self.wrong.get_or_insert(number as usize);
        }
        self.new.as_mut().map_or(Ok(()), |new| new.push(entry))
    }
}

/// A real file and the rebuilt one.
struct Pair {
    rebuilt: PathBuf,
    path: PathBuf,
    found: Option<Box<dyn ReadRange>>,
    /// Number of bytes of both to compare, if not all.
    part: Option<u64>,
}

fn in_a_box(file: impl ReadRange + 'static) -> Box<dyn ReadRange> {
    Box::new(file)
}

/// The ledger and the hashlog of an archive.
fn of_archive(
    disk: &Disk,
    paths: &LedgerPaths,
    rebuilt: &LedgerPaths,
    name: &ArchiveName,
) -> Result<[Pair; 2], DiskError> {
    let path = paths.archive(name);
    let ledger = match OpenLedger::open(disk, &path) {
        Ok(ledger) => Some(in_a_box(ledger)),
        Err(error) if error.is_absent() => None,
        Err(error) => return Err(error),
    };
    let hashlog = paths.archived_hashlog(name);
    Ok([
        Pair {
            rebuilt: rebuilt.archive(name),
            path,
            found: ledger,
            part: None,
        },
        Pair {
            rebuilt: rebuilt.archived_hashlog(name),
            found: disk.open_if_there(&hashlog, OpenHow::READ)?.map(in_a_box),
            path: hashlog,
            part: None,
        },
    ])
}

impl Pair {
    fn difference(&self, disk: &Disk) -> Result<Option<Difference>, DiskError> {
        let expected = disk.open(&self.rebuilt, OpenHow::READ)?;
        let part = self.part.unwrap_or(u64::MAX);
        let expected_len = expected.size()?.min(part);
        // Of a file that is not there, nothing is read.
        let (found, found_len): (&dyn ReadRange, u64) = match &self.found {
            Some(found) => (found.as_ref(), found.size()?.min(part)),
            None => (&expected, 0),
        };
        let differs = difference(&expected, found, (expected_len, found_len))?;
        Ok(differs.map(|differs| Difference {
            path: self.path.clone(),
            offset: differs.offset,
            line: differs.line,
            expected: differs.expected,
            found: differs.found,
        }))
    }
}

/// Returns the parent folder of a file; for a bare name, the current folder.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
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
