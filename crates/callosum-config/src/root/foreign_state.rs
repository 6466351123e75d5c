//! [`foreign_state`]: state of another user in a root that every user may write to.
//!
//! Anyone can put notes, beads or a ledger into `/tmp`. A user who works in `/tmp` itself has it
//! for a root, and an agent would read those files as the project's own.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::user};
use callosum_ledger::LedgerPaths;
use callosum_session::Zones;

use super::{ForeignMark, Roots};

/// Returns the first file or folder of the project's state that another user put into a shared root.
///
/// Costs one look at each root; the files are looked at only if a root is shared.
pub(crate) fn foreign_state(disk: &Disk, roots: &Roots) -> Result<Option<ForeignMark>, DiskError> {
    let mut folders: Vec<&Path> = vec![&roots.tree];
    for other in [&roots.state, &roots.sessions] {
        if !folders.contains(&other.as_path()) {
            folders.push(other);
        }
    }
    for folder in folders {
        if !is_shared(disk, folder)? {
            continue;
        }
        for path in state_files(folder) {
            if let Some(found) = disk.ownership(&path)?
                && found.user != user()
            {
                let user = found.user;
                return Ok(Some(ForeignMark { path, user }));
            }
        }
    }
    Ok(None)
}

/// Whether the `.calrc` of a root belongs to another user in a folder that every user may write to, or was ignored on the way
/// to the root.
pub(crate) fn is_calrc_foreign(
    disk: &Disk,
    roots: &Roots,
    calrc: &Path,
) -> Result<bool, DiskError> {
    if roots.foreign.iter().any(|mark| mark.path == calrc) {
        return Ok(true);
    }
    if !is_shared(disk, &roots.state)? {
        return Ok(false);
    }
    let found = disk.ownership(calrc)?;
    Ok(found.is_some_and(|found| found.user != user()))
}

fn is_shared(disk: &Disk, folder: &Path) -> Result<bool, DiskError> {
    let found = disk.ownership(folder)?;
    Ok(found.is_some_and(callosum_host::disk::Ownership::is_shared))
}

/// The names in a root under which state is kept by default, but for `.calrc`.
fn state_files(root: &Path) -> Vec<PathBuf> {
    let zones = Zones {
        tree: root.to_owned(),
        root: root.to_owned(),
    };
    let LedgerPaths {
        ledger,
        audit,
        hashlog,
        history,
        locks,
        answers,
        quarantine,
        backups,
        audit_buffer: _,
        root: _,
    } = LedgerPaths::in_root(root);
    let mut files = vec![
        zones.beads(),
        zones.config(),
        ledger,
        audit,
        hashlog,
        history,
        locks,
        answers,
        quarantine,
        backups,
        root.join("registry.json"),
    ];
    files.extend(zones.notes().parent().map(Path::to_owned));
    files
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{Permissions, set_permissions},
        os::unix::fs::{PermissionsExt as _, chown},
    };

    use super::*;
    use crate::test_dir::TestDir;

    fn roots(ground: &TestDir, named: Option<&str>) -> Roots {
        Roots::find(&ground.disk, &ground.top, named.map(Path::new)).unwrap()
    }

    #[test]
    fn state_of_another_user_in_a_shared_root_is_foreign() {
        if user() != 0 {
            // Only root can give a file away.
            return;
        }
        for (file, owned) in [
            ("loa-grimoire/NOTES.md", "loa-grimoire"),
            (".beads/bd-1.yaml", ".beads"),
            (".loa.config.yaml", ".loa.config.yaml"),
            (".cal_memory.json", ".cal_memory.json"),
            ("cal_audit/2026-01-01.jsonl", "cal_audit"),
            ("registry.json", "registry.json"),
        ] {
            let ground = TestDir::new();
            ground.write(file, "");
            let path = ground.path(owned);
            chown(&path, Some(12_345), None).unwrap();
            let found =
                |ground: &TestDir| foreign_state(&ground.disk, &roots(ground, None)).unwrap();
            assert_eq!(found(&ground), None, "{owned}: not shared");
            set_permissions(&ground.top, Permissions::from_mode(0o1777)).unwrap();
            let user = 12_345;
            assert_eq!(
                found(&ground),
                Some(ForeignMark {
                    path: path.clone(),
                    user
                })
            );
            chown(&path, Some(0), None).unwrap();
            assert_eq!(found(&ground), None, "{owned}: our own");
        }
    }

    #[test]
    fn a_calrc_of_another_user_in_the_folder_one_works_in_is_foreign() {
        if user() != 0 {
            // Only root can give a file away.
            return;
        }
        let ground = TestDir::new();
        let calrc = ground.write(".calrc", "{}");
        let is_foreign = |named| {
            let roots = roots(&ground, named);
            is_calrc_foreign(&ground.disk, &roots, &calrc).unwrap()
        };
        set_permissions(&ground.top, Permissions::from_mode(0o1777)).unwrap();
        assert!(!is_foreign(None));
        chown(&calrc, Some(12_345), None).unwrap();
        assert!(is_foreign(None));
        set_permissions(&ground.top, Permissions::from_mode(0o755)).unwrap();
        assert!(is_foreign(None), "ignored on the way to the root");
        assert!(!is_foreign(Some(".")), "the user names the folder");
    }
}
