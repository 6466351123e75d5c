//! `:fs.read`: the text of a file of the project.

use std::path::{Component, Path, PathBuf};

use callosum_host::disk::{EntryKind, FileStat};
use callosum_host::process::Cancel;
use callosum_host::{Disk, DiskError, OpenHow};
use callosum_plan::{CapabilityName, FailureKind, Value};
use callosum_plan_run::kernel::{Answer, ApprovedCall, ProviderFailure, Sensitivity};
use serde::Deserialize;
use serde_json::json;

use crate::plan::provider::denied_files::kept_back;
use crate::plan::provider::{PlanEnvironment, arguments, free, keyed, unfit};

/// Bytes that a file may have.
const LARGEST: u64 = 512 << 10;

/// Names of the tree that are looked at for those of one file.
const MOST_NAMES: usize = 200_000;

/// Folders whose files are notes, and what prompts and answers left: `personal`.
const PERSONAL_FOLDERS: [&str; 2] = ["loa-grimoire", ".beads"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    /// The first line, from 1.
    from: Option<usize>,
    /// Number of lines.
    lines: Option<usize>,
}

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted = match call.arguments() {
        [Value::Text(path)] => Arguments {
            path: path.to_string(),
            from: None,
            lines: None,
        },
        _ => arguments(call)?,
    };
    let context = surroundings.context;
    let found = admitted(
        &context.disk,
        context.tree(),
        &wanted.path,
        call.capability(),
    )?;
    let text = text_of(&context.disk, &found, &wanted.path)?;
    let all = text.lines().count();
    let from = wanted.from.unwrap_or(1);
    if from == 0 {
        return Err(unfit(call, "lines are counted from 1"));
    }
    let shown: String = text
        .split_inclusive('\n')
        .skip(from - 1)
        .take(wanted.lines.unwrap_or(usize::MAX))
        .collect();
    let answer = free(keyed(&json!({
        "path": wanted.path,
        "from": from,
        "lines": all,
        "text": shown,
    })));
    Ok(Answer {
        sensitivity: is_personal(&context.disk, context.tree(), &found)
            .then_some(Sensitivity::Personal),
        ..answer
    })
}

/// Whether a file of the tree, with every link resolved, is of a session's: notes, trajectories, beads.
fn is_personal(disk: &Disk, tree: &Path, found: &Path) -> bool {
    let real_tree = disk.canonicalize(tree);
    let below = real_tree
        .ok()
        .and_then(|tree| found.strip_prefix(tree).ok().map(Path::to_owned));
    // What is not known to be anything else is held to be one.
    let Some(below) = below else { return true };
    // Also those of a project within this one.
    let mut names = below
        .iter()
        .map(|name| name.to_string_lossy().to_ascii_lowercase());
    names.any(|name| PERSONAL_FOLDERS.contains(&name.as_str()))
}

/// Returns the path, with every link resolved, of a file of the tree that a plan may read; `path`
/// is relative to the tree.
pub(super) fn admitted(
    disk: &Disk,
    tree: &Path,
    path: &str,
    asked_of: &CapabilityName,
) -> Result<PathBuf, ProviderFailure> {
    let refuse = |why: &str| {
        let what = format!(":{asked_of}: `{path}` {why}");
        ProviderFailure::before(FailureKind::SecurityViolation, what)
    };
    let below = below(path).ok_or_else(|| refuse("is not a path inside the project"))?;
    if let Some(why) = kept_back(&below) {
        return Err(refuse(why));
    }
    let gone = |error: DiskError| {
        let kind = FailureKind::CapabilityError;
        let what = if error.is_absent() {
            format!(":{asked_of}: `{path}`: there is no such file")
        } else {
            format!(":{asked_of}: {error}")
        };
        ProviderFailure::before(kind, what)
    };
    // A link on the way may lead elsewhere though every name looks harmless.
    let full = tree.join(&below);
    let real = disk.canonicalize(&full).map_err(gone)?;
    let real_tree = disk.canonicalize(tree).map_err(gone)?;
    let real_below = real
        .strip_prefix(&real_tree)
        .map_err(|_| refuse("leads outside the project"))?;
    if let Some(why) = kept_back(real_below) {
        return Err(refuse(why));
    }
    let found = disk.stat(&real).map_err(gone)?;
    let Some(found) = found.filter(|found| found.kind == EntryKind::File) else {
        return Err(refuse("is not a file"));
    };
    if found.names > 1 {
        // By another name it may be what is kept back, or no file of the project.
        check_each_name(disk, &real_tree, &found).map_err(refuse)?;
    }
    Ok(real)
}

