//! The folder of archives: the archives that the journal lists exist, and nothing else does.

use std::ffi::OsString;

use callosum_host::{Disk, DiskError};

use super::{
    Problem, Verification, VerifyFinding,
    journal::ArchivedCheck,
    ledger::{LedgerCheck, check_archive, check_index, of_archive, whole_file},
};
use crate::{
    archive_files, archive_import,
    archive_name::ArchiveName,
    duplicate_archive::{self, ArchiveCopies},
    paths::LedgerPaths,
    rotation::PART,
};

/// Checks the archives that the journal lists.
pub(super) fn check_archives(
    disk: &Disk,
    paths: &LedgerPaths,
    listed: &[ArchivedCheck],
    verification: &mut Verification,
) -> Result<(), DiskError> {
    for listed in listed.iter().rev() {
        let name = listed.archived.archive;
        let path = paths.archive(&name);
        if !archive_files::is_kept(disk, paths, &name)? {
            let detail = "the audit journal lists this archive, but it is missing";
            let missing = whole_file(&path, VerifyFinding::Missing, detail);
            verification.problems.push(missing);
            if listed.archived.is_adopted {
                verification.not_in_journal.push(path);
            }
            continue;
        }
        let path = archive_files::place_of(disk, paths, &name)?;
        let mut of_archive = check_archive(disk, paths, &path, listed)?;
        if listed.archived.is_adopted {
            check_adopted(disk, paths, listed, &mut of_archive)?;
        }
        let of_twins = duplicate_archive::compare(disk, paths, &listed.archived)?;
        let is_ledger = |problem: &Problem| problem.path == path;
        if listed.archived.is_adopted
            && of_twins != Some(ArchiveCopies::Compressed)
            && of_archive.problem.as_ref().is_some_and(is_ledger)
        {
            verification.not_in_journal.push(path.clone());
        }
        verification.archived_entries += of_archive.entries;
        verification.problems.extend(of_archive.problem);
        if let Some(ArchiveCopies::Plain | ArchiveCopies::Neither) = of_twins {
            let compressed = paths.compressed_archive(&name);
            let detail = "it differs from the uncompressed archive next to it";
            let unlike = whole_file(&compressed, VerifyFinding::Edited, detail);
            verification.problems.push(unlike);
        }
        verification.bytes += of_archive.bytes;
    }
    Ok(())
}

/// Compares an archive that is older than the journal with its first record: the hash of its
/// hashlog's last line, which covers every entry's place and checksum.
fn check_adopted(
    disk: &Disk,
    paths: &LedgerPaths,
    listed: &ArchivedCheck,
    check: &mut LedgerCheck,
) -> Result<(), DiskError> {
    if check.problem.is_some() {
        return Ok(());
    }
    let archived = &listed.archived;
    let path = paths.archive(&archived.archive);
    let hashlog = paths.archived_hashlog(&archived.archive);
    let Some(lines) = archive_import::lines_of(disk, paths, archived)? else {
        let detail = "its entries are not the imported ones";
        check.problem = Some(whole_file(&path, VerifyFinding::Edited, detail));
        return Ok(());
    };
    check.problem = match disk.read_if_there(&hashlog)? {
        None => Some(whole_file(
            &hashlog,
            VerifyFinding::Missing,
            "there is no hashlog",
        )),
        Some(found) => match of_archive(&hashlog, &lines, &found) {
            Some(problem) => Some(problem),
            None => check_index(disk, &paths.archived_index(&archived.archive), &hashlog)?,
        },
    };
    Ok(())
}

/// Reports files in the folder of archives that the journal does not list. Nothing reads them.
pub(super) fn strangers(
    paths: &LedgerPaths,
    found: &[OsString],
    listed: &[ArchivedCheck],
) -> Vec<Problem> {
    let is_listed = |name: &str| {
        listed.iter().any(|listed| {
            let archive = listed.archived.archive;
            [
                archive.ledger(),
                archive.compressed(),
                archive.hashlog(),
                archive.index(),
            ]
            .iter()
            .any(|of_it| of_it == name)
        })
    };
    let strangers = found.iter().filter(|name| {
        name.to_str()
            .is_none_or(|name| !is_listed(name) && !is_left_by_a_crash(name))
    });
    strangers
        .map(|name| {
            let detail = "the audit journal does not list it; nothing reads it";
            whole_file(&paths.history.join(name), VerifyFinding::Inserted, detail)
        })
        .collect()
}

/// Whether it is what a rotation or the writing of a file leaves that was interrupted.
fn is_left_by_a_crash(name: &str) -> bool {
    let is_of_archive = |name: &str| {
        let stem = [".json.gz", ".json", ".hashlog", ".index"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending));
        stem.is_some_and(|stem| format!("{stem}.json").parse::<ArchiveName>().is_ok())
    };
    if let Some(part) = name.strip_suffix(PART) {
        return is_of_archive(part);
    }
    let temporary = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".tmp"));
    let meant = temporary.and_then(|name| Some(name.rsplit_once('.')?.0));
    meant.is_some_and(is_of_archive)
}
