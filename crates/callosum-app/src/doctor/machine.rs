//! Checks the folders of this machine: their places, whether they are writable, and the free disk
//! space.

use std::path::Path;

use callosum_host::{DiskError, OpenHow, machine};

use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::init::ROOM_NEEDED;
use crate::{CommandError, Exit, shell_word, thousands};

/// Writes a file into a folder, and removes it.
fn write_probe(context: &Context, folder: &Path) -> Result<(), DiskError> {
    // A name of its own, so that two doctors at once do not meet.
    let probe = folder.join(format!(".cal_probe_{}", std::process::id()));
    let written = context
        .disk
        .open(&probe, OpenHow::CREATE_NEW)
        .and_then(|file| file.write_at(b"probe", 0))
        .and_then(|()| context.disk.remove_file(&probe));
    if written.is_err() {
        // What could not be written is not there to be removed; a full disk leaves it empty.
        drop(context.disk.remove_file(&probe));
    }
    written.map(drop)
}

/// Checks that the root can be written to and has free space.
pub fn check_root(context: &Context, checks: &mut Checks) {
    let root = context.state();
    checks.add("root", Outcome::Ok, root.display().to_string(), None);
    if context.project.roots.is_linked() {
        checks.add(
            "tree",
            Outcome::Ok,
            format!("{} (linked worktree)", context.tree().display()),
            None,
        );
    }
    let audit = context.ledger_paths().audit;
    let mut folders = vec![(root, "the root")];
    if context.disk.exists(&audit).unwrap_or(false) {
        folders.push((&audit, "the audit journal's folder"));
    }
    for (folder, what) in folders {
        match write_probe(context, folder) {
            Ok(()) => checks.add("writing", Outcome::Ok, format!("{what} is writable"), None),
            Err(error) => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                let found = format!("{what} is not writable, so delegation fails: {found}");
                let hint = format!("ls -ld {}", shell_word(&folder.display().to_string()));
                checks.add("writing", Outcome::Failed, found, Some(&hint));
            }
        }
    }
    check_room(checks, "disk space", root);
    check_folders(context, checks);
}

/// Checks the free space on the disk of a folder.
fn check_room(checks: &mut Checks, name: &str, folder: &Path) {
    match machine::free_bytes(folder) {
        Ok(free) if free >= ROOM_NEEDED => {
            checks.add(
                name,
                Outcome::Ok,
                format!("{} MB free", thousands(free >> 20)),
                None,
            );
        }
        Ok(free) => {
            let found = match free >> 20 {
                0 => "less than 1 MB free".to_owned(),
                megabytes => format!("{megabytes} MB free, 500 MB recommended"),
            };
            let hint = format!("df -h {}", shell_word(&folder.display().to_string()));
            checks.add(name, Outcome::Warning, found, Some(&hint));
        }
        Err(error) => checks.add(name, Outcome::Warning, error.to_string(), None),
    }
}

/// The folders of Seed CAL §14.3 (REQ-DEP-005).
fn check_folders(context: &Context, checks: &mut Checks) {
    let paths = context.ledger_paths();
    let missing: Vec<String> = [&paths.audit, &paths.history, &paths.locks]
        .into_iter()
        .filter(|folder| !context.disk.exists(folder).unwrap_or(false))
        .map(|folder| folder.strip_prefix(context.state()).unwrap_or(folder))
        .map(|folder| folder.display().to_string())
        .collect();
    if missing.is_empty() {
        checks.add("project files", Outcome::Ok, "complete", None);
    } else {
        let found = format!(
            "not created yet: {}; the first delegation creates them",
            missing.join(" ")
        );
        checks.add("project files", Outcome::Ok, found, Some("callosum init"));
    }
}

/// Checks the machine's folders.
pub fn check_homes(context: &Context, checks: &mut Checks) {
    let homes = &context.project.homes;
    let written = homes.create_machine(&context.disk);
    // A folder that exists may be on a full disk, or may not be writable.
    match written.and_then(|_| write_probe(context, &homes.machine)) {
        Ok(()) => checks.add(
            "machine home",
            Outcome::Ok,
            homes.machine.display().to_string(),
            None,
        ),
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            let hint = "export CALLOSUM_HOME=\"$HOME/.callosum\"";
            let hint = Some(hint).filter(|_| !error.is_full());
            checks.add("machine home", Outcome::Failed, found, hint);
            if !error.is_full() {
                return;
            }
        }
    }
    let device = |folder: &Path| {
        let stat = context.disk.stat(folder).ok().flatten();
        stat.and_then(|stat| stat.id).map(|id| id.device)
    };
    if device(&homes.machine) != device(context.state()) {
        check_room(checks, "machine home, disk space", &homes.machine);
    }
}

/// Lists the requirements of other installations that this one does not have (REQ-DEP-001).
pub fn check_needs(checks: &mut Checks) {
    checks.add(
        "python",
        Outcome::Ok,
        "not needed: callosum is a single program",
        None,
    );
}