/// Checks that each name of a file with several is in the tree and readable by plans; the error is
/// the reason why not.
fn check_each_name(disk: &Disk, tree: &Path, file: &FileStat) -> Result<(), &'static str> {
    const UNKNOWN: &str = "has other hard links, and not all of them are files of the project";
    let mut left = file.names;
    let mut folders = vec![PathBuf::new()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        // What can't be listed has no name that counts.
        for entry in disk.list_dir(&tree.join(&folder)).unwrap_or_default() {
            looked_at += 1;
            if looked_at > MOST_NAMES {
                return Err(UNKNOWN);
            }
            let below = folder.join(&entry.name);
            match entry.kind {
                EntryKind::Folder => folders.push(below),
                EntryKind::File => {
                    let other = disk.stat(&tree.join(&below)).ok().flatten();
                    let is_it =
                        other.is_some_and(|other| other.id.is_some() && other.id == file.id);
                    if !is_it {
                        continue;
                    }
                    if let Some(why) = kept_back(&below) {
                        return Err(why);
                    }
                    left -= 1;
                    if left == 0 {
                        return Ok(());
                    }
                }
                EntryKind::Link | EntryKind::Other => {}
            }
        }
    }
    Err(UNKNOWN)
}

/// The text of a file that was [`admitted`] under this path.
fn text_of(disk: &Disk, found: &Path, path: &str) -> Result<String, ProviderFailure> {
    let gone = |error: DiskError| {
        let what = format!(":fs.read: {error}");
        ProviderFailure::before(FailureKind::CapabilityError, what)
    };
    let file = disk.open(found, OpenHow::READ).map_err(gone)?;
    let size = file.size().map_err(gone)?;
    if size > LARGEST {
        let what = format!(":fs.read: `{path}` has {size} bytes, more than {LARGEST}");
        return Err(ProviderFailure::before(FailureKind::CapabilityError, what));
    }
    let bytes = file.read_all().map_err(gone)?;
    String::from_utf8(bytes).map_err(|_| {
        let what = format!(":fs.read: `{path}` is not UTF-8");
        ProviderFailure::before(FailureKind::CapabilityError, what)
    })
}

/// The path without `.`; `None` where it is absolute, climbs, or is nothing.
fn below(path: &str) -> Option<PathBuf> {
    let parts: Option<PathBuf> = Path::new(path)
        .components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    parts.filter(|path| !path.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn read(disk: &Disk, tree: &Path, path: &str) -> Result<String, ProviderFailure> {
        let asked_of = CapabilityName::parse("fs.read").unwrap();
        let found = admitted(disk, tree, path, &asked_of)?;
        text_of(disk, &found, path)
    }

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        let disk = Disk::real();
        disk.create_dir_all(&tree.join("src")).unwrap();
        disk.create_dir_all(&tree.join(".ssh")).unwrap();
        for (path, text) in [
            ("src/a.rs", "fn a() {}\n"),
            (".env", "A=1\n"),
            (".ssh/config", "Host x\n"),
            ("server.pem", "-----\n"),
        ] {
            disk.create(&tree.join(path), text.as_bytes(), 0o644)
                .unwrap();
        }
        disk.create(&folder.path().join("outside"), b"no\n", 0o644)
            .unwrap();
        symlink(folder.path().join("outside"), tree.join("src/link")).unwrap();
        symlink(tree.join(".env"), tree.join("src/environment")).unwrap();
        let linked = |from: PathBuf, to: &str| disk.hard_link(&from, &tree.join(to)).unwrap();
        linked(tree.join(".env"), "src/hard");
        linked(folder.path().join("outside"), "src/hard-outside");
        linked(tree.join("src/a.rs"), "src/twice.rs");
        (folder, tree)
    }

    #[test]
    fn a_file_of_the_tree_is_read() {
        let (_folder, tree) = tree();
        assert_eq!(
            read(&Disk::real(), &tree, "./src/a.rs").unwrap(),
            "fn a() {}\n"
        );
        assert!(read(&Disk::real(), &tree, "src/twice.rs").is_ok());
        let missing = read(&Disk::real(), &tree, "src/b.rs").unwrap_err();
        assert_eq!(
            missing.message,
            ":fs.read: `src/b.rs`: there is no such file"
        );
    }

    /// CCOS-RTFS-2: no way leads a plan to a file outside of the project, or to one that holds
    /// secrets.
    #[test]
    fn what_lies_outside_or_holds_secrets_is_refused() {
        let (_folder, tree) = tree();
        for path in [
            "../outside",
            "src/../../outside",
            "/etc/passwd",
            "src/link",
            "src/environment",
            "src/hard",
            "src/hard-outside",
            ".env",
            ".ENV",
            ".ssh/config",
            "server.pem",
            ".git/config",
            "cal_audit/2026-01-01.jsonl",
            "",
            "src",
        ] {
            let refused = read(&Disk::real(), &tree, path).unwrap_err();
            assert!(!refused.may_have_happened, "{path}");
            assert_eq!(
                refused.kind,
                FailureKind::SecurityViolation,
                "{path}: {refused}"
            );
        }
    }
}
