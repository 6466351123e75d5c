//! Keeps our files out of git, by the repository's own exclude file; `init --share` does not.

use callosum_host::disk::{EntryKind, FileStat};

use crate::{
    cli::{context::Context, store},
    ui::CommandError,
};

/// Names of a ledger's state in a project's root, as `.git/info/exclude` has them.
pub(super) const LEDGER: [&str; 10] = [
    "/.cal_memory.json",
    "/.cal_hashlog",
    "/.cal_memory_history/",
    "/.cal_backup/",
    "/.cal_lock/",
    "/.cal_answers/",
    "/.cal_quarantine/",
    "/cal_audit/",
    "/registry.json",
    "/.calrc",
];

/// Adds names to the repository's own exclude file. Returns those that were missing, or `None` outside of a repository.
pub(super) fn exclude(
    context: &Context,
    names: &[String],
) -> Result<Option<Vec<String>>, CommandError> {
    let git = context.state().join(".git");
    let is_folder = |found: FileStat| found.kind == EntryKind::Folder;
    let found = context
        .disk
        .stat(&git)
        .map_err(|error| store::disk_failed(&error))?;
    if !found.is_some_and(is_folder) {
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
    let missing: Vec<String> = names
        .iter()
        .filter(|name| !text.lines().any(|line| line.trim() == *name))
        .cloned()
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
