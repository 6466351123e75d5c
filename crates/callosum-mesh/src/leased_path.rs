//! [`leased_path`]: the one path by which leases name a file, whether it is there or not.

use std::path::{Component, Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};

use crate::board::{BoardError, Command};

/// An absolute path in the one form in which leases name a file: each link on it resolved, as far as it is there, and
/// what is not there yet without `.` and `..`. Two paths of a file that is to be made so become one.
///
/// A link that leads nowhere stays as it is, and so do capitals of what is not there. Costs a look at each folder on
/// the way.
pub fn leased_path(disk: &Disk, path: &Path) -> Result<PathBuf, DiskError> {
    let mut real = PathBuf::new();
    // Parts at the end that are not there.
    let mut missing = 0_usize;
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
                missing = missing.saturating_sub(1);
            }
            part if missing > 0 => {
                real.push(part);
                missing += 1;
            }
            part => {
                real.push(part);
                match disk.canonicalize(&real) {
                    Ok(found) => real = found,
                    Err(error) if error.is_absent() => missing = 1,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(real)
}

/// The same of an order about a lease, which may come from elsewhere. What is no absolute path, or cannot be looked at, is
/// left to who decides. A folder is not leased: what is in it would not be held.
pub(crate) fn with_leased_path(order: Command, disk: &Disk) -> Result<Command, BoardError> {
    let normal = |path: String| {
        let found = Some(Path::new(&path)).filter(|path| path.is_absolute());
        let found = found.and_then(|path| leased_path(disk, path).ok());
        found.map_or(path, |found| found.to_string_lossy().into_owned())
    };
    Ok(match order {
        Command::Lease { path, why, anyway } => {
            let path = normal(path);
            let found = disk.stat(Path::new(&path)).ok().flatten();
            if found.is_some_and(|found| found.kind == EntryKind::Folder) {
                return Err(BoardError::Folder { path });
            }
            Command::Lease { path, why, anyway }
        }
        Command::Unlease {
            path,
            anyway,
            token,
        } => Command::Unlease {
            path: normal(path),
            anyway,
            token,
        },
        order => order,
    })
}
