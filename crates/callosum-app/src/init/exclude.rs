//! Keeps our files out of git, by the repository's own exclude file; `init --share` does not.

use callosum_client::registration::ApplyMode;
use callosum_host::DiskError;
use callosum_host::disk::{EntryKind, FileStat};

use crate::context::Context;
use crate::{CommandError, disk_errors};

/// Names of a ledger's state in a project's root, as `.git/info/exclude` has them.
pub const LEDGER: [&str; 10] = [
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
pub fn exclude(context: &Context, names: &[String]) -> Result<Option<Vec<String>>, CommandError> {
    let git = context.state().join(".git");
    let is_folder = |found: FileStat| found.kind == EntryKind::Folder;
    let found = context
        .disk
        .stat(&git)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    if !found.is_some_and(is_folder) {
        return Ok(None);
    }
    let info = git.join("info");
    context
        .disk
        .create_dir_all(&info)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let path = info.join("exclude");
    let there = context
        .disk
        .read_if_there(&path)
        .map_err(|error| disk_errors::disk_failed(&error))?;
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
    record(context, &missing).map_err(|error| disk_errors::disk_failed(&error))?;
    context
        .disk
        .replace(&path, text.as_bytes(), 0o644)
        .map_err(|error| disk_errors::disk_failed(&error))?;
    Ok(Some(missing))
}

/// Keeps which lines were added, so that [`unexclude`] removes no line that a person wrote.
fn record(context: &Context, added: &[String]) -> Result<(), DiskError> {
    let homes = &context.project.homes;
    let path = homes.excluded(context.state());
    homes.create_machine(&context.disk)?;
    if let Some(folder) = path.parent() {
        context.disk.create_private_dir(folder)?;
    }
    let mut lines = recorded(context)?;
    lines.extend(added.iter().cloned());
    let text = lines.join("\n") + "\n";
    context.disk.replace(&path, text.as_bytes(), 0o600)
}

fn recorded(context: &Context) -> Result<Vec<String>, DiskError> {
    let path = context.project.homes.excluded(context.state());
    let bytes = context.disk.read_if_there(&path)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().map(str::to_owned).collect())
}

/// Selection of the recorded lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// All of them.
    All,
    /// Those whose files are gone.
    Gone,
}

/// Removes lines that [`exclude`] added from the repository's exclude file, or only counts them. Returns their number.
pub fn unexclude(context: &Context, meant: Excluded, doing: ApplyMode) -> Result<u64, DiskError> {
    let root = context.state();
    let mut ours = Vec::new();
    let mut kept = Vec::new();
    for name in recorded(context)? {
        let is_there = context
            .disk
            .exists(&root.join(name.trim_start_matches('/')))?;
        let is_meant = meant == Excluded::All || !is_there;
        if is_meant {
            ours.push(name);
        } else {
            kept.push(name);
        }
    }
    let path = root.join(".git").join("info").join("exclude");
    let is_file = |found: FileStat| found.kind == EntryKind::File;
    if ours.is_empty() || !context.disk.stat(&path)?.is_some_and(is_file) {
        return Ok(0);
    }
    let text = context.disk.read(&path)?;
    let is_ours = |line: &&[u8]| {
        let line = String::from_utf8_lossy(line);
        ours.iter().any(|ours| ours == line.trim())
    };
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let (removed, left): (Vec<&[u8]>, Vec<&[u8]>) = lines.partition(is_ours);
    if doing == ApplyMode::Write {
        if !removed.is_empty() {
            context.disk.rewrite(&path, &left.concat(), 0o644)?;
        }
        let record = context.project.homes.excluded(root);
        if kept.is_empty() {
            context.disk.remove_file(&record)?;
        } else {
            let text = kept.join("\n") + "\n";
            context.disk.replace(&record, text.as_bytes(), 0o600)?;
        }
    }
    Ok(removed.len() as u64)
}
