//! [`Client::transcripts_below`] and [`Client::records_below`]: the files that a client keeps of its sessions.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, disk::EntryKind};

use super::Client;

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

    #[test]
    fn a_star_matches_anything() {
        assert!(fits("session-1.json", "session-*.json*"));
        assert!(fits("a.jsonl", "*.json*"));
        assert!(!fits("a.json.txt", "*.jsonl"));
        assert!(!fits("x", "rollout-*"));
    }
}
