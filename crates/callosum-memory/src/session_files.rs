//! [`SessionFile`]: the files in which clients keep their sessions, found by their places.
//!
//! Start with [`list`]. Nothing of a file is read here.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use callosum_host::{Disk, DiskError, disk::EntryKind};

use super::client::Client;

/// A client's own folder on this machine, such as `~/.claude`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFolder {
    /// The client.
    pub client: Client,
    /// The folder; it may be missing.
    pub path: PathBuf,
}

/// Layout of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A JSON object per line, appended to.
    Lines,
    /// One JSON object, written again with each change.
    Whole,
    /// The database of opencode.
    Database,
}

/// A file with sessions of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionFile {
    pub client: Client,
    pub path: PathBuf,
    pub layout: Layout,
    /// Device and inode, where the file system has them.
    pub id: Option<(u64, u64)>,
    pub len: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
}

/// Places below a client's folder, in which `*` is any part of a name.
fn places(client: Client) -> &'static [(&'static str, Layout)] {
    match client {
        Client::ClaudeCode => &[
            ("projects/*/*.jsonl", Layout::Lines),
            ("projects/*/*/subagents/*.jsonl", Layout::Lines),
        ],
        Client::Codex => &[
            ("sessions/*/*/*/rollout-*.jsonl", Layout::Lines),
            ("archived_sessions/rollout-*.jsonl", Layout::Lines),
            ("sessions/rollout-*.json", Layout::Whole),
        ],
        Client::Gemini => &[
            ("tmp/*/chats/session-*.jsonl", Layout::Lines),
            ("tmp/*/chats/*/*.jsonl", Layout::Lines),
            ("tmp/*/chats/session-*.json", Layout::Whole),
        ],
        Client::Qwen => &[
            ("projects/*/chats/*.jsonl", Layout::Lines),
            ("tmp/*/chats/*.jsonl", Layout::Lines),
            ("tmp/*/chats/*.json", Layout::Whole),
        ],
        Client::Opencode => &[("opencode.db", Layout::Database)],
    }
}

impl SessionFile {
    /// Returns the id of the session that a sub-agent's file belongs to, by its place.
    pub(crate) fn parent(&self) -> Option<&str> {
        let folder = self.path.parent()?;
        let parent = match self.client {
            Client::ClaudeCode if folder.ends_with("subagents") => folder.parent()?,
            Client::Gemini if !folder.ends_with("chats") => folder,
            _ => return None,
        };
        parent.file_name()?.to_str()
    }

    /// Returns the session's id by the file's name, for a client that names files by it.
    pub(crate) fn session(&self) -> Option<&str> {
        let stem = self.path.file_stem()?.to_str()?;
        let is_named = self.client == Client::ClaudeCode && !stem.starts_with("agent-");
        is_named.then_some(stem)
    }
}

/// Returns the session files in these folders, those that changed first before later ones, so that the original of a copied
/// session comes before its copy. Links are not followed, and a folder that cannot be read has no files.
///
/// Costs a listing of each folder and a look at each file.
pub(crate) fn list(disk: &Disk, folders: &[ClientFolder]) -> Vec<SessionFile> {
    let mut found = Vec::new();
    for ClientFolder { client, path } in folders {
        for (pattern, layout) in places(*client) {
            let (folders, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
            let mut paths = vec![path.clone()];
            let parts = folders.split('/').filter(|part| !part.is_empty());
            for (part, kind) in parts
                .map(|part| (part, EntryKind::Folder))
                .chain([(name, EntryKind::File)])
            {
                paths = paths
                    .iter()
                    .flat_map(|folder| matching(disk, folder, part, kind).unwrap_or_default())
                    .collect();
            }
            for path in paths {
                let Ok(Some(stat)) = disk.stat(&path) else {
                    continue;
                };
                if stat.kind != EntryKind::File {
                    continue;
                }
                let since = stat.modified.duration_since(SystemTime::UNIX_EPOCH);
                let modified = since.map_or(0, |since| since.as_nanos());
                found.push(SessionFile {
                    client: *client,
                    path,
                    layout: *layout,
                    id: stat.id.map(|id| (id.device, id.inode)),
                    len: stat.len,
                    modified: i64::try_from(modified).unwrap_or(i64::MAX),
                });
            }
        }
    }
    found.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    found
}

/// Returns the files or folders in a folder whose names match a pattern with at most one `*`.
fn matching(
    disk: &Disk,
    folder: &Path,
    pattern: &str,
    kind: EntryKind,
) -> Result<Vec<PathBuf>, DiskError> {
    let Some((begin, end)) = pattern.split_once('*') else {
        return Ok(vec![folder.join(pattern)]);
    };
    let entries = disk.list_dir(folder)?.into_iter();
    let is_match = |name: &str| {
        name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
    };
    let fitting =
        entries.filter(|entry| entry.kind == kind && entry.name.to_str().is_some_and(is_match));
    Ok(fitting.map(|entry| folder.join(entry.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(client: Client, path: &str) -> SessionFile {
        SessionFile {
            client,
            path: path.into(),
            layout: Layout::Lines,
            id: None,
            len: 0,
            modified: 0,
        }
    }

    #[test]
    fn a_sub_agent_belongs_to_the_session_of_its_folder() {
        let own = file(Client::ClaudeCode, "/h/projects/-p/01.jsonl");
        assert_eq!((own.session(), own.parent()), (Some("01"), None));
        let sub = file(
            Client::ClaudeCode,
            "/h/projects/-p/01/subagents/agent-2.jsonl",
        );
        assert_eq!((sub.session(), sub.parent()), (None, Some("01")));
        let sub = file(Client::Gemini, "/h/tmp/x/chats/03/04.jsonl");
        assert_eq!(sub.parent(), Some("03"));
    }

    #[test]
    fn files_are_found_by_their_places_and_links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        for path in [
            "projects/-p/01.jsonl",
            "projects/-p/01.txt",
            "projects/-p/01/subagents/agent-1.jsonl",
            "other/-p/02.jsonl",
        ] {
            let path = home.path().join(path);
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, b"{}\n", 0o600).unwrap();
        }
        disk.make_link(
            Path::new("01.jsonl"),
            &home.path().join("projects/-p/03.jsonl"),
        )
        .unwrap();
        let folder = |client| ClientFolder {
            client,
            path: home.path().to_owned(),
        };
        let found = list(&disk, &[folder(Client::ClaudeCode), folder(Client::Codex)]);
        let mut names: Vec<_> = found
            .iter()
            .map(|file| {
                file.path
                    .strip_prefix(home.path())
                    .unwrap()
                    .to_str()
                    .unwrap()
            })
            .collect();
        names.sort_unstable();
        let expected = [
            "projects/-p/01.jsonl",
            "projects/-p/01/subagents/agent-1.jsonl",
        ];
        assert_eq!(names, expected);
    }
}
