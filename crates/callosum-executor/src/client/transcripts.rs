//! [`Client::transcripts_below`] and [`Client::records_below`]: the files that a client keeps of its sessions.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};

use super::Client;

/// Letters of a session's id that are in the name of a transcript of Gemini CLI.
const SHORT_ID: usize = 8;

impl Client {
    /// The client's transcripts in its own folder, in no order of time. A folder that is not there has
    /// none.
    pub fn transcripts_below(&self, disk: &Disk, own: &Path) -> Result<Vec<PathBuf>, DiskError> {
        let mut found = Vec::new();
        for pattern in self.transcripts {
            found.extend(below(disk, own, pattern)?);
        }
        Ok(found)
    }

    /// Returns the transcript of one session in its own folder, by the file's name: the name ends with the session's id, of
    /// Gemini CLI with the first eight letters of it. `None` for an id that is shorter.
    ///
    /// Costs a listing of each folder that may have it, those with the largest names first, which are the latest days of Codex.
    pub fn transcript_of(
        &self,
        disk: &Disk,
        own: &Path,
        session: &str,
    ) -> Result<Option<PathBuf>, DiskError> {
        let Some(beginning) = session.get(..SHORT_ID) else {
            return Ok(None);
        };
        let short = format!("-{beginning}");
        for pattern in self.transcripts {
            let (folders, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
            let mut folders = below(disk, own, folders)?;
            folders.sort_unstable_by(|a, b| b.cmp(a));
            for folder in folders {
                let found = matching(disk, &[folder], name)?;
                let is_of_session = |path: &PathBuf| {
                    let stem = path.file_stem().and_then(|stem| stem.to_str());
                    stem.is_some_and(|stem| stem.ends_with(session) || stem.ends_with(&short))
                };
                if let Some(path) = found.into_iter().find(is_of_session) {
                    return Ok(Some(path));
                }
            }
        }
        Ok(None)
    }

    /// The same of its records, for each kind that it has.
    pub fn records_below(&self, disk: &Disk, own: &Path) -> Result<Vec<Vec<PathBuf>>, DiskError> {
        let kinds = self.records.iter();
        kinds.map(|pattern| below(disk, own, pattern)).collect()
    }
}

fn below(disk: &Disk, own: &Path, pattern: &str) -> Result<Vec<PathBuf>, DiskError> {
    let mut paths = vec![own.to_owned()];
    for part in pattern.split('/') {
        paths = matching(disk, &paths, part)?;
    }
    Ok(paths)
}

/// Lists the entries of these folders whose names match `pattern`, in which `*` matches anything.
fn matching(disk: &Disk, folders: &[PathBuf], pattern: &str) -> Result<Vec<PathBuf>, DiskError> {
    if !pattern.contains('*') {
        return Ok(folders.iter().map(|folder| folder.join(pattern)).collect());
    }
    let mut found = Vec::new();
    for folder in folders {
        let is_folder = disk
            .stat(folder)?
            .is_some_and(|stat| stat.kind == EntryKind::Folder);
        if !is_folder {
            continue;
        }
        for entry in disk.list_dir(folder)? {
            if entry.name.to_str().is_some_and(|name| fits(name, pattern)) {
                found.push(folder.join(&entry.name));
            }
        }
    }
    Ok(found)
}

fn fits(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let Some(rest) = name.strip_prefix(before) else {
        return false;
    };
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .any(|at| fits(&rest[at..], after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::Dialect;

    #[test]
    fn a_star_matches_anything() {
        assert!(fits("session-1.json", "session-*.json*"));
        assert!(fits("a.jsonl", "*.json*"));
        assert!(!fits("a.json.txt", "*.jsonl"));
        assert!(!fits("x", "rollout-*"));
    }

    #[test]
    fn a_session_has_its_transcript_by_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let id = "019a2b3c-1111-7222-8333-944455556666";
        let put = |path: String| {
            let path = folder.path().join(path);
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, b"{}\n", 0o600).unwrap();
            path
        };
        let claude = put(format!("c/projects/-p-one/{id}.jsonl"));
        put("c/projects/-p-two/other.jsonl".to_owned());
        let codex = put(format!(
            "x/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{id}.jsonl"
        ));
        let gemini = put("g/tmp/one/chats/session-2026-01-02T03-04-019a2b3c.jsonl".to_owned());
        for (dialect, own, expected) in [
            (Dialect::Claude, "c", &claude),
            (Dialect::Codex, "x", &codex),
            (Dialect::Gemini, "g", &gemini),
        ] {
            let client = Client::of(dialect).unwrap();
            let own = folder.path().join(own);
            let find = |session: &str| client.transcript_of(&disk, &own, session).unwrap();
            assert_eq!(find(id).as_ref(), Some(expected));
            assert_eq!(find("0f3a0f3a-none"), None);
            assert_eq!(find(""), None);
            let absent = folder.path().join("absent");
            assert_eq!(client.transcript_of(&disk, &absent, id).unwrap(), None);
        }
    }
}
