//! Files that git's index of a worktree names: those that its branch has, even if they are lost
//! from the folder.

use std::path::Path;

use callosum_host::{Disk, OpenHow};

use super::git;

/// Larger indexes are not looked through, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Lengths of the names of objects, in bytes: SHA-1, SHA-256.
const HASHES: [usize; 2] = [20, 32];

/// Bytes before the name of an object: times, device, number, mode, owner and size.
const STAT: usize = 40;

/// The flag of an entry that has further flags, and the one among those of an entry that is not to be checked out.
const EXTENDED: usize = 0x4000;
const SKIPPED: usize = 0x4000;

/// The length of a name in an entry's flags; a longer one has this one.
const LENGTH: usize = 0x0fff;

/// Whether a file that is wanted is in the index of the worktree with this toplevel, and checked out there. What cannot be
/// read names none. Costs the reading of the index.
pub(super) fn names(disk: &Disk, toplevel: &Path, is_wanted: impl Fn(&[u8]) -> bool) -> bool {
    let Some(folder) = git::folder(disk, toplevel).ok().flatten() else {
        return false;
    };
    let file = disk.open_if_there(&folder.join("index"), OpenHow::READ);
    let Some(file) = file.ok().flatten() else {
        return false;
    };
    if file.size().is_ok_and(|size| size > LARGEST) {
        return false;
    }
    let bytes = file.read_all().unwrap_or_default();
    // With the length of other hashes, the names do not end where they should.
    let found = HASHES
        .iter()
        .find_map(|hash| any(&bytes, *hash, &is_wanted));
    found.unwrap_or_default()
}

/// Whether a path is wanted of those that are checked out in an index of version 2 to 4; `None` where it is none.
fn any(bytes: &[u8], hash: usize, mut is_wanted: impl FnMut(&[u8]) -> bool) -> Option<bool> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?;
        Some(
            four.iter()
                .fold(0_usize, |all, byte| all << 8 | usize::from(*byte)),
        )
    };
    let flags = |at: usize| {
        let two = bytes.get(at..at + 2)?;
        Some(usize::from(two[0]) << 8 | usize::from(two[1]))
    };
    let version = number(4).filter(|_| bytes.starts_with(b"DIRC"))?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut path: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let begin = at;
        at += STAT + hash;
        let own = flags(at)?;
        at += 2;
        let is_skipped = if version > 2 && own & EXTENDED > 0 {
            at += 2;
            flags(at - 2)? & SKIPPED > 0
        } else {
            false
        };
        if version == 4 {
            let (cut, read) = offset(bytes.get(at..)?)?;
            at += read;
            path.truncate(path.len().checked_sub(cut)?);
        } else {
            path.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(&bytes[at..at + length]);
        if path.len().min(LENGTH) != own & LENGTH {
            return None;
        }
        at += length;
        at = match version {
            4 => at + 1,
            _ => begin + ((at - begin + 8) & !7),
        };
        if !is_skipped && is_wanted(&path) {
            return Some(true);
        }
    }
    Some(false)
}

/// Returns the number of bytes to remove from the path before, and the number of bytes that encode
/// it.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(*bytes.first()? & 0x7f);
    let mut read = 1;
    while bytes[read - 1] & 0x80 > 0 {
        value = (value.checked_add(1)? << 7) | usize::from(*bytes.get(read)? & 0x7f);
        read += 1;
        if read > 4 {
            return None;
        }
    }
    Some((value, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of these paths, with as much of each as the one before it has where the version says so.
    fn index(version: u8, hash: usize, paths: &[(&str, bool)]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0".to_vec();
        bytes.push(version);
        bytes.extend((paths.len() as u32).to_be_bytes());
        let mut before = "";
        for (path, is_skipped) in paths {
            let begin = bytes.len();
            bytes.extend(vec![b'x'; STAT + hash]);
            let extended = if *is_skipped { EXTENDED } else { 0 };
            bytes.extend(((path.len() | extended) as u16).to_be_bytes());
            if *is_skipped {
                bytes.extend((SKIPPED as u16).to_be_bytes());
            }
            let shared = before.bytes().zip(path.bytes()).take_while(|(a, b)| a == b);
            let shared = if version == 4 { shared.count() } else { 0 };
            if version == 4 {
                bytes.push((before.len() - shared) as u8);
            }
            bytes.extend(&path.as_bytes()[shared..]);
            bytes.push(0);
            while version < 4 && !(bytes.len() - begin).is_multiple_of(8) {
                bytes.push(0);
            }
            before = path;
        }
        bytes
    }

    /// LOA-ZONE-1: the paths of an index are read in every version, those that are not checked out are passed over, and no
    /// bytes make it panic.
    #[test]
    fn the_paths_of_an_index_are_read() {
        let paths = [
            (".beads/bd-1.yaml", false),
            (".loa.config.yaml", false),
            ("loa-grimoire/NOTES.md", true),
            ("loa-grimoire/a2a/x", false),
        ];
        for (version, hash) in [(3, 20), (3, 32), (4, 20), (4, 32)] {
            let bytes = index(version, hash, &paths);
            let mut read = Vec::new();
            let mut seen = |path: &[u8]| {
                read.push(String::from_utf8(path.to_vec()).unwrap());
                false
            };
            let found = HASHES.iter().find_map(|hash| any(&bytes, *hash, &mut seen));
            assert_eq!(found, Some(false));
            assert_eq!(
                read,
                [paths[0].0, paths[1].0, paths[3].0],
                "{version} {hash}"
            );
            let is_notes = |path: &[u8]| path.starts_with(b"loa-grimoire/a2a");
            assert_eq!(any(&bytes, hash, is_notes), Some(true));
            for length in 0..bytes.len() - 8 {
                assert_eq!(any(&bytes[..length], hash, |_| false), None, "{length}");
            }
        }
        assert_eq!(any(b"DIRC\0\0\0\x05\0\0\0\0", 20, |_| true), None);
        assert_eq!(any(b"", 20, |_| true), None);
    }
}
