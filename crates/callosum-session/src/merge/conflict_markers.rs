//! Git's conflict markers: writing them, and splitting a file at them.

use super::diff3::beside;
use crate::notes::whole_lines;

/// Most common lines between two differences that are put within the markers of one conflict.
const MOST_BETWEEN: usize = 2;

/// Writes both sides into one file with git's markers around the differences, for a person to
/// finish. No marker is within a comment or a code block, where it would not be seen: the markers
/// enclose the whole block.
pub fn marked(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let (own, new) = (whole_lines(ours), whole_lines(theirs));
    let all = beside(&own, &new);
    let mut made = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for (index, stretch) in all.iter().enumerate() {
        let (at, there) = (stretch.ours.clone(), stretch.theirs.start);
        if !stretch.is_shared {
            open.get_or_insert((at.start, there));
            continue;
        }
        if let Some(from) = open {
            let between = own[at.clone()].iter().map(|whole| lines(whole).len());
            if between.sum::<usize>() <= MOST_BETWEEN && index + 1 < all.len() {
                continue;
            }
            put_marked(&mut made, &own[from.0..at.start], &new[from.1..there]);
            open = None;
        }
        made.extend_from_slice(&own[at].concat());
    }
    if let Some(from) = open {
        put_marked(&mut made, &own[from.0..], &new[from.1..]);
    }
    made
}

fn put_marked(made: &mut Vec<u8>, ours: &[&[u8]], theirs: &[&[u8]]) {
    let mut side = |mark: &str, lines: &[&[u8]]| {
        if !made.is_empty() && !made.ends_with(b"\n") {
            made.push(b'\n');
        }
        made.extend_from_slice(mark.as_bytes());
        made.extend_from_slice(&lines.concat());
    };
    side("<<<<<<< ours\n", ours);
    side("=======\n", theirs);
    side(">>>>>>> theirs\n", &[]);
}

/// Returns the lines with their ends.
pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Versions that git has left of a merge in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// Our side.
    pub ours: Vec<u8>,
    /// Their side.
    pub theirs: Vec<u8>,
    /// Common ancestor, if every marker includes it.
    pub base: Option<Vec<u8>>,
}

/// Returns both sides of a file in which git has left conflict markers; `None` if there are none,
/// or one never ends.
pub fn sides(bytes: &[u8]) -> Option<Sides> {
    /// Position of a line relative to the markers.
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Common,
        Ours,
        Base,
        Theirs,
    }
    let mut sides = Sides {
        ours: Vec::new(),
        theirs: Vec::new(),
        base: None,
    };
    let mut base = Vec::new();
    let mut at = At::Common;
    let (mut marked, mut with_base) = (0, 0);
    for line in lines(bytes) {
        let text = line.trim_ascii_end();
        let next = match at {
            At::Common if text.starts_with(b"<<<<<<< ") => At::Ours,
            At::Ours if text.starts_with(b"|||||||") => At::Base,
            At::Ours | At::Base if text == b"=======" => At::Theirs,
            At::Theirs if text.starts_with(b">>>>>>> ") => At::Common,
            _ => {
                if matches!(at, At::Common | At::Ours) {
                    sides.ours.extend_from_slice(line);
                }
                if matches!(at, At::Common | At::Base) {
                    base.extend_from_slice(line);
                }
                if matches!(at, At::Common | At::Theirs) {
                    sides.theirs.extend_from_slice(line);
                }
                continue;
            }
        };
        marked += usize::from(next == At::Ours);
        with_base += usize::from(next == At::Base);
        at = next;
    }
    sides.base = Some(base).filter(|_| marked == with_base);
    (marked > 0 && at == At::Common).then_some(sides)
}

/// Returns the line, counted from 1, in which git has left the first conflict marker, also if the
/// markers do not match.
pub(crate) fn first_mark(bytes: &[u8]) -> Option<usize> {
    let is_mark = |line: &[u8]| line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> ");
    let at = bytes.split(|byte| *byte == b'\n').position(is_mark)?;
    Some(at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// LOA-FMT-1: a file is split at git's markers into both sides, and the base if the markers
    /// include it.
    #[test]
    fn the_sides_of_a_conflict_are_found() {
        let torn = "a\n<<<<<<< HEAD\nb\n||||||| 1\nx\n=======\nc\n>>>>>>> o\nd\n";
        let found = sides(torn.as_bytes()).unwrap();
        assert_eq!(
            [found.ours, found.base.unwrap(), found.theirs],
            [b"a\nb\nd\n", b"a\nx\nd\n", b"a\nc\nd\n"]
        );
        let more = format!("{torn}<<<<<<< HEAD\r\n=======\r\ne\n>>>>>>> o\n");
        let found = sides(more.as_bytes()).unwrap();
        assert_eq!(
            (&*found.ours, &*found.theirs, found.base),
            (&b"a\nb\nd\n"[..], &b"a\nc\nd\ne\n"[..], None)
        );
        assert_eq!(sides(b"a\n=======\nb\n"), None);
        assert_eq!(sides(b"<<<<<<< HEAD\na\n"), None);
    }

    proptest! {
        /// LOA-FMT-1: markers are around the differences, and splitting the file at them gives both
        /// sides back.
        #[test]
        fn what_is_marked_is_taken_apart_again(
            ours in proptest::collection::vec("[a-c]{1,2}\n", 0..12),
            theirs in proptest::collection::vec("[a-c]{1,2}\n", 0..12),
        ) {
            let (ours, theirs) = (ours.concat().into_bytes(), theirs.concat().into_bytes());
            let made = marked(&ours, &theirs);
            match sides(&made) {
                Some(found) => prop_assert_eq!((found.ours, found.theirs), (ours, theirs)),
                None => prop_assert!(ours == theirs && made == ours),
            }
        }
    }
}
