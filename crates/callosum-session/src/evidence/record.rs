//! Recognizes records of sessions or of git: a decision that cites one would be its own evidence.

use std::path::Path;

use callosum_host::Disk;

/// Whether a cited path belongs to files that sessions and git write themselves, by its name or by
/// the target of its links; also in a checkout within the tree, such as a linked worktree.
pub(super) fn is_record(disk: &Disk, root: &Path, path: &str) -> bool {
    let is_one = |path: &str| {
        let parts = parts(path);
        (0..parts.len()).any(|at| {
            is_of_records(&parts[at..])
                && (at == 0 || is_checkout(disk, &root.join(parts[..at].join("/"))))
                || parts[at].eq_ignore_ascii_case(".git")
        })
    };
    if is_one(path) {
        return true;
    }
    let real = disk.canonicalize(root).ok().and_then(|top| {
        let real = disk.canonicalize(&root.join(path)).ok()?;
        Some(real.strip_prefix(top).ok()?.to_str()?.to_owned())
    });
    real.is_some_and(|real| real != path && is_one(&real))
}

/// Returns the parts of a path, without those that go nowhere or back.
fn parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

/// Whether a path from the root of a checkout is of its records or of their settings.
fn is_of_records(parts: &[&str]) -> bool {
    let is = |at: usize, name: &str| {
        parts
            .get(at)
            .is_some_and(|part| part.eq_ignore_ascii_case(name))
    };
    let is_notes = |part: &&str| part.to_ascii_lowercase().starts_with("notes.md");
    let is_of_state = is(1, ".session")
        || is(1, "a2a") && is(2, "trajectory")
        || parts.len() == 2 && parts.get(1).is_some_and(is_notes);
    is(0, ".beads")
        || is(0, "loa-grimoire") && is_of_state
        || parts.len() == 1 && is(0, ".loa.config.yaml")
}

fn is_checkout(disk: &Disk, folder: &Path) -> bool {
    disk.exists(&folder.join(".git")).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// LOA-GRD-1: files that a session writes are not evidence, however they are named.
    #[test]
    fn records_are_known_by_any_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let root = disk.canonicalize(folder.path()).unwrap();
        for name in [
            ".claude/worktrees/x/loa-grimoire/a2a/trajectory",
            ".beads",
            "tests/fixtures/.beads",
        ] {
            disk.create_dir_all(&root.join(name)).unwrap();
        }
        disk.replace(
            &root.join(".claude/worktrees/x/.git"),
            b"gitdir: y\n",
            0o644,
        )
        .unwrap();
        disk.replace(&root.join(".beads/bd-1.yaml"), b"id: bd-1\n", 0o644)
            .unwrap();
        symlink("../.beads", root.join("tests/tasks")).unwrap();
        for path in [
            ".beads/bd-1.yaml",
            "./.beads//bd-1.yaml",
            "src/../.beads/bd-1.yaml",
            "tests/tasks/bd-1.yaml",
            ".git/HEAD",
            ".GIT/HEAD",
            "vendor/x/.git/config",
            ".claude/worktrees/x/.git",
            "loa-grimoire/NOTES.md",
            "loa-grimoire/notes.md.broken-1",
            "loa-grimoire/.session/seen",
            "loa-grimoire/a2a/trajectory/a.jsonl",
            ".loa.config.yaml",
            ".claude/worktrees/x/loa-grimoire/NOTES.md",
            ".claude/worktrees/x/.beads/bd-1.yaml",
            ".claude/worktrees/x/.loa.config.yaml",
        ] {
            assert!(is_record(&disk, &root, path), "{path}");
        }
        for path in [
            "loa-grimoire/prd.md",
            "loa-grimoire/a2a/index.md",
            "docs/NOTES.md",
            "src/beads.rs",
            ".gitignore",
            ".github/workflows/ci.yml",
            "tests/fixtures/.beads/bd-1.yaml",
            "tests/fixtures/loa-grimoire/NOTES.md",
            ".claude/worktrees/x/src/a.rs",
        ] {
            assert!(!is_record(&disk, &root, path), "{path}");
        }
    }
}
