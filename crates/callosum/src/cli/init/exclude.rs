//! What `init --ignore` has git pass over: the repository's own exclude file.

use callosum_host::disk::{EntryKind, FileStat};

use crate::{
    cli::{context::Context, store},
    ui::CommandError,
};

/// Names of our own in a project's root, as `.git/info/exclude` is told them.
const IGNORED: [&str; 8] = [
    "/.cal_memory.json",
    "/.cal_hashlog",
    "/.cal_memory_history/",
    "/.cal_backup/",
    "/.cal_lock/",
    "/.cal_answers/",
    "/.cal_quarantine/",
    "/cal_audit/",
];

/// Two more that a team may want to share, and that `--ignore` leaves out as well.
const IGNORED_SETTINGS: [&str; 2] = ["/registry.json", "/.calrc"];

/// Adds our names to the repository's own exclude file; says which were missing, or nothing where
/// there is no git to tell.
pub(super) fn exclude(
    context: &Context,
    zones: Vec<String>,
) -> Result<Option<Vec<String>>, CommandError> {
    let git = context.state().join(".git");
    let is_folder = |found: FileStat| found.kind == EntryKind::Folder;
    let found = context
        .disk
        .stat(&git)
        .map_err(|error| store::disk_failed(&error))?;
    if !found.is_some_and(is_folder) {
        context.ui.warn(
            "--ignore: the root is not a git repository of its own",
            None,
        );
        return Ok(None);
    }
    let info = git.join("info");
    context
        .disk
        .create_dir_all(&info)
        .map_err(|error| store::disk_failed(&error))?;
    let path = info.join("exclude");
    let there = context
        .disk
        .read_if_there(&path)
        .map_err(|error| store::disk_failed(&error))?;
    let mut text = String::from_utf8_lossy(&there.unwrap_or_default()).into_owned();
    let missing: Vec<String> = IGNORED
        .iter()
        .chain(&IGNORED_SETTINGS)
        .map(|name| (*name).to_owned())
        .chain(zones)
        .filter(|name| !text.lines().any(|line| line.trim() == name))
        .collect();
    if missing.is_empty() {
        return Ok(Some(missing));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for name in &missing {
        text.push_str(name);
        text.push('\n');
    }
    context
        .disk
        .replace(&path, text.as_bytes(), 0o644)
        .map_err(|error| store::disk_failed(&error))?;
    Ok(Some(missing))
}
