//! Command files of Gemini CLI and Qwen Code with shell lines that the guard would stop.
//!
//! Both run `!{command}` in a file of theirs when a person types its name, and report it to no hook. So `doctor` reads the
//! files of the project and of the user, and names those with a command that the guard is against.

use std::path::{Path, PathBuf};

use callosum_client::hook;
use callosum_guard::{Decision, decide};
use callosum_host::disk::EntryKind;
use callosum_host::{Disk, OpenHow};

use crate::context::Context;

/// The folder of such files, in a client's own folder and in a project's.
pub const FOLDER: &str = "commands";

/// Most files that are read, and how deep folders are looked into.
const MOST_FILES: usize = 500;

const DEEPEST: usize = 6;

/// Most bytes of a file that are read.
const LONGEST: usize = 256 * 1024;

/// Most files that are named.
pub const MOST_NAMED: usize = 5;

/// The first command of a file that the guard would ask about or stop, and its rule.
pub fn first_stopped(context: &Context, file: &Path) -> Option<(String, String)> {
    let disk = &context.disk;
    let file = disk.open_if_there(file, OpenHow::READ).ok()??;
    let bytes = file.read_range(0, LONGEST).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let policy = context.project.guard(disk).policy(Vec::new());
    let tree = disk.canonicalize(context.tree()).ok()?;
    let facts = hook::facts(disk, &context.environment, Some(&tree), Some(&tree));
    hook::skill::braced(&text).into_iter().find_map(|command| {
        // What a person types in its place is not known yet.
        let command = command.replace("{{args}}", "ARGUMENTS");
        let verdict = decide(&command, &facts, &policy);
        let rule = verdict.rule.unwrap_or_default();
        (verdict.decision != Decision::Allow).then_some((command, rule))
    })
}

/// The command files in a folder, in the order of their names. A link is not followed.
pub fn files(disk: &Disk, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let mut entries = disk.list_dir(&folder).unwrap_or_default();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let path = folder.join(&entry.name);
            let ending = path.extension().and_then(|ending| ending.to_str());
            match entry.kind {
                EntryKind::Folder if depth < DEEPEST => folders.push((path, depth + 1)),
                EntryKind::File if matches!(ending, Some("toml" | "md")) => found.push(path),
                _ => {}
            }
            if found.len() >= MOST_FILES {
                return found;
            }
        }
    }
    found
}
