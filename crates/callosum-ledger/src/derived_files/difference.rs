//! [`difference`]: the first place at which two files differ.

use callosum_host::DiskError;

use crate::hashlog::ReadRange;

/// The first difference of a file from its required contents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The byte, from 0.
    pub(crate) offset: u64,
    /// The line, from 1.
    pub(crate) line: u64,
    /// The required line; `None` if the required contents end before it.
    pub(crate) expected: Option<String>,
    /// The actual line; `None` if the file ends before it.
    pub(crate) found: Option<String>,
}

/// Number of bytes compared at once.
const PIECE: u64 = 1024 * 1024;

/// Finds the first difference between the first `lens.1` bytes of `found` and the first `lens.0` of
/// `expected`.
///
/// Holds a piece of each, and a line.
pub(crate) fn difference(
    expected: &dyn ReadRange,
    found: &dyn ReadRange,
    lens: (u64, u64),
) -> Result<Option<Difference>, DiskError> {
    let (expected_len, found_len) = lens;
    let longest = expected_len.max(found_len);
    let (mut at, mut line, mut line_from) = (0, 1, 0);
    while at < longest {
        let wanted = PIECE.min(longest - at);
        let left = part_of(expected, expected_len, at, wanted)?;
        let right = part_of(found, found_len, at, wanted)?;
        if left != right {
            let same = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
            line += memchr::memchr_iter(b'\n', &left[..same]).count() as u64;
            if let Some(feed) = memchr::memrchr(b'\n', &left[..same]) {
                line_from = at + feed as u64 + 1;
            }
            return Ok(Some(Difference {
                offset: at + same as u64,
                line,
                expected: line_at(line_from, |from, len| {
                    part_of(expected, expected_len, from, len)
                })?,
                found: line_at(line_from, |from, len| part_of(found, found_len, from, len))?,
            }));
        }
        line += memchr::memchr_iter(b'\n', &left).count() as u64;
        if let Some(feed) = memchr::memrchr(b'\n', &left) {
            line_from = at + feed as u64 + 1;
        }
        at += wanted;
    }
    Ok(None)
}

/// Whether a file is a beginning of another.
pub(crate) fn is_beginning(
    found: &dyn ReadRange,
    whole: &dyn ReadRange,
) -> Result<bool, DiskError> {
    let len = found.size()?;
    let lens = (len.min(whole.size()?), len);
    Ok(difference(whole, found, lens)?.is_none())
}

fn part_of(file: &dyn ReadRange, size: u64, at: u64, len: u64) -> Result<Vec<u8>, DiskError> {
    let len = len.min(size.saturating_sub(at));
    file.read_range(at, len as usize)
}

/// Returns the line that begins at an offset, without its line feed; `None` if the file ends there.
fn line_at(
    mut at: u64,
    part: impl Fn(u64, u64) -> Result<Vec<u8>, DiskError>,
) -> Result<Option<String>, DiskError> {
    let mut line = Vec::new();
    loop {
        let bytes = part(at, PIECE)?;
        let feed = memchr::memchr(b'\n', &bytes);
        line.extend_from_slice(&bytes[..feed.unwrap_or(bytes.len())]);
        if feed.is_some() || bytes.is_empty() {
            let is_there = feed.is_some() || !line.is_empty();
            return Ok(is_there.then(|| String::from_utf8_lossy(&line).into_owned()));
        }
        at += bytes.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use callosum_host::{Disk, DiskFile, OpenHow};
    use proptest::prelude::*;

    use super::*;

    fn file(folder: &std::path::Path, name: &str, bytes: &[u8]) -> DiskFile {
        let disk = Disk::real();
        let path = folder.join(name);
        disk.replace(&path, bytes, 0o600).unwrap();
        disk.open(&path, OpenHow::READ).unwrap()
    }

    fn between(expected: &[u8], found: &[u8]) -> Option<Difference> {
        let folder = tempfile::tempdir().unwrap();
        let more = [found, b"since then"].concat();
        let one = file(folder.path(), "expected", expected);
        let other = file(folder.path(), "found", &more);
        let lens = (expected.len() as u64, found.len() as u64);
        difference(&one, &other, lens).unwrap()
    }

    #[test]
    fn the_first_difference_is_named_by_its_line() {
        let found = between(b"one\ntwo\nthree\n", b"one\ntwelve\n").unwrap();
        assert_eq!((found.offset, found.line), (6, 2));
        assert_eq!(found.expected.as_deref(), Some("two"));
        assert_eq!(found.found.as_deref(), Some("twelve"));
        let shorter = between(b"one\ntwo\n", b"one\n").unwrap();
        assert_eq!((shorter.offset, shorter.line), (4, 2));
        assert_eq!(shorter.found, None);
        let longer = between(b"one\n", b"one\ntwo\n").unwrap();
        assert_eq!((longer.expected, longer.line), (None, 2));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn files_differ_where_their_bytes_do(
            one in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a')], 0..20),
            other in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a')], 0..20),
        ) {
            let found = between(&one, &other);
            let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(found.is_none(), one == other);
            prop_assert!(found.is_none_or(|found| found.offset == same as u64));
        }
    }
}
