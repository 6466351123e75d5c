//! [`CitedLines`]: the lines of a cited place, read from the project.

use std::path::{Component, Path, PathBuf};

use callosum_host::{
    Disk,
    disk::{EntryKind, OpenHow},
};
use callosum_redact::{secrets::mask, terminal_escape::harmless};
use serde::Serialize;

/// Most bytes of a file that is shown.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Most cited lines that are shown.
const MOST_LINES: usize = 400;

/// Lines before and after the cited ones.
const AROUND: usize = 5;

/// Lines before and after the shown ones in which secrets are searched too.
const MASKED_AROUND: usize = 100;

/// Most characters of a line.
const LONGEST: usize = 1000;

/// Lines of a file, or the reason why there are none.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct CitedLines {
    /// The place as the address has it, such as `src/a.rs:12`.
    pub(super) place: String,
    pub(super) lines: Vec<CitedLine>,
    /// Reason why there are no lines.
    pub(super) fault: Option<&'static str>,
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct CitedLine {
    pub(super) number: usize,
    pub(super) text: String,
    /// Whether it is cited, and not only near.
    pub(super) is_cited: bool,
}

impl CitedLines {
    /// Reads the lines of a place with some around them. Secrets are masked.
    ///
    /// No file outside of `root` is opened, for any path and any link on the way.
    pub(super) fn read(disk: &Disk, root: &Path, place: &str) -> Self {
        let (lines, fault) = match lines(disk, root, place) {
            Ok(lines) => (lines, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        Self {
            place: harmless(place),
            lines,
            fault,
        }
    }
}

fn lines(disk: &Disk, root: &Path, place: &str) -> Result<Vec<CitedLine>, &'static str> {
    let (path, first, last) =
        parse(place).ok_or("The address names no place such as src/a.rs:12.")?;
    let file = resolve(disk, root, path)?;
    let stat = disk.stat(&file).ok().flatten().ok_or(GONE)?;
    if stat.kind != EntryKind::File {
        return Err("It is not a file.");
    }
    if stat.len > LARGEST {
        return Err("The file is too large to show (limit: 8 MiB).");
    }
    let bytes = disk
        .open(&file, OpenHow::READ)
        .and_then(|file| file.read_range(0, stat.len.try_into().unwrap_or_default()))
        .map_err(|_| "The file cannot be read.")?;
    if bytes.iter().take(8 * 1024).any(|byte| *byte == 0) {
        return Err("The file is not text.");
    }
    let text = String::from_utf8_lossy(&bytes);
    let last = last.min(first.saturating_add(MOST_LINES - 1));
    let from = first.saturating_sub(AROUND).max(1);
    let to = last.saturating_add(AROUND);
    // A secret may span lines, and begin before the lines that are shown.
    let skipped = from.saturating_sub(1 + MASKED_AROUND);
    let near: Vec<&str> = text
        .lines()
        .skip(skipped)
        .take(to.saturating_add(MASKED_AROUND) - skipped)
        .collect();
    let masked = mask(&near.join("\n")).text;
    if masked.split('\n').count() != near.len() && !near.is_empty() {
        return Err("The lines are near a secret of several lines, so they are not shown.");
    }
    let numbered = (skipped + 1..).zip(masked.split('\n'));
    let shown: Vec<CitedLine> = numbered
        .filter(|(number, _)| (from..=to).contains(number))
        .map(|(number, line)| CitedLine {
            number,
            text: cut(line),
            is_cited: (first..=last).contains(&number),
        })
        .collect();
    if shown.iter().any(|line| line.is_cited) {
        Ok(shown)
    } else {
        Err("The file has no such line any more.")
    }
}

const GONE: &str = "The file is gone.";
const OUTSIDE: &str = "The file is not in this project.";

/// Splits `path:12` or `path:12-15`.
fn parse(place: &str) -> Option<(&str, usize, usize)> {
    let (path, lines) = place.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (!path.is_empty() && first > 0 && first <= last).then_some((path, first, last))
}

/// Returns the file of a path from the root, with every link resolved.
fn resolve(disk: &Disk, root: &Path, path: &str) -> Result<PathBuf, &'static str> {
    let parts = Path::new(path).components();
    if !parts
        .clone()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return Err(OUTSIDE);
    }
    let root = disk.canonicalize(root).map_err(|_| GONE)?;
    let file = disk.canonicalize(&root.join(path)).map_err(|_| GONE)?;
    if file.starts_with(&root) {
        Ok(file)
    } else {
        Err(OUTSIDE)
    }
}

