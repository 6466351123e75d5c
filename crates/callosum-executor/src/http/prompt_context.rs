//! [`gather`]: collects parts of the tree for a model that can open no file.
//!
//! First comes scout's digest for the request, whose every statement cites a line. Then, as far as
//! there is room, files with numbered lines: first those that the request names, then those that
//! the digest cites. A model can quote what it sees, and nothing else.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::{Component, Path},
};

use callosum_citation::tokens;
use callosum_host::{Disk, disk::EntryKind};
use callosum_redact::{quote, secrets};
use serde_json::Value;

use crate::protocol::Request;

/// Largest file that is shown, in bytes.
const LARGEST_FILE: u64 = 1024 * 1024;

/// Divisor for the share of the room that a file gets if the request does not name it.
const SHARE: u64 = 4;

/// Fewest tokens worth beginning a file for.
const FEWEST: u64 = 128;

/// Text that a model is shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Material {
    /// The whole text, for the end of a prompt.
    pub(super) text: String,
    /// Bytes of it that are the digest.
    pub(super) digest_bytes: usize,
    /// Number of files that are shown, whole or in part.
    pub(super) files: usize,
    /// Number of files that had no room.
    pub(super) left_out: usize,
}

/// Gathers what fits into `room` tokens, by estimate. `alive` is called now and then.
///
/// Fails with scout's own words, as for a path that is not there.
pub(super) fn gather(
    disk: &Disk,
    root: &Path,
    request: &Request,
    room: u64,
    alive: &mut (dyn FnMut() + Send),
) -> Result<Material, String> {
    let asked = serde_json::to_value(request).expect("strings and JSON values are JSON");
    let answer = callosum_scout::answer(disk, root, &asked, &mut |_| alive());
    let field = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
    if field("status") != "success" {
        return Err(field("error").to_owned());
    }
    let mut material = Material::default();
    let digest = field("summary");
    let heading = "## What a survey of the tree found\n\n";
    if tokens::estimate(heading) + tokens::estimate(digest) <= room {
        let _ = writeln!(
            material.text,
            "{heading}{}\n",
            quote::neutral(digest.trim())
        );
        material.digest_bytes = digest.len();
    }
    let mut left = room.saturating_sub(tokens::estimate(&material.text));
    let most = left / SHARE;
    let mut seen = BTreeSet::new();
    let named = named(&asked);
    let leaned_on: Vec<String> = callosum_citation::find(digest)
        .into_iter()
        .map(|citation| citation.path)
        .collect();
    for (path, by_name) in named
        .iter()
        .map(|path| (path, true))
        .chain(leaned_on.iter().map(|path| (path, false)))
    {
        if !seen.insert(path.clone()) {
            continue;
        }
        alive();
        let Some(text) = read(disk, root, path) else {
            continue;
        };
        let bound = if by_name { left } else { left.min(most) };
        match shown(path, &text, bound) {
            Some(shown) => {
                left = left.saturating_sub(tokens::estimate(&shown));
                material.text.push_str(&shown);
                material.files += 1;
            }
            None => material.left_out += 1,
        }
    }
    Ok(material)
}

/// Files that the request names: its paths, and words of its prompt.
fn named(request: &Value) -> Vec<String> {
    let paths = request.pointer("/metadata/context/paths");
    let paths = paths.and_then(Value::as_array).into_iter().flatten();
    let prompt = request.get("prompt").and_then(Value::as_str);
    let words = prompt.unwrap_or_default().split(|c: char| {
        c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '?' | '!')
    });
    let words = words
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| word.contains(['.', '/']));
    paths
        .filter_map(Value::as_str)
        .chain(words)
        .map(|path| path.trim_start_matches("./").to_owned())
        .collect()
}

/// Reads a file of the tree as text, without secrets, escapes and tags of clients; `None` if it is
/// no such file.
fn read(disk: &Disk, root: &Path, path: &str) -> Option<String> {
    let relative = Path::new(path);
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    if path.is_empty() || !relative.components().all(inside) {
        return None;
    }
    // Our own state and git's are no part of the tree.
    if path.starts_with(".git/") || path.starts_with(".cal") || path.starts_with("cal_audit/") {
        return None;
    }
    let root = disk.canonicalize(root).ok()?;
    let file = disk.canonicalize(&root.join(relative)).ok()?;
    let stat = disk.stat(&file).ok()??;
    if !file.starts_with(&root) || stat.kind != EntryKind::File || stat.len > LARGEST_FILE {
        return None;
    }
    let text = String::from_utf8(disk.read(&file).ok()?).ok()?;
    (!text.contains('\0')).then(|| quote::neutral(&secrets::mask(&text).text))
}

