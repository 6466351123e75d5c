//! Files of the project that its owner cannot write, since another user, such as root, made them.

use std::path::{Path, PathBuf};

use callosum_host::disk::Ownership;
use callosum_host::{Disk, DiskError};

use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::{CommandError, Exit, many, shell_word};

/// Most files that are named.
const MOST_NAMED: usize = 3;

/// A file, and the user that it belongs to.
struct Foreign {
    path: PathBuf,
    user: u32,
}

/// Checks that the files belong to the user.
pub fn check(context: &Context, checks: &mut Checks) {
    let root = context.state();
    let foreign = match foreign_files(context, root) {
        Ok(foreign) => foreign,
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            checks.add("owners", Outcome::Warning, found, None);
            return;
        }
    };
    let Some((owner, files)) = foreign else {
        return;
    };
    let named: Vec<String> = files
        .iter()
        .take(MOST_NAMED)
        .map(|file| format!("{} (user {})", file.path.display(), file.user))
        .collect();
    let more = match files.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(", and {}", many(more as u64, "more file")),
    };
    let found = format!(
        "the project's owner, user {}, cannot write {}{more}",
        owner.user,
        named.join(", ")
    );
    // Of many files, the folders that they are in, which a shell takes in one line.
    let is_many = files.len() > MOST_NAMED;
    let mut words: Vec<String> = files
        .iter()
        .map(|file| match file.path.parent() {
            Some(folder) if is_many && folder != root => folder,
            _ => file.path.as_path(),
        })
        .map(|path| shell_word(&path.display().to_string()))
        .collect();
    words.dedup();
    let hint = format!(
        "sudo chown {}{}:{} {}",
        if is_many { "-R " } else { "" },
        owner.user,
        owner.group,
        words.join(" ")
    );
    checks.add("owners", Outcome::Failed, found, Some(&hint));
}

/// Returns the owner of the state's folder, and the files in it that are another user's and closed to that owner.
fn foreign_files(
    context: &Context,
    root: &Path,
) -> Result<Option<(Ownership, Vec<Foreign>)>, DiskError> {
    let disk = &context.disk;
    let Some(owner) = disk.ownership(root)? else {
        return Ok(None);
    };
    let paths = context.ledger_paths();
    let mut candidates = vec![paths.ledger.clone(), paths.hashlog.clone()];
    candidates.push(root.join("registry.json"));
    for folder in [
        &paths.audit,
        &paths.locks,
        &paths.history,
        &paths.answers,
        &paths.quarantine,
        &paths.backups,
    ] {
        candidates.push(folder.clone());
        candidates.extend(names_in(disk, folder)?);
    }
    let mut files = Vec::new();
    for path in candidates {
        let Some(found) = disk.ownership(&path)? else {
            continue;
        };
        // A file that the owner's group or all users may write is shared on purpose.
        let is_shared =
            found.mode & 0o002 != 0 || found.mode & 0o020 != 0 && found.group == owner.group;
        // Root needs no one's leave.
        if found.user != owner.user && owner.user != 0 && !is_shared {
            let user = found.user;
            files.push(Foreign { path, user });
        }
    }
    Ok((!files.is_empty()).then_some((owner, files)))
}

fn names_in(disk: &Disk, folder: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let names = disk.list_dir(folder)?.into_iter();
    Ok(names.map(|entry| folder.join(entry.name)).collect())
}
