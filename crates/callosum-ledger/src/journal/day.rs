//! The journal's files, one a day, and their order.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};
use jiff::civil::Date;

/// A file of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayFile {
    pub(crate) day: Date,
    pub(crate) path: PathBuf,
}

/// The journal's files in the order of their days. Other files in the folder are not its own.
pub(crate) fn day_files(disk: &Disk, audit: &Path) -> Result<Vec<DayFile>, DiskError> {
    let mut files: Vec<_> = disk
        .list_dir(audit)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .filter_map(|entry| {
            let path = audit.join(entry.name);
            let day = day_of_path(&path)?;
            Some(DayFile { day, path })
        })
        .collect();
    files.sort_by_key(|file| file.day);
    Ok(files)
}

/// Returns the day in a file's name; `None` for a name that is not `YYYY-MM-DD.jsonl`.
pub(crate) fn day_of_path(path: &Path) -> Option<Date> {
    let day: Date = path
        .file_name()?
        .to_str()?
        .strip_suffix(".jsonl")?
        .parse()
        .ok()?;
    // Other spellings of the same day, which the date's reader accepts, are not its file.
    (path.file_name()? == name_of_day(day).as_str()).then_some(day)
}

/// Returns the path of a day's file.
pub(crate) fn path_of_day(audit: &Path, day: Date) -> PathBuf {
    audit.join(name_of_day(day))
}

fn name_of_day(day: Date) -> String {
    format!("{day}.jsonl")
}