/// A file with numbered lines, as many as `room` tokens hold.
fn shown(path: &str, text: &str, room: u64) -> Option<String> {
    if room < FEWEST {
        return None;
    }
    let total = text.lines().count();
    let mut shown = format!("## {path}\n\n```\n");
    let room = room.saturating_sub(tokens::estimate(&shown) + 16);
    let mut used = 0;
    let mut lines = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = format!("{number}: {line}\n");
        used += tokens::estimate(&line);
        if used > room {
            break;
        }
        shown.push_str(&line);
        lines = number;
    }
    if lines == 0 && total > 0 {
        return None;
    }
    shown.push_str("```\n");
    if lines < total {
        let _ = writeln!(shown, "({} more lines are not shown)", total - lines);
    }
    shown.push('\n');
    Some(shown)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            Disk::real().create_dir_all(path.parent().unwrap()).unwrap();
            Disk::real().replace(&path, text.as_bytes(), 0o644).unwrap();
        }
        folder
    }

    fn request(prompt: &str, paths: &[&str]) -> Request {
        let context = json!({"kind": "scan", "paths": paths});
        Request::for_task(
            prompt,
            "cal_2026_01_02_0001",
            context.as_object().cloned().unwrap(),
        )
    }

    fn gathered(root: &Path, request: &Request, room: u64) -> Material {
        gather(&Disk::real(), root, request, room, &mut || {}).unwrap()
    }

    /// CAL-SUM-1: a model sees the digest, and numbered lines that it can quote.
    #[test]
    fn the_digest_comes_first_and_then_files_with_their_lines() {
        let tree = tree(&[
            ("src/main.rs", "//! A tool.\nfn main() {\n    run();\n}\n"),
            ("src/other.rs", "pub fn other() {}\n"),
        ]);
        let material = gathered(tree.path(), &request("map it", &[]), 12_000);
        assert!(
            material
                .text
                .starts_with("## What a survey of the tree found")
        );
        assert!(
            material
                .text
                .contains("## src/main.rs\n\n```\n1: //! A tool.\n2: fn main() {\n")
        );
        assert!(material.digest_bytes > 100);
        assert!(material.files >= 1);
        let asked = gathered(
            tree.path(),
            &request("What is in src/other.rs?", &[]),
            12_000,
        );
        assert!(
            asked
                .text
                .contains("## src/other.rs\n\n```\n1: pub fn other() {}\n")
        );
    }

    /// LOA-SEC-1: files outside of the tree, and keys in it, are not sent to a server.
    #[test]
    fn nothing_from_outside_and_no_secret_is_shown() {
        let outside = tree(&[("secret.txt", "outside\n")]);
        let tree = tree(&[
            ("src/main.rs", "fn main() {}\n"),
            ("keys.env", "AWS_ACCESS_KEY_ID=AKIAQWERTYUIOPASDFGH\n"),
            (".cal_memory.json", "{}\n"),
        ]);
        symlink(
            outside.path().join("secret.txt"),
            tree.path().join("link.txt"),
        )
        .unwrap();
        let out = outside.path().join("secret.txt");
        let prompt = format!(
            "Read keys.env, link.txt, {}, ../x/secret.txt and .cal_memory.json",
            out.display()
        );
        let text = gathered(tree.path(), &request(&prompt, &[]), 12_000).text;
        assert!(text.contains("## keys.env"), "{text}");
        assert!(!text.contains("AKIAQWERTYUIOPASDFGH"));
        assert!(!text.contains("outside"));
        assert!(!text.contains("## .cal_memory.json"));
    }

    #[test]
    fn a_missing_path_is_reported() {
        let tree = tree(&[("a.py", "x = 1\n")]);
        let result = gather(
            &Disk::real(),
            tree.path(),
            &request("map", &["missing"]),
            9_000,
            &mut || {},
        );
        assert!(result.unwrap_err().contains("does not exist"));
    }

    proptest! {
        /// The shown part of a file never exceeds its room, and lines keep their numbers.
        #[test]
        fn a_file_stays_within_its_room(lines in prop::collection::vec(".{0,60}", 0..60), room in 0_u64..900) {
            let lines: Vec<String> =
                lines.iter().map(|line| line.replace(['\n', '\r'], " ")).collect();
            let text = lines.join("\n");
            if let Some(shown) = shown("a.rs", &text, room) {
                prop_assert!(tokens::estimate(&shown) <= room + 16, "{} > {room}", tokens::estimate(&shown));
                let first = shown.lines().nth(3).unwrap_or_default();
                prop_assert!(first.starts_with("1: ") || first == "```");
            }
        }
    }
}
