//! Whether a command runs without the client's own prompt: [`allowed`].
//!
//! The switch and the list are the user's ([`AutoAllow`](callosum_config::AutoAllow)), the decision is the guard's
//! ([`auto_allow`]). Everything that is unusual about a call leaves it to the client: a mode in which nothing is to be
//! done, a command in the background, a snapshot that is not whole, a configuration that cannot be read.

use std::path::{Path, PathBuf};

use callosum_guard::{
    Decision,
    auto_allow::{Kind, Tree, auto_allow},
};
use callosum_host::{
    Disk,
    disk::{EntryKind, OpenHow},
};

use super::{
    answer::Reply,
    event::{Action, Event},
    gather_facts::CallContext,
    path_facts::text,
    snapshot_outcome::{SnapshotDetails, SnapshotOutcome},
    verdict::Judged,
};

/// The mode in which Claude Code only plans.
const PLANS: &str = "plan";

/// Most bytes of a file that the guard reads: settings of a repository.
const LONGEST: usize = 256 * 1024;

/// Returns the answer that spares the prompt, if the client takes one and the command needs none. `answer` makes it, and
/// is asked before anything is read.
pub(super) fn allowed(
    event: &Event,
    judged: &Judged,
    snapshot: Option<&SnapshotOutcome>,
    place: &CallContext,
    answer: impl FnOnce() -> Option<Reply>,
) -> Option<Reply> {
    let Action::Shell(command) = &event.action else {
        return None;
    };
    let is_usual = event.is_plain_shell
        && judged.verdict.decision == Decision::Allow
        && judged.permitted.is_empty()
        && event.mode.as_deref() != Some(PLANS)
        && place.guard.broken.is_empty()
        && place.guard.config.safety.auto_allow
        && snapshot.is_none_or(is_whole);
    if !is_usual {
        return None;
    }
    let reply = answer()?;
    let user = place.auto_allow.as_ref()?;
    // What cannot be read is off.
    let settings = user.read().ok().filter(|settings| settings.enabled)?;
    if is_of_project(&place.disk, user.path(), place) {
        return None;
    }
    let policy = place.policy(Vec::new());
    let tree = DiskTree(&place.disk);
    let decided = auto_allow(command, &place.facts, &policy, &settings.programs, &tree);
    decided.is_ok().then_some(reply)
}

/// Returns whether a snapshot holds all that the command may lose.
fn is_whole(kept: &SnapshotOutcome) -> bool {
    matches!(kept, SnapshotOutcome::Taken(_))
        && kept
            .held()
            .map(SnapshotDetails::lacks)
            .unwrap_or_default()
            .is_empty()
}

/// Returns whether the user's list is inside the project. Settings of a client that come with a repository can set
/// variables, and so name another home (`XDG_STATE_HOME=/proc/self/cwd/x`).
fn is_of_project(disk: &Disk, list: &Path, place: &CallContext) -> bool {
    let Ok(list) = disk.canonicalize(list) else {
        return true;
    };
    let facts = &place.facts;
    let mut folders = facts.root.iter().chain(&facts.cwd).chain(&facts.given);
    folders.any(|folder| list.starts_with(folder))
}

/// The disk as it is.
struct DiskTree<'a>(&'a Disk);

impl DiskTree<'_> {
    fn end(&self, path: &Path) -> Option<PathBuf> {
        if let Ok(end) = self.0.canonicalize(path) {
            return Some(end);
        }
        // A link to nothing is there, and leads nowhere.
        if self.0.stat(path).ok()?.is_some() {
            return None;
        }
        // `..` has no name: what it means behind a folder that does not exist is not known.
        let name = path.file_name()?;
        Some(self.end(path.parent()?)?.join(name))
    }
}

impl Tree for DiskTree<'_> {
    fn real(&self, path: &str) -> Option<String> {
        text(&self.end(Path::new(path))?)
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        let end = self.0.canonicalize(Path::new(path)).ok()?;
        let found = self.0.stat(&end).ok()??;
        Some(match found.kind {
            EntryKind::File => Kind::File,
            EntryKind::Folder => Kind::Folder,
            _ => Kind::Other,
        })
    }

    fn names(&self, folder: &str) -> Option<Vec<(String, bool)>> {
        let listed = self.0.list_dir(Path::new(folder)).ok()?;
        let named = listed.into_iter().map(|entry| {
            let name = entry.name.to_str()?.to_owned();
            Some((name, entry.kind == EntryKind::Folder))
        });
        named.collect()
    }

    fn text(&self, path: &str) -> Option<String> {
        let file = self
            .0
            .open_if_there(Path::new(path), OpenHow::READ)
            .ok()??;
        let bytes = file.read_range(0, LONGEST + 1).ok()?;
        (bytes.len() <= LONGEST)
            .then(|| String::from_utf8(bytes).ok())
            .flatten()
    }
}
