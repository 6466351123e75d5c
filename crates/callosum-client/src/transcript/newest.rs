//! [`newest`]: the transcript of this project that a client wrote last.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use callosum_executor::client::Client;
use callosum_host::{Disk, DiskError, OpenHow};
use serde_json::Value;

/// Transcripts that are opened to see whose project they are of, newest first.
const MOST_OPENED: usize = 50;

/// Bytes at a transcript's beginning that contain its folder.
const HEAD: usize = 64 * 1024;

/// The file in which Gemini CLI notes whose a folder of transcripts is, above that folder.
const ROOT: &str = ".project_root";

/// Most bytes that are read of it.
const LONGEST_ROOT: u64 = 4096;

/// Finds the transcript that was written last of those whose session runs in one of these folders.
/// `homes` are the clients' own folders.
///
/// A transcript names the folder of its session. Gemini's do not: they are found by the note that
/// the client leaves next to them (`ROOT`), if there is one.
pub fn newest(
    disk: &Disk,
    homes: &[(&Client, PathBuf)],
    folders: &[&Path],
) -> Result<Option<PathBuf>, DiskError> {
    Ok(newest_few(disk, homes, folders, 1)?.pop())
}

/// Finds the transcripts that were written last of those whose session runs in one of these folders, newest first, `most`
/// of them.
pub fn newest_few(
    disk: &Disk,
    homes: &[(&Client, PathBuf)],
    folders: &[&Path],
    most: usize,
) -> Result<Vec<PathBuf>, DiskError> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for (client, home) in homes {
        for path in client.transcripts_below(disk, home)? {
            if let Some(stat) = disk.stat(&path)? {
                found.push((stat.modified, path));
            }
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    let mut newest = Vec::new();
    for (_, path) in found.into_iter().take(MOST_OPENED) {
        if newest.len() == most {
            break;
        }
        if runs_in(disk, &path, folders)? {
            newest.push(path);
        }
    }
    Ok(newest)
}

/// Whether a transcript is of a session in one of these folders, by its first lines, else by the
/// note next to it.
fn runs_in(disk: &Disk, path: &Path, folders: &[&Path]) -> Result<bool, DiskError> {
    let head = disk.open(path, OpenHow::READ)?.read_range(0, HEAD)?;
    let mut cwds = head
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter_map(|line| {
            let own = line.get("cwd").and_then(Value::as_str);
            let of_payload = || line.get("payload")?.get("cwd")?.as_str();
            own.or_else(of_payload).map(PathBuf::from)
        });
    let Some(cwd) = cwds.next().or_else(|| noted_beside(disk, path)) else {
        return Ok(false);
    };
    Ok(folders.iter().any(|folder| cwd.starts_with(folder)))
}

/// Returns the folder that is noted next to transcripts; `None` if there is no such note, or none
/// that can be read.
fn noted_beside(disk: &Disk, path: &Path) -> Option<PathBuf> {
    let note = path.parent()?.parent()?.join(ROOT);
    let text = disk.read_at_most(&note, LONGEST_ROOT).ok()?;
    let text = std::str::from_utf8(&text).ok()?.trim();
    Path::new(text).is_absolute().then(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use callosum_executor::output_format::Dialect;

    use super::*;

    /// LOA-BUD-1: the transcript of this project is found without an option, for every client.
    #[test]
    fn the_newest_transcript_of_this_project_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, text.as_bytes(), 0o600).unwrap();
            path
        };
        let homes = [
            (
                Client::of(Dialect::Claude).unwrap(),
                folder.path().join("c"),
            ),
            (Client::of(Dialect::Codex).unwrap(), folder.path().join("x")),
            (Client::of(Dialect::Qwen).unwrap(), folder.path().join("q")),
            (
                Client::of(Dialect::Gemini).unwrap(),
                folder.path().join("g"),
            ),
            (
                Client::of(Dialect::Claude).unwrap(),
                folder.path().join("none"),
            ),
        ];
        let find = || newest(&disk, &homes, &[Path::new("/p/one")]).unwrap();
        assert_eq!(find(), None);
        let line = |cwd: &str| format!("{{\"type\":\"mode\"}}\n{{\"cwd\":\"{cwd}\"}}\n");
        let mine = put("c/projects/-p-one/a.jsonl", &line("/p/one"));
        put("c/projects/-p-one-more/b.jsonl", &line("/p/one-more"));
        put("c/projects/-p-one/notes.md", &line("/p/one"));
        assert_eq!(find(), Some(mine));
        let newer = put(
            "x/sessions/2026/01/02/rollout-1.jsonl",
            "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/p/one/src\"}}\n",
        );
        let modified = disk.stat(&newer).unwrap().unwrap().modified;
        assert!(modified > SystemTime::UNIX_EPOCH);
        assert_eq!(find(), Some(newer));
        let qwen = put("q/projects/-p-one/chats/1.jsonl", &line("/p/one"));
        assert_eq!(find(), Some(qwen));
        // Gemini CLI says of a folder whose it is, and of a transcript nothing.
        let chat = "{\"sessionId\":\"1\"}\n";
        put("g/tmp/two/chats/session-2.jsonl", chat);
        put("g/tmp/two/.project_root", "/p/two");
        let gemini = put("g/tmp/one/chats/session-1.jsonl", chat);
        put("g/tmp/one/.project_root", "/p/one\n");
        assert_eq!(find(), Some(gemini));
    }
}
