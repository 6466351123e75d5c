//! [`Difference`]: the changes of a command since the snapshot that was taken before it, and the bytes that a snapshot
//! holds. Start with [`Store::since`].

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_guard::takes_in;

use super::{
    capture::display_path,
    git::{GitError, SILENCE},
    metadata::Snapshot,
    repository::is_ours,
    store::{SnapshotError, Store},
};

/// A file or link as a snapshot holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFile {
    /// Git's name of the content.
    pub blob: String,
    /// Git's mode: `100644`, `100755`, or `120000` for a link.
    pub mode: String,
}

/// A file that is not as the snapshot holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The file, as seen from the top of the tree.
    pub path: PathBuf,
    /// The file in the snapshot; `None` if it did not exist then.
    pub before: Option<SnapshotFile>,
}

impl Store {
    /// Returns the snapshot that was taken before a call; of several, the one that holds named files alone, which was
    /// complete before the command ran.
    pub fn before_call(&self, call: &str) -> Result<Option<Snapshot>, SnapshotError> {
        let all = self.list()?.into_iter();
        let taken = all.filter(|snapshot| snapshot.call.as_deref() == Some(call));
        Ok(taken.max_by_key(|snapshot| !snapshot.only.is_empty()))
    }

    /// Returns the files that differ from a snapshot and that the command before which it was taken may have changed:
    /// those that it names, and those that are new or gone. If it names none, or the whole tree, these are all that differ.
    ///
    /// A file that may have existed and is not in the snapshot is left out. Waits up to `patience` for another process.
    pub fn since(
        &self,
        snapshot: &Snapshot,
        patience: Duration,
    ) -> Result<Vec<Difference>, SnapshotError> {
        let _locks = self.lock(patience)?;
        let now = self.take(&snapshot.only, &snapshot.also)?;
        let git = self.repository.of_tree(&self.surroundings);
        let printed = git
            .run(&["diff-tree", "-r", "-z", &snapshot.tree, &now.tree])
            .map_err(|error| match error {
                GitError::Failed { .. } => SnapshotError::Broken {
                    id: snapshot.snapshot_id.clone(),
                },
                error => error.into(),
            })?;
        let mut differences = Vec::new();
        let mut words = printed.split(|byte| *byte == 0);
        while let (Some(change), Some(path)) = (words.next(), words.next()) {
            let path = PathBuf::from(OsStr::from_bytes(path));
            let change = String::from_utf8_lossy(change);
            // `:MODE MODE BLOB BLOB STATUS`, before and now.
            let fields: Vec<&str> = change.trim_start_matches(':').split(' ').collect();
            let [mode, _, blob, _, status] = fields[..] else {
                continue;
            };
            let is_new = status == "A";
            if is_ours(&path)
                || is_new && may_have_existed(snapshot, &path)
                || !is_new && status != "D" && !is_claimed(snapshot, &path)
            {
                continue;
            }
            let before = (!is_new).then(|| SnapshotFile {
                blob: blob.to_owned(),
                mode: mode.to_owned(),
            });
            differences.push(Difference { path, before });
        }
        self.leave_out_ignored(snapshot, &mut differences)?;
        Ok(differences)
    }

    /// Leaves out new files that git ignores, if the snapshot does not name all that was ignored.
    fn leave_out_ignored(
        &self,
        snapshot: &Snapshot,
        differences: &mut Vec<Difference>,
    ) -> Result<(), SnapshotError> {
        let lacks = &snapshot.not_covered;
        let mut new = Vec::new();
        for difference in differences.iter().filter(|one| one.before.is_none()) {
            new.extend_from_slice(difference.path.as_os_str().as_bytes());
            new.push(0);
        }
        if lacks.ignored_count <= lacks.ignored.len() || new.is_empty() {
            return Ok(());
        }
        let git = self.repository.of_tree(&self.surroundings);
        let asked = git.run_on(&["check-ignore", "--no-index", "-z", "--stdin"], new);
        let ignored = match asked {
            Ok(printed) => printed,
            // Git ends with 1, and prints nothing, if none is ignored.
            Err(GitError::Failed { message, .. }) if message == SILENCE => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let ignored: Vec<&[u8]> = ignored.split(|byte| *byte == 0).collect();
        differences.retain(|one| {
            one.before.is_some() || !ignored.contains(&one.path.as_os_str().as_bytes())
        });
        Ok(())
    }

    /// Returns the bytes of these blobs, without those that are gone.
    pub fn contents(&self, blobs: &[String]) -> Result<BTreeMap<String, Vec<u8>>, SnapshotError> {
        let mut contents = BTreeMap::new();
        if blobs.is_empty() {
            return Ok(contents);
        }
        let git = self.repository.of_tree(&self.surroundings);
        let printed = git.run_on(&["cat-file", "--batch"], blobs.join("\n").into_bytes())?;
        let mut rest = printed.as_slice();
        // `BLOB blob SIZE\n` and the bytes and `\n`, or `BLOB missing\n`.
        for blob in blobs {
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                break;
            };
            let line = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let size = line.rsplit_once(" blob ");
            let Some(size) = size.and_then(|(_, size)| size.parse::<usize>().ok()) else {
                continue;
            };
            let Some(bytes) = rest.get(..size) else {
                break;
            };
            contents.insert(blob.clone(), bytes.to_vec());
            rest = rest.get(size + 1..).unwrap_or_default();
        }
        Ok(contents)
    }
}

/// The names that a command was known to change.
fn names(snapshot: &Snapshot) -> &[String] {
    if snapshot.only.is_empty() {
        &snapshot.also
    } else {
        &snapshot.only
    }
}

fn is_claimed(snapshot: &Snapshot, path: &Path) -> bool {
    let names = names(snapshot);
    let path = display_path(path);
    names.is_empty() || names.iter().any(|name| takes_in(name, &path))
}

/// Returns whether a file that is not in the snapshot may have existed all the same.
fn may_have_existed(snapshot: &Snapshot, path: &Path) -> bool {
    let lacks = &snapshot.not_covered;
    let large = lacks.too_large.iter().map(|large| &large.path);
    let mut all = lacks.ignored.iter().chain(&lacks.repositories);
    let mut named = lacks.named.iter().chain(large);
    let path = display_path(path);
    let is_in = |name: &String| {
        let name = name.trim_end_matches('/');
        takes_in(name, &path)
    };
    all.any(is_in) || named.any(is_in)
}
