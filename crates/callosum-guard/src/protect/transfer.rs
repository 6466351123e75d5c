//! Paths that copying, linking or moving writes: the target, the paths in it under the sources'
//! names, and the folder that is replaced.

use super::writer::{Reach, Written, operands};
use crate::{
    analyze::{Call, Subject, value::Arg},
    facts::Facts,
    link, path,
};

/// Adds the paths that programs write which take sources and a target.
pub(super) fn copied(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let takes = match call.name.as_str() {
        "install" => "-t --target-directory -S --suffix -m --mode -o --owner -g --group",
        "rsync" | "scp" => "-e -i -F -P -o -l --rsh --exclude --include --filter",
        _ => "-t --target-directory -S --suffix",
    };
    let subject = Subject::new(call, takes, facts);
    if (subject.has("-n") || subject.has("--list-only")) && call.name == "rsync"
        || subject.has("--dry-run")
    {
        return;
    }
    let folder = into(&subject).filter(|_| !matches!(call.name.as_str(), "rsync" | "scp"));
    let to = match folder {
        Some(folder) => Some(folder),
        None if subject.operands.len() > 1 => operands(&subject).next_back(),
        None => None,
    };
    let Some(to) = to.filter(|to| call.name == "cp" || !to.contains(':')) else {
        return;
    };
    all.push((to.to_owned(), Reach::Anywhere));
    let replaces = match call.name.as_str() {
        "ln" | "gln" => folder.is_none() && !to.ends_with('/'),
        "rsync" => {
            let mut options = subject.options.iter();
            options.any(|given| given.name.starts_with("--del"))
        }
        "cp" | "gcp" => subject.has("-T") || subject.has("--no-target-directory"),
        _ => false,
    };
    if replaces {
        all.push((to.to_owned(), Reach::Whole));
    }
    let count = subject.operands.len() - usize::from(folder.is_none());
    let sources = &subject.operands[..count];
    let takes_folders = match call.name.as_str() {
        "ln" | "gln" | "install" => false,
        "rsync" | "ditto" => true,
        _ => ["-r", "-R", "-a", "--recursive", "--archive"]
            .iter()
            .any(|option| subject.has(option)),
    };
    if takes_folders && folder.is_none() && becomes_folder(to, sources) {
        all.push((to.to_owned(), Reach::Whole));
    }
    put_into(to, sources, takes_folders.then_some(call), facts, all);
}

/// The folder that is named before the sources.
fn into<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    subject
        .value("-t")
        .or_else(|| subject.value("--target-directory"))
}

/// Names of folders that clients have in their own, next to their settings.
const BESIDE_SETTINGS: [&str; 14] = [
    "agents",
    "commands",
    "skills",
    "output-styles",
    "rules",
    "docs",
    "memory",
    "prompts",
    "templates",
    "scripts",
    "workflows",
    "plans",
    "tasks",
    "specs",
];

/// Whether the only source may become the target itself, because that does not exist yet: a folder
/// whose name does not show its contents.
fn becomes_folder(to: &str, sources: &[(&Arg, bool)]) -> bool {
    let [(source, _)] = sources else {
        return false;
    };
    let name = path::name(source.text.trim_end_matches('/'));
    let has_ending = name.trim_start_matches('.').contains('.');
    !to.ends_with('/') && !has_ending && !BESIDE_SETTINGS.contains(&name)
}

/// Adds the paths of files that are put into a folder: by the sources' names, and if all of a
/// folder's contents are put there, files of any name. `takes` is the command if it takes folders
/// as they are.
fn put_into(
    to: &str,
    sources: &[(&Arg, bool)],
    takes: Option<&Call>,
    facts: &Facts,
    all: &mut Vec<Written>,
) {
    let folder = to.trim_end_matches('/');
    let cwd = takes.and_then(|call| call.cwd.as_deref());
    let at = link::resolve(to, cwd, facts);
    let read_by_clients = [facts.root.as_deref(), facts.home.as_deref(), cwd];
    let is_read_by_clients = read_by_clients.contains(&Some(at.as_str()));
    for (source, _) in sources {
        let text = source.text.as_str();
        let name = path::name(text.trim_end_matches('/'));
        let is_inner = takes.is_some_and(|call| {
            matches!(name, "." | "..") || call.name == "rsync" && text.ends_with('/')
        });
        if is_inner {
            all.push((format!("{folder}/*"), Reach::Anywhere));
            continue;
        }
        // What comes from another machine is named behind it.
        let name = name.rsplit(':').next().unwrap_or(name);
        let path = format!("{folder}/{name}");
        if takes.is_some() && is_read_by_clients {
            all.push((path.clone(), Reach::Whole));
        }
        all.push((path, Reach::Anywhere));
    }
}

/// Adds the paths that a move removes, and those that it creates.
pub(super) fn moved(call: &Call, facts: &Facts, all: &mut Vec<Written>) {
    let subject = Subject::new(call, "-t --target-directory -S --suffix", facts);
    let folder = into(&subject);
    let count = subject.operands.len();
    let replaces_target = subject.has("-T") || subject.has("--no-target-directory");
    let sources = &subject.operands[..count - usize::from(folder.is_none() && count > 0)];
    for (at, path) in operands(&subject).enumerate() {
        let is_target = folder.is_none() && at + 1 == count;
        if is_target {
            all.push((path.to_owned(), Reach::Anywhere));
        }
        if !is_target || replaces_target || becomes_folder(path, sources) {
            all.push((path.to_owned(), Reach::Whole));
        }
        if is_target && count > 1 {
            put_into(path, sources, Some(call), facts, all);
        }
    }
    if let Some(folder) = folder {
        all.push((folder.to_owned(), Reach::Anywhere));
        put_into(folder, sources, Some(call), facts, all);
    }
}