/// Returns a line without control characters, and not too long.
fn cut(line: &str) -> String {
    let beginning: String = line.chars().take(LONGEST).collect();
    let mark = if beginning.len() < line.len() {
        "…"
    } else {
        ""
    };
    format!("{}{mark}", harmless(&beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, bytes: &[u8]) {
        Disk::real().replace_unsynced(path, bytes, 0o600).unwrap();
    }

    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        let disk = Disk::real();
        disk.create_dir_all(&root.join("src")).unwrap();
        let text: Vec<String> = (1..=40).map(|number| format!("line {number}")).collect();
        write(&root.join("src/a.rs"), text.join("\n").as_bytes());
        write(&folder.path().join("outside.txt"), b"private\n");
        (folder, root)
    }

    /// LOA §4.4: each citation opens the cited lines.
    #[test]
    fn the_cited_lines_are_shown_with_some_around_them() {
        let (_folder, root) = project();
        let cited = CitedLines::read(&Disk::real(), &root, "src/a.rs:12-13");
        assert_eq!(cited.fault, None);
        let numbers: Vec<usize> = cited.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, (7..=18).collect::<Vec<_>>());
        let own = cited.lines.iter().filter(|line| line.is_cited);
        let own: Vec<&str> = own.map(|line| line.text.as_str()).collect();
        assert_eq!(own, ["line 12", "line 13"]);
    }

    #[test]
    fn no_file_outside_of_the_project_is_shown() {
        let (folder, root) = project();
        let disk = Disk::real();
        disk.make_link(Path::new("../../outside.txt"), &root.join("src/link.txt"))
            .unwrap();
        disk.make_link(folder.path(), &root.join("up")).unwrap();
        let absolute = format!("{}:1", folder.path().join("outside.txt").display());
        for place in [
            "../outside.txt:1",
            "src/../../outside.txt:1",
            "src/link.txt:1",
            "up/outside.txt:1",
            &absolute,
        ] {
            let cited = CitedLines::read(&Disk::real(), &root, place);
            assert_eq!(cited.fault, Some(OUTSIDE), "{place}");
            assert_eq!(cited.lines, [], "{place}");
        }
    }

    #[test]
    fn what_cannot_be_shown_has_a_reason() {
        let (_folder, root) = project();
        write(&root.join("binary"), b"a\0b");
        write(&root.join("mark"), "a \u{202e}b \u{1b}[31m\n".as_bytes());
        let read = |place: &str| CitedLines::read(&Disk::real(), &root, place);
        assert_eq!(read("src/gone.rs:1").fault, Some(GONE));
        assert_eq!(
            read("src/a.rs:41").fault,
            Some("The file has no such line any more.")
        );
        assert_eq!(read("src:1").fault, Some("It is not a file."));
        assert_eq!(read("binary:1").fault, Some("The file is not text."));
        for place in ["", "a", ":1", "src/a.rs:0", "src/a.rs:9-3", "src/a.rs:x"] {
            assert!(read(place).fault.is_some(), "{place}");
        }
        let marked = read("mark:1");
        assert!(!marked.lines[0].text.contains(['\u{202e}', '\u{1b}']));
        let all = read("src/a.rs:1-18446744073709551615");
        assert_eq!(all.lines.len(), 40);
    }
}
