//! [`CitedFile`]: a file of the tree, opened because something cites it.

use std::{
    ops::RangeInclusive,
    path::{Component, Path, PathBuf},
};

use callosum_host::{
    Disk,
    disk::{EntryKind, OpenHow},
};

use super::{
    quote::Words,
    verify::{LARGEST_FILE, Why},
};

/// Bytes from the beginning of a file in which a NUL marks it as binary.
const BINARY_WITHIN: usize = 8 * 1024;

/// Content of a file that a citation names.
pub struct CitedFile {
    text: String,
    words: Words,
    is_binary: bool,
}

impl CitedFile {
    /// Opens the file of a cited path, from the root, without `${PROJECT_ROOT}/`.
    ///
    /// No file outside of `root` is opened, for any path and any link on the way. Bytes that are
    /// not UTF-8 are read as replacement characters.
    pub fn open(disk: &Disk, root: &Path, path: &str) -> Result<Self, Why> {
        let root = disk.canonicalize(root).map_err(|_| Why::NoSuchFile)?;
        Self::below(disk, &root, path)
    }

    /// The same with a root that has no links in it.
    pub(super) fn below(disk: &Disk, root: &Path, path: &str) -> Result<Self, Why> {
        let file = resolve(disk, root, path)?;
        let stat = disk.stat(&file).ok().flatten().ok_or(Why::NoSuchFile)?;
        if stat.kind != EntryKind::File || stat.len > LARGEST_FILE {
            return Err(Why::NotReadable);
        }
        let bytes = disk
            .open(&file, OpenHow::READ)
            .and_then(|file| file.read_range(0, LARGEST_FILE as usize))
            .map_err(|_| Why::NoSuchFile)?;
        Ok(Self::of(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Returns a file with this text.
    pub fn of(text: String) -> Self {
        let words = Words::of(&text);
        let beginning = &text.as_bytes()[..text.len().min(BINARY_WITHIN)];
        let is_binary = beginning.contains(&0);
        Self {
            text,
            words,
            is_binary,
        }
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a NUL near the beginning marks it as binary.
    pub fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Returns the lines `first` to `last`, counted from 1, exactly as in the file, the line ends
    /// between them included; `None` if the file ends before.
    pub fn lines(&self, first: u32, last: u32) -> Option<&str> {
        let skipped = first.checked_sub(1)? as usize;
        let count = last.checked_sub(first)? as usize + 1;
        let mut lines = self.text.split_inclusive('\n');
        let start: usize = lines.by_ref().take(skipped).map(str::len).sum();
        let mut taken = 0;
        let length: usize = lines
            .take(count)
            .inspect(|_| taken += 1)
            .map(str::len)
            .sum();
        (taken == count).then(|| self.text[start..start + length].trim_end_matches(['\r', '\n']))
    }

    /// Returns the lines of each place that has the quote word for word, in their order.
    pub fn places(&self, quote: &str) -> impl Iterator<Item = RangeInclusive<u32>> + use<'_> {
        self.words.places(quote)
    }
}

/// Returns the file that a cited path names, with every link on the way resolved and still under
/// `root`. A path from the root of the file system names one as well, and one whose folders end as
/// Windows writes them.
fn resolve(disk: &Disk, root: &Path, path: &str) -> Result<PathBuf, Why> {
    let found = resolve_as_written(disk, root, Path::new(path));
    if found == Err(Why::NoSuchFile) && path.contains('\\') {
        return resolve_as_written(disk, root, Path::new(&path.replace('\\', "/")));
    }
    found
}

fn resolve_as_written(disk: &Disk, root: &Path, path: &Path) -> Result<PathBuf, Why> {
    if path.is_absolute() {
        return match disk.canonicalize(path) {
            Ok(file) if file.starts_with(root) => Ok(file),
            Err(_) if path.starts_with(root) => Err(Why::NoSuchFile),
            _ => Err(Why::OutsideRoot),
        };
    }
    let depth = path
        .components()
        .try_fold(0_usize, |depth, part| match part {
            Component::Normal(_) => Some(depth + 1),
            Component::CurDir => Some(depth),
            Component::ParentDir => depth.checked_sub(1),
            Component::RootDir | Component::Prefix(_) => None,
        });
    if depth.is_none() {
        return Err(Why::OutsideRoot);
    }
    let file = disk
        .canonicalize(&root.join(path))
        .map_err(|_| Why::NoSuchFile)?;
    if file.starts_with(root) {
        Ok(file)
    } else {
        Err(Why::OutsideRoot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-JIT-1: exactly the named lines, with any line end.
    #[test]
    fn lines_are_given_exactly_or_not_at_all() {
        let file = CitedFile::of("a\r\n  b\n\nd".to_owned());
        assert_eq!(file.lines(1, 1), Some("a"));
        assert_eq!(file.lines(1, 2), Some("a\r\n  b"));
        assert_eq!(file.lines(3, 3), Some(""));
        assert_eq!(file.lines(2, 4), Some("  b\n\nd"));
        for (first, last) in [(0, 1), (2, 1), (4, 5), (5, 5), (u32::MAX, u32::MAX)] {
            assert_eq!(file.lines(first, last), None);
        }
    }

    #[test]
    fn a_nul_shows_that_a_file_is_no_text() {
        assert!(CitedFile::of("ELF\0x".to_owned()).is_binary());
        assert!(!CitedFile::of(String::new()).is_binary());
    }
}
