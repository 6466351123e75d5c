//! Looks up one file in git's index, without starting git.
//!
//! Start with [`tracked`]. It reads versions 2 to 4 of the index with SHA-1 names. Everything else (a split or sparse index,
//! SHA-256, a damaged file) makes a file look untracked, which costs its caller a snapshot and loses nothing.

use std::{
    collections::HashSet,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use callosum_host::{Disk, disk::FileStat};

/// Largest index that is read, in bytes: about 600,000 files.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Length of an entry up to its name.
const HEAD: usize = 62;

/// State of a file in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracked {
    /// Its index has no such file.
    No,
    /// The file has the size and time of the index's entry, so git has a copy of its bytes.
    Unchanged,
    /// The file was changed since, or may have been.
    Changed,
}

/// Returns how the index in this repository folder knows the file at `path`, which is relative to the top of the tree.
pub(super) fn tracked(disk: &Disk, git_dir: &Path, path: &Path, found: &FileStat) -> Tracked {
    let file = git_dir.join("index");
    let Ok(Some(stat)) = disk.stat(&file) else {
        return Tracked::No;
    };
    let Ok(bytes) = disk.read_at_most(&file, LARGEST) else {
        return Tracked::No;
    };
    let Some(entry) = entry_of(&bytes, path.as_os_str().as_encoded_bytes()) else {
        return Tracked::No;
    };
    let written = since_epoch(stat.modified);
    // Of a file that was changed while the index was written, time and size tell nothing; git calls it racily clean.
    let is_racy = entry.modified >= written;
    let is_same = entry.size == found.len && entry.modified == since_epoch(found.modified);
    if is_same && !is_racy {
        Tracked::Unchanged
    } else {
        Tracked::Changed
    }
}

/// An index entry of a file.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    /// Seconds and nanoseconds, cut to 32 bits as git does.
    modified: (u32, u32),
    /// Bytes, cut to 32 bits; no larger file is asked about.
    size: u64,
}

/// Returns the names of all files in this repository's index; `None` if it cannot be read.
pub(super) fn names(disk: &Disk, git_dir: &Path) -> Option<HashSet<Vec<u8>>> {
    let bytes = disk.read_at_most(&git_dir.join("index"), LARGEST).ok()?;
    let mut names = HashSet::new();
    each_entry(&bytes, |name, _, _| {
        names.insert(name.to_vec());
        true
    })?;
    Some(names)
}

fn entry_of(index: &[u8], path: &[u8]) -> Option<Entry> {
    let mut found = None;
    each_entry(index, |name, head, is_whole| {
        if name == path && is_whole {
            let modified = number(head, 8).zip(number(head, 12));
            let size = number(head, 36);
            found = modified.zip(size).map(|(modified, size)| Entry {
                modified,
                size: size.into(),
            });
            return false;
        }
        // Names are sorted.
        name <= path
    })?;
    found
}

/// Calls `visit` with the name and the fixed part of each entry, and whether it is a whole one and no side of a merge, until
/// it returns `false`. `None` if the index is damaged or has another form.
fn each_entry(index: &[u8], mut visit: impl FnMut(&[u8], &[u8], bool) -> bool) -> Option<()> {
    let version = number(index.strip_prefix(b"DIRC")?, 0)?;
    let count = number(index, 8)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at;
        let head = index.get(start..start + HEAD)?;
        let flags = u16::from_be_bytes([head[60], head[61]]);
        // A second word of flags follows.
        let is_extended = version >= 3 && flags & 0x4000 != 0;
        at += HEAD + if is_extended { 2 } else { 0 };
        if version == 4 {
            let (cut, length) = offset(index.get(at..)?)?;
            at += length;
            name.truncate(name.len().checked_sub(cut)?);
            let rest = index.get(at..)?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            name.extend_from_slice(&rest[..end]);
            at += end + 1;
        } else {
            let rest = index.get(at..)?;
            let end = match usize::from(flags & 0xfff) {
                0xfff => rest.iter().position(|byte| *byte == 0)?,
                length => length,
            };
            name.clear();
            name.extend_from_slice(rest.get(..end)?);
            // One to eight NULs fill it up to a multiple of eight.
            at = start + (at - start + end + 8) / 8 * 8;
        }
        let is_whole = flags & 0x3000 == 0;
        if !visit(&name, head, is_whole) {
            break;
        }
    }
    Some(())
}

/// A big-endian number of four bytes.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// A number in git's variable-length form, and how many bytes it takes.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        let low = usize::from(byte & 0x7f);
        value = (value << 7) | low;
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "git cuts seconds to 32 bits as well"
)]
fn since_epoch(time: SystemTime) -> (u32, u32) {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() as u32, since.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2 or 3 with these files, each 7 bytes and of second 5.
    fn index(version: u32, names: &[&str]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        let mut before = "";
        for name in names {
            let start = bytes.len();
            let numbers = [1, 2, 5, 6, 0, 0, 0o100_644, 0, 0, 7_u32];
            bytes.extend(numbers.iter().flat_map(|one| one.to_be_bytes()));
            bytes.extend([0; 20]);
            bytes.extend(u16::try_from(name.len().min(0xfff)).unwrap().to_be_bytes());
            if version == 4 {
                let shared = before.bytes().zip(name.bytes());
                let shared = shared.take_while(|(one, other)| one == other).count();
                bytes.push(u8::try_from(before.len() - shared).unwrap());
                bytes.extend(&name.as_bytes()[shared..]);
                bytes.push(0);
                before = name;
            } else {
                bytes.extend(name.as_bytes());
                let length = bytes.len() - start;
                bytes.extend(vec![0; 8 - length % 8]);
            }
        }
        bytes
    }

    /// CAKE-SNAP-1: a file is found in each version of the index, and one whose name only begins or ends like it is not.
    #[test]
    fn a_file_is_found_in_every_version_of_the_index() {
        let long = format!("z/{}", "n".repeat(5000));
        let names = ["a", "a/b.rs", "a/bc.rs", "src/a/b.rs", &long];
        for version in [2, 3, 4] {
            let bytes = index(version, &names);
            for name in names {
                let entry = entry_of(&bytes, name.as_bytes()).unwrap();
                assert_eq!(
                    (entry.modified, entry.size),
                    ((5, 6), 7),
                    "{version} {name}"
                );
            }
            for name in ["b.rs", "a/b", "a/b.r", "zz", ""] {
                assert_eq!(entry_of(&bytes, name.as_bytes()), None, "{version} {name}");
            }
            for cut in 0..bytes.len().min(400) {
                entry_of(&bytes[..cut], b"src/a/b.rs");
            }
        }
        assert_eq!(entry_of(&index(5, &names), b"a"), None);
        assert_eq!(entry_of(b"DIRC", b"a"), None);
    }
}
