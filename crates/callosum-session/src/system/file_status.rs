//! [`standing`]: the status of a file of the system zone. Pure: the caller reads it.

use std::{fmt, ops::Range};

use super::system_files::{BEGIN, END, Piece, marked};
use crate::rollback::versions::checksum;

/// Status of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// It is not there, and is created.
    Missing,
    /// It is as it should be.
    Current,
    /// It is as an older version wrote it, and is replaced.
    Outdated,
    /// It existed before us; our part is added to it.
    Extended,
    /// Someone changed what we wrote. It is left alone.
    Changed,
    /// It existed before us, and nothing can be added to it. It is left alone.
    Foreign,
    /// A link leads it out of the project. It is left alone.
    Outside,
}

impl FileStatus {
    /// Whether laying the zones writes it.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Missing | Self::Outdated | Self::Extended)
    }
}

impl fmt::Display for FileStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "created",
            Self::Current => "unchanged",
            Self::Outdated => "updated",
            Self::Extended => "extended",
            Self::Changed => "changed by someone",
            Self::Foreign => "someone else's",
            Self::Outside => "outside of the project",
        })
    }
}

/// Returns the status of a piece, and the new content of the file if it is written. `recorded` is
/// the checksum of what we wrote to it last.
pub(super) fn standing(
    piece: &Piece,
    there: Option<&[u8]>,
    recorded: Option<&str>,
) -> (FileStatus, Option<Vec<u8>>) {
    let whole = piece.whole().into_bytes();
    let Some(bytes) = there else {
        return (FileStatus::Missing, Some(whole));
    };
    if bytes == whole {
        return (FileStatus::Current, None);
    }
    let Some(block) = piece.block else {
        return match recorded {
            Some(sum) if sum == checksum(bytes) => (FileStatus::Outdated, Some(whole)),
            Some(_) => (FileStatus::Changed, None),
            None => (FileStatus::Foreign, None),
        };
    };
    let ours = marked(block);
    if let Some(at) = block_of(bytes) {
        let known = &bytes[at.clone()];
        if known == ours.as_bytes() {
            return (FileStatus::Current, None);
        }
        if recorded.is_none_or(|sum| sum != checksum(known)) {
            return (FileStatus::Changed, None);
        }
        let then = [&bytes[..at.start], ours.as_bytes(), &bytes[at.end..]].concat();
        return (FileStatus::Outdated, Some(then));
    }
    match recorded {
        Some(sum) if sum == checksum(bytes) => (FileStatus::Outdated, Some(whole)),
        // Someone removed the block.
        Some(_) => (FileStatus::Changed, None),
        None => (FileStatus::Extended, Some(extended(bytes, ours.as_bytes()))),
    }
}

/// Returns the part of a file of this status that we are responsible for: the block if there is
/// one, or else the file.
pub(super) fn answered_for<'b>(piece: &Piece, bytes: &'b [u8]) -> &'b [u8] {
    match block_of(bytes).filter(|_| piece.block.is_some()) {
        Some(at) => &bytes[at],
        None => bytes,
    }
}

/// Returns the file with a block after it, one empty line between them.
pub(super) fn extended(bytes: &[u8], block: &[u8]) -> Vec<u8> {
    let mut then = bytes.to_vec();
    if !then.is_empty() && !then.ends_with(b"\n") {
        then.push(b'\n');
    }
    if !then.is_empty() && !then.ends_with(b"\n\n") {
        then.push(b'\n');
    }
    then.extend_from_slice(block);
    then
}

/// Returns the range of the first block, its marks and line end included.
pub(super) fn block_of(bytes: &[u8]) -> Option<Range<usize>> {
    let find = |from: usize, mark: &str| {
        let rest = &bytes[from..];
        let at = rest
            .windows(mark.len())
            .position(|part| part == mark.as_bytes());
        at.map(|at| from + at)
    };
    let start = find(0, BEGIN)?;
    let end = find(start, END)? + END.len();
    let line_end = usize::from(bytes.get(end) == Some(&b'\n'));
    Some(start..end + line_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &'static str, block: Option<&'static str>) -> Piece {
        Piece {
            path: "x",
            text,
            block,
            mode: 0o644,
        }
    }

    fn of(piece: &Piece, there: &str, recorded: Option<&str>) -> (FileStatus, Option<String>) {
        let (standing, then) = standing(piece, Some(there.as_bytes()), recorded);
        (
            standing,
            then.map(|bytes| String::from_utf8(bytes).unwrap()),
        )
    }

    /// LOA-ZONE-1: a file that someone changed is distinguished from one that an older version
    /// wrote.
    #[test]
    fn only_what_we_wrote_ourselves_is_replaced() {
        let ours = piece("new\n", None);
        assert_eq!(
            standing(&ours, None, None),
            (FileStatus::Missing, Some(b"new\n".to_vec()))
        );
        let old = checksum(b"old\n");
        for (there, recorded, expected) in [
            ("new\n", None, FileStatus::Current),
            ("old\n", Some(old.as_str()), FileStatus::Outdated),
            ("mine\n", Some(old.as_str()), FileStatus::Changed),
            ("mine\n", None, FileStatus::Foreign),
        ] {
            assert_eq!(of(&ours, there, recorded).0, expected, "{there}");
        }
    }

    /// LOA-FILE-1: a file that existed before us keeps every byte, and gets our block once.
    #[test]
    fn a_file_of_others_is_added_to_and_only_its_block_is_ever_replaced() {
        let ours = piece("", Some("now\n"));
        let (standing, then) = of(&ours, "# Mine\r\nno line end", None);
        let then = then.unwrap();
        assert_eq!(standing, FileStatus::Extended);
        assert_eq!(
            then,
            format!("# Mine\r\nno line end\n\n{BEGIN}\nnow\n{END}\n")
        );
        assert_eq!(of(&ours, &then, None).0, FileStatus::Current);

        let older = marked("before\n");
        let recorded = checksum(older.as_bytes());
        let file = format!("a\n{older}b\n");
        let (standing, then) = of(&ours, &file, Some(&recorded));
        assert_eq!(standing, FileStatus::Outdated);
        assert_eq!(then.unwrap(), format!("a\n{}b\n", marked("now\n")));
        for changed in [file.replace("before", "mine"), "a\nb\n".to_owned()] {
            assert_eq!(
                of(&ours, &changed, Some(&recorded)),
                (FileStatus::Changed, None)
            );
        }
        assert_eq!(
            of(&ours, &format!("a\n{BEGIN}\nnever ends"), None).0,
            FileStatus::Extended
        );
    }
}
