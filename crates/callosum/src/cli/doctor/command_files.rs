//! Command files of Gemini CLI and Qwen Code with shell lines that the guard would stop.
//!
//! Both run `!{command}` in a file of theirs when a person types its name, and report it to no hook. So `doctor` reads the
//! files of the project and of the user, and names those with a command that the guard is against.

use std::path::{Path, PathBuf};

use callosum_guard::{Decision, decide};
use callosum_host::{Disk, OpenHow, disk::EntryKind};

use super::{Checks, Outcome};
use crate::{
    cli::{
        clients::{self, ClientName},
        context::Context,
    },
    ui::shell_word,
};
use callosum_client::hook;

/// The folder of such files, in a client's own folder and in a project's.
const FOLDER: &str = "commands";

/// Most files that are read, and how deep folders are looked into.
const MOST_FILES: usize = 500;
const DEEPEST: usize = 6;

/// Most bytes of a file that are read.
const LONGEST: usize = 256 * 1024;

/// Most files that are named.
const MOST_NAMED: usize = 5;

/// Names the files; says nothing if there are none.
pub(super) fn check(context: &Context, checks: &mut Checks) {
    for name in [ClientName::Gemini, ClientName::Qwen] {
        let client = name.client();
        let of_project = context.tree().join(client.home.folder);
        let own = clients::own_folder(context, client);
        let (mut stopped, mut first) = (Vec::new(), None);
        for folder in [Some(of_project), own].into_iter().flatten() {
            for file in files(&context.disk, &folder.join(FOLDER)) {
                if let Some((command, rule)) = first_stopped(context, &file) {
                    first.get_or_insert_with(|| file.clone());
                    stopped.push(format!("{} ({command}: {rule})", file.display()));
                }
            }
        }
        if stopped.is_empty() {
            continue;
        }
        let more = stopped.len().saturating_sub(MOST_NAMED);
        stopped.truncate(MOST_NAMED);
        if more > 0 {
            stopped.push(format!("{more} more"));
        }
        let found = format!(
            "{} runs the shell lines (`!{{…}}`) of these command files without the guard, which would deny \
             them: {}",
            client.program,
            stopped.join(", ")
        );
        let hint = first.map(|file| {
            let file = shell_word(&file.display().to_string());
            format!("${{EDITOR:-vi}} {file}")
        });
        let name = format!("commands of {}", client.program);
        checks.add(&name, Outcome::Warning, found, hint.as_deref());
    }
}

/// The first command of a file that the guard would ask about or stop, and its rule.
fn first_stopped(context: &Context, file: &Path) -> Option<(String, String)> {
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
fn files(disk: &Disk, folder: &Path) -> Vec<PathBuf> {
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
